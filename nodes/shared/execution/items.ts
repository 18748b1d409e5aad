import type {
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';

import type { Api } from '../transport/connection';
import { connect } from '../transport/connection';
import { detailsOf, forModel, toNodeError } from '../errors/errors';
import { showHints } from '../errors/hints';
import { isTool, readMaxWaitMs } from '../parameters/read';

const RETRIES = 3;

/**
 * Runs an operation for each input item. With "continue on fail" a failed item keeps its JSON and
 * binary data and gets the error, and the others go on. At the end the hints are shown.
 *
 * @param execute Returns the output of one input item.
 * @throws NodeApiError or NodeOperationError, naming the item, if the node stops on errors or the
 *   execution was canceled.
 */
export async function runItems(
	context: IExecuteFunctions,
	execute: (api: Api, itemIndex: number) => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	const output: INodeExecutionData[] = [];
	let connection: Api | undefined;
	for (const [item, input] of context.getInputData().entries()) {
		try {
			connection ??= await connect(context, { maxWaitMs: 0, retries: RETRIES });
			const api = { ...connection, maxWaitMs: readMaxWaitMs(context, item) };
			for (const result of await execute(api, item)) {
				output.push({ ...result, pairedItem: { item } });
			}
		} catch (error) {
			const known = toNodeError(context, error, item);
			const failure = isTool(context) ? forModel(known) : known;
			if (!context.continueOnFail() || connection?.signal?.aborted) {
				throw failure;
			}
			output.push(failedItem(context, input, item, failure));
		}
	}
	if (connection) showHints(context, connection);
	return output;
}

/** n8n sends only a JSON with nothing but `error` to the error output, and adds its input there. */
function failedItem(
	context: IExecuteFunctions,
	{ json, binary }: INodeExecutionData,
	item: number,
	failure: NodeApiError | NodeOperationError,
): INodeExecutionData {
	const error = failure.message;
	const isForErrorOutput = context.getNode().onError === 'continueErrorOutput';
	return {
		json: isForErrorOutput
			? { error }
			: { ...json, error, errorDetails: { ...detailsOf(failure) } },
		...(binary && { binary }),
		pairedItem: { item },
	};
}

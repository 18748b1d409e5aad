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
 * Runs an operation for each input item and links what comes out to the item. With "continue on
 * fail", of either kind, a failed item keeps its input, JSON and binary data, and carries the error
 * beside it, and the other items go on. At the end the hints of the run are shown.
 *
 * @param execute Gives the output of one input item.
 * @throws NodeApiError or NodeOperationError, naming the item, when the node is to stop on errors
 *   or the execution was cancelled.
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

/**
 * A failed item. n8n knows one for the error output by a JSON of `error` alone, and puts the JSON of
 * its input beside it there; any further field would send it to the other output.
 */
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

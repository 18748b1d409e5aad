import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Api } from './api';
import { connect } from './api';
import { toNodeError } from './errors';
import { showHints } from './hints';
import { readMaxWaitMs } from './parameters';

const RETRIES = 3;

/**
 * Runs an operation for each input item and links what comes out to the item. With "continue on
 * fail", of either kind, a failed item keeps its input and carries the error beside it, and the
 * other items go on. At the end the hints of the run are shown.
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
			const failure = toNodeError(context, error, item);
			if (!context.continueOnFail() || connection?.signal?.aborted) {
				throw failure;
			}
			output.push({
				json: { ...inputBeside(context, input), error: failure.message },
				pairedItem: { item },
			});
		}
	}
	if (connection) showHints(context, connection);
	return output;
}

/** n8n knows an item for the error output by `error` alone, and puts its input beside it there. */
function inputBeside(context: IExecuteFunctions, input: INodeExecutionData): IDataObject {
	return context.getNode().onError === 'continueErrorOutput' ? {} : input.json;
}

import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Api } from './api';
import { connect } from './api';
import { toNodeError } from './errors';
import { readMaxWaitMs } from './parameters';

const RETRIES = 3;
/** From how many requests, or how long a wait in ms, a run is worth a word about it. */
const MANY_REQUESTS = 20;
const LONG_WAIT_MS = 1_000;

/**
 * Runs an operation for each input item and links what comes out to the item. With "continue on
 * fail", of either kind, a failed item keeps its input and carries the error beside it, and the
 * other items go on. A run that took many requests or waited for the rate limit says so in a hint.
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
	if (connection) hintIfLong(context, connection.run);
	return output;
}

function hintIfLong(context: IExecuteFunctions, { requests, waitedMs }: Api['run']): void {
	if (requests < MANY_REQUESTS && waitedMs < LONG_WAIT_MS) return;
	const wait = `, which waited ${Math.round(waitedMs / 1000)} s in all for the rate limit`;
	context.addExecutionHints({
		message: `This run made ${requests} requests${waitedMs < LONG_WAIT_MS ? '' : wait}.`,
		location: 'outputPane',
	});
}

/** n8n knows an item for the error output by `error` alone, and puts its input beside it there. */
function inputBeside(context: IExecuteFunctions, input: INodeExecutionData): IDataObject {
	return context.getNode().onError === 'continueErrorOutput' ? {} : input.json;
}

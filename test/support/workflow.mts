import type { IDataObject, INode } from 'n8n-workflow';
import type { WorkflowJson } from './engine.mts';

/**
 * A workflow of a manual trigger and one node of this package, named `Node`.
 *
 * @param type The node's name without the package's: `lifelog`.
 * @param more Further settings of the node, e.g. `{ onError: 'continueRegularOutput' }`.
 */
export function workflowWith(
	type: string,
	parameters: IDataObject,
	more: Partial<INode> = {},
): WorkflowJson {
	return {
		nodes: [
			{
				id: '1',
				name: 'Start',
				type: 'n8n-nodes-base.manualTrigger',
				typeVersion: 1,
				position: [0, 0],
				parameters: {},
			},
			{
				id: '2',
				name: 'Node',
				type: `n8n-nodes-lifelog.${type}`,
				typeVersion: 1,
				position: [220, 0],
				parameters: parameters as INode['parameters'],
				credentials: { lifelogApi: { id: '1', name: 'Lifelog API' } },
				...more,
			},
		],
		connections: { Start: { main: [[{ node: 'Node', type: 'main', index: 0 }]] } },
		settings: { timezone: 'UTC' },
	};
}

/** The value of a resource locator: an ID typed in. */
export function byId(value: unknown): IDataObject {
	return { __rl: true, mode: 'id', value: value as string };
}

import type { IDataObject, INode, INodeCredentialsDetails } from 'n8n-workflow';
import type { WorkflowJson } from './engine.mts';

const LIFELOG_API = { id: '1', name: 'Lifelog API' };

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
				credentials: { lifelogApi: LIFELOG_API },
				...more,
			},
		],
		connections: { Start: { main: [[{ node: 'Node', type: 'main', index: 0 }]] } },
		settings: { timezone: 'UTC' },
	};
}

/** A workflow whose nodes of this package, tools too, have a credential, as a user chooses it. */
export function withCredential<Kind extends Pick<WorkflowJson, 'nodes'>>(
	workflow: Kind,
	lifelogApi: INodeCredentialsDetails = LIFELOG_API,
): Kind {
	const nodes = workflow.nodes.map((node) =>
		node.type.startsWith('n8n-nodes-lifelog.') ? { ...node, credentials: { lifelogApi } } : node,
	);
	return { ...workflow, nodes };
}

/** The value of a resource locator: an ID typed in. */
export function byId(value: unknown): IDataObject {
	return { __rl: true, mode: 'id', value: value as string };
}

/** The parameters that choose lifelogs: of a day (`date`), from `start` to `end`, and Filters. */
export function within({ date, start, end, ...filters }: IDataObject): IDataObject {
	if (date !== undefined) return { period: 'date', date, filters };
	if (start === undefined && end === undefined) return { filters };
	return { period: 'range', start: start ?? '', end: end ?? '', filters };
}

import type { IDataObject, INode } from 'n8n-workflow';
import type { WorkflowJson } from '../../support/engine.mts';
import { workflowWith } from '../../support/workflow.mts';
import type { Lab } from './lab.mts';
import type { Execution } from './rest.mts';

/** Options of `runNode`. */
export interface RunNodeOptions {
	/** The input items; one empty item by default. */
	input?: IDataObject[];
	onError?: INode['onError'];
}

/** Runs a workflow of a manual trigger and one node of this package, named `Node`. */
export async function runNode(
	{ rest, credentials }: Lab,
	type: string,
	parameters: IDataObject,
	{ input, onError }: RunNodeOptions = {},
): Promise<Execution> {
	const workflow = workflowWith(type, parameters, { credentials, onError });
	const pinData = input && { Start: input.map((json) => ({ json })) };
	return await rest.execute({ ...workflow, ...(pinData && { pinData }) });
}

/** A workflow that answers its webhook with what one node of this package, named `Node`, gives. */
export function webhookWorkflow(
	{ credentials }: Lab,
	path: string,
	type: string,
	parameters: IDataObject,
	response: IDataObject,
): WorkflowJson {
	const { nodes, settings } = workflowWith(type, parameters, { credentials });
	const webhook: INode = {
		id: '1',
		name: 'Webhook',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		position: [0, 0],
		webhookId: path,
		parameters: { path, httpMethod: 'GET', responseMode: 'lastNode', ...response },
	};
	return {
		nodes: [webhook, nodes[1]],
		connections: { Webhook: { main: [[{ node: 'Node', type: 'main', index: 0 }]] } },
		settings,
	};
}

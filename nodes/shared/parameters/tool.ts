import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

/** Whether the node is a tool of an agent, so that a model reads its output. */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}

export const deleteNoticeOfTool: INodeProperties = {
	displayName: 'An agent with this tool deletes without asking you',
	name: 'agentNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [true] } },
};

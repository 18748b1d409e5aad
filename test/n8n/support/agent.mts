import type { IDataObject, INode } from 'n8n-workflow';
import type { WorkflowJson } from '../../support/engine.mts';
import { byId } from '../../support/workflow.mts';
import type { Lab } from './lab.mts';

const lifelogId = byId("={{ $fromAI('lifelog_id', 'ID of the lifelog', 'string') }}");
const chatId = byId("={{ $fromAI('chat_id', 'ID of the chat', 'string') }}");
const query = "={{ $fromAI('query', 'What to look for', 'string') }}";

/** The tools that a workflow of {@link agentWorkflow} can have: their names, nodes and parameters. */
export const TOOLS = {
	search: {
		name: 'Search lifelogs',
		type: 'lifelogTool',
		parameters: { operation: 'search', query, limit: 5 },
	},
	get: {
		name: 'Get lifelog',
		type: 'lifelogTool',
		parameters: { operation: 'get', lifelogId },
	},
	summary: {
		name: 'Get daily summary',
		type: 'lifelogTool',
		parameters: {
			operation: 'getDailySummary',
			// As the note in the tool's panel says.
			day: '={{ $fromAI("day", "yesterday or today") }}',
			format: '={{ $fromAI("format", "markdown, slack or notion") }}',
		},
	},
	export: {
		name: 'Export lifelogs',
		type: 'lifelogTool',
		parameters: { operation: 'export', exportFrom: 'lifelog', lifelogId, fileFormats: ['srt'] },
	},
	delete: {
		name: 'Delete lifelog',
		type: 'lifelogTool',
		parameters: { operation: 'delete', lifelogId },
	},
	deleteChat: {
		name: 'Delete chat',
		type: 'lifelogChatTool',
		parameters: { operation: 'delete', chatId },
	},
};

/**
 * A workflow of n8n's AI Agent, named `Agent`, with nodes of this package as its tools.
 *
 * @param openAi Id and name of the credential of the model.
 * @param tools Names of {@link TOOLS}.
 */
export function agentWorkflow(
	{ credentials }: Lab,
	openAi: { id: string; name: string },
	tools: Array<keyof typeof TOOLS>,
	question: string,
): WorkflowJson {
	const node = (
		name: string,
		type: string,
		typeVersion: number,
		parameters: IDataObject,
		more: Partial<INode> = {},
	): INode => ({
		id: name,
		name,
		type,
		typeVersion,
		position: [0, 0],
		parameters: parameters as INode['parameters'],
		...more,
	});
	const langchain = '@n8n/n8n-nodes-langchain';
	const toolNodes = tools.map((tool) => {
		const { name, type, parameters } = TOOLS[tool];
		return node(name, `n8n-nodes-lifelog.${type}`, 1, parameters, { credentials });
	});
	const model = {
		model: { __rl: true, mode: 'id', value: 'scripted' },
		responsesApiEnabled: false,
	};
	const to = (type: 'main' | 'ai_tool' | 'ai_languageModel') => ({
		[type]: [[{ node: 'Agent', type, index: 0 }]],
	});
	return {
		nodes: [
			node('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
			node('Agent', `${langchain}.agent`, 3.1, { promptType: 'define', text: question }),
			node('Model', `${langchain}.lmChatOpenAi`, 1.3, model, {
				credentials: { openAiApi: openAi },
			}),
			...toolNodes,
		],
		connections: {
			Start: to('main'),
			Model: to('ai_languageModel'),
			...Object.fromEntries(toolNodes.map(({ name }) => [name, to('ai_tool')])),
		},
		// As the editor sets it: in the old order the agent would go on before its tools have run.
		settings: { timezone: 'UTC', executionOrder: 'v1' },
	};
}

import type { IDataObject, INode, INodeProperties } from 'n8n-workflow';
import { loadPackage, type WorkflowJson } from '../../support/engine.mts';
import { byId } from '../../support/workflow.mts';
import type { Lab } from './lab.mts';
import type { Execution, SavedWorkflow } from './rest.mts';

const lifelogId = byId("={{ $fromAI('lifelog_id', 'ID of the lifelog', 'string') }}");
const chatId = byId("={{ $fromAI('chat_id', 'ID of the chat', 'string') }}");
const query = "={{ $fromAI('query', 'What to look for', 'string') }}";

/** A parameter that a model sets: it is told the words and, of a choice, the values. */
const byModel = (property: INodeProperties, key: string): string => {
	const { type, displayName, description = '', options = [] } = property;
	const values = options.flatMap((option) => ('value' in option ? [option.value] : [])).join(', ');
	const kind = type === 'number' || type === 'boolean' ? type : 'string';
	const told =
		`${displayName}: ${description} ${type === 'dateTime' ? 'YYYY-MM-DD' : values}`.replaceAll(
			'`',
			"'",
		);
	return `={{ $fromAI('${key}', \`${told}\`, '${kind}') }}`;
};

/**
 * The parameters of an operation, every one of them left to the model: keys are their names, those
 * in a collection with its name before them, `filters_date`.
 *
 * @param except Keys to leave out, as not all can be given together.
 */
export function allByModel(type: string, operation: string, except: string[] = []): IDataObject {
	const { properties } = loadPackage().nodeTypes[`n8n-nodes-lifelog.${type}`]
		.description as unknown as { properties: INodeProperties[] };
	const isShown = ({ displayOptions, type: kind, name }: INodeProperties) =>
		!['hidden', 'notice'].includes(kind) &&
		name !== 'operation' &&
		(displayOptions?.show?.operation?.includes(operation) ?? true) &&
		(displayOptions?.show?.['@tool']?.includes(true) ?? true);
	const entries = properties.filter(isShown).flatMap((property) => {
		const { name, type: kind, options = [] } = property;
		if (except.includes(name)) return [];
		if (kind === 'resourceLocator') return [[name, byId(byModel(property, name))]];
		if (kind !== 'collection') return [[name, byModel(property, name)]];
		const fields = (options as INodeProperties[])
			.filter((field) => !except.includes(`${name}_${field.name}`))
			.map((field) => [field.name, byModel(field, `${name}_${field.name}`)]);
		return [[name, Object.fromEntries(fields)]];
	});
	return { operation, ...Object.fromEntries(entries) };
}

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
		parameters: { operation: 'get', lifelogId, output: 'raw' },
	},
	summary: {
		name: 'Get daily summary',
		type: 'lifelogTool',
		parameters: {
			operation: 'getDailySummary',
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
		parameters: { operation: 'delete', lifelogIdToDelete: lifelogId },
	},
	deleteChat: {
		name: 'Delete chat',
		type: 'lifelogChatTool',
		parameters: { operation: 'delete', chatIdToDelete: chatId },
	},
};

/** A node as a tool. */
export interface Tool {
	name: string;
	/** The node's name without the package's, with `Tool` behind it. */
	type: string;
	parameters: IDataObject;
}

/**
 * A workflow of n8n's AI Agent, named `Agent`, with nodes of this package as its tools.
 *
 * @param openAi Id and name of the credential of the model.
 * @param tools Names of {@link TOOLS}.
 */
export function agentWorkflow(
	{ credentials }: Lab,
	openAi: { id: string; name: string },
	tools: Array<keyof typeof TOOLS | Tool>,
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
		const { name, type, parameters } = typeof tool === 'string' ? TOOLS[tool] : tool;
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

/** Says something in the chat of a workflow, as in the editor, and returns the ended execution. */
export async function chatWith(
	{ rest }: Lab,
	{ id }: SavedWorkflow,
	chatInput: string,
): Promise<Execution> {
	const message = { sessionId: 'test', action: 'sendMessage', chatInput };
	const data = {
		...{ executionIndex: 0, startTime: Date.now(), executionTime: 0, source: [] },
		data: { main: [[{ json: message }]] },
	};
	const { executionId } = await rest.call<{ executionId: string }>('POST', `/workflows/${id}/run`, {
		triggerToStartFrom: { name: 'Chat', data },
	});
	return await rest.execution(executionId);
}

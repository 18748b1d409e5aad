import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { searchChats } from '../shared/chats';
import { runItems } from '../shared/items';
import { readChoice } from '../shared/parameters';
import * as deleteChat from './operations/delete';
import * as get from './operations/get';
import * as getAll from './operations/getAll';

const operations = { delete: deleteChat, get, getAll };

export class LifelogChat implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog Chat',
		name: 'lifelogChat',
		icon: { light: 'file:../../icons/lifelog.svg', dark: 'file:../../icons/lifelog.dark.svg' },
		group: ['input'],
		version: 1,
		subtitle:
			'={{ { delete: "Delete Chat", get: "Get Chat", getAll: "Get Many Chats" }[$parameter["operation"]] }}',
		description:
			'List, read and delete the chats with the assistant of a wearable, those of scheduled prompts included',
		defaults: { name: 'Lifelog Chat' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'lifelogApi', required: true }],
		properties: [
			{
				displayName: 'Resource',
				name: 'resource',
				type: 'hidden',
				noDataExpression: true,
				// The editor's nodes panel offers the operations of the resources that are listed here.
				options: [{ name: 'Chat', value: 'chat' }],
				default: 'chat',
			},
			{
				displayName: 'Operation',
				name: 'operation',
				type: 'options',
				noDataExpression: true,
				// An agent is told the action of an operation only where the operation belongs to a resource.
				displayOptions: { show: { resource: ['chat'] } },
				options: [
					{
						name: 'Delete Chat',
						value: 'delete',
						description: 'Remove a conversation with the assistant for good',
						action: 'Delete chat permanently',
					},
					{
						name: 'Get Chat',
						value: 'get',
						description: 'Read one conversation with the assistant',
						action: 'Get chat',
					},
					{
						name: 'Get Many Chats',
						value: getAll.OPERATION,
						description:
							'List conversations with the assistant, or only what scheduled prompts produced',
						action: 'Get many chats',
					},
				],
				default: 'getAll',
			},
			...deleteChat.description,
			...get.description,
			...getAll.description,
		],
	};

	methods = { listSearch: { searchChats } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const names = Object.keys(operations) as Array<keyof typeof operations>;
		const operation = this.getNodeParameter('operation', 0) as unknown;
		const { execute } = operations[readChoice(this, operation, names, 'Operation')];
		return [await runItems(this, async (api, item) => await execute.call(this, api, item))];
	}
}

import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { testLifelogApi } from '../shared/auth/credentialTest';
import { OPERATION, parametersOf, runOperation, subtitleOf } from '../shared/execution/operations';
import { getTimezones, searchChats } from '../shared/parameters/listSearch';
import * as deleteChat from './operations/delete';
import * as get from './operations/get';
import * as getAll from './operations/getAll';

const operations = { delete: deleteChat, get, getAll };

export class LifelogChat implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog Chat',
		name: 'lifelogChat',
		icon: { light: 'file:../../icons/chat.svg', dark: 'file:../../icons/chat.dark.svg' },
		group: ['input'],
		version: 1,
		// The constructor sets it; n8n's lint wants a text here.
		subtitle: '',
		description:
			'List, read and delete the chats with the assistant of a wearable, those of scheduled prompts included',
		defaults: { name: 'Lifelog Chat' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'lifelogApi', required: true, testedBy: 'testLifelogApi' }],
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
				// An agent sees the action of an operation only if it belongs to a resource.
				displayOptions: { show: { resource: ['chat'] } },
				options: [
					{
						name: 'Get Many Chats',
						value: OPERATION.getAll,
						description:
							'List conversations with the assistant, or only what scheduled prompts produced',
						action: 'Get many chats',
					},
					{
						name: 'Get Chat',
						value: 'get',
						description: 'Read one conversation with the assistant',
						action: 'Get chat',
					},
					{
						name: 'Delete Chat',
						value: 'delete',
						description: 'Remove a conversation with the assistant for good',
						action: 'Delete chat permanently',
					},
				],
				default: 'getAll',
			},
			...parametersOf(operations),
		],
	};

	methods = {
		credentialTest: { testLifelogApi },
		loadOptions: { getTimezones },
		listSearch: { searchChats },
	};

	constructor() {
		this.description.subtitle = subtitleOf(this.description);
	}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}

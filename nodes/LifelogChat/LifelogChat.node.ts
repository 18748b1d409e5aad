import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodePropertyOptions,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { testLifelogApi } from '../shared/transport/credentialTest';
import { propertiesOf, runOperation, subtitleOf } from '../shared/execution/operations';
import { getTimezones, searchChats } from '../shared/parameters/listSearch';
import * as deleteChat from './operations/delete';
import * as get from './operations/get';
import * as getMany from './operations/getMany';

const operations = { delete: deleteChat, get, getMany };

const operationOptions: INodePropertyOptions[] = [
	{
		name: 'Get Many Chats',
		value: 'getMany',
		description: 'List chats with the assistant, or only those of scheduled prompts',
		action: 'Get many chats',
	},
	{
		name: 'Get Chat',
		value: 'get',
		description: 'Read one chat with the assistant',
		action: 'Get chat',
	},
	{
		name: 'Delete Chat',
		value: 'delete',
		description: 'Permanently delete a chat with the assistant',
		action: 'Delete chat permanently',
	},
];

export class LifelogChat implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog Chat',
		name: 'lifelogChat',
		icon: { light: 'file:../../icons/chat.svg', dark: 'file:../../icons/chat.dark.svg' },
		group: ['input'],
		version: 1,
		subtitle: subtitleOf(operationOptions),
		description:
			"List, read and delete chats with a wearable's assistant, including those of scheduled prompts",
		defaults: { name: 'Lifelog Chat' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'lifelogApi', required: true, testedBy: 'testLifelogApi' }],
		properties: propertiesOf(
			{ name: 'Chat', value: 'chat' },
			operationOptions,
			operations,
			'getMany',
		),
	};

	methods = {
		credentialTest: { testLifelogApi },
		loadOptions: { getTimezones },
		listSearch: { searchChats },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}

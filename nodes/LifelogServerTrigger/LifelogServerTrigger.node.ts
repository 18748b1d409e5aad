import type {
	IHookFunctions,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { subtitleOfMany } from '../shared/execution/operations';
import { getTimezones } from '../shared/parameters/listSearch';
import { testLifelogApi } from '../shared/transport/credentialTest';
import { receive } from './delivery';
import { eventsParameter, properties } from './parameters';
import { isRegistered, register, unregister } from './registration';

export class LifelogServerTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog Server Trigger',
		name: 'lifelogServerTrigger',
		icon: { light: 'file:../../icons/server.svg', dark: 'file:../../icons/server.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: subtitleOfMany(eventsParameter.options, 'events'),
		description: 'Starts a workflow as soon as something happens on your own lifelog-server',
		defaults: { name: 'Lifelog Server Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'lifelogApi', required: true, testedBy: 'testLifelogApi' }],
		webhooks: [
			{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' },
		],
		properties,
	};

	methods = { credentialTest: { testLifelogApi }, loadOptions: { getTimezones } };

	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return await isRegistered(this);
			},
			async create(this: IHookFunctions): Promise<boolean> {
				await register(this);
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				await unregister(this);
				return true;
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receive(this);
	}
}

import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { getTimezones, searchLifelogs } from '../shared/parameters/listSearch';
import { testLifelogApi } from '../shared/auth/credentialTest';
import { parametersOf, runOperation, subtitleOf } from '../shared/execution/operations';
import * as create from './operations/create';
import * as update from './operations/update';
import * as upload from './operations/upload';

const operations = { create, update, upload };

export class LifelogServer implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog Server',
		name: 'lifelogServer',
		icon: { light: 'file:../../icons/server.svg', dark: 'file:../../icons/server.dark.svg' },
		group: ['output'],
		version: 1,
		// The constructor sets it; n8n's lint wants a text here.
		subtitle: '',
		description: 'Add new lifelogs to your own lifelog-server, and change what it has',
		defaults: { name: 'Lifelog Server' },
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
				options: [{ name: 'Lifelog', value: 'lifelog' }],
				default: 'lifelog',
			},
			{
				displayName: 'Operation',
				name: 'operation',
				type: 'options',
				noDataExpression: true,
				// An agent sees the action of an operation only if it belongs to a resource.
				displayOptions: { show: { resource: ['lifelog'] } },
				options: [
					{
						name: 'Create Lifelog',
						value: 'create',
						description: 'Add a lifelog from a transcript that was made elsewhere',
						action: 'Create lifelog',
					},
					{
						name: 'Update Lifelog',
						value: 'update',
						description: 'Change the title, the star or the names of speakers of a lifelog',
						action: 'Update lifelog',
					},
					{
						name: 'Upload Recording',
						value: 'upload',
						description: 'Send audio of any device, which is transcribed and becomes a lifelog',
						action: 'Upload recording',
					},
				],
				default: 'create',
			},
			...parametersOf(operations),
		],
	};

	methods = {
		credentialTest: { testLifelogApi },
		loadOptions: { getTimezones },
		listSearch: { searchLifelogs },
	};

	constructor() {
		this.description.subtitle = subtitleOf(this.description);
	}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}

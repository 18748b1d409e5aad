import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodePropertyOptions,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { getTimezones, searchLifelogs } from '../shared/parameters/listSearch';
import { testLifelogApi } from '../shared/transport/credentialTest';
import { propertiesOf, runOperation, subtitleOf } from '../shared/execution/operations';
import * as create from './operations/create';
import * as update from './operations/update';
import * as upload from './operations/upload';

const operations = { create, update, upload };

const operationOptions: INodePropertyOptions[] = [
	{
		name: 'Create Lifelog',
		value: 'create',
		description: 'Add a lifelog from a transcript that was made elsewhere',
		action: 'Create lifelog',
	},
	{
		name: 'Update Lifelog',
		value: 'update',
		description: 'Change the title, the star or the speaker names of a lifelog',
		action: 'Update lifelog',
	},
	{
		name: 'Upload Recording',
		value: 'upload',
		description: 'Send audio from any device, to be transcribed into a lifelog',
		action: 'Upload recording',
	},
];

export class LifelogServer implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog Server',
		name: 'lifelogServer',
		icon: { light: 'file:../../icons/server.svg', dark: 'file:../../icons/server.dark.svg' },
		group: ['output'],
		version: 1,
		subtitle: subtitleOf(operationOptions),
		description: 'Add lifelogs to your own lifelog-server, and change titles, stars and speakers',
		defaults: { name: 'Lifelog Server' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'lifelogApi', required: true, testedBy: 'testLifelogApi' }],
		properties: [
			{
				displayName: 'Needs your own lifelog-server, started with <code>--allow-changes</code>',
				name: 'serverNotice',
				type: 'notice',
				default: '',
			},
			...propertiesOf(
				{ name: 'Lifelog', value: 'lifelog' },
				operationOptions,
				operations,
				'create',
			),
		],
	};

	methods = {
		credentialTest: { testLifelogApi },
		loadOptions: { getTimezones },
		listSearch: { searchLifelogs },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runOperation(this, operations);
	}
}

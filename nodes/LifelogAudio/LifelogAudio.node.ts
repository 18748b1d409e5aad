import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { testLifelogApi } from '../shared/auth/credentialTest';
import { getTimezones, searchLifelogs } from '../shared/parameters/listSearch';
import { parametersOf, runOperation, subtitleOf } from '../shared/execution/operations';
import * as download from './operations/download';

const operations = { download };

export class LifelogAudio implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog Audio',
		name: 'lifelogAudio',
		icon: { light: 'file:../../icons/audio.svg', dark: 'file:../../icons/audio.dark.svg' },
		group: ['input'],
		version: 1,
		// The constructor sets it; n8n's lint wants a text here.
		subtitle: '',
		description: 'Download the recordings of a wearable as files',
		defaults: { name: 'Lifelog Audio' },
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
				options: [{ name: 'Audio', value: 'audio' }],
				default: 'audio',
			},
			{
				displayName: 'Operation',
				name: 'operation',
				type: 'options',
				noDataExpression: true,
				// An agent sees the action of an operation only if it belongs to a resource.
				displayOptions: { show: { resource: ['audio'] } },
				options: [
					{
						name: 'Download Audio',
						value: 'download',
						description: 'Fetch the sound of a lifelog, a day or a range of time as Ogg Opus files',
						action: 'Download audio',
					},
				],
				default: 'download',
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

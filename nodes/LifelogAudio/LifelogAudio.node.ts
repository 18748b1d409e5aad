import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodePropertyOptions,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { testLifelogApi } from '../shared/transport/credentialTest';
import { getTimezones, searchLifelogs } from '../shared/parameters/listSearch';
import { propertiesOf, runOperation, subtitleOf } from '../shared/execution/operations';
import * as download from './operations/download';

const operations = { download };

const operationOptions: INodePropertyOptions[] = [
	{
		name: 'Download Audio',
		value: 'download',
		description: 'Download the audio of a lifelog, a day or a time range as Ogg Opus files',
		action: 'Download audio',
	},
];

export class LifelogAudio implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog Audio',
		name: 'lifelogAudio',
		icon: { light: 'file:../../icons/audio.svg', dark: 'file:../../icons/audio.dark.svg' },
		group: ['input'],
		version: 1,
		subtitle: subtitleOf(operationOptions),
		description: "Download a wearable's audio as files",
		defaults: { name: 'Lifelog Audio' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'lifelogApi', required: true, testedBy: 'testLifelogApi' }],
		properties: propertiesOf(
			{ name: 'Audio', value: 'audio' },
			operationOptions,
			operations,
			'download',
		),
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

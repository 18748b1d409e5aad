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
import * as deleteLifelog from './operations/delete';
import * as exportLifelogs from './operations/export';
import * as get from './operations/get';
import * as getDailySummary from './operations/getDailySummary';
import * as getMany from './operations/getMany';
import * as getTranscript from './operations/getTranscript';
import * as search from './operations/search';

const operations = {
	delete: deleteLifelog,
	export: exportLifelogs,
	get,
	getDailySummary,
	getMany,
	getTranscript,
	search,
};

const operationOptions: INodePropertyOptions[] = [
	{
		name: 'Search Lifelogs',
		value: 'search',
		description: 'Find lifelogs by words that occur in them',
		action: 'Search lifelogs',
	},
	{
		name: 'Get Many Lifelogs',
		value: 'getMany',
		description: 'List lifelogs, by day or time range',
		action: 'Get many lifelogs',
	},
	{
		name: 'Get Lifelog',
		value: 'get',
		description: 'Read one lifelog',
		action: 'Get lifelog',
	},
	{
		name: 'Get Transcript',
		value: 'getTranscript',
		description: 'Read who said what, and when, in a lifelog',
		action: 'Get transcript of lifelog',
	},
	{
		name: 'Get Daily Summary',
		value: 'getDailySummary',
		description: 'Summarize one day as Markdown, or for Slack or Notion',
		action: 'Get daily summary',
	},
	{
		name: 'Export Lifelogs',
		value: 'export',
		description: 'Write lifelogs as JSON, Markdown, text or subtitles',
		action: 'Export lifelogs as files',
	},
	{
		name: 'Delete Lifelog',
		value: 'delete',
		description: 'Permanently delete a lifelog, with its transcript and audio',
		action: 'Delete lifelog permanently',
	},
];

export class Lifelog implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog',
		name: 'lifelog',
		icon: { light: 'file:../../icons/lifelog.svg', dark: 'file:../../icons/lifelog.dark.svg' },
		group: ['input'],
		version: 1,
		subtitle: subtitleOf(operationOptions),
		description:
			'List, search, read, summarize, export and delete lifelogs, the transcribed conversations of a wearable',
		defaults: { name: 'Lifelog' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'lifelogApi', required: true, testedBy: 'testLifelogApi' }],
		properties: propertiesOf(
			{ name: 'Lifelog', value: 'lifelog' },
			operationOptions,
			operations,
			'getMany',
			'search',
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

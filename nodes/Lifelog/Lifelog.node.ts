import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { runItems } from '../shared/items';
import { searchLifelogs } from '../shared/lifelogs';
import { readChoice } from '../shared/parameters';
import * as deleteLifelog from './operations/delete';
import * as exportLifelogs from './operations/export';
import * as get from './operations/get';
import * as getAll from './operations/getAll';
import * as getDailySummary from './operations/getDailySummary';
import * as getTranscript from './operations/getTranscript';
import * as search from './operations/search';

const operations = {
	delete: deleteLifelog,
	export: exportLifelogs,
	get,
	getAll,
	getDailySummary,
	getTranscript,
	search,
};

export class Lifelog implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog',
		name: 'lifelog',
		icon: { light: 'file:../../icons/lifelog.svg', dark: 'file:../../icons/lifelog.dark.svg' },
		group: ['input'],
		version: 1,
		subtitle:
			'={{ { delete: "Delete Lifelog", export: "Export Lifelogs", get: "Get Lifelog", getAll: "Get Many Lifelogs", getDailySummary: "Get Daily Summary", getTranscript: "Get Transcript", search: "Search Lifelogs" }[$parameter["operation"]] }}',
		description:
			'List, search, read, summarize and delete the transcribed recordings of a wearable',
		defaults: { name: 'Lifelog' },
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
				options: [{ name: 'Lifelog', value: 'lifelog' }],
				default: 'lifelog',
			},
			{
				displayName: 'Operation',
				name: 'operation',
				type: 'options',
				noDataExpression: true,
				// An agent is told the action of an operation only where the operation belongs to a resource.
				displayOptions: { show: { resource: ['lifelog'] } },
				options: [
					{
						name: 'Delete Lifelog',
						value: 'delete',
						description: 'Remove a recording for good, with its transcript and audio',
						action: 'Delete lifelog permanently',
					},
					{
						name: 'Export Lifelogs',
						value: 'export',
						description: 'Write what was recorded as JSON, Markdown, text or subtitles',
						action: 'Export lifelogs as files',
					},
					{
						name: 'Get Daily Summary',
						value: 'getDailySummary',
						description: 'Sum up what was recorded on one day, as Markdown or for Slack or Notion',
						action: 'Get daily summary',
					},
					{
						name: 'Get Lifelog',
						value: 'get',
						description: 'Read one recording: its title, times and contents',
						action: 'Get lifelog',
					},
					{
						name: 'Get Many Lifelogs',
						value: getAll.OPERATION,
						description: 'List recordings, by day or range of time',
						action: 'Get many lifelogs',
					},
					{
						name: 'Get Transcript',
						value: 'getTranscript',
						description: 'Read who said what, and when, in a lifelog',
						action: 'Get transcript of lifelog',
					},
					{
						name: 'Search Lifelogs',
						value: 'search',
						description: 'Find recordings by meaning or keywords',
						action: 'Search lifelogs',
					},
				],
				default: 'getAll',
			},
			...deleteLifelog.description,
			...exportLifelogs.description,
			...get.description,
			...getAll.description,
			...getDailySummary.description,
			...getTranscript.description,
			...search.description,
		],
	};

	methods = { listSearch: { searchLifelogs } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const names = Object.keys(operations) as Array<keyof typeof operations>;
		const operation = this.getNodeParameter('operation', 0) as unknown;
		const { execute } = operations[readChoice(this, operation, names, 'Operation')];
		return [await runItems(this, async (api, item) => await execute.call(this, api, item))];
	}
}

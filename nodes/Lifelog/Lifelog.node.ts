import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { inputError } from '../shared/errors';
import { runItems } from '../shared/items';
import { searchLifelogs } from '../shared/lifelogs';
import * as deleteLifelog from './operations/delete';
import * as get from './operations/get';
import * as getAll from './operations/getAll';
import * as getDailySummary from './operations/getDailySummary';
import * as getTranscript from './operations/getTranscript';
import * as search from './operations/search';

const operations = { delete: deleteLifelog, get, getAll, getDailySummary, getTranscript, search };

export class Lifelog implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Lifelog',
		name: 'lifelog',
		icon: { light: 'file:../../icons/lifelog.svg', dark: 'file:../../icons/lifelog.dark.svg' },
		group: ['input'],
		version: 1,
		subtitle:
			'={{ { delete: "Delete", get: "Get", getAll: "Get Many", getDailySummary: "Get Daily Summary", getTranscript: "Get Transcript", search: "Search" }[$parameter["operation"]] }}',
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
						name: 'Delete',
						value: 'delete',
						description: 'Delete a lifelog permanently, with its transcript and audio',
						action: 'Delete a lifelog permanently',
					},
					{
						name: 'Get',
						value: 'get',
						description: 'Get one lifelog with its contents',
						action: 'Get a lifelog',
					},
					{
						name: 'Get Daily Summary',
						value: 'getDailySummary',
						description: 'Summarize the lifelogs of a day as Markdown or for Slack or Notion',
						action: 'Get a daily summary',
					},
					{
						name: 'Get Many',
						value: 'getAll',
						description: 'List lifelogs, by day or range of time',
						action: 'Get many lifelogs',
					},
					{
						name: 'Get Transcript',
						value: 'getTranscript',
						description: 'Get what was said in a lifelog, and by whom',
						action: 'Get the transcript of a lifelog',
					},
					{
						name: 'Search',
						value: 'search',
						description: 'Find lifelogs by meaning or keywords',
						action: 'Search lifelogs',
					},
				],
				default: 'getAll',
			},
			...deleteLifelog.description,
			...get.description,
			...getAll.description,
			...getDailySummary.description,
			...getTranscript.description,
			...search.description,
		],
	};

	methods = { listSearch: { searchLifelogs } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const operation = this.getNodeParameter('operation', 0) as keyof typeof operations;
		if (!Object.hasOwn(operations, operation)) {
			throw inputError(this, `There is no operation "${operation}"`, 'Choose one from the list.');
		}
		const { execute } = operations[operation];
		return [await runItems(this, async (api, item) => await execute.call(this, api, item))];
	}
}

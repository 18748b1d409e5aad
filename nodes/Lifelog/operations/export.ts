import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Lifelog } from '../../../lifelog/api.ts';
import { titleOf } from '../../../lifelog/contents.ts';
import { type FileFormat, inZone } from '../../../lifelog/files/formats.ts';
import { readableName } from '../../../lifelog/names.ts';
import { instantOf } from '../../../lifelog/times.ts';
import { EVERY_PART, getLifelog, unlessDeleted } from '../../shared/api/entries';
import type { Api } from '../../shared/auth/connection';
import { hintOfNone } from '../../shared/errors/hints';
import { inputError, listResource } from '../../shared/errors/nodeErrors';
import {
	binaryPropertyParameter,
	readBinaryProperty,
} from '../../shared/parameters/binaryProperty';
import { ifChosen } from '../../shared/parameters/conditions';
import { fileNamesOption, nameInRun } from '../../shared/parameters/fileNames';
import { limitParameters, optionsOf, readLimit } from '../../shared/parameters/lists';
import { maxWaitOption } from '../../shared/parameters/maxWait';
import { choices, readChoice, readChoices, readCollection } from '../../shared/parameters/read';
import {
	lifelogIdParameter,
	lifelogIdParameters,
	readId,
} from '../../shared/parameters/resourceLocator';
import { readZone, timezoneOption } from '../../shared/parameters/times';
import { mapConcurrent, MAX_CONCURRENT_READS } from '../../shared/transport/concurrency';
import { MAX_PAGE_SIZE_WITH_CONTENTS, pages } from '../../shared/transport/pagination';
import { fileItem } from '../exportFiles';
import { idOfInput, inputLifelog, isWhole } from '../exportInput';
import { filtersParameter, hintPeriod, periodParameters, readFilters } from '../parameters/filters';

const exportFromParameter = choices({
	displayName: 'Export From',
	name: 'exportFrom',
	type: 'options',
	options: [
		{
			name: 'Input Item',
			value: 'input',
			description: 'The lifelog in the JSON of the input, as the trigger and Get Many return it',
		},
		{
			name: 'One Lifelog',
			value: 'lifelog',
			description: 'The lifelog that you choose, or whose ID you enter',
		},
		{
			name: 'Service',
			value: 'service',
			description: 'All lifelogs, or those of a period that the filters select',
		},
	],
	default: 'service',
	description: 'Source of the lifelogs',
});

const fileFormatsParameter = choices({
	displayName: 'File Formats',
	name: 'fileFormats',
	type: 'multiOptions',
	options: [
		{
			name: 'App Export',
			value: 'appExport',
			description:
				"Markdown as in the export of Limitless's app, with its file name, for tools that read it",
		},
		{
			name: 'JSON',
			value: 'json',
			description: 'Complete object from the API, including its contents',
		},
		{
			name: 'Markdown',
			value: 'markdown',
			description: 'Text for people, such as for Obsidian: properties, headings, names and times',
		},
		{
			name: 'SubRip (SRT)',
			value: 'srt',
			description: 'Subtitles for the audio of the lifelog',
		},
		{
			name: 'Text',
			value: 'text',
			description: 'The transcript, one line for each utterance',
		},
		{
			name: 'WebVTT',
			value: 'vtt',
			description: 'Subtitles with voices, for players on the web',
		},
	],
	default: ['markdown'],
	required: true,
	description: 'Formats to write each lifelog in, one file each',
});

export const description: INodeProperties[] = [
	exportFromParameter,
	...ifChosen(
		'exportFrom',
		'lifelog',
		lifelogIdParameters(
			'The lifelog to turn into files. Its ID is the id that a list or a search returns.',
		),
	),
	...ifChosen('exportFrom', 'service', [...periodParameters, ...limitParameters, filtersParameter]),
	fileFormatsParameter,
	binaryPropertyParameter,
	optionsOf([
		fileNamesOption,
		maxWaitOption,
		{
			...timezoneOption,
			description:
				'IANA name of the time zone for the period, file names and times in JSON. Without it, times in JSON are in UTC, and the others in the time zone of the workflow. Times in Markdown are always in that of the workflow. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
		},
	]),
];

/**
 * Writes lifelogs as files (specification, sections 4.2 and 4.3).
 *
 * @returns One item for each lifelog and format: the file, its place in an archive, its size in
 *   bytes and its SHA-256.
 * @throws NodeOperationError if the input isn't a lifelog; NodeApiError if a lifelog can't be read or
 *   doesn't say when it begins.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const formats = readFormats(this, itemIndex);
	const property = readBinaryProperty(this, itemIndex);
	const options = readCollection(this, 'options', itemIndex);
	const zoneOfNames = readZone(this, options);
	const zoneOfJson = options.timezone === undefined ? 'UTC' : zoneOfNames;
	const zone = readZone(this);
	const names = readChoice(this, fileNamesOption, options);
	const items: INodeExecutionData[] = [];
	for await (const { lifelog, askedIn } of lifelogsToExport(this, api, itemIndex)) {
		const written = inZone(lifelog, askedIn, zoneOfJson);
		const start = instantOf(written.startTime, zoneOfJson);
		const name =
			names === 'archive' || start === undefined
				? undefined
				: nameInRun(api, (nth) =>
						readableName(start, zoneOfNames, titleOf(written) || 'Untitled', nth),
					);
		for (const format of formats) {
			items.push(await fileItem(this, api, written, format, { zone, property, name }));
		}
	}
	return items;
}

/** A lifelog with contents, and the zone of its times without offset. */
interface Source {
	lifelog: Lifelog;
	askedIn: string;
}

async function* lifelogsToExport(
	context: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): AsyncGenerator<Source> {
	const from = readChoice(context, exportFromParameter, itemIndex);
	if (from === 'lifelog') {
		yield await readWhole(api, readId(context, lifelogIdParameter, itemIndex, 'lifelog'));
	} else if (from === 'input') {
		const lifelog = inputLifelog(context, itemIndex);
		if (isWhole(lifelog)) yield { lifelog, askedIn: readZone(context) };
		else yield await readWhole(api, idOfInput(context, lifelog));
	} else {
		yield* listed(context, api, itemIndex);
	}
}

/** Page by page, because all lifelogs together may not fit into memory. */
async function* listed(
	context: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): AsyncGenerator<Source> {
	const limit = readLimit(context, itemIndex);
	const { query, isWanted } = readFilters(context, itemIndex);
	const pageSize = Math.min(limit, MAX_PAGE_SIZE_WITH_CONTENTS);
	const listing = { name: 'lifelogs' as const, query: { ...query, ...EVERY_PART }, pageSize };
	let count = 0;
	for await (const page of pages<Lifelog>(api, listing)) {
		const wanted = page.filter(isWanted).slice(0, limit - count);
		const sources = await mapConcurrent(api, wanted, MAX_CONCURRENT_READS, async (own, lifelog) => {
			// A service may leave contents out of lists.
			const hasContents = lifelog.contents?.length > 0;
			if (hasContents) return { lifelog, askedIn: query.timezone };
			return await unlessDeleted(api, readWhole(own, lifelog.id));
		});
		yield* sources.filter((source) => source !== undefined);
		count += wanted.length;
		if (count === limit) break;
	}
	if (count > 0) hintPeriod(api, query);
	else hintOfNone(api, listResource('lifelogs', query));
}

async function readWhole(api: Api, id: string): Promise<Source> {
	const lifelog = await getLifelog(api, id, { timezone: 'UTC', ...EVERY_PART });
	return { lifelog, askedIn: 'UTC' };
}

export function readsInput(context: IExecuteFunctions, itemIndex: number): boolean {
	return readChoice(context, exportFromParameter, itemIndex) === 'input';
}

function readFormats(context: IExecuteFunctions, itemIndex: number): FileFormat[] {
	const formats = readChoices(context, fileFormatsParameter, itemIndex);
	if (formats.length === 0) {
		throw inputError(context, "'File Formats' is empty", 'Choose one or more from the list.');
	}
	return formats;
}

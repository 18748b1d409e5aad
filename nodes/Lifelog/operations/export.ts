import { createHash } from 'node:crypto';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import type { Lifelog } from '../../../lifelog/api.ts';
import { mapConcurrent, MAX_CONCURRENT_READS } from '../../shared/transport/concurrency';
import { contentNodes, titleOf } from '../../../lifelog/contents.ts';
import {
	binaryPropertyParameter,
	limitParameters,
	maxWaitOption,
	optionsOf,
	timezoneOption,
	withCondition,
} from '../../shared/parameters/descriptions';
import { inputError, listResource } from '../../shared/errors/nodeErrors';
import { unusableAnswerError } from '../../shared/errors/status';
import { fileNamesOption, nameInRun, readFileNames } from '../../shared/parameters/fileNames';
import { hintOfNone } from '../../shared/errors/hints';
import { lifelogIdParameters, readId } from '../../shared/parameters/resourceLocator';
import { instantOf } from '../../../lifelog/times.ts';
import {
	appExportPath,
	entryPath,
	isId,
	isSafePathSegment,
	readableName,
} from '../../../lifelog/names.ts';
import { EVERY_PART, getLifelog, unlessDeleted } from '../../shared/api/entries';
import { MAX_PAGE_SIZE_WITH_CONTENTS, pages } from '../../shared/transport/pagination';
import {
	readBinaryProperty,
	readChoiceOf,
	readChoices,
	readCollection,
	readLimit,
	readZone,
} from '../../shared/parameters/read';
import { filtersParameter, hintPeriod, periodParameters, readFilters } from '../parameters/filters';
import {
	FILE_FORMATS,
	type FileFormat,
	inZone,
	writeLifelog,
} from '../../../lifelog/files/formats.ts';

const FROM = ['service', 'lifelog', 'input'] as const;
/** Fields of the trigger and other operations, which the API doesn't have. */
const BESIDE_THE_API = ['changeType', 'eventKey', 'incomplete'];
/** Fields that only simplified or selected output has. */
const OF_A_PART = ['durationMs', 'speakers', 'headings', 'excerpt', 'isTruncated'];
/** Fields that the API's object always has. */
const OF_THE_WHOLE = ['title', 'startTime', 'endTime', 'isStarred', 'updatedAt'];

const shownFor = (exportFrom: string, properties: INodeProperties[]) =>
	withCondition({ show: { exportFrom: [exportFrom] } }, properties);

export const description: INodeProperties[] = [
	{
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
	},
	...shownFor(
		'lifelog',
		lifelogIdParameters(
			'The lifelog to turn into files. Its ID is the id that a list or a search returns.',
		),
	),
	...shownFor('service', [...periodParameters, ...limitParameters, filtersParameter]),
	{
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
	},
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
	const { timezone, fileNames } = readCollection(this, 'options', itemIndex);
	const zoneOfJson = timezone === undefined ? 'UTC' : readZone(this, timezone);
	const zone = readZone(this, undefined);
	const names = readFileNames(this, fileNames);
	const zoneOfNames = readZone(this, timezone);
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
	const from = readChoiceOf(context, 'exportFrom', itemIndex, FROM);
	if (from === 'lifelog') {
		yield await readWhole(api, readId(context, 'lifelogId', itemIndex, 'lifelog'));
	} else if (from === 'input') {
		const lifelog = inputLifelog(context, itemIndex);
		if (isWhole(lifelog)) yield { lifelog, askedIn: readZone(context, undefined) };
		else yield await readWhole(api, safeIdOf(context, lifelog));
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
	return readChoiceOf(context, 'exportFrom', itemIndex, FROM) === 'input';
}

function inputLifelog(context: IExecuteFunctions, itemIndex: number): Lifelog {
	const json = { ...context.getInputData()[itemIndex].json };
	if (!isId(json.id)) {
		throw inputError(
			context,
			'The input is not a lifelog: it has no ID',
			"Connect the Lifelog Trigger or Get Many Lifelogs, or choose another 'Export From'.",
		);
	}
	for (const name of BESIDE_THE_API) delete json[name];
	return json as unknown as Lifelog;
}

function safeIdOf(context: IExecuteFunctions, { id }: Lifelog): string {
	if (isSafePathSegment(id)) return id;
	throw inputError(
		context,
		`"${id}" is not the ID of a lifelog`,
		"Use the field id that a list or a search returns, or choose another 'Export From'. Nothing was sent.",
	);
}

/**
 * Whether the input is the API's object with contents, not some of its fields. A title is the first
 * heading, so contents without headings are incomplete (specification, sections 2.1 and 4.2).
 */
function isWhole(lifelog: Lifelog): boolean {
	const nodes = [...contentNodes(lifelog.contents)];
	const hasHeadings = nodes.some(
		({ type }) => typeof type === 'string' && type.startsWith('heading'),
	);
	const isPart =
		OF_A_PART.some((name) => name in lifelog) || OF_THE_WHOLE.some((name) => !(name in lifelog));
	return hasHeadings && typeof lifelog.markdown === 'string' && !isPart;
}

/** @param settings Its `name` is without extension; undefined for the name in an archive. */
async function fileItem(
	context: IExecuteFunctions,
	api: Api,
	lifelog: Lifelog,
	format: FileFormat,
	{ zone, property, name }: { zone: string; property: string; name?: string },
): Promise<INodeExecutionData> {
	const file = writeLifelog(lifelog, format, zone);
	if (!file) {
		const resource = { noun: 'lifelog', id: lifelog.id };
		throw unusableAnswerError(api, resource, {}, 'the lifelog does not say when it begins');
	}
	const { extension, mimeType, startMs } = file;
	const isAppExport = format === 'appExport';
	const placeOf = (nth: number) =>
		isAppExport
			? appExportPath(startMs, titleOf(lifelog), nth)
			: entryPath('lifelogs', lifelog.id, startMs, sha256, nth);
	const place = nameInRun(api, placeOf, lifelog.id);
	const path = `${place}${extension}`;
	const bytes = Buffer.from(file.content);
	const nameInPlace = place.slice(place.lastIndexOf('/') + 1);
	// Tools know a file of the app by its name.
	const fileName = `${isAppExport ? nameInPlace : (name ?? nameInPlace)}${extension}`;
	const { id: lifelogId, title, startTime, endTime, updatedAt, isStarred } = lifelog;
	const json: IDataObject = {
		...{ fileName, path, mimeType, fileSize: bytes.length },
		sha256: sha256(bytes),
		...{ format, lifelogId, title, startTime, endTime, updatedAt, isStarred },
	};
	const binary = await context.helpers.prepareBinaryData(bytes, fileName, mimeType);
	return { json, binary: { [property]: binary } };
}

function sha256(content: string | Buffer): string {
	return createHash('sha256').update(content).digest('hex');
}

function readFormats(context: IExecuteFunctions, itemIndex: number): FileFormat[] {
	const value = context.getNodeParameter('fileFormats', itemIndex) as unknown;
	const formats = readChoices(context, value, FILE_FORMATS, 'File Formats');
	if (formats.length === 0) {
		throw inputError(context, "'File Formats' is empty", 'Choose one or more from the list.');
	}
	return formats;
}

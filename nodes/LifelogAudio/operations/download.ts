import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';

import type { Api } from '../../shared/transport/connection';
import {
	binaryPropertyParameter,
	maxWaitOption,
	optionsOf,
	timezoneOption,
} from '../../shared/parameters/descriptions';
import { dayParameters } from '../../shared/parameters/day';
import { inputError } from '../../shared/errors/errors';
import { fileNamesOption, readableName, readFileNames } from '../../shared/parameters/fileNames';
import { hint, hintOfNone } from '../../shared/errors/hints';
import { lifelogIdParameter } from '../../shared/api/lifelogs';
import {
	readBinaryProperty,
	readChoice,
	readCollection,
	readZone,
	toNumber,
} from '../../shared/parameters/read';
import { cutIntoChunks, type TimeSpan } from '../chunks';
import { archiveName, inZone } from '../files';
import { noAudioError } from '../noAudio';
import { itemsOf } from '../output';
import { downloadParts } from '../parts';
import { readRange, SOURCES } from '../range';
import { requireService } from '../service';

/** The longest range that one request may ask for (specification, section 4.5). */
const MAX_CHUNK_MINUTES = 120;
/** More than two years of the longest chunks. */
const MAX_CHUNKS = 10_000;
const MINUTE_MS = 60_000;
const IF_NO_AUDIO = ['error', 'report', 'skip'] as const;
const IF_PART_FAILS = ['error', 'report'] as const;

export const description: INodeProperties[] = [
	{
		displayName: 'Source',
		name: 'source',
		type: 'options',
		options: [
			{
				name: 'Lifelog',
				value: 'lifelog',
				description: 'The audio of one lifelog',
			},
			{
				name: 'Day',
				value: 'day',
				description: 'The audio of a whole day',
			},
			{
				name: 'Time Range',
				value: 'timeRange',
				description: 'The audio between two times, however long',
			},
		],
		default: 'lifelog',
		description: 'What to download the audio of: lifelog, day or timeRange',
	},
	...dayParameters.map((parameter) => ({
		...parameter,
		displayOptions: { show: { ...parameter.displayOptions?.show, source: ['day'] } },
	})),
	{
		displayName: 'Start',
		name: 'start',
		type: 'dateTime',
		default: '',
		required: true,
		displayOptions: { show: { source: ['timeRange'] } },
		description: 'When the audio begins: a date, or date and time such as 2026-03-29T10:00:00',
	},
	{
		displayName: 'End',
		name: 'end',
		type: 'dateTime',
		default: '',
		required: true,
		displayOptions: { show: { source: ['timeRange'] } },
		description:
			'When the audio ends: a date, which is its whole day, or date and time such as 2026-03-29T10:00:00',
	},
	{
		...lifelogIdParameter,
		displayOptions: { show: { source: ['lifelog'] } },
		description:
			'The lifelog whose audio to download, by its ID: the id that a list or a search gives',
	},
	binaryPropertyParameter,
	optionsOf([
		{
			displayName: 'Chunk Length (Minutes)',
			name: 'chunkMinutes',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: MAX_CHUNK_MINUTES, numberPrecision: 0 },
			default: MAX_CHUNK_MINUTES,
			description:
				'How long the audio of one file is at most. A longer range gives several items, one for each chunk that has audio.',
		},
		fileNamesOption,
		{
			displayName: 'If No Audio',
			name: 'ifNoAudio',
			type: 'options',
			options: [
				{ name: 'Fail', value: 'error', description: 'Stop with an error that names the range' },
				{
					name: 'Report',
					value: 'report',
					description: 'Give one item without a file that says so',
				},
				{ name: 'Skip', value: 'skip', description: 'Give no item' },
			],
			default: 'error',
			description: 'What to do when the whole range has no audio: error, report or skip',
		},
		{
			displayName: 'If Part Fails',
			name: 'ifPartFails',
			type: 'options',
			options: [
				{
					name: 'Fail',
					value: 'error',
					description: 'Stop with the error, and give none of the range',
				},
				{
					name: 'Report',
					value: 'report',
					description: 'Give what could be downloaded, and list what could not',
				},
			],
			default: 'error',
			description:
				'What to do when one of the chunks of a range cannot be downloaded: error or report. What concerns all of them, such as a refused API key, is an error in any case.',
		},
		maxWaitOption,
		{
			displayName: 'Padding (Seconds)',
			name: 'padding',
			type: 'number',
			typeOptions: { minValue: 0 },
			displayOptions: { show: { '/source': ['lifelog'] } },
			default: 0,
			description: 'How much audio to add before and after the lifelog',
		},
		timezoneOption,
	]),
];

/**
 * Downloads the audio of a range of time or of a lifelog, cut into chunks, into n8n's binary
 * storage (specification, section 4.5).
 *
 * @returns One item for each chunk that has audio, in order of time; where that is wanted, one
 *   without a file when nothing came.
 * @throws NodeApiError when a chunk fails, unless that is to be reported; when the whole range has
 *   no audio, unless that is to be reported or skipped.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const settings = readSettings(this, itemIndex);
	const { zone, chunkMs, property } = settings;
	const range = await readRange(this, api, itemIndex, settings);
	requireFewChunks(this, range, chunkMs);
	const chunks = cutIntoChunks(range, chunkMs);
	const parts = await downloadParts(this, api, chunks, {
		zone,
		mayFail: settings.ifPartFails === 'report',
		nameOf: (span, extension) =>
			settings.fileNames === 'archive'
				? archiveName(span, extension)
				: `${readableName(api, span.startMs, zone, range.title ?? 'Audio')}.${extension}`,
	});

	if (parts.stored.length + parts.failed.length === 0) {
		await requireService(api);
		const { startTime, endTime } = inZone(range, zone);
		if (settings.ifNoAudio === 'skip') {
			hintOfNone(api, `audio from ${startTime} to ${endTime}`);
			return [];
		}
		if (settings.ifNoAudio === 'error') {
			throw noAudioError(api, startTime, endTime);
		}
	}
	if (parts.failed.length > 0) {
		hint(
			api,
			'Some audio could not be downloaded: failedRanges of the first item lists it.',
			'warning',
		);
	}
	return itemsOf({ range, parts: chunks.length, zone, property }, parts);
}

/** The parameters that can be checked before any request. */
function readSettings(context: IExecuteFunctions, itemIndex: number) {
	const options = readCollection(context, 'options', itemIndex);
	const property = readBinaryProperty(context, itemIndex);
	const source = context.getNodeParameter('source', itemIndex);
	return {
		source: readChoice(context, source, SOURCES, 'Source'),
		property,
		zone: readZone(context, options.timezone),
		chunkMs: readChunkMs(context, options),
		padding: options.padding,
		fileNames: readFileNames(context, options.fileNames),
		ifNoAudio: readChoice(context, options.ifNoAudio ?? 'error', IF_NO_AUDIO, 'If No Audio'),
		ifPartFails: readChoice(
			context,
			options.ifPartFails ?? 'error',
			IF_PART_FAILS,
			'If Part Fails',
		),
	};
}

function readChunkMs(context: IExecuteFunctions, options: IDataObject): number {
	const minutes = toNumber(options.chunkMinutes ?? MAX_CHUNK_MINUTES);
	if (!Number.isInteger(minutes) || minutes < 1 || minutes > MAX_CHUNK_MINUTES) {
		throw inputError(
			context,
			`'Chunk Length' must be a whole number of minutes, 1 to ${MAX_CHUNK_MINUTES}`,
			'The service gives at most two hours of audio at once.',
		);
	}
	return minutes * MINUTE_MS;
}

/** A slip in a year must not become a download without end. */
function requireFewChunks(context: IExecuteFunctions, range: TimeSpan, chunkMs: number): void {
	const chunks = Math.ceil((range.endMs - range.startMs) / chunkMs);
	if (chunks <= MAX_CHUNKS) return;
	throw inputError(
		context,
		`The range is too long: it makes ${chunks} chunks, each a request, and ${MAX_CHUNKS} are the most`,
		"Check 'Start' and 'End', or download in several runs.",
	);
}

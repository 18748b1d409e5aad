import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	NodeApiError,
} from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import {
	binaryPropertyParameter,
	dayParameters,
	maxWaitOption,
	optionsOf,
	TIME_HINT,
	timezoneOption,
	withCondition,
} from '../../shared/parameters/descriptions';
import { apiError, inputError } from '../../shared/errors/nodeErrors';
import { fileNamesOption, nameInRun, readFileNames } from '../../shared/parameters/fileNames';
import { hint, hintOfNone } from '../../shared/errors/hints';
import { lifelogIdParameters } from '../../shared/parameters/resourceLocator';
import {
	readBinaryProperty,
	readChoice,
	readChoiceOf,
	readCollection,
	readNumber,
	readZone,
} from '../../shared/parameters/read';
import {
	archiveName,
	cutIntoChunks,
	downloadChunks,
	type Downloads,
	joinAdjacent,
	requireService,
	withTimes,
} from '../chunks';
import { readableName } from '../../../lifelog/names.ts';
import { MINUTE_MS } from '../../../lifelog/times.ts';
import { type AudioRange, readAudioRange, SOURCES, type TimeSpan } from '../range';

/** The maximum of one request (specification, section 4.5). */
const MAX_CHUNK_MINUTES = 120;
/** More than two years of chunks of two hours. */
const MAX_CHUNKS = 10_000;
const AUDIO_SOURCES = ['pendant', 'recordings'] as const;
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
		description: 'Source of the audio',
	},
	...withCondition({ show: { source: ['day'] } }, dayParameters),
	{
		displayName: 'Start',
		name: 'start',
		type: 'dateTime',
		default: '',
		required: true,
		displayOptions: { show: { source: ['timeRange'] } },
		description: 'Start of the audio',
		hint: TIME_HINT,
	},
	{
		displayName: 'End',
		name: 'end',
		type: 'dateTime',
		default: '',
		required: true,
		displayOptions: { show: { source: ['timeRange'] } },
		description: 'End of the audio. A date without a time includes that day.',
		hint: TIME_HINT,
	},
	...withCondition(
		{ show: { source: ['lifelog'] } },
		lifelogIdParameters(
			'The lifelog whose audio to download. Its ID is the id that a list or a search returns.',
		),
	),
	binaryPropertyParameter,
	optionsOf([
		{
			displayName: 'Audio Source',
			name: 'audioSource',
			type: 'options',
			options: [
				{ name: 'Pendant', value: 'pendant', description: 'Audio of the pendant' },
				{
					name: 'Recordings',
					value: 'recordings',
					description: 'Audio that you added to your lifelog-server',
				},
			],
			displayOptions: { show: { '/source': ['day', 'timeRange'] } },
			default: 'pendant',
			description: 'Device whose audio to download. Without this option, the service chooses.',
		},
		{
			displayName: 'Chunk Length (Minutes)',
			name: 'chunkMinutes',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: MAX_CHUNK_MINUTES, numberPrecision: 0 },
			default: MAX_CHUNK_MINUTES,
			description:
				'Maximum length of one file. A longer range returns one item for each chunk that has audio.',
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
					description: 'Return one item without a file',
				},
				{ name: 'Skip', value: 'skip', description: 'Return no item' },
			],
			default: 'error',
			description: 'Behavior if the entire range has no audio',
		},
		{
			displayName: 'If Part Fails',
			name: 'ifPartFails',
			type: 'options',
			options: [
				{
					name: 'Fail',
					value: 'error',
					description: 'Stop with the error, and return nothing of the range',
				},
				{
					name: 'Report',
					value: 'report',
					description: 'Return the downloaded chunks, and list the failed ones',
				},
			],
			default: 'error',
			description:
				"Behavior if a chunk of a range can't be downloaded. A failure of all chunks, such as a refused API key, always stops the node.",
		},
		maxWaitOption,
		{
			displayName: 'Padding (Seconds)',
			name: 'padding',
			type: 'number',
			typeOptions: { minValue: 0 },
			displayOptions: { show: { '/source': ['lifelog'] } },
			default: 0,
			description: 'Seconds of audio to add before and after the lifelog',
		},
		timezoneOption,
	]),
];

/**
 * Downloads audio, cut into chunks, into n8n's binary storage (specification, section 4.5).
 *
 * @returns One item for each chunk that has audio, in order of time.
 * @throws NodeApiError if a chunk fails or the whole range has no audio, unless the options say to
 *   report or skip that.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const options = readOptions(this, itemIndex);
	const { zone, chunkMs, property } = options;
	const range = await readAudioRange(this, api, itemIndex, options);
	requireFewChunks(this, range, chunkMs);
	const chunks = cutIntoChunks(range, chunkMs);
	const downloads = await downloadChunks(this, api, chunks, {
		zone,
		mayFail: options.ifPartFails === 'report',
		audioSource: options.source === 'lifelog' ? range.audioSource : options.audioSource,
		nameOf: (span) =>
			options.fileNames === 'archive'
				? archiveName(span)
				: `${nameInRun(api, (nth) => readableName(span.startMs, zone, range.title ?? 'Audio', nth))}.ogg`,
	});

	if (downloads.stored.length + downloads.failed.length === 0) {
		await requireService(api);
		const { startTime, endTime } = withTimes(range, zone);
		if (options.ifNoAudio === 'skip') {
			hintOfNone(api, { noun: `audio from ${startTime} to ${endTime}` });
			return [];
		}
		if (options.ifNoAudio === 'error') throw noAudioError(api, startTime, endTime);
	}
	if (downloads.failed.length > 0) {
		hint(
			api,
			'Some audio could not be downloaded: failedRanges of the first item lists it.',
			'warning',
		);
	}
	return itemsOf(range, downloads, { parts: chunks.length, zone, property });
}

function readOptions(context: IExecuteFunctions, itemIndex: number) {
	const options = readCollection(context, 'options', itemIndex);
	const property = readBinaryProperty(context, itemIndex);
	return {
		source: readChoiceOf(context, 'source', itemIndex, SOURCES),
		property,
		zone: readZone(context, options.timezone),
		audioSource: readAudioSource(context, options),
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

function readAudioSource(context: IExecuteFunctions, { audioSource }: IDataObject) {
	if (audioSource === undefined) return undefined;
	return readChoice(context, audioSource, AUDIO_SOURCES, 'Audio Source');
}

function readChunkMs(context: IExecuteFunctions, options: IDataObject): number {
	const { chunkMinutes = MAX_CHUNK_MINUTES } = options;
	const rule = { unit: 'minutes', isWhole: true, min: 1, max: MAX_CHUNK_MINUTES };
	return MINUTE_MS * readNumber(context, chunkMinutes, 'Chunk Length', rule);
}

/** A typo in a year must not start an endless download. */
function requireFewChunks(context: IExecuteFunctions, range: TimeSpan, chunkMs: number): void {
	const chunks = Math.ceil((range.endMs - range.startMs) / chunkMs);
	if (chunks <= MAX_CHUNKS) return;
	throw inputError(
		context,
		`The range is too long: it needs ${chunks} requests, and the maximum is ${MAX_CHUNKS}`,
		"Check 'Start' and 'End', or download in several runs.",
	);
}

function noAudioError(api: Api, start: string, end: string): NodeApiError {
	return apiError(
		api,
		`There is no audio from ${start} to ${end}`,
		[
			"Audio can be uploaded late: try again later. The option 'If No Audio' can return no item, or one without a file, instead of this error.",
		],
		{ httpCode: '404', failure: { cause: 'configuration-invalid' } },
	);
}

/**
 * Only the first item lists what is missing or failed, because a long range may have much of it. The
 * fields are in the order in which people read them.
 *
 * @param parts The number of all chunks, also of those without audio.
 */
function itemsOf(
	range: AudioRange,
	{ stored, missing, failed }: Downloads,
	{ parts, zone, property }: { parts: number; zone: string; property: string },
): INodeExecutionData[] {
	const { lifelogId } = range;
	const jsonOf = (span: TimeSpan, isFirst: boolean, file: IDataObject = {}) => {
		const { startMs, endMs, ...times } = withTimes(span, zone);
		const rangesOf = <T extends TimeSpan>(spans: T[]) =>
			isFirst ? joinAdjacent(spans).map((each) => ({ ...withTimes(each, zone), ...each })) : [];
		return {
			...{ ...times, ...file, parts, ...(lifelogId !== undefined && { lifelogId }) },
			...{ missingRanges: rangesOf(missing), failedRanges: rangesOf(failed) },
			...{ startMs, endMs },
		};
	};
	if (stored.length === 0) return [{ json: jsonOf(range, true) }];
	return stored.map(({ span, part, file, binary }, index) => ({
		json: jsonOf(span, index === 0, { ...file, part }),
		binary: { [property]: binary },
	}));
}

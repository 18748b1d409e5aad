import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	NodeApiError,
} from 'n8n-workflow';

import { readableName } from '../../../lifelog/names.ts';
import { MINUTE_MS } from '../../../lifelog/times.ts';
import type { Api } from '../../shared/auth/connection';
import { hint, hintOfNone } from '../../shared/errors/hints';
import { apiError, inputError } from '../../shared/errors/nodeErrors';
import {
	binaryPropertyParameter,
	readBinaryProperty,
} from '../../shared/parameters/binaryProperty';
import { fileNamesOption, nameInRun } from '../../shared/parameters/fileNames';
import { optionsOf } from '../../shared/parameters/lists';
import { maxWaitOption } from '../../shared/parameters/maxWait';
import {
	choices,
	readChoice,
	readChoiceIfSet,
	readCollection,
	readNumber,
} from '../../shared/parameters/read';
import { readZone, timezoneOption } from '../../shared/parameters/times';
import {
	archiveName,
	cutIntoChunks,
	downloadChunks,
	type Downloads,
	joinAdjacent,
	requireService,
	withTimes,
} from '../chunks';
import {
	type AudioRange,
	paddingOption,
	rangeParameters,
	readAudioRange,
	type TimeSpan,
} from '../range';

/** The maximum of one request (specification, section 4.5). */
const MAX_CHUNK_MINUTES = 120;
/** More than two years of chunks of two hours. */
const MAX_CHUNKS = 10_000;

const audioSourceOption = choices({
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
});

const ifNoAudioOption = choices({
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
});

const ifPartFailsOption = choices({
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
});

const chunkOption: INodeProperties = {
	displayName: 'Chunk Length (Minutes)',
	name: 'chunkMinutes',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: MAX_CHUNK_MINUTES, numberPrecision: 0 },
	default: MAX_CHUNK_MINUTES,
	description:
		'Maximum length of one file. A longer range returns one item for each chunk that has audio.',
};

export const description: INodeProperties[] = [
	...rangeParameters,
	binaryPropertyParameter,
	optionsOf([
		audioSourceOption,
		chunkOption,
		fileNamesOption,
		ifNoAudioOption,
		ifPartFailsOption,
		maxWaitOption,
		paddingOption,
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
	const options = readCollection(this, 'options', itemIndex);
	const property = readBinaryProperty(this, itemIndex);
	const zone = readZone(this, options);
	const audioSource = readChoiceIfSet(this, audioSourceOption, options);
	const chunkMs = MINUTE_MS * readNumber(this, chunkOption, options);
	const fileNames = readChoice(this, fileNamesOption, options);
	const ifNoAudio = readChoice(this, ifNoAudioOption, options);
	const ifPartFails = readChoice(this, ifPartFailsOption, options);
	const range = await readAudioRange(this, api, itemIndex, zone, options);
	requireFewChunks(this, range, chunkMs);
	const chunks = cutIntoChunks(range, chunkMs);
	const title = range.title ?? 'Audio';
	const downloads = await downloadChunks(this, api, chunks, {
		zone,
		mayFail: ifPartFails === 'report',
		audioSource: range.lifelogId === undefined ? audioSource : range.audioSource,
		nameOf: (span) =>
			fileNames === 'archive'
				? archiveName(span)
				: `${nameInRun(api, (nth) => readableName(span.startMs, zone, title, nth))}.ogg`,
	});
	if (downloads.stored.length + downloads.failed.length === 0) {
		await requireService(api);
		const { startTime, endTime } = withTimes(range, zone);
		if (ifNoAudio === 'error') throw noAudioError(api, startTime, endTime);
		if (ifNoAudio === 'skip') {
			hintOfNone(api, { noun: `audio from ${startTime} to ${endTime}` });
			return [];
		}
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
	const withZone = <T extends TimeSpan>(spans: T[]) =>
		joinAdjacent(spans).map((span) => ({ ...withTimes(span, zone), ...span }));
	const jsonOf = (span: TimeSpan, isFirst: boolean, file: IDataObject = {}): IDataObject => {
		const { startMs, endMs, startTime, endTime } = withTimes(span, zone);
		return {
			startTime,
			endTime,
			...file,
			parts,
			...(lifelogId !== undefined && { lifelogId }),
			missingRanges: isFirst ? withZone(missing) : [],
			failedRanges: isFirst ? withZone(failed) : [],
			startMs,
			endMs,
		};
	};
	if (stored.length === 0) return [{ json: jsonOf(range, true) }];
	return stored.map(({ span, part, file, binary }, index) => ({
		json: jsonOf(span, index === 0, { ...file, part }),
		binary: { [property]: binary },
	}));
}

import type {
	IBinaryData,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';

import type { Api } from '../../shared/api';
import type { Answer } from '../../shared/errors';
import { inputError, noAudioError, unusableAnswerError } from '../../shared/errors';
import type { IncomingBody } from '../../shared/incoming-body';
import { lifelogIdParameter } from '../../shared/lifelogs';
import {
	forOperation,
	maxWaitOption,
	readCollection,
	readText,
	readZone,
	timezoneOption,
	toNumber,
} from '../../shared/parameters';
import { download, readWords } from '../../shared/request';
import { cutIntoChunks, joinAdjacent, type TimeSpan } from '../chunks';
import { audioType, beginsAs, fileName, inZone } from '../files';
import { readRange } from '../range';

/** The longest range that one request may ask for (specification, section 4.5). */
const LONGEST_CHUNK_MINUTES = 120;
/** More than two years of the longest chunks. */
const MOST_CHUNKS = 10_000;
const MINUTE_MS = 60_000;

export const description: INodeProperties[] = forOperation('download', [
	{
		displayName: 'Source',
		name: 'source',
		type: 'options',
		options: [
			{
				name: 'Lifelog',
				value: 'lifelog',
				description: 'What was recorded while a lifelog lasted',
			},
			{
				name: 'Time Range',
				value: 'timeRange',
				description: 'What was recorded between two times, however long',
			},
		],
		default: 'lifelog',
		description: 'What to download the audio of',
	},
	{
		displayName: 'Start',
		name: 'start',
		type: 'dateTime',
		default: '',
		required: true,
		displayOptions: { show: { source: ['timeRange'] } },
		description: 'When the audio begins',
	},
	{
		displayName: 'End',
		name: 'end',
		type: 'dateTime',
		default: '',
		required: true,
		displayOptions: { show: { source: ['timeRange'] } },
		description: 'When the audio ends',
	},
	{
		...lifelogIdParameter,
		displayOptions: { show: { source: ['lifelog'] } },
		description: 'The lifelog whose audio to download',
	},
	{
		displayName: 'Put Output File in Field',
		name: 'binaryPropertyName',
		type: 'string',
		default: 'data',
		required: true,
		hint: 'The name of the output binary field to put the file in',
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [
			{
				displayName: 'Chunk Length (Minutes)',
				name: 'chunkMinutes',
				type: 'number',
				typeOptions: { minValue: 1, maxValue: LONGEST_CHUNK_MINUTES, numberPrecision: 0 },
				default: LONGEST_CHUNK_MINUTES,
				description:
					'How long the audio of one file is at most. A longer range gives several items, one for each chunk that has audio.',
			},
			{
				displayName: 'If No Audio',
				name: 'ifNoAudio',
				type: 'options',
				options: [
					{ name: 'Fail', value: 'error', description: 'Stop with an error that names the range' },
					{ name: 'Skip', value: 'skip', description: 'Give no item' },
				],
				default: 'error',
				description: 'What to do when the whole range has no audio',
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
		],
	},
]);

/**
 * Downloads the audio of a range of time or of a lifelog, cut into chunks, into n8n's binary
 * storage (specification, section 4.5).
 *
 * @returns One item for each chunk that has audio, in order of time.
 * @throws NodeApiError when the whole range has none, unless that is to be skipped.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const options = readCollection(this, 'options', itemIndex);
	const zone = readZone(this, options.timezone);
	const chunkMs = readChunkMs(this, options);
	const property = readText(this, 'binaryPropertyName', itemIndex, 'Put Output File in Field');
	if (property === '') {
		throw inputError(
			this,
			'Put Output File in Field is empty',
			'Give the binary field a name, such as data.',
		);
	}

	const { lifelogId, ...range } = await readRange(this, api, itemIndex, options, zone);
	requireFewChunks(this, range, chunkMs);
	const chunks = cutIntoChunks(range, chunkMs);
	const items: INodeExecutionData[] = [];
	const missing: TimeSpan[] = [];
	for (const [index, chunk] of chunks.entries()) {
		const span = inZone(chunk, zone);
		const stored = await downloadChunk(this, api, span);
		if (stored === undefined) {
			missing.push(chunk);
			continue;
		}
		const position: IDataObject = { ...span, part: index + 1, parts: chunks.length };
		items.push({
			json: { ...position, ...(lifelogId && { lifelogId }), ...stored.file },
			binary: { [property]: stored.binary },
		});
	}

	if (items.length === 0 && options.ifNoAudio !== 'skip') {
		const [{ startTime, endTime }] = joinAdjacent(chunks).map((span) => inZone(span, zone));
		throw noAudioError(api, startTime, endTime);
	}
	const missingRanges = joinAdjacent(missing).map((span) => inZone(span, zone));
	for (const { json } of items) json.missingRanges = missingRanges;
	return items;
}

function readChunkMs(context: IExecuteFunctions, options: IDataObject): number {
	const minutes = toNumber(options.chunkMinutes ?? LONGEST_CHUNK_MINUTES);
	if (!Number.isInteger(minutes) || minutes < 1 || minutes > LONGEST_CHUNK_MINUTES) {
		throw inputError(
			context,
			`Chunk Length must be a whole number of minutes, 1 to ${LONGEST_CHUNK_MINUTES}`,
			'The service gives at most two hours of audio at once.',
		);
	}
	return minutes * MINUTE_MS;
}

/** A slip in a year must not become a download without end. */
function requireFewChunks(context: IExecuteFunctions, range: TimeSpan, chunkMs: number): void {
	const chunks = Math.ceil((range.endMs - range.startMs) / chunkMs);
	if (chunks <= MOST_CHUNKS) return;
	throw inputError(
		context,
		`The range is too long: it makes ${chunks} chunks, each a request, and ${MOST_CHUNKS} are the most`,
		'Check Start and End, or download in several runs.',
	);
}

interface StoredAudio {
	binary: IBinaryData;
	/** What the output says of the file; its size is in bytes. */
	file: { fileName: string; mimeType: string; fileSize: number };
}

/** @returns undefined where there is no audio. */
async function downloadChunk(
	context: IExecuteFunctions,
	api: Api,
	chunk: ReturnType<typeof inZone>,
): Promise<StoredAudio | undefined> {
	const { startMs, endMs, startTime, endTime } = chunk;
	const subject = { noun: `audio from ${startTime} to ${endTime}` };
	const store = async (body: IncomingBody, answer: Answer): Promise<StoredAudio> => {
		const contentType = answer.headers['content-type'];
		const type = audioType(contentType);
		const head = await body.peek(4);
		if (head.length === 0 || !type || !beginsAs(type, head)) {
			const problem =
				head.length === 0 ? 'it is empty' : `it is not audio${type ? '' : ` but ${contentType}`}`;
			const said = { ...answer, body: await readWords(body) };
			throw unusableAnswerError(api, subject, said, problem);
		}
		const name = fileName(chunk, type.extension);
		const { mimeType } = type;
		const binary = await context.helpers.prepareBinaryData(body.stream(), name, mimeType);
		return { binary, file: { fileName: name, mimeType, fileSize: body.received } };
	};
	return await download(api, '/v1/download-audio', { startMs, endMs }, subject, store);
}

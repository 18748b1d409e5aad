import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { FormData } from 'undici';
import { isCounted } from '../../lifelog/speakers.ts';
import { Endpoint, EndpointError, type EndpointOptions } from '../util/modelEndpoint.mts';
import { ApiError } from '../util/errors.mts';
import type { ChunkFormat } from './encoders.mts';
import { withoutEchoes } from './prompt.mts';
import { checkSegments, NoWordsError, oneLine, toNumber } from './segments.mts';
import type { RawSegment, Segment } from './segments.mts';
import { isWebVtt, readSrt, readVtt } from './subtitles.mts';
import { readTranscription } from './transcript.mts';

/** Settings of a transcription endpoint. */
export interface TranscriberOptions extends EndpointOptions {
	/** In the endpoint's notation, such as `de`; by default it is detected. */
	language?: string;
	/** Expected words, such as names. */
	prompt?: string;
	format: ChunkFormat;
}

interface ChunkOptions {
	durationMs: number;
	signal?: AbortSignal;
}

type Fields = Record<string, unknown>;

/** About 200 times the answer for a chunk of 23 minutes with word times. */
const MAX_ANSWER_BYTES = 32 * 2 ** 20;
/** On a small machine, a model may take longer than the speech. */
const TIMEOUT_MS = 60 * 60_000;

/** An OpenAI-compatible transcription endpoint. */
export class Transcriber {
	readonly format: ChunkFormat;
	readonly #endpoint: Endpoint;
	readonly #options: TranscriberOptions;
	readonly #timeoutMs: number;

	/** Throws an Error that says what to do for an invalid address or key. */
	constructor(options: TranscriberOptions, timeoutMs = TIMEOUT_MS) {
		this.#endpoint = new Endpoint(options, 'transcription');
		this.#options = options;
		this.#timeoutMs = timeoutMs;
		this.format = options.format;
	}

	/**
	 * Transcribes a chunk. Returns segments by start, in ms from the chunk's beginning; empty without
	 * speech. An endpoint without times returns one segment. If it rejects the expected words or the
	 * request for times, it is asked without them.
	 *
	 * @throws EndpointError: with `isRefusal` if the endpoint never accepts the chunk; otherwise a
	 *   retry may succeed. The reason of `signal` if aborted.
	 */
	async transcribe(
		path: string,
		{
			durationMs,
			signal,
			language = this.#options.language,
			prompt = this.#options.prompt,
		}: ChunkOptions & Pick<TranscriberOptions, 'language' | 'prompt'>,
	): Promise<Segment[]> {
		const { model } = this.#options;
		const isDiarizing = model.endsWith('-diarize');
		const chunking_strategy = isDiarizing ? 'auto' : undefined;
		const ask = async (response_format: string, expected?: string) => {
			const fields = { model, language, prompt: expected, response_format, chunking_strategy };
			const options = { timeoutMs: this.#timeoutMs, signal, parse: readAnswer };
			const answer = await post(this.#endpoint, await formOf(path, fields), options);
			const segments = segmentsOf(answer, durationMs);
			return expected === undefined ? segments : withoutEchoes(segments, expected);
		};
		const askFor = async (format: string) => {
			if (isDiarizing || !prompt) return await ask(format);
			try {
				return await ask(format, prompt);
			} catch (error) {
				if (!isRefusal(error) || error.isTooLarge) throw error;
			}
			return await ask(format);
		};
		try {
			return await askFor(isDiarizing ? 'diarized_json' : 'verbose_json');
		} catch (error) {
			if (!isRefusal(error)) throw error;
		}
		return await askFor('json');
	}
}

const isRefusal = (error: unknown): error is EndpointError =>
	error instanceof EndpointError && error.isRefusal;

/** The transcript of a part of a recording. */
export interface Heard {
	/** Times are relative to the part. */
	segments: Segment[];
	/** Whether a diarizer has named its speakers. */
	isDiarized: boolean;
}

/** A speaker's turn, in ms from the beginning of a chunk. */
interface Turn {
	startMs: number;
	endMs: number;
	speaker: string;
}

/** Why a diarization endpoint gave no usable answer. */
export class DiarizationError extends EndpointError {}

/** A diarization endpoint like that of speaches. */
export class Diarizer {
	readonly #endpoint: Endpoint;
	readonly #model: string;

	/** Throws an Error that says what to do for an invalid address or key. */
	constructor(options: EndpointOptions) {
		this.#endpoint = new Endpoint(options, 'diarization');
		this.#model = options.model;
	}

	/**
	 * Returns the speakers' turns in a chunk. Missing times are filled in like those of segments.
	 * Turns without a name are dropped if there are others.
	 *
	 * @throws DiarizationError or the reason of `signal`, like `Transcriber.transcribe`.
	 */
	async diarize(path: string, { durationMs, signal }: ChunkOptions): Promise<Turn[]> {
		const form = await formOf(path, { model: this.#model });
		const answer = await post(this.#endpoint, form, {
			...{ timeoutMs: TIMEOUT_MS, signal, parse: readAnswer },
		}).catch((error: unknown) => {
			throw error instanceof EndpointError ? new DiarizationError(error.message, error) : error;
		});
		const { segments } = fieldsOf(answer);
		const turns = Array.isArray(segments) ? turnsOf(segments, durationMs) : [];
		if (turns.length === 0 && !(Array.isArray(segments) && segments.length === 0)) {
			throw new DiarizationError("doesn't say who speaks when", { isUnusable: true });
		}
		return turns;
	}
}

function turnsOf(segments: unknown[], durationMs: number): Turn[] {
	const raw = segments.map(fieldsOf).filter(({ start, end }) => isTime(start) || isTime(end));
	const turns = raw.map(({ start, end, speaker, speaker_id }) => {
		// A turn has no words, but without any it would be dropped.
		return { text: 'words', start, end, speaker: speaker ?? speaker_id };
	});
	if (turns.length === 0) return [];
	return checkSegments(turns, {
		...{ lengthMs: durationMs, withinMs: durationMs, isUnlimited: true },
	}).flatMap(({ startMs, endMs, speaker }) =>
		speaker === undefined ? [] : { startMs, endMs, speaker },
	);
}

const isTime = (value: unknown) => toNumber(value) !== undefined;

/**
 * Names each segment after the speaker with the most time in it. Without overlap, a segment keeps
 * its speaker.
 */
export function nameSpeakers(segments: Segment[], turns: Turn[]): Segment[] {
	return segments.map((segment) => {
		const spoken = new Map<string, number>();
		for (const { speaker, startMs, endMs } of turns) {
			const overlap = Math.min(endMs, segment.endMs) - Math.max(startMs, segment.startMs);
			if (overlap > 0) spoken.set(speaker, (spoken.get(speaker) ?? 0) + overlap);
		}
		const [most] = [...spoken].sort(([, a], [, b]) => b - a);
		return most ? { ...segment, speaker: most[0] } : segment;
	});
}

/**
 * Joins the segments of chunks, in ms from the start of the recording. If there are several chunks,
 * labels get the chunk's number, such as `SPEAKER_00 (2)`. Names stay.
 *
 * @param parts All chunks in order, including those without words.
 */
export function joinChunks(parts: { offsetMs: number; segments: Segment[] }[]): Segment[] {
	return parts.flatMap(({ offsetMs, segments }, index) =>
		segments.map((segment) => {
			// The same label may be another person in the next chunk.
			const isLabel = segment.speaker !== undefined && isCounted(segment.speaker);
			return {
				...segment,
				startMs: segment.startMs + offsetMs,
				endMs: segment.endMs + offsetMs,
				...(isLabel && parts.length > 1 && { speaker: `${segment.speaker} (${index + 1})` }),
			};
		}),
	);
}

const TYPES: Record<string, string> = { mp3: 'audio/mpeg', wav: 'audio/wav' };

/** A form with a file that is streamed from the disk. Fields without a value are omitted. */
async function formOf(path: string, fields: Fields): Promise<FormData> {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) {
		if (value !== undefined) form.append(name, value);
	}
	const name = basename(path);
	form.append('file', await openAsBlob(path, { type: TYPES[name.split('.').at(-1)!] }), name);
	return form;
}

async function post(
	endpoint: Endpoint,
	form: FormData,
	options: Pick<Parameters<Endpoint['post']>[1], 'timeoutMs' | 'signal' | 'parse'>,
): Promise<unknown> {
	try {
		return await endpoint.post(form, { ...options, maxBytes: MAX_ANSWER_BYTES });
	} catch (error) {
		options.signal?.throwIfAborted();
		throw error;
	}
}

/** A JSON string, or a number that only Python and C write. */
const STRING_OR_NO_NUMBER = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?\b(?:nan|inf(?:inity)?)\b/gi;
/**
 * The start of a page, of events or of incomplete JSON, but not `[Music]`; and characters that text
 * never has.
 */
const NO_TEXT = /^\s*(?:[<{]|\[(?![\p{L}♪][^\]\n]*\])|(?:data|event):)|[^\P{Cc}\s]|\ufffd/u;

/**
 * Parses an endpoint's answer: JSON, which may contain NaN, or text. Throws a SyntaxError for
 * anything else.
 */
function readAnswer(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		const numbered = text.replace(STRING_OR_NO_NUMBER, (found) =>
			found.startsWith('"') ? found : 'null',
		);
		if (numbered !== text && /^\s*[{[]/.test(text)) return JSON.parse(numbered);
		if (text.trim() === '' || NO_TEXT.test(text)) throw error;
		return text;
	}
}

/** Throws an EndpointError if the answer isn't a transcription. */
function segmentsOf(answer: unknown, durationMs: number): Segment[] {
	try {
		if (typeof answer !== 'string') return segmentsOfJson(answer, durationMs);
		const lines = answer.replace(/\r\n?/g, '\n');
		if (isWebVtt(lines)) return segmentsOfSubtitles(readVtt(lines), durationMs);
		if (SRT_TIMES.test(lines)) return segmentsOfSubtitles(readSrt(lines), durationMs);
		return segmentsOfJson({ text: lines }, durationMs);
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		if (error instanceof NoWordsError) return [];
		throw new EndpointError("didn't return a transcription", { isUnusable: true });
	}
}

const SRT_TIMES = /^[ \t]*(?:\d+:)?\d{1,2}:\d{1,2}[,.]\d{1,3} --> /m;

const segmentsOfSubtitles = (subtitles: RawSegment[], withinMs: number) =>
	checkSegments(subtitles, { withinMs, isUnlimited: true });

function segmentsOfJson(answer: unknown, durationMs: number): Segment[] {
	const { text, segments, words } = Array.isArray(answer) ? {} : fieldsOf(answer);
	const hasTimes = [segments, words].some((list) => Array.isArray(list) && list.length > 0);
	if (!hasTimes && Array.isArray(segments ?? words) && text === undefined) return [];
	const line = typeof text === 'string' ? oneLine(text) : '';
	const whole = line === '' ? [] : [{ text: line, startMs: 0, endMs: durationMs }];
	if (!hasTimes && typeof text === 'string') return whole;
	try {
		return readTranscription({ segments, words }, durationMs).segments;
	} catch (error) {
		if (error instanceof ApiError && whole.length > 0) return whole;
		throw error;
	}
}

const fieldsOf = (value: unknown): Fields =>
	typeof value === 'object' && value !== null ? (value as Fields) : {};

import { ApiError } from '../util/errors.mts';
import { HOUR_MS } from '../util/durations.mts';

/** An utterance. Times are milliseconds from the start of the transcript. */
export interface Segment {
	text: string;
	startMs: number;
	endMs: number;
	speaker?: string;
	/** Whether the wearer of the device said it. */
	isWearer?: boolean;
}

/** A transcript of any format, with optional fields beside the words. */
export interface Transcript {
	/** By start; none is empty. */
	segments: Segment[];
	/** ISO 8601. */
	startTime?: string;
	endTime?: string;
	title?: string;
	externalId?: string;
}

/** An unchecked segment as received. */
export interface RawSegment {
	text: unknown;
	start: unknown;
	end: unknown;
	speaker?: unknown;
	isWearer?: boolean;
}

type PartlyTimed = Omit<Segment, 'startMs' | 'endMs'> & Partial<Segment>;

/** Of a lifelog. */
export const MAX_TITLE_LENGTH = 200;
const MAX_SEGMENTS = 20_000;
/** Per segment, and in total: about 40 hours of speech. The index reads a lifelog as a whole. */
const MAX_SEGMENT_LENGTH = 20_000;
const MAX_LENGTH = 2_000_000;
const MAX_SPEAKER_LENGTH = 200;
/** Deviations up to this are corrected: times before the beginning, and ends before their start. */
const SLACK_MS = 100;
/** The index assumes that no conversation is longer. */
export const MAX_HOURS = 48;

/** An error about a transcript. It quotes nothing of it. */
export const badTranscript = (problem: string) => new ApiError(400, `transcript: ${problem}`);

/** An error for a transcript without speech. */
export class NoWordsError extends ApiError {
	constructor() {
		super(400, 'transcript: has no words');
	}
}

interface Times {
	/** Unit of `start` and `end`. */
	unitsPerSecond?: number;
	/** Length of the audio, if known. */
	lengthMs?: number;
	/**
	 * Lenient reading for devices and models, whose output nobody can correct. Times outside 0 and
	 * this end are moved inside, no segment ends before it starts, and unusable times count as
	 * missing. Segments without words are dropped if there are others.
	 */
	withinMs?: number;
	/** Whether to allow any number of segments. */
	isUnlimited?: boolean;
}

/**
 * Checks and sorts segments. Those without words are dropped. A missing start becomes the previous
 * end; a missing end becomes the next start or the end of the audio.
 *
 * @throws ApiError (400) with the number of the wrong segment, counted from 1, and what to provide.
 */
export function checkSegments(raw: RawSegment[], times: Times = {}): Segment[] {
	const { withinMs, isUnlimited } = times;
	if (raw.length > MAX_SEGMENTS && !isUnlimited) {
		throw badTranscript(`has ${raw.length} segments. Send at most ${MAX_SEGMENTS}`);
	}
	const usable = withinMs === undefined ? raw : raw.filter(({ text }) => typeof text === 'string');
	// If none is usable, the error is about the first one.
	const read = (usable.length > 0 ? usable : raw).map((segment, index) =>
		checkSegment(segment, index + 1, times),
	);
	const segments = withTimes(read, times).filter(({ text }) => text !== '');
	if (segments.length === 0) throw new NoWordsError();
	const length = segments.reduce((sum, { text }) => sum + text.length, 0);
	if (length > MAX_LENGTH && !isUnlimited) {
		throw badTranscript(`has more than ${MAX_LENGTH} characters. Split it into several lifelogs`);
	}
	return segments;
}

/** Fills in missing times, and sorts by start. */
function withTimes(segments: PartlyTimed[], { lengthMs, withinMs = Infinity }: Times): Segment[] {
	let beforeMs = 0;
	const started = segments.map(({ startMs, endMs, ...segment }) => {
		startMs ??= Math.min(beforeMs, endMs ?? Infinity);
		beforeMs = endMs ?? startMs;
		return { ...segment, startMs, endMs };
	});
	started.sort((a, b) => a.startMs - b.startMs);
	const isPossible = lengthMs !== undefined && lengthMs <= MAX_HOURS * HOUR_MS;
	let nextMs = Infinity;
	let afterMs = isPossible ? Math.min(lengthMs, withinMs) : 0;
	const timed = started.reverse().map(({ startMs, endMs, ...segment }) => {
		// Segments with the same start share the next start.
		if (startMs < nextMs && nextMs < Infinity) afterMs = nextMs;
		nextMs = startMs;
		return { ...segment, startMs, endMs: endMs ?? Math.max(startMs, afterMs) };
	});
	return timed.reverse();
}

function checkSegment(
	raw: RawSegment,
	number: number,
	{ unitsPerSecond = 1, withinMs, isUnlimited }: Times,
): PartlyTimed {
	if (typeof raw.text !== 'string') {
		throw badTranscript(`segment ${number} has no 'text'. Give the words as a string`);
	}
	if (raw.text.length > MAX_SEGMENT_LENGTH && !isUnlimited) {
		throw badTranscript(
			`segment ${number} has more than ${MAX_SEGMENT_LENGTH} characters. Split it into several`,
		);
	}
	const isStrict = withinMs === undefined;
	const [startMs, endMs] = (['start', 'end'] as const).map((name) => {
		const seconds = toNumber(raw[name]);
		if (seconds === undefined && (!isStrict || isMissing(raw[name]))) return undefined;
		const ms = Math.round(((seconds ?? NaN) / unitsPerSecond) * 1000);
		if (Number.isNaN(ms) || (isStrict && ms <= -SLACK_MS)) {
			throw badTranscript(
				`segment ${number} has no usable '${name}'. Give the seconds since the start of the transcript, 0 or more`,
			);
		}
		return Math.min(Math.max(0, ms), withinMs ?? Infinity);
	});
	const isReversed = startMs !== undefined && endMs !== undefined && endMs < startMs;
	if (isReversed && isStrict && endMs < startMs - SLACK_MS) {
		throw badTranscript(`segment ${number} ends before it starts. Give an 'end' after its 'start'`);
	}
	if ((endMs ?? startMs ?? 0) > MAX_HOURS * HOUR_MS) {
		throw badTranscript(
			`segment ${number} ends more than ${MAX_HOURS} hours after the start. Give times in seconds, and split a longer transcript`,
		);
	}
	const speaker = nameOf(raw.speaker, number, isStrict);
	return {
		text: oneLine(raw.text),
		startMs,
		endMs: isReversed ? startMs : endMs,
		...(speaker !== undefined && { speaker }),
		...(raw.isWearer && { isWearer: true }),
	};
}

export const isMissing = (value: unknown): value is undefined | null =>
	value === undefined || value === null;

/** A finite number, also from a string. */
export function toNumber(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function nameOf(speaker: unknown, number: number, isStrict: boolean): string | undefined {
	if (isMissing(speaker)) return undefined;
	if (typeof speaker === 'number') return `Speaker ${speaker}`;
	if (typeof speaker !== 'string') {
		if (!isStrict) return undefined;
		throw badTranscript(`segment ${number} has no usable 'speaker'. Give a name, or leave it out`);
	}
	return cutTo(MAX_SPEAKER_LENGTH, asName(speaker)) || undefined;
}

/** A text on one line, without terminal control characters. */
export const oneLine = (text: string) =>
	text
		.toWellFormed()
		.replace(/[\p{Cc}\s]+/gu, ' ')
		.trim();

/** A name or title on one line, without characters that change the text direction around it. */
export const asName = (text: string) => oneLine(text.replace(/\p{Bidi_Control}/gu, ''));

/** At most `length` characters, cut between words if possible. */
export function cutTo(length: number, text: string): string {
	const characters = [...text.slice(0, 2 * (length + 1))];
	if (characters.length <= length) return text;
	const cut = characters.slice(0, length - 1).join('');
	const isWhole = /\s/u.test(characters[length - 1]);
	return `${isWhole ? cut.trimEnd() : cut.replace(/\s+\S*$/u, '')}…`;
}

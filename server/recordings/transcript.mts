import { HOUR_MS } from '../util/durations.mts';
import { parseInstant, parseInstantIfAny } from '../util/times.mts';
import { latestEnd } from './lifelog.mts';
import {
	badTranscript,
	checkSegments,
	isMissing,
	MAX_HOURS,
	toNumber,
	type RawSegment,
	type Segment,
	type Transcript,
} from './segments.mts';
import { isWebVtt, readSrt, readVtt } from './subtitles.mts';

type Fields = Record<string, unknown>;

const FORMS =
	'Give a list of segments, the JSON of a transcription (verbose_json, diarized_json), an Omi conversation, SRT or WebVTT';
/** A pause between words that starts a new segment, in seconds. */
const PAUSE = 1;
/** In UTF-16 units. Some endpoints write no full stops. */
const MAX_JOINED = 500;
const SENTENCE_END = /[.!?。！？…]["'”’»)]*$/u;
/** With times and numbers, about 40 hours of speech. */
const MAX_SUBTITLES = 4_000_000;
/**
 * If most ends are larger, they are nanoseconds: no transcript in seconds is 115 days long, and
 * none in nanoseconds lasts only 10 ms.
 */
const MAX_SECONDS = 1e7;
const NANOSECONDS = 1e9;

/**
 * Parses a transcript of any format: a list of segments, a transcription endpoint's answer, an Omi
 * conversation (each also as a JSON string), SRT or WebVTT.
 *
 * @param lengthMs Length of the audio, if known.
 * @throws ApiError (400) with the number of the wrong segment and the problem.
 */
export function readTranscript(value: unknown, lengthMs?: number): Transcript {
	if (typeof value === 'string') return readText(value, lengthMs);
	if (Array.isArray(value)) return { segments: checkSegments(value.map(ofList), { lengthMs }) };
	if (!isFields(value)) throw badTranscript(`has an unknown form. ${FORMS}`);
	const { transcript_segments } = value;
	if (Array.isArray(transcript_segments)) return readOmi(value, transcript_segments, lengthMs);
	return readTranscription(value, undefined, lengthMs);
}

function readText(withMark: string, lengthMs: number | undefined): Transcript {
	const text = withMark.replace(/^\uFEFF/, '');
	if (!/^\s*[[{]/.test(text)) {
		if (text.length > MAX_SUBTITLES) {
			throw badTranscript(
				`has more than ${MAX_SUBTITLES} characters. Split it into several lifelogs`,
			);
		}
		const lines = text.replace(/\r\n?/g, '\n');
		return { segments: checkSegments(isWebVtt(lines) ? readVtt(lines) : readSrt(lines)) };
	}
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		throw badTranscript(`is not valid JSON. ${FORMS}`);
	}
	return readTranscript(value, lengthMs);
}

function ofList(segment: unknown, index: number): RawSegment {
	const { text, start, end, speaker } = fieldsOf(segment, index);
	return { text, start, end, speaker };
}

/**
 * Parses answers of OpenAI, speaches, LocalAI, whisper.cpp, Groq, vLLM and Mistral.
 *
 * @param withinMs For an answer to a chunk: the chunk's length in ms. It is read leniently.
 * @param lengthMs Length of the audio, if known from elsewhere than `duration`.
 * @throws ApiError (400) like `readTranscript`.
 */
export function readTranscription(
	{ segments, words, duration }: Fields,
	withinMs?: number,
	lengthMs = withinMs,
): Transcript {
	const hasSegments = Array.isArray(segments) && segments.length > 0;
	if (!hasSegments && !Array.isArray(words)) {
		throw badTranscript(
			`has no segments. ${FORMS}. For a transcription, ask for verbose_json or diarized_json`,
		);
	}
	const raw = hasSegments ? segments.flatMap(ofTranscription) : joinWords(words as unknown[]);
	const large = raw.filter(
		({ start, end }) => (toNumber(end) ?? toNumber(start) ?? 0) > MAX_SECONDS,
	);
	const unitsPerSecond = large.length > raw.length / 2 ? NANOSECONDS : 1;
	const seconds = toNumber(duration);
	const times = {
		lengthMs: lengthMs ?? (seconds && Math.round(seconds * 1000)),
		...{ unitsPerSecond, withinMs, isUnlimited: withinMs !== undefined },
	};
	return { segments: checkSegments(raw, times) };
}

/** A segment, or its words if it has no text, or if only they have speakers. */
function ofTranscription(segment: unknown, index: number): RawSegment[] {
	const { text, start, end, speaker_id, speaker, words } = fieldsOf(segment, index);
	const whole = { text, start, end, speaker: speaker ?? speaker_id };
	if (!Array.isArray(words) || words.length === 0) return [whole];
	const isNamed = (word: unknown) => isFields(word) && !isMissing(word.speaker ?? word.speaker_id);
	const isNeeded = isMissing(text) || (isMissing(whole.speaker) && words.some(isNamed));
	return isNeeded ? joinWords(words, whole) : [whole];
}

/**
 * Joins words into segments, split at pauses, ends of sentences and changes of the speaker. A word
 * without times belongs to the previous one.
 *
 * @param whole The segment that contains the words. Its start and speaker are the defaults.
 */
function joinWords(words: unknown[], whole: Partial<RawSegment> = {}): RawSegment[] {
	const segments: (RawSegment & { text: string })[] = [];
	const read = words.map((each, index) => {
		const { word, text = word, start, end, speaker_id, speaker } = fieldsOf(each, index);
		if (typeof text === 'string') return { text, start, end, speaker: speaker ?? speaker_id };
		throw badTranscript(`word ${index + 1} has no 'word'. Give the word as a string`);
	});
	const isSpaced = read.some(
		({ text }, index) => /\s$/.test(text) || (index > 0 && /^\s/.test(text)),
	);
	let lastTime = NaN;
	for (const word of read) {
		const last = segments.at(-1);
		const isTimed = !isMissing(word.start) || !isMissing(word.end);
		const own = word.speaker ?? whole.speaker;
		const before = last ?? { end: whole.start, speaker: own };
		const start = word.start ?? before.end;
		const end = isTimed ? word.end : before.end;
		const speaker = isTimed ? own : before.speaker;
		const text = isSpaced ? word.text : word.text.trim();
		const isNext =
			last &&
			last.text.length < MAX_JOINED &&
			(!SENTENCE_END.test(last.text.trim()) || CLOSING.test(text.trim())) &&
			last.speaker === speaker &&
			!((toNumber(start) ?? lastTime) - lastTime >= PAUSE);
		lastTime = toNumber(end) ?? toNumber(start) ?? lastTime;
		if (isNext) {
			const space = isSpaced || isClose(last.text, text) ? '' : ' ';
			Object.assign(last, { text: `${last.text}${space}${text}`, end });
		} else segments.push({ text, start, end, speaker });
	}
	const last = segments.at(-1);
	if (last) last.end ??= whole.end;
	return segments;
}

const CLOSING = /^[\p{Pe}\p{Pf}.,;:!?…、。，．！？：；]+$/u;
const CJK = String.raw`[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\uFF01-\uFF65]`;
const ENDS_CJK = new RegExp(`${CJK}$`, 'u');
const BEGINS_CJK = new RegExp(`^${CJK}`, 'u');

/** Whether two words are joined without a space. */
const isClose = (before: string, after: string) =>
	CLOSING.test(after) || (ENDS_CJK.test(before) && BEGINS_CJK.test(after));

/** Parses Omi's webhook. Its segments are in seconds from `started_at`. */
function readOmi(conversation: Fields, segments: unknown[], lengthMs?: number): Transcript {
	const { id, created_at, started_at, finished_at, structured } = conversation;
	const raw = segments.map((segment, index) => {
		const { text, start, end, speaker, speaker_name, is_user } = fieldsOf(segment, index);
		const isWearer = is_user === true;
		return { text, start, end, isWearer, speaker: speaker_name || (isWearer ? 'You' : speaker) };
	});
	const [from, to] = [started_at, finished_at].map((time) => parseInstantIfAny(`${time}`, 'UTC'));
	const segmentsRead = checkSegments(raw, {
		lengthMs: from !== undefined && to !== undefined ? to - from : lengthMs,
		withinMs: MAX_HOURS * HOUR_MS,
	});
	const end = textOf(finished_at) ?? textOf(created_at);
	return {
		segments: segmentsRead,
		startTime: textOf(started_at) ?? (end && startBefore(end, segmentsRead)),
		endTime: textOf(finished_at),
		title: isFields(structured) ? textOf(structured.title) : undefined,
		externalId: textOf(id),
	};
}

/** The start of words that ended at an ISO time. */
const startBefore = (end: string, segments: Segment[]) =>
	new Date(parseInstant('finished_at', end, 'UTC') - latestEnd(segments)).toISOString();

const textOf = (value: unknown) =>
	typeof value === 'string' && value.trim() !== '' ? value : undefined;

const isFields = (value: unknown): value is Fields =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldsOf(value: unknown, index: number): Fields {
	if (isFields(value)) return value;
	throw badTranscript(`segment ${index + 1} is not an object. Give 'text', 'start' and 'end'`);
}

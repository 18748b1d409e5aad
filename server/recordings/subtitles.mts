import { parseSync } from 'subtitle';
import webvtt from 'webvtt-parser';
import { badTranscript, type RawSegment } from './segments.mts';

const SRT_TIME = String.raw`(?:\d+:)?\d{1,2}:\d{1,2}[,.]\d{1,3}`;
const SRT_TIMES = new RegExp(`^${SRT_TIME} --> ${SRT_TIME}(?: .*)?$`);
const SRT_TAGS = /<\/?(?:b|i|u|font)\b[^<>]*>/gi;
const VTT_TIME = String.raw`(?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3}`;
const VTT_TIMES = new RegExp(String.raw`^\s*${VTT_TIME}\s*-->\s*${VTT_TIME}(?:\s.*)?$`);

/** Whether a text is WebVTT (its section 4.1), and not SubRip. */
export const isWebVtt = (text: string) => /^\uFEFF?WEBVTT(?:\s|$)/.test(text);

/**
 * Reads SubRip. Speakers are read if each of several subtitles begins with one: `Anna: …` or
 * `[SPEAKER_00]: …`.
 *
 * @throws ApiError (400) that says which subtitle has no usable time.
 */
export function readSrt(indented: string): RawSegment[] {
	const text = indented.replace(/^[ \t]+(?=\d)/gm, '');
	checkTimes(text, /^\d+:.*-->/, SRT_TIMES, '00:01:02,500 --> 00:01:05,000');
	// Many empty lines take the parser long.
	const cues = parsed('SRT', () => parseSync(text.replace(/\n{3,}/g, '\n\n')));
	const segments = cues.flatMap(({ type, data }) =>
		type === 'cue'
			? { start: data.start / 1000, end: data.end / 1000, text: data.text.replace(SRT_TAGS, '') }
			: [],
	);
	return withSpeakers(segments);
}

/**
 * Reads WebVTT. Speakers are its voices (`<v Anna>`), or are read as in SubRip.
 *
 * @throws ApiError (400) that says which cue has no usable time.
 */
export function readVtt(text: string): RawSegment[] {
	checkTimes(text, /-->/, VTT_TIMES, '00:01:02.500 --> 00:01:05.000');
	const { cues } = parsed('WebVTT', () =>
		new webvtt.WebVTTParser().parse(text, 'subtitles/captions/descriptions'),
	);
	const segments = cues.flatMap(({ startTime: start, endTime: end, text: said }) =>
		voicesOf(said).map((voice) => ({ start, end, ...voice })),
	);
	return segments.some(({ speaker }) => speaker !== undefined) ? segments : withSpeakers(segments);
}

/** Both parsers leave out, or take for words, what follows a time that they can't read. */
function checkTimes(text: string, isTimes: RegExp, valid: RegExp, example: string): void {
	const times = text.split('\n').filter((line) => isTimes.test(line));
	const wrong = times.findIndex((line) => !valid.test(line));
	if (wrong !== -1) {
		throw badTranscript(`segment ${wrong + 1} has no usable times. Write them as ${example}`);
	}
}

/** The parsers' own messages quote the text. */
function parsed<Result>(form: string, parse: () => Result): Result {
	try {
		return parse();
	} catch {
		throw badTranscript(`is not valid ${form}. Check the text, or give segments as JSON`);
	}
}

/** The voices of a cue with what each says; words outside of a voice have none. */
function voicesOf(said: string): { text: string; speaker?: string }[] {
	const voices: { text: string; speaker?: string }[] = [{ text: '' }];
	for (const [piece, tag] of said.matchAll(/<([^<>]*)>|[^<]+|</g)) {
		const [, speaker] = /^v(?:\.\S*)?[ \t]+(.*)$/s.exec(tag ?? '') ?? [];
		if (speaker !== undefined) voices.push({ speaker: decoded(speaker), text: '' });
		else if (tag === '/v') voices.push({ text: '' });
		else if (tag === undefined) voices.at(-1)!.text += decoded(piece);
	}
	return voices.filter(({ text }) => text.trim() !== '');
}

const entities: Record<string, string> = {
	'&lt;': '<',
	'&gt;': '>',
	'&nbsp;': ' ',
	'&lrm;': '\u200E',
	'&rlm;': '\u200F',
	'&amp;': '&',
};
const decoded = (text: string) =>
	text.replace(/&(?:lt|gt|nbsp|lrm|rlm|amp);/g, (entity) => entities[entity]);

const NAMED = /^\[?([^\s:[\]][^:[\]\n]{0,60})\]?:\s+(?=\S)/;

/**
 * Takes names off the words if there is one everywhere, and at least twice: a single one can be part of
 * a sentence.
 */
function withSpeakers(segments: { start: number; end: number; text: string }[]): RawSegment[] {
	const spoken = segments.filter(({ text }) => text.trim() !== '');
	if (spoken.length < 2 || !spoken.every(({ text }) => NAMED.test(text))) return spoken;
	return spoken.map((segment) => {
		const [prefix, speaker] = NAMED.exec(segment.text)!;
		return { ...segment, speaker, text: segment.text.slice(prefix.length) };
	});
}

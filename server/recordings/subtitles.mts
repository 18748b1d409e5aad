import { decodeHTML, decodeHTMLStrict } from 'entities';
import { parseSync } from 'subtitle';
import webvtt from 'webvtt-parser';
import { badTranscript, type RawSegment } from './segments.mts';

const SRT_TIME = String.raw`(?:\d+:)?\d{1,2}:\d{1,2}[,.]\d{1,3}`;
const SRT_TIMES = new RegExp(`^${SRT_TIME} --> ${SRT_TIME}(?: .*)?$`);
/** In WebVTT, all text in angle brackets is a tag; in SubRip, only what players know. */
const VTT_TAG = /<([^<>]*)>/g;
const SRT_TAG =
	/<(\/?(?:b|i|u|s|font|span|p|br|c|v|lang|ruby|rt)(?=[\s./>])[^<>]*|(?:\d+:)?\d\d:\d\d[.,]\d{3})>/gi;
/** Positions and styles of Advanced SubStation and MicroDVD. */
const OVERRIDES = /\{(?:\\|[CFOPSY]:)[^{}]*\}/gi;
const LINE_BREAKS = /<br\s*\/?>|\\N/g;
/** Blocks that aren't cues, up to the next empty line. */
const OTHER_BLOCKS = /(?<=\n\n)(?:NOTE(?:[ \t].*)?|(?:STYLE|REGION)[ \t]*)(?![^\n])(?:\n.+)*/g;
const VTT_TIME = String.raw`(?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3}`;
const VTT_TIMES = new RegExp(String.raw`^\s*${VTT_TIME}\s*-->\s*${VTT_TIME}(?:\s.*)?$`);

/** Whether a text is WebVTT (section 4.1 of its specification) rather than SubRip. */
export const isWebVtt = (text: string) => /^\uFEFF?WEBVTT(?:\s|$)/.test(text);

/**
 * Parses SubRip. Speakers are detected if each of several subtitles starts with one: `Anna: …` or
 * `[SPEAKER_00]: …`.
 *
 * @throws ApiError (400) with the number of a subtitle without a usable time.
 */
export function readSrt(indented: string): RawSegment[] {
	const text = indented
		.replace(/^[ \t]+(?=\d)/gm, '')
		// The parser would read it as a WebVTT comment.
		.replace(/^(?=NOTE)/gm, ' ');
	checkTimes(text, /^\d+:.*-->/, SRT_TIMES, '00:01:02,500 --> 00:01:05,000');
	// The parser is slow with many empty lines.
	const cues = parsed('SRT', () => parseSync(text.replace(/\n{3,}/g, '\n\n')));
	return readCues(
		cues.flatMap(({ type, data }) =>
			type === 'cue' ? { start: data.start / 1000, end: data.end / 1000, text: data.text } : [],
		),
		(text) => voicesOf(text, SRT_TAG, decodeHTMLStrict),
	);
}

/**
 * Parses WebVTT. Speakers come from voice tags (`<v Anna>`), or are detected as in SubRip.
 *
 * @throws ApiError (400) with the number of a cue without a usable time.
 */
export function readVtt(withBlocks: string): RawSegment[] {
	const text = withBlocks.replace(OTHER_BLOCKS, '');
	checkTimes(text, /-->/, VTT_TIMES, '00:01:02.500 --> 00:01:05.000');
	const { cues } = parsed('WebVTT', () =>
		new webvtt.WebVTTParser().parse(text, 'subtitles/captions/descriptions'),
	);
	return readCues(
		cues.map(({ startTime: start, endTime: end, text }) => ({ start, end, text })),
		(text) => voicesOf(text, VTT_TAG, decodeHTML),
	);
}

interface Cue {
	start: number;
	end: number;
	text: string;
}

interface Voice {
	text: string;
	speaker?: string;
}

function readCues(cues: Cue[], read: (text: string) => Voice[]): RawSegment[] {
	const segments = cues.flatMap(({ text, ...times }) =>
		read(text).map((voice) => ({ ...times, ...voice })),
	);
	return segments.some(({ speaker }) => speaker !== undefined) ? segments : withSpeakers(segments);
}

/** Both parsers skip the text after an invalid time, or read it as words. */
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

/** The voices of a cue and their words, without tags. Words outside a voice have none. */
function voicesOf(said: string, tag: RegExp, decode: (text: string) => string): Voice[] {
	const text = said.replace(OVERRIDES, '').replace(LINE_BREAKS, ' ');
	// Every second piece is the inside of a tag.
	const pieces = text.split(tag);
	const voices: Voice[] = [{ text: '' }];
	for (const [index, piece] of pieces.entries()) {
		const [, speaker] = /^v(?:\.\S*)?\s+(.*)$/is.exec(piece) ?? [];
		if (index % 2 === 0) voices.at(-1)!.text += decode(piece);
		else if (speaker !== undefined) voices.push({ speaker: decode(speaker), text: '' });
		else if (/^\/v\s*$/i.test(piece)) voices.push({ text: '' });
	}
	return voices
		.map((voice) => ({ ...voice, text: voice.text.trim() }))
		.filter(({ text }) => text !== '');
}

const NAMED = /^\[?([^\s:[\]][^:[\]\n]{0,60})\]?:\s+(?=\S)/;

/**
 * Extracts names if every line has one, and there are at least two: a single one can be part of a
 * sentence.
 */
function withSpeakers(spoken: Cue[]): RawSegment[] {
	if (spoken.length < 2 || !spoken.every(({ text }) => NAMED.test(text))) return spoken;
	return spoken.map((segment) => {
		const [prefix, speaker] = NAMED.exec(segment.text)!;
		return { ...segment, speaker, text: segment.text.slice(prefix.length) };
	});
}

// What well-kept parsers of subtitles read.
import { createRequire } from 'node:module';
import { parseSync } from 'subtitle';

const { WebVTTParser } = createRequire(import.meta.url)(
	'webvtt-parser',
) as typeof import('webvtt-parser');

/** A line of subtitles. */
export interface Cue {
	/** ms from the start. */
	start: number;
	end: number;
	text: string;
}

/** What a file in SubRip's form shows. */
export function readSrt(file: Buffer): Cue[] {
	return parseSync(file.toString('utf8')).flatMap((node) => {
		if (node.type !== 'cue') return [];
		const { start, end, text } = node.data;
		return [{ start, end, text }];
	});
}

/**
 * What a WebVTT file shows; voices stay in the text.
 *
 * @throws Error where the parser finds any fault.
 */
export function readVtt(file: Buffer): Cue[] {
	const { cues, errors } = new WebVTTParser().parse(
		file.toString('utf8'),
		'subtitles/captions/descriptions',
	);
	if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
	return cues.map(({ startTime, endTime, text }) => {
		const [start, end] = [startTime, endTime].map((seconds) => Math.round(seconds * 1000));
		return { start, end, text };
	});
}

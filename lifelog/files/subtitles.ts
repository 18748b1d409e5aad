import { Duration } from 'luxon';

import type { Piece } from './spoken.ts';

/**
 * Subtitles in SubRip's form, for the audio of the same lifelog.
 *
 * @param pieces In any order.
 */
export function toSrt(pieces: Piece[]): string {
	const cues = inTime(pieces).map(({ text, speaker, ...times }, index) => {
		// What looks like a line of times would be read as one.
		const words = `${speaker!.name}: ${text}`.replaceAll('-->', '→');
		return `${index + 1}\n${span(times, ',')}\n${words}\n`;
	});
	return cues.join('\n');
}

/** The same as WebVTT, with a voice for each speaker. */
export function toVtt(pieces: Piece[]): string {
	const cues = inTime(pieces).map(({ text, speaker, ...times }) => {
		// The blank keeps hyphens at the end of a name from being an arrow.
		return `${span(times, '.')}\n<v ${escapeVtt(speaker!.name).replace(/-$/, '- ')}>${escapeVtt(text)}\n`;
	});
	return ['WEBVTT\n', ...cues].join('\n');
}

/** What was said, by time: contents may be in another order, subtitles may not. */
function inTime(pieces: Piece[]): Piece[] {
	return pieces
		.filter(({ speaker }) => speaker)
		.sort((a, b) => a.startOffsetMs - b.startOffsetMs || a.endOffsetMs - b.endOffsetMs);
}

function span(
	{ startOffsetMs, endOffsetMs }: Pick<Piece, 'startOffsetMs' | 'endOffsetMs'>,
	point: string,
): string {
	// Without a locale of its own, luxon writes the digits of the process's.
	const at = (ms: number) =>
		Duration.fromMillis(ms, { locale: 'en' }).toFormat(`hh:mm:ss'${point}'SSS`);
	return `${at(startOffsetMs)} --> ${at(endOffsetMs)}`;
}

function escapeVtt(text: string): string {
	return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

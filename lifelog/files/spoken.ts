import type { ContentNode, Lifelog } from '../api.ts';
import {
	contentNodes,
	isUtterance,
	placeMsOf,
	speakerOf,
	titleOf,
	UNKNOWN_SPEAKER,
	USER,
} from '../contents.ts';
import { instantOf } from '../times.ts';
import { oneLine } from '../text.ts';

/** A piece of a lifelog's contents: in one line, and placed in time. */
export interface Piece {
	type: string;
	/** Never empty. */
	text: string;
	/** Undefined for what nobody said. */
	speaker?: Speaker;
	/** ms after the start of the lifelog. */
	startOffsetMs: number;
	/** Later than the start. */
	endOffsetMs: number;
}

export interface Speaker {
	/** 1 for the wearer, from 2 on by first appearance, as in the service's own export. */
	number: number;
	isWearer: boolean;
	/** In one line. `Unknown` if the service names nobody. */
	name: string;
}

/** The length, in ms, of what has no end. */
const ASSUMED_MS = 2_000;

/**
 * The contents of a lifelog in reading order. A piece without a start begins when the one before
 * ended; an end that isn't after its start is assumed.
 *
 * @param zone Of times without offset.
 */
export function piecesOf(lifelog: Lifelog, zone: string): Piece[] {
	const begin = instantOf(lifelog.startTime, zone);
	const speakers = new Map<string, Speaker>();
	const pieces: Piece[] = [];
	let lastEnd = 0;
	for (const node of contentNodes(lifelog.contents)) {
		const text = wordsIn(node.content);
		if (text === '') continue;
		const offset = (ms: unknown, time: unknown): number | undefined => {
			const place = placeMsOf(ms, time, begin, zone);
			return place === undefined ? undefined : Math.max(0, Math.round(place));
		};
		const start = offset(node.startOffsetMs, node.startTime) ?? lastEnd;
		const end = offset(node.endOffsetMs, node.endTime) ?? start;
		const isSaid = isUtterance(node);
		const piece: Piece = {
			type: typeof node.type === 'string' ? node.type : '',
			text,
			...(isSaid && { speaker: speakerIn(speakers, node) }),
			startOffsetMs: start,
			endOffsetMs: end > start ? end : start + ASSUMED_MS,
		};
		if (isSaid) lastEnd = piece.endOffsetMs;
		pieces.push(piece);
	}
	return pieces;
}

/** The pieces, with the title as a heading of the first level if there is none. */
export function titled(lifelog: Lifelog, pieces: Piece[]): Piece[] {
	if (pieces.some(({ type, speaker }) => type === 'heading1' && !speaker)) return pieces;
	const text = titleOf(lifelog) || 'Untitled';
	return [{ type: 'heading1', text, startOffsetMs: 0, endOffsetMs: ASSUMED_MS }, ...pieces];
}

/** `#` for a heading of the first level; undefined for anything else. */
export function headingMark(type: string): string | undefined {
	const level = /^heading([1-6])$/.exec(type)?.[1];
	return level && '#'.repeat(Number(level));
}

/** A text in one line, without control characters, which readers of some formats stumble over. */
function wordsIn(text: unknown): string {
	return typeof text === 'string' ? text.replace(/[\p{Cc}\s]+/gu, ' ').trim() : '';
}

function speakerIn(speakers: Map<string, Speaker>, node: ContentNode): Speaker {
	const isWearer = node.speakerIdentifier === USER;
	const name = oneLine(speakerOf(node)) || UNKNOWN_SPEAKER;
	const key = isWearer ? USER : `named ${name}`;
	const others = [...speakers.keys()].filter((each) => each !== USER).length;
	const known = speakers.get(key) ?? { number: isWearer ? 1 : others + 2, isWearer, name };
	if (known.name === UNKNOWN_SPEAKER) known.name = name;
	speakers.set(key, known);
	return known;
}

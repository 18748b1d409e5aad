import type { ContentNode, Lifelog } from '../../shared/api/apiTypes';
import {
	contentNodes,
	inOneLine,
	isOffset,
	isUtterance,
	speakerOf,
	UNKNOWN_SPEAKER,
} from '../../shared/content/utterances';
import { isoInstant } from './times';

/** A piece of a lifelog's contents as files have it: in one line, and placed in time. */
export interface Piece {
	/** The node's type; `blockquote` and others with a speaker are what was said. */
	type: string;
	/** Never empty. */
	text: string;
	/** Who said it; undefined for what nobody said. */
	speaker?: Speaker;
	/** ms after the start of the lifelog. */
	startOffsetMs: number;
	/** Later than the start of the piece. */
	endOffsetMs: number;
}

/** Somebody who speaks in a lifelog. */
export interface Speaker {
	/** 1 for the wearer, from 2 on by first appearance, as in the service's own export. */
	number: number;
	/** `Unknown` where the service names nobody. */
	name: string;
}

/** How long, in ms, something is taken to last where its end is not known. */
const ASSUMED_MS = 2_000;

/**
 * What stands in a lifelog, in reading order. A time that is missing is that of what came before,
 * and an end that is not behind its start is assumed.
 *
 * @param zone The zone the lifelog was asked in.
 */
export function piecesOf(lifelog: Lifelog, zone: string): Piece[] {
	const begin = isoInstant(lifelog.startTime, zone);
	const speakers = new Map<string, Speaker>();
	const pieces: Piece[] = [];
	let lastEnd = 0;
	for (const node of contentNodes(lifelog.contents)) {
		const text = inOneLine(node.content);
		if (text === '') continue;
		const offset = (ms: unknown, time: unknown): number | undefined => {
			if (isOffset(ms)) return Math.max(0, Math.round(ms));
			const instant = isoInstant(time, zone);
			return begin === undefined || instant === undefined
				? undefined
				: Math.max(0, instant - begin);
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

function speakerIn(speakers: Map<string, Speaker>, node: ContentNode): Speaker {
	const isWearer = node.speakerIdentifier === 'user';
	const name = inOneLine(speakerOf(node)) || UNKNOWN_SPEAKER;
	const key = isWearer ? 'user' : `named ${name}`;
	const others = [...speakers.keys()].filter((each) => each !== 'user').length;
	const known = speakers.get(key) ?? { number: isWearer ? 1 : others + 2, name };
	speakers.set(key, known);
	return known;
}

import { createHash } from 'node:crypto';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { MADE, RECORDED, sourceOf } from '../archive/sourceOf.mts';
import { renderMarkdown } from '../util/apiMarkdown.mts';
import { asName, cutTo, type Segment } from './segments.mts';

/** A heading, and the number of its first segment, counted from 0. */
export interface Heading {
	title: string;
	segment: number;
}

export interface LifelogParts {
	id: string;
	title: string;
	/** Epoch ms. */
	startMs: number;
	endMs: number;
	/** By start. */
	segments: Segment[];
	/** By segment. */
	headings: Heading[];
	/** Time of creation, epoch ms. */
	madeMs: number;
}

const MAX_FALLBACK_TITLE = 80;
/** In UTF-16 units; enough for a first sentence. */
const MAX_OPENING = 1000;

/** The segments of a lifelog created here, in order. */
export const segmentsIn = ({ contents }: Lifelog): Segment[] =>
	contents.flatMap(
		({ type, content, startOffsetMs, endOffsetMs, speakerName, speakerIdentifier }) =>
			type === 'blockquote'
				? {
						text: content,
						startMs: startOffsetMs ?? 0,
						endMs: endOffsetMs ?? 0,
						...(speakerName && { speaker: speakerName }),
						...(speakerIdentifier === 'user' && { isWearer: true }),
					}
				: [],
	);

/** Builds a lifelog like the service's: the title, and segments below headings. */
export function toLifelog(parts: LifelogParts): Lifelog {
	const { id, title, startMs, endMs, segments, headings } = parts;
	const node = (type: string, content: string, from: number, to: number): ContentNode => ({
		type,
		content,
		startTime: iso(startMs + from),
		endTime: iso(startMs + to),
		startOffsetMs: from,
		endOffsetMs: to,
		children: [],
	});
	const contents = [node('heading1', title, 0, endMs - startMs)];
	let next = 0;
	for (const [index, segment] of segments.entries()) {
		if (headings[next]?.segment === index) {
			const until = headings[next + 1]?.segment ?? segments.length;
			const end = latestEnd(segments.slice(index, until));
			contents.push(node('heading2', headings[next].title, segment.startMs, end));
			next += 1;
		}
		contents.push({
			...node('blockquote', segment.text, segment.startMs, segment.endMs),
			speakerName: segment.speaker ?? null,
			speakerIdentifier: segment.isWearer ? 'user' : null,
		});
	}
	return {
		id,
		title,
		markdown: renderMarkdown(contents),
		contents,
		startTime: iso(startMs),
		endTime: iso(endMs),
		isStarred: false,
		updatedAt: iso(parts.madeMs),
	};
}

/** Whether a lifelog exists or was deleted. */
export type StateOf = (id: string) => 'known' | 'deleted' | undefined;

/**
 * Chooses the ID of a new lifelog. A deleted ID is never reused, so a lifelog that is created again
 * gets another one.
 *
 * @param idOf Returns the ID after a number of deleted ones.
 * @param again Whether to create a deleted lifelog again.
 * @returns `state` is undefined if the lifelog can be created.
 */
export function chooseId(
	idOf: (nth: number) => string,
	stateOf: StateOf = () => undefined,
	again = false,
): { id: string; state: ReturnType<StateOf> } {
	for (let nth = 0; ; nth += 1) {
		const id = idOf(nth);
		const state = stateOf(id);
		if (state === 'deleted') continue;
		if (state === undefined && nth > 0 && !again) return { id: idOf(nth - 1), state: 'deleted' };
		return { id, state };
	}
}

/**
 * The ID of a new lifelog after `nth` deleted ones. It is the same for the same external ID or,
 * without one, for the same words at the same time.
 */
export function madeId(
	externalId: string | undefined,
	startMs: number,
	segments: Segment[],
	nth: number,
): string {
	const source = externalId === undefined ? [startMs, segments] : ['api', externalId];
	return `${MADE}${shortHash(nth === 0 ? source : [...source, nth])}`;
}

/**
 * The ID of a recording's lifelog, by its number `part`, after `nth` deleted ones. It is the same
 * for the same external ID or, without one, the same bytes.
 */
export const recordedId = (source: string, part: number, nth: number): string =>
	`${RECORDED}${shortHash(['recording', source, part, ...(nth === 0 ? [] : [nth])])}`;

const shortHash = (source: unknown[]) =>
	createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, 20);

/** Whether a lifelog was created here. */
export const isMadeHere = (id: string): boolean => sourceOf(id) !== 'service';

/** The first sentence, at most 80 characters. */
export function firstSentence(segments: Segment[]): string {
	let opening = '';
	for (const { text } of segments) {
		opening = `${opening} ${text}`.slice(0, MAX_OPENING);
		if (opening.length === MAX_OPENING) break;
	}
	const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });
	const [first] = sentences.segment(asName(opening));
	return cutTo(MAX_FALLBACK_TITLE, first?.segment.trim() ?? '') || 'Untitled';
}

/** In ms from the start. Not by spreading: many segments would exhaust the stack. */
export const latestEnd = (segments: Segment[]) =>
	segments.reduce((latest, { endMs }) => Math.max(latest, endMs), 0);

const iso = (ms: number) => new Date(ms).toISOString();

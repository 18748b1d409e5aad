import { createHash } from 'node:crypto';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { MADE, RECORDED, sourceOf } from '../archive/sourceOf.mts';
import { renderMarkdown } from '../util/apiMarkdown.mts';
import { asName, cutTo, type Segment } from './segments.mts';

/** A heading, and the number of the segment that it begins at, counted from 0. */
export interface Heading {
	title: string;
	segment: number;
}

/** What a lifelog is made of. */
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
	/** When it was made, epoch ms. */
	madeMs: number;
}

const MAX_FALLBACK_TITLE = 80;
/** In UTF-16 units: enough for a first sentence. */
const MAX_OPENING = 1000;

/** What was said in a lifelog that was made here, as it was laid out. */
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

/** Lays out segments as the service does: the title, and what was said below its headings. */
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

/** Whether a lifelog is there or was deleted. */
export type StateOf = (id: string) => 'known' | 'deleted' | undefined;

/**
 * Chooses the ID of a lifelog that is made here. One that was deleted stays deleted, so the lifelog
 * that is made again of the same has another.
 *
 * @param idOf The ID that it has after so many others were deleted.
 * @param again Whether one that was deleted is made again.
 * @returns `state` is undefined if the lifelog can be made.
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
 * An ID for a lifelog that is made here, after `nth` others were deleted: the same for the same
 * external ID or, without one, for the same words at the same time.
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
 * An ID for the `part`th lifelog of a recording, after `nth` others were deleted: the same for the same
 * external ID or, without one, the same bytes.
 */
export const recordedId = (source: string, part: number, nth: number): string =>
	`${RECORDED}${shortHash(['recording', source, part, ...(nth === 0 ? [] : [nth])])}`;

const shortHash = (source: unknown[]) =>
	createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, 20);

/** Whether a lifelog was made here. */
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

/** In ms after the start; a spread of many would exhaust the stack. */
export const latestEnd = (segments: Segment[]) =>
	segments.reduce((latest, { endMs }) => Math.max(latest, endMs), 0);

const iso = (ms: number) => new Date(ms).toISOString();

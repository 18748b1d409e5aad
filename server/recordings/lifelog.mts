import { createHash } from 'node:crypto';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { renderMarkdown } from '../util/lifelogView.mts';
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

/**
 * An ID for a lifelog that is made here: the same for the same external ID or, without one, for the
 * same words at the same time.
 */
export function idOf(externalId: string | undefined, startMs: number, segments: Segment[]): string {
	const source = externalId === undefined ? [startMs, segments] : ['api', externalId];
	const hash = createHash('sha256').update(JSON.stringify(source));
	return `made-${hash.digest('hex').slice(0, 20)}`;
}

/**
 * An ID for the `part`th lifelog of a recording: the same for the same external ID or, without one,
 * the same bytes.
 */
export function recordedId(source: string, part: number): string {
	const hash = createHash('sha256').update(JSON.stringify(['recording', source, part]));
	return `${RECORDED}${hash.digest('hex').slice(0, 20)}`;
}

const RECORDED = 'recorded-';

/** Whether a lifelog was made of a recording, so that its audio is in `audio/recordings/`. */
export const isRecorded = (id: string): boolean => id.startsWith(RECORDED);

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

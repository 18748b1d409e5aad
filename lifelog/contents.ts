import type { ContentNode, Lifelog } from './api.ts';
import { instantOf } from './times.ts';
import { collapseSpaces, oneLine } from './text.ts';

export interface Utterance {
	speaker: string;
	text: string;
	startTime: string | null;
	endTime: string | null;
	/** ms after the start of the lifelog. */
	startOffsetMs: number | null;
	endOffsetMs: number | null;
	/** `user` for the wearer. */
	speakerIdentifier: string | null;
	/** Place in the whole transcript, from 0. */
	index: number;
	lifelogId: string;
}

/** The API's word for the wearer (specification, section 2.2). */
export const USER = 'user';
export const UNKNOWN_SPEAKER = 'Unknown';
/** Some 30 years. */
const MAX_OFFSET_MS = 1e12;
const HEADING = /^heading(\d)$/;
const SECTION_HEADING = /(?:^|[\r\n]) {0,3}##[ \t]([^\r\n]*)/g;

/** The contents of a lifelog in reading order, of any type and depth (specification, section 2.2). */
export function* contentNodes(contents: ContentNode[] | undefined): Generator<ContentNode> {
	const open = Array.isArray(contents) ? contents.toReversed() : [];
	for (let node = open.pop(); node !== undefined; node = open.pop()) {
		if (typeof node !== 'object' || node === null) continue;
		yield node;
		if (!Array.isArray(node.children)) continue;
		// Not spread into one push: the stack holds some 100,000 arguments.
		for (const child of node.children.toReversed()) open.push(child);
	}
}

/** Contents with each node changed, whatever its depth. */
export function mapNodes(
	nodes: ContentNode[],
	change: (node: ContentNode) => ContentNode,
): ContentNode[] {
	return nodes.map((node) => {
		const changed = change(node);
		if (!changed.children) return changed;
		return { ...changed, children: mapNodes(changed.children, change) };
	});
}

/** Every name of a speaker, as it is written, once. */
export function namesIn(contents: ContentNode[]): string[] {
	const names = [...contentNodes(contents)].map(({ speakerName }) => speakerName);
	return [...new Set(names.filter((name) => typeof name === 'string' && name !== ''))] as string[];
}

/** A heading, or something else that has words. */
export interface Line {
	node: ContentNode;
	/** Of a heading; undefined for anything else. */
	level?: number;
	/** In one line, never empty. */
	text: string;
	/** Undefined if nobody is named. */
	speaker?: string;
}

/** The lines of a lifelog in reading order. */
export function linesOf(contents: ContentNode[] | undefined): Line[] {
	return [...contentNodes(contents)].flatMap((node): Line[] => {
		const text = collapseSpaces(node.content);
		if (text === '') return [];
		const level = typeof node.type === 'string' ? HEADING.exec(node.type)?.[1] : undefined;
		if (level !== undefined) return [{ node, text, level: Number(level) }];
		return [{ node, text, ...(node.speakerName && { speaker: node.speakerName }) }];
	});
}

/** @param speakers Only what these said; names in any case, or `user` for the wearer. Empty for all. */
export function utterances(lifelog: Lifelog, speakers: string[] = []): Utterance[] {
	const wanted = new Set(speakers.map((speaker) => speaker.toLowerCase()));
	return [...contentNodes(lifelog.contents)]
		.filter(isUtterance)
		.map((node, index) => ({
			speaker: speakerOf(node),
			text: textOr(node.content, ''),
			startTime: node.startTime ?? null,
			endTime: node.endTime ?? null,
			startOffsetMs: node.startOffsetMs ?? null,
			endOffsetMs: node.endOffsetMs ?? null,
			speakerIdentifier: node.speakerIdentifier ?? null,
			index,
			lifelogId: lifelog.id,
		}))
		.filter(
			({ speaker, speakerIdentifier }) =>
				wanted.size === 0 ||
				wanted.has(speaker.toLowerCase()) ||
				wanted.has(textOr(speakerIdentifier, '').toLowerCase()),
		);
}

/** A blockquote, or anything else that names a speaker. */
export function isUtterance({ type, speakerName, speakerIdentifier }: ContentNode): boolean {
	return type === 'blockquote' || Boolean(speakerName) || Boolean(speakerIdentifier);
}

/** Whether a value is an offset: a larger one is an instant. */
function isOffset(ms: unknown): ms is number {
	return typeof ms === 'number' && Math.abs(ms) < MAX_OFFSET_MS;
}

/**
 * The place of something said in its lifelog: its offset or, without one, from its time.
 *
 * @param begin The start of the lifelog, epoch ms. @param zone Of times without offset.
 * @returns ms after the start, not rounded; undefined if neither is known.
 */
export function placeMsOf(
	offset: unknown,
	time: unknown,
	begin: number | undefined,
	zone: string,
): number | undefined {
	if (isOffset(offset)) return offset;
	const instant = instantOf(time, zone);
	return instant === undefined || begin === undefined ? undefined : instant - begin;
}

export function speakerOf({ speakerName }: ContentNode): string {
	return textOr(speakerName, UNKNOWN_SPEAKER);
}

function textOr(value: unknown, other: string): string {
	return typeof value === 'string' && value !== '' ? value : other;
}

/** A transcript as text: one line an utterance, `Speaker: words`. */
export function transcriptText(spoken: Utterance[]): string {
	return spoken
		.map(
			({ speaker, text }) =>
				`${collapseSpaces(speaker) || UNKNOWN_SPEAKER}: ${collapseSpaces(text)}`,
		)
		.join('\n');
}

export interface Speakers {
	/** In the order of their first words. */
	speakers: string[];
	/** The wearer's names in this lifelog. */
	wearers: string[];
}

/** The speakers who are known by name, or as the wearer (specification, section 2.2). */
export function speakersOf(lifelog: Lifelog): Speakers {
	const known = utterances(lifelog).map(({ speaker, speakerIdentifier }) => {
		const name = oneLine(speaker);
		const isNamed = name !== '' && name.toLowerCase() !== UNKNOWN_SPEAKER.toLowerCase();
		const isWearer = speakerIdentifier === USER;
		return { name: isNamed ? name : isWearer ? USER : '', isNamedWearer: isNamed && isWearer };
	});
	const names = (some: typeof known) => distinct(some.map(({ name }) => name).filter(Boolean));
	return {
		speakers: names(known),
		wearers: names(known.filter(({ isNamedWearer }) => isNamedWearer)),
	};
}

/** Each name once, whatever its case. */
export function distinct(names: string[]): string[] {
	const byName = new Map<string, string>();
	for (const name of names) {
		const key = name.toLowerCase();
		if (!byName.has(key)) byName.set(key, name);
	}
	return [...byName.values()];
}

/** The title, else the first heading of the first level, else an empty text. */
export function titleOf({ title, contents }: Lifelog): string {
	const ownTitle = oneLine(title);
	if (ownTitle !== '') return ownTitle;
	for (const { type, content } of contentNodes(contents)) {
		if (type === 'heading1' && oneLine(content) !== '') return oneLine(content);
	}
	return '';
}

/** The headings of the second level, from the contents or, without any, from the Markdown. */
export function secondLevelHeadings({ contents, markdown }: Lifelog): string[] {
	const nodes = [...contentNodes(contents)];
	const headings =
		nodes.length > 0
			? nodes.filter(({ type }) => type === 'heading2').map(({ content }) => content)
			: headingLines(typeof markdown === 'string' ? markdown : '');
	return headings.map(oneLine).filter((heading) => heading !== '');
}

function headingLines(markdown: string): string[] {
	return [...markdown.matchAll(SECTION_HEADING)].map(([, heading]) => heading);
}

import type { ContentNode, Lifelog } from '../api/apiTypes';

/** One thing said in a lifelog. */
export interface Utterance {
	speaker: string;
	text: string;
	startTime: string | null;
	endTime: string | null;
	/** ms after the start of the lifelog. */
	startOffsetMs: number | null;
	endOffsetMs: number | null;
	/** `user` when the speaker is the user. */
	speakerIdentifier: string | null;
	/** Place in the whole transcript, from 0. */
	index: number;
	lifelogId: string;
}

/** Who spoke where the service names nobody. */
export const UNKNOWN_SPEAKER = 'Unknown';
/** Some 30 years. */
const MAX_OFFSET_MS = 1e12;

/**
 * The structured contents of a lifelog in reading order, children behind their parent, to any
 * depth. Types this package does not know are walked like the others (specification, section 2.2).
 */
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

/**
 * The transcript of a lifelog: its blockquotes, and whatever else names a speaker.
 *
 * @param speakers Only what these said; names in any case, or `user` for the user. Empty for all.
 */
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

/** Whether a node is something said: a blockquote, or whatever else names a speaker. */
export function isUtterance({ type, speakerName, speakerIdentifier }: ContentNode): boolean {
	return type === 'blockquote' || Boolean(speakerName) || Boolean(speakerIdentifier);
}

/** Whether something is an offset: what is larger is an instant, and in the end no time at all. */
export function isOffset(ms: unknown): ms is number {
	return typeof ms === 'number' && Math.abs(ms) < MAX_OFFSET_MS;
}

/** The name of who said something. */
export function speakerOf({ speakerName }: ContentNode): string {
	return textOr(speakerName, UNKNOWN_SPEAKER);
}

/** A text of the service, which may be missing or something else. */
function textOr(value: unknown, other: string): string {
	return typeof value === 'string' && value !== '' ? value : other;
}

/** A transcript as text: one line an utterance, `Speaker: words`. */
export function transcriptText(spoken: Utterance[]): string {
	return spoken
		.map(({ speaker, text }) => `${inOneLine(speaker) || UNKNOWN_SPEAKER}: ${inOneLine(text)}`)
		.join('\n');
}

/** A text without line breaks, runs of blanks and what surrounds it; empty for what is no text. */
export function inOneLine(text: unknown): string {
	return typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : '';
}

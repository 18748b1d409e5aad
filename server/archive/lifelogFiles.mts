// A lifelog as the two files of an archive (docs/reference/archive.md). The Export operation of the Lifelog node
// writes the same; test/engine/lifelogFiles.test.mts compares both.
import { DateTime } from 'luxon';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';

/** The files of a lifelog, with their paths in the archive. */
export interface LifelogFiles {
	day: string;
	json: { path: string; content: string };
	markdown: { path: string; content: string };
}

const HEADINGS: Record<string, string> = { heading1: '#', heading2: '##', heading3: '###' };
const UNKNOWN = 'Unknown';
const ASSUMED_MS = 2000;
/** Larger numbers are instants by mistake. About 30 years. */
const MAX_OFFSET_MS = 1e12;

/**
 * Writes a lifelog as the files of an archive, its times in UTC.
 *
 * @param asked The API's object, read with `timezone=UTC` (docs/api-spec.md, section 2.1).
 * @returns undefined if its start is not a time.
 */
export function lifelogFiles(asked: Lifelog): LifelogFiles | undefined {
	const lifelog = inUtc(asked);
	const startMs = parseIsoTime(lifelog.startTime);
	if (startMs === undefined) return undefined;
	const day = dayOf(startMs);
	const path = entryPath('lifelogs', lifelog.id, startMs);
	return {
		day,
		json: { path: `${path}.json`, content: toJson(lifelog) },
		markdown: { path: `${path}.md`, content: markdownOf(lifelog, startMs) },
	};
}

/**
 * The instant of a time as the service returns it, only ISO 8601. Without an offset it is in UTC.
 * `parseAnyTime` reads files that another program wrote.
 *
 * @returns Epoch ms; undefined if it isn't a time.
 */
export function parseIsoTime(time: unknown): number | undefined {
	if (typeof time !== 'string') return undefined;
	const ms = DateTime.fromISO(time, { zone: 'utc' }).toMillis();
	return Number.isNaN(ms) ? undefined : ms;
}

/** JSON as an archive has it. */
export const toJson = (value: object): string => `${JSON.stringify(value, null, '\t')}\n`;

/** The day in UTC, `YYYY-MM-DD`, of epoch ms. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Where the files of a lifelog or a chat are, without the extension. */
export function entryPath(collection: 'lifelogs' | 'chats', id: string, startMs: number): string {
	const [day, time] = new Date(startMs).toISOString().slice(0, 19).split('T');
	const [hours, minutes, seconds] = time.split(':');
	const name = `${day}_${hours}h${minutes}m${seconds}s_${nameOfId(id)}`;
	return `${collection}/${day.replaceAll('-', '/')}/${name}`;
}

/** An ID as a part of a file's name (docs/reference/archive.md). */
export function nameOfId(id: string): string {
	return id.replace(/[^\w-]/gu, (character) =>
		Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&'),
	);
}

function inUtc(lifelog: Lifelog): Lifelog {
	const copy = structuredClone(lifelog);
	for (const holder of [copy, ...nodesOf(copy.contents)]) {
		const times = holder as unknown as Record<string, unknown>;
		for (const name of ['startTime', 'endTime', 'updatedAt']) {
			const ms = parseIsoTime(times[name]);
			if (ms !== undefined) times[name] = DateTime.fromMillis(ms, { zone: 'utc' }).toISO();
		}
	}
	return copy;
}

/** Nodes in reading order, each before its children. */
function* nodesOf(contents: ContentNode[] | undefined): Generator<ContentNode> {
	const open = Array.isArray(contents) ? contents.toReversed() : [];
	for (let node = open.pop(); node !== undefined; node = open.pop()) {
		if (typeof node !== 'object' || node === null) continue;
		yield node;
		if (Array.isArray(node.children)) {
			for (const child of node.children.toReversed()) open.push(child);
		}
	}
}

const oneLine = (text: unknown) =>
	typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : '';

/** The Markdown of the service's own export. */
function markdownOf(lifelog: Lifelog, beginMs: number): string {
	const numbers = new Map<string, { number: number; name: string }>();
	const lines: string[] = [];
	let hasTitle = false;
	let lastEndMs = 0;
	for (const node of nodesOf(lifelog.contents)) {
		const text = oneLine(node.content);
		if (text === '') continue;
		const startMs = offsetOf(node.startOffsetMs, node.startTime, beginMs) ?? lastEndMs;
		const givenEndMs = offsetOf(node.endOffsetMs, node.endTime, beginMs) ?? startMs;
		const endMs = givenEndMs > startMs ? givenEndMs : startMs + ASSUMED_MS;
		if (node.type === 'blockquote' || node.speakerName || node.speakerIdentifier) {
			const { number } = speakerOf(node, numbers);
			lines.push(`> [${number}](#startMs=${beginMs + startMs}&endMs=${beginMs + endMs}): ${text}`);
			lastEndMs = endMs;
		} else {
			const mark = HEADINGS[String(node.type)];
			lines.push(mark ? `${mark} ${text}` : text.replace(/^[#>\-+*]/, '\\$&'));
			hasTitle ||= mark === '#';
		}
	}
	if (!hasTitle) lines.unshift(`# ${oneLine(lifelog.title) || 'Untitled'}`);
	return `${frontMatter([...numbers.values()])}${lines.join('\n\n')}\n`;
}

/** ms after the start of the lifelog. */
function offsetOf(ms: unknown, time: unknown, beginMs: number): number | undefined {
	if (typeof ms === 'number' && Math.abs(ms) < MAX_OFFSET_MS) return Math.max(0, Math.round(ms));
	const instant = parseIsoTime(time);
	return instant === undefined ? undefined : Math.max(0, instant - beginMs);
}

/** The wearer is 1, others are counted from 2 in the order in which they speak. */
function speakerOf(
	{ speakerName, speakerIdentifier }: ContentNode,
	numbers: Map<string, { number: number; name: string }>,
): { number: number; name: string } {
	const isWearer = speakerIdentifier === 'user';
	const name = oneLine(speakerName) || UNKNOWN;
	const key = isWearer ? 'user' : `named ${name}`;
	const others = numbers.size - (numbers.has('user') ? 1 : 0);
	const speaker = numbers.get(key) ?? { number: isWearer ? 1 : others + 2, name };
	numbers.set(key, speaker);
	return speaker;
}

function frontMatter(speakers: { number: number; name: string }[]): string {
	const named = speakers
		.filter(({ name }) => name !== UNKNOWN)
		.sort((a, b) => a.number - b.number)
		.map(({ number, name }) => `${number}: ${JSON.stringify(name)}`);
	return named.length > 0 ? `---\nspeakers: { ${named.join(', ')} }\n---\n\n` : '';
}

import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Chat, Lifelog } from '../../lifelog/api.ts';

/** A file as the day manifest names it. */
export interface ArchivedFile {
	path: string;
	bytes: number;
	sha256: string;
}

/** A chat, and whether a scheduled prompt made it (not, when missing). */
export type ArchivedChat = Chat & { isScheduled?: boolean };

/** A stretch of audio as the service gave it. */
export interface ArchivedAudio {
	startMs: number;
	endMs: number;
	content: Buffer;
}

/** What is put into an archive for one day. */
export interface DayContents {
	day: string;
	lifelogs?: Lifelog[];
	chats?: ArchivedChat[];
	audio?: ArchivedAudio[];
	/** Put over what the day manifest would say; the version in its name is made of the sum. */
	over?: Record<string, unknown>;
}

/** One without an offset is in UTC. */
const inUtc = (time: string) =>
	new Date(/:[\d:.]+$/.test(time) && !/[+-]\d\d:\d\d$/.test(time) ? `${time}Z` : time);
const stamp = (time: string) => {
	const [day, clock] = inUtc(time).toISOString().slice(0, 19).split('T');
	const [hours, minutes, seconds] = clock.split(':');
	return `${day}_${hours}h${minutes}m${seconds}s`;
};
const nameOf = (id: string) =>
	id.replaceAll(/[^A-Za-z0-9_-]/gu, (character) =>
		Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '%$&'),
	);
const compact = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
const hashOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** The version of a day by docs/reference/archive.md, of its lines. */
export const versionOfLines = (lines: string[]) => hashOf(lines.sort().join('\n')).slice(0, 16);

/** Stores a file in an archive, and gives what its day says of it. */
export async function store(
	root: string,
	path: string,
	content: string | Buffer,
): Promise<ArchivedFile> {
	const to = join(root, path);
	await writeFile(to, content).catch(async () => {
		await mkdir(dirname(to), { recursive: true });
		await writeFile(to, content);
	});
	return { path, bytes: Buffer.byteLength(content), sha256: hashOf(content) };
}

/**
 * Writes a day of an archive by docs/reference/archive.md, with no code of the nodes.
 *
 * @returns The path of the day manifest.
 */
export async function writeDay(root: string, contents: DayContents): Promise<string> {
	const { day, lifelogs = [], chats = [], audio = [], over = {} } = contents;
	const folder = day.replaceAll('-', '/');
	const lines: string[] = [];
	const said = {
		...{ version: 1, day, lifelogs: {} as Record<string, object> },
		...{ chats: {} as Record<string, object>, audio: [] as object[] },
		...{ missingAudio: [], failed: [], archivedAt: '2026-04-01T02:00:00.000Z', isComplete: true },
	};
	for (const lifelog of lifelogs) {
		const { id, isStarred } = lifelog;
		const updatedAt = inUtc(lifelog.updatedAt).toISOString();
		const path = `lifelogs/${folder}/${stamp(lifelog.startTime)}_${nameOf(id)}`;
		const files = [
			await store(root, `${path}.json`, JSON.stringify(lifelog)),
			await store(root, `${path}.md`, `# ${lifelog.title}\n`),
		];
		said.lifelogs[id] = { updatedAt, isStarred, files };
		lines.push(`lifelog ${id} ${updatedAt} ${isStarred}`);
	}
	for (const { isScheduled = false, ...chat } of chats) {
		const path = `chats/${folder}/${stamp(chat.createdAt)}_${nameOf(chat.id)}.json`;
		const files = [await store(root, path, JSON.stringify(chat))];
		said.chats[chat.id] = { messages: chat.messages.length, isScheduled, files };
		lines.push(`chat ${chat.id} ${chat.messages.length}`);
	}
	for (const { startMs, endMs, content } of audio) {
		const path = `audio/pendant/${folder}/audio_${compact(startMs)}_${compact(endMs)}.ogg`;
		said.audio.push({ startMs, endMs, ...(await store(root, path, content)) });
	}
	const whole = { ...said, ...over };
	if (!whole.isComplete) lines.push('incomplete');
	const path = `days/${day}_${versionOfLines(lines)}.json`;
	await store(root, path, JSON.stringify(whole));
	return path;
}

/**
 * Writes an archive, a day manifest for each day that something begins on, and returns their paths
 * in order. What is there already stays.
 *
 * @param archivedAt When it is archived; now when missing.
 */
export async function writeArchive(
	root: string,
	{
		lifelogs = [],
		chats = [],
		audio = [],
		archivedAt = new Date().toISOString(),
	}: Omit<DayContents, 'day' | 'over'> & { archivedAt?: string },
): Promise<string[]> {
	const days = new Map<string, Required<Omit<DayContents, 'over'>>>();
	const of = (iso: string) => {
		const day = iso.slice(0, 10);
		const contents = days.get(day) ?? { day, lifelogs: [], chats: [], audio: [] };
		days.set(day, contents);
		return contents;
	};
	for (const lifelog of lifelogs) of(lifelog.startTime).lifelogs.push(lifelog);
	for (const chat of chats) of(chat.createdAt).chats.push(chat);
	for (const part of audio) of(new Date(part.startMs).toISOString()).audio.push(part);
	const paths: string[] = [];
	for (const [, contents] of [...days].sort()) {
		paths.push(await writeDay(root, { ...contents, over: { archivedAt } }));
	}
	return paths;
}

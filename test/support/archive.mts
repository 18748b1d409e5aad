import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Chat, Lifelog } from '../../nodes/shared/api-types.ts';

/** A file as the file of a day names it. */
export interface ArchivedFile {
	path: string;
	bytes: number;
	sha256: string;
}

/** What is put into an archive for one day. */
export interface DayContents {
	day: string;
	lifelogs?: Lifelog[];
	chats?: Chat[];
	audio?: Array<{ startMs: number; endMs: number; content: Buffer }>;
	/** Put over what the file of the day would say; the version in its name is made of the sum. */
	over?: Record<string, unknown>;
}

const stamp = (iso: string) => {
	const [day, time] = new Date(iso).toISOString().slice(0, 19).split('T');
	const [hours, minutes, seconds] = time.split(':');
	return `${day}_${hours}h${minutes}m${seconds}s`;
};
const compact = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
const hashOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** The version of a day by docs/archive.md, of its lines. */
export const versionOfLines = (lines: string[]) => hashOf(lines.sort().join('\n')).slice(0, 16);

/** Stores a file in an archive, and gives what its day says of it. */
export async function store(
	root: string,
	path: string,
	content: string | Buffer,
): Promise<ArchivedFile> {
	await mkdir(dirname(join(root, path)), { recursive: true });
	await writeFile(join(root, path), content);
	return { path, bytes: Buffer.byteLength(content), sha256: hashOf(content) };
}

/**
 * Writes a day of an archive by docs/archive.md, with no code of the nodes.
 *
 * @returns The path of the file of the day.
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
		const updatedAt = new Date(lifelog.updatedAt).toISOString();
		const path = `lifelogs/${folder}/${stamp(lifelog.startTime)}_${id}`;
		const files = [
			await store(root, `${path}.json`, JSON.stringify(lifelog)),
			await store(root, `${path}.md`, `# ${lifelog.title}\n`),
		];
		said.lifelogs[id] = { updatedAt, isStarred, files };
		lines.push(`lifelog ${id} ${updatedAt} ${isStarred}`);
	}
	for (const chat of chats) {
		const path = `chats/${folder}/${stamp(chat.createdAt)}_${chat.id}.json`;
		const files = [await store(root, path, JSON.stringify(chat))];
		said.chats[chat.id] = { messages: chat.messages.length, isScheduled: false, files };
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

// What an archive must be, read by docs/reference/archive.md and held against the service it came from.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Chat, Lifelog } from '../../../lifelog/api.ts';
import { type ArchivedFile, versionOfLines } from '../../support/archive.mts';
import type { TestSandbox } from '../../support/sandbox.mts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

interface ArchivedEntry {
	files: ArchivedFile[];
	goneAt?: string;
}

/** The day manifest (docs/reference/archive.md). */
export interface DayManifest {
	version: number;
	day: string;
	lifelogs: Record<string, ArchivedEntry & { updatedAt: string; isStarred: boolean }>;
	chats: Record<string, ArchivedEntry & { messages: number; isScheduled: boolean }>;
	audio: Array<ArchivedFile & { startMs: number; endMs: number }>;
	missingAudio: Array<{ startMs: number; endMs: number }>;
	failed: Array<{ what: string; message: string }>;
	archivedAt: string;
	isComplete: boolean;
}

/** Reads an archive, wherever it lies. */
export interface Storage {
	/** All names, with `/`. */
	names: () => Promise<string[]>;
	read: (name: string) => Promise<Buffer>;
}

/** The files below a folder with their sizes in bytes; those that vanish meanwhile are left out. */
export async function sizesIn(folder: string): Promise<Array<[string, number]>> {
	const sizes: Array<[string, number]> = [];
	for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
		if (!entry.isFile()) continue;
		const path = join(entry.parentPath, entry.name);
		const found = await stat(path).catch(() => undefined);
		if (found) sizes.push([path, found.size]);
	}
	return sizes;
}

/** An archive in a folder. */
export function onDisk(folder: string): Storage {
	return {
		names: async () => {
			const entries = await readdir(folder, { recursive: true, withFileTypes: true });
			return entries
				.filter((entry) => entry.isFile())
				.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
		},
		read: async (name) => await readFile(join(folder, name)),
	};
}

export const dayOf = (time: string | number) => new Date(time).toISOString().slice(0, 10);

/** The days from one to another, both counted. */
export function daysBetween(first: string, last: string): string[] {
	const days: string[] = [];
	for (let ms = Date.parse(first); ms <= Date.parse(last); ms += DAY_MS) days.push(dayOf(ms));
	return days;
}

/** The folders that an archive in a folder needs, as examples/README.md has them made. */
export async function makeFolders(folder: string, first: string, last: string): Promise<void> {
	await mkdir(join(folder, 'days'), { recursive: true });
	for (const day of daysBetween(first, last)) {
		for (const kind of ['lifelogs', 'chats', 'audio/pendant']) {
			await mkdir(join(folder, kind, day.replaceAll('-', '/')), { recursive: true });
		}
	}
}

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

/** The files of days that count, by day. */
export async function newestDays({ names, read }: Storage): Promise<Map<string, DayManifest>> {
	const newest = new Map<string, DayManifest>();
	for (const name of (await names()).filter((each) => each.startsWith('days/'))) {
		let file: DayManifest;
		try {
			file = JSON.parse(String(await read(name)));
		} catch {
			continue;
		}
		assert.equal(name, `days/${file.day}_${fingerprintOf(file)}.json`);
		const known = newest.get(file.day);
		if (!known || known.archivedAt < file.archivedAt) newest.set(file.day, file);
	}
	return newest;
}

function fingerprintOf({ lifelogs, chats, isComplete }: DayManifest): string {
	const there = <Entry extends ArchivedEntry>(entries: Record<string, Entry>) =>
		Object.entries(entries).filter(([, { goneAt }]) => goneAt === undefined);
	const lines = [
		...there(lifelogs).map(([id, each]) => `lifelog ${id} ${each.updatedAt} ${each.isStarred}`),
		...there(chats).map(([id, { messages }]) => `chat ${id} ${messages}`),
		...(isComplete ? [] : ['incomplete']),
	];
	return versionOfLines(lines);
}

/** What is not as at the service when an archive is compared with it. */
export interface Expectation {
	/** The days that are to be in the archive. */
	days: string[];
	/** The ids that are in the archive and not at the service any more. */
	gone?: string[];
	/** Ranges of audio, epoch ms, that failed. */
	failed?: Array<{ startMs: number; endMs: number }>;
	/** Ranges of audio that the archive has and the service does not any more. */
	kept?: Array<{ startMs: number; endMs: number }>;
}

/**
 * Holds an archive against the sandbox: every entry and every file of audio, byte by byte, and
 * nothing beside them.
 */
export async function assertArchived(
	sandbox: TestSandbox,
	storage: Storage,
	{ days, gone = [], failed = [], kept = [] }: Expectation,
): Promise<void> {
	const newest = await newestDays(storage);
	assert.deepEqual([...newest.keys()].sort(), days);
	const named = new Set<string>();
	const content = async ({ path, bytes, sha256: expected }: ArchivedFile) => {
		named.add(path);
		const read = await storage.read(path);
		assert.equal(read.length, bytes, path);
		assert.equal(sha256(read), expected, path);
		return read;
	};
	const lifelogs = await sandbox.control.lifelogs();
	const chats = (await sandbox.control.chats()).filter(({ owner }) => owner === 'self');
	for (const [day, file] of newest) {
		assert.equal(file.isComplete, file.failed.length === 0, day);
		const ofDay = lifelogs.filter(({ startTime }) => startTime.startsWith(day));
		const present = (entries: Record<string, ArchivedEntry>) =>
			Object.keys(entries).filter((id) => entries[id].goneAt === undefined);
		assert.deepEqual(present(file.lifelogs).sort(), ofDay.map(({ id }) => id).sort(), day);
		for (const { id, updatedAt, isStarred } of ofDay) {
			const entry = file.lifelogs[id];
			assert.deepEqual([entry.updatedAt, entry.isStarred], [updatedAt, isStarred], id);
			const [json, markdown] = entry.files;
			assert.match(json.path, /\.json$/);
			assert.match(markdown.path, /\.md$/);
			assert.deepEqual(JSON.parse(String(await content(json))), await lifelog(sandbox, id));
			assert.match(String(await content(markdown)), /^(---|#)/);
		}
		const chatsOfDay = chats.filter(({ createdAt }) => createdAt.startsWith(day));
		assert.deepEqual(present(file.chats).sort(), chatsOfDay.map(({ id }) => id).sort(), day);
		for (const { id, messages, globalPromptId } of chatsOfDay) {
			const { files, ...rest } = file.chats[id];
			assert.deepEqual(rest, { messages: messages.length, isScheduled: globalPromptId !== null });
			assert.deepEqual(JSON.parse(String(await content(files[0]))), await chat(sandbox, id));
		}
		const ids = [...Object.entries(file.lifelogs), ...Object.entries(file.chats)];
		for (const [id, { goneAt, files }] of ids) {
			assert.equal(goneAt !== undefined, gone.includes(id), id);
			if (goneAt !== undefined) for (const each of files) await content(each);
		}
		await assertAudio(sandbox, file, content, failed, kept);
	}
	const stored = (await storage.names()).filter((name) => !/^(\.|days|report)/.test(name));
	assert.deepEqual(stored.sort(), [...named].sort());
}

async function assertAudio(
	sandbox: TestSandbox,
	{ day, audio, missingAudio }: DayManifest,
	content: (file: ArchivedFile) => Promise<Buffer>,
	failed: Array<{ startMs: number; endMs: number }>,
	kept: Array<{ startMs: number; endMs: number }>,
): Promise<void> {
	const begin = Date.parse(day);
	let missingMs = 0;
	for (let startMs = begin; startMs < begin + DAY_MS; startMs += 2 * HOUR_MS) {
		const endMs = startMs + 2 * HOUR_MS;
		const overlaps = (each: { startMs: number; endMs: number }) =>
			each.startMs < endMs && each.endMs > startMs;
		const name = new Date(startMs).toISOString();
		const archived = audio.filter((each) => each.startMs === startMs && each.endMs === endMs);
		if (failed.some(overlaps)) continue;
		if (kept.some(overlaps)) {
			assert.equal(archived.length, 1, name);
			await content(archived[0]);
			continue;
		}
		const expected = await audioOf(sandbox, startMs, endMs);
		assert.equal(archived.length, expected ? 1 : 0, name);
		if (expected) assert.ok((await content(archived[0])).equals(expected), name);
		else missingMs += endMs - startMs;
	}
	assert.equal(
		missingAudio.reduce((total, { startMs, endMs }) => total + endMs - startMs, 0),
		missingMs,
		day,
	);
}

async function get<T>({ url, apiKey }: TestSandbox, path: string): Promise<T> {
	const response = await fetch(url + path, { headers: { 'x-api-key': apiKey } });
	assert.equal(response.status, 200, path);
	return (await response.json()).data;
}

async function lifelog(sandbox: TestSandbox, id: string): Promise<Lifelog> {
	const query = 'timezone=UTC&includeContents=true&includeMarkdown=true&includeHeadings=true';
	return (await get<{ lifelog: Lifelog }>(sandbox, `/v1/lifelogs/${id}?${query}`)).lifelog;
}

async function chat(sandbox: TestSandbox, id: string): Promise<Chat> {
	return (await get<{ chat: Chat }>(sandbox, `/v1/chats/${id}?timezone=UTC`)).chat;
}

/** The audio between two instants as the service sends it, or undefined. */
async function audioOf(
	{ url, apiKey }: TestSandbox,
	startMs: number,
	endMs: number,
): Promise<Buffer | undefined> {
	const query = `startMs=${startMs}&endMs=${endMs}`;
	const response = await fetch(`${url}/v1/download-audio?${query}`, {
		headers: { 'x-api-key': apiKey },
	});
	if (response.status === 404) return undefined;
	assert.equal(response.status, 200);
	return Buffer.from(await response.arrayBuffer());
}

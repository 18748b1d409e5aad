import { mkdir } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { clearDrafts, recover } from '../archive/commit.mts';
import { FileError, Folder } from '../archive/folder.mts';
import { tryLock } from '../archive/lock.mts';
import { manifestNames } from '../archive/manifests.mts';
import { otherRunSince } from '../archive/otherRun.mts';
import { commandName } from '../commandLine.mts';
import { addRecording } from './audio.mts';
import { readChat } from './chatFile.mts';
import { ArchiveDay } from './day.mts';
import { archived, ExportError, type Export, type ExportFile } from './export.mts';
import { readLifelog } from './lifelogFile.mts';
import { dayOfPath, readRecordingName } from './names.mts';
import { openExport } from './openExport.mts';

/** How many of each kind. */
export interface Counts {
	lifelogs: number;
	chats: number;
	audio: number;
}

/** What an import did. */
export interface Imported {
	/** What is new in the archive, and what the archive had of the export already. */
	added: Counts;
	known: Counts;
	/** How many days something was added to. */
	days: number;
	/** How many files an archive has no place for, by their folder. */
	passedOver: Record<string, number>;
	/** What could not be read, and why: the first ones of many. */
	unread: { path: string; problem: string }[];
	unreadCount: number;
}

/** How far it is: files of the export, and bytes of them. */
export type OnProgress = (done: number, total: number, bytes: number) => void;

// Far more than hours of talking have; what is larger is not read into memory.
const mostBytes = 64 * 1024 * 1024;
const mostUnread = 1000;
const atOnce = 8;

const extensions: Record<string, RegExp> = {
	lifelogs: /\.md$/i,
	chats: /\.json$/i,
	audio: /\.(ogg|oga|opus)$/i,
};

/**
 * Adds what is in an export of the service to an archive, day by day; what the archive has already
 * stays as it is. Rejects with an ExportError that says what to do when nothing can be imported.
 */
export async function importExport(
	from: string,
	to: string,
	onProgress: OnProgress = () => {},
): Promise<Imported> {
	const source = await openExport(from);
	try {
		const imported: Imported = {
			added: { lifelogs: 0, chats: 0, audio: 0 },
			known: { lifelogs: 0, chats: 0, audio: 0 },
			days: 0,
			passedOver: {},
			unread: [],
			unreadCount: 0,
		};
		const days = await sortByDay(source, imported);
		const total = [...days.values()].reduce((sum, files) => sum + files.length, 0);
		if (total === 0 && imported.unreadCount === 0) {
			throw new ExportError(
				`${from} is no export: it has no Markdown in lifelogs/, no JSON in chats/ and no Ogg in audio/`,
			);
		}
		const archive = await openArchive(from, to);
		const lock = tryLock(archive.root, 'run');
		if (!lock) {
			throw new ExportError(
				'Another run is writing to this archive (archive or import). Import when it has ended',
			);
		}
		try {
			const since = await otherRunSince(archive.root);
			if (since !== undefined) {
				throw new ExportError(
					`Full archive in n8n has been writing to this archive since ${since}. Import when it has ended`,
				);
			}
			await recover(archive.root);
			await clearDrafts(archive.root);
			await importDays(archive, days, total, imported, onProgress);
			await clearDrafts(archive.root);
			return imported;
		} finally {
			lock.release();
		}
	} finally {
		source.close();
	}
}

/** Imports day after day, the oldest first. */
async function importDays(
	archive: Folder,
	days: Map<string, ExportFile[]>,
	total: number,
	imported: Imported,
	onProgress: OnProgress,
): Promise<void> {
	const names = await manifestNames(archive);
	const addedTo = new Set<string>();
	let done = 0;
	let bytes = 0;
	onProgress(done, total, bytes);
	for (const [, files] of [...days].sort(([a], [b]) => (a < b ? -1 : 1))) {
		const changed = await importDay(archive, names, files, imported, (file) => {
			bytes += file.bytes;
			onProgress((done += 1), total, bytes);
		});
		for (const day of changed) addedTo.add(day);
	}
	imported.days = addedTo.size;
}

/** The files to be imported by the day on which they seem to begin. */
async function sortByDay(source: Export, imported: Imported): Promise<Map<string, ExportFile[]>> {
	const days = new Map<string, ExportFile[]>();
	for await (const file of source.list()) {
		const [top] = file.path.split('/');
		if ('problem' in file) {
			tell(imported, file.path, file.problem);
		} else if (top === 'days') {
			throw new ExportError(
				`That is an archive already: serve it with ${commandName} serve <folder>`,
			);
		} else if (/\/\.[^/]*$/.test(file.path)) {
			// What a file manager leaves behind.
		} else if (archived.includes(top) && extensions[top].test(file.path)) {
			const day = dayOfPath(file.path);
			const files = days.get(day) ?? [];
			files.push(file);
			days.set(day, files);
		} else {
			imported.passedOver[top] = (imported.passedOver[top] ?? 0) + 1;
		}
	}
	return days;
}

async function openArchive(from: string, to: string): Promise<Folder> {
	const holds = (outer: string, inner: string) => {
		const path = relative(resolve(outer), resolve(inner));
		return path === '' || (path !== '..' && !path.startsWith(`..${sep}`));
	};
	if (holds(from, to) || ['lifelogs', 'chats', 'audio'].some((top) => holds(join(to, top), from))) {
		throw new ExportError(
			'The archive must be another folder than the export, and not inside of it',
		);
	}
	const archive = await mkdir(to, { recursive: true })
		.then(() => Folder.open(to))
		.catch((error: Error) => {
			throw new ExportError(`${to} cannot be the folder of an archive: ${error.message}`);
		});
	return archive;
}

/**
 * Imports files that seem to begin on one day, some of which may begin on another; returns the days
 * that something was added to.
 */
async function importDay(
	archive: Folder,
	names: Map<string, string[]>,
	files: ExportFile[],
	imported: Imported,
	onDone: (file: ExportFile) => void,
): Promise<string[]> {
	const importedAt = new Date().toISOString();
	const open = new Map<string, Promise<ArchiveDay>>();
	const dayAt = (ms: number): Promise<ArchiveDay> => {
		const day = new Date(ms).toISOString().slice(0, 10);
		let opened = open.get(day);
		if (!opened) {
			opened = ArchiveDay.open(archive, day, names.get(day) ?? [], importedAt);
			open.set(day, opened);
		}
		return opened;
	};
	const attempt = async (kind: keyof Counts, file: ExportFile, add: () => Promise<boolean>) => {
		try {
			imported[(await add()) ? 'added' : 'known'][kind] += 1;
		} catch (error) {
			if (!(error instanceof ExportError) && !(error instanceof FileError)) throw error;
			tell(imported, file.path, error.message);
		}
		onDone(file);
	};
	const inOrder = files.sort((a, b) => (a.path < b.path ? -1 : 1));
	const entries = inOrder.filter(({ path }) => !path.startsWith('audio/'));
	for (let at = 0; at < entries.length; at += atOnce) {
		await Promise.all(
			entries.slice(at, at + atOnce).map((file) => {
				const isChat = file.path.startsWith('chats/');
				const add = isChat ? () => addChat(file, dayAt) : () => addLifelog(file, dayAt);
				return attempt(isChat ? 'chats' : 'lifelogs', file, add);
			}),
		);
	}
	const begins = (file: ExportFile) => readRecordingName(file.path) ?? 0;
	const recordings = inOrder.filter(({ path }) => path.startsWith('audio/'));
	for (const file of recordings.sort((a, b) => begins(a) - begins(b))) {
		await attempt('audio', file, () => addAudio(file, dayAt));
	}
	const changed: string[] = [];
	for (const [day, opening] of open) {
		// One that cannot be opened is told of by each file that belongs to it.
		const name = await (await opening.catch(() => undefined))?.save();
		if (name === undefined) continue;
		names.set(day, [...new Set([...(names.get(day) ?? []), name])]);
		changed.push(day);
	}
	return changed;
}

type DayAt = (ms: number) => Promise<ArchiveDay>;

async function addLifelog(file: ExportFile, dayAt: DayAt): Promise<boolean> {
	const markdown = await readWhole(file);
	const lifelog = readLifelog(decode(markdown), file.path);
	return (await dayAt(Date.parse(lifelog.startTime))).addLifelog(lifelog, markdown);
}

async function addChat(file: ExportFile, dayAt: DayAt): Promise<boolean> {
	const { chat, isScheduled } = readChat(decode(await readWhole(file)), file.path);
	return (await dayAt(Date.parse(chat.createdAt))).addChat(chat, isScheduled);
}

async function addAudio(file: ExportFile, dayAt: DayAt): Promise<boolean> {
	const begin = readRecordingName(file.path);
	if (begin === undefined) throw new ExportError('has a name that does not say when it begins');
	const [, recorder] = file.path.split('/');
	if (!/^[\w-]+$/.test(recorder)) throw new ExportError('lies in no folder of a recorder');
	return addRecording(dayAt, recorder, file, begin);
}

async function readWhole(file: ExportFile): Promise<Buffer> {
	if (file.bytes > mostBytes) throw new ExportError('is too large');
	const pieces: Buffer[] = [];
	for await (const piece of file.read()) pieces.push(piece);
	return Buffer.concat(pieces);
}

function decode(content: Buffer): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(content);
	} catch {
		throw new ExportError('is no text in UTF-8');
	}
}

function tell(imported: Imported, path: string, problem: string): void {
	imported.unreadCount += 1;
	if (imported.unread.length < mostUnread) imported.unread.push({ path, problem });
}

import { join, relative, resolve, sep } from 'node:path';
import { EntryError } from '../archive/additions.mts';
import { clearDrafts, type Drafts, withDrafts } from '../archive/drafts.mts';
import type { Lifelog } from '../../lifelog/api.ts';
import { FileError, Folder } from '../archive/folder.mts';
import { tryLock } from '../archive/lock.mts';
import { makeFolder } from '../archive/newArchive.mts';
import { otherRunSince } from '../archive/otherRun.mts';
import { commandName } from '../util/commandLine.mts';
import { addRecording } from './audio.mts';
import { readChat } from './chatFile.mts';
import { archived, ExportError, refuseOverlaps, type Export, type ExportFile } from './export.mts';
import { ImportedDay, saveDays } from './importedDay.mts';
import { readJson, readLifelog } from './lifelogFile.mts';
import { dayOfPath, readRecordingName } from './names.mts';
import { openExport } from './openExport.mts';
import { demandRoom, refuseTooLarge } from './room.mts';
import { asError } from '../util/errors.mts';

/** Numbers by kind. */
export interface Counts {
	lifelogs: number;
	chats: number;
	audio: number;
}

export interface Imported {
	/** New in the archive, and already in the archive or deleted from it. */
	added: Counts;
	known: Counts;
	/** Number of changed days. */
	days: number;
	/** Number of files that an archive can't hold, by folder. */
	passedOver: Record<string, number>;
	/** Unreadable files with reasons; only the first ones. */
	unread: { path: string; problem: string }[];
	unreadCount: number;
}

/** Target archive, and the time zone of the Markdown. */
interface Target {
	archive: Folder;
	timezone: string;
}

/** Progress: files of the export, and their bytes. */
export type OnProgress = (done: number, total: number, bytes: number) => void;

const MiB = 1024 * 1024;
// More than a day of talking has. In memory it can take forty times as much.
const MAX_BYTES = { lifelogs: 2.5 * MiB, chats: MiB };
const MAX_CONCURRENT_FILES = 8;
const MAX_CONCURRENT_BYTES = MiB / 4;
const MAX_UNREAD = 1000;
/** In UTF-16 units, like the next one. */
const MAX_PATH = 1000;
const MAX_PATH_SHOWN = 200;
/** Maximum memory of the list of files, and the memory of each besides its path. */
const MAX_LIST_BYTES = 40 * MiB;
const BYTES_OF_FILE = 300;
/** Days held in memory until they are saved. */
const MAX_DAYS = 100;
const MAX_CONTROLS = 1000;
/** Nonstop talking makes 45,000 a day. Each takes up to two kilobytes of memory. */
const MAX_LINES = 50_000;

const extensions: Record<string, RegExp> = {
	lifelogs: /\.(md|json)$/i,
	chats: /\.json$/i,
	audio: /\.(ogg|oga|opus)$/i,
};

/**
 * Imports an export of the service into an archive, day by day. Existing entries stay unchanged.
 * Times in the Markdown use `timezone`, an IANA name. Rejects with an ExportError that says what to
 * do if nothing can be imported, and with the reason of `signal`, which keeps completed days.
 */
export async function importExport(
	from: string,
	to: string,
	timezone = 'UTC',
	onProgress: OnProgress = () => {},
	signal?: AbortSignal,
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
		const files = [...days.values()].flat();
		refuseOverlaps(files);
		const total = files.length;
		if (total === 0 && imported.unreadCount === 0) {
			throw new ExportError(
				`${from} isn't an export: it has no Markdown or JSON in lifelogs/, no JSON in chats/ and no Ogg in audio/`,
			);
		}
		checkPlaces(from, to);
		await refuseTooLarge(files, to);
		const archive = await openArchive(to);
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
			await clearDrafts(archive.root);
			try {
				await importDays({ archive, timezone }, days, total, imported, onProgress, signal);
			} finally {
				await clearDrafts(archive.root);
			}
			return imported;
		} finally {
			lock.release();
		}
	} finally {
		source.close();
	}
}

/** Imports the days, oldest first. */
async function importDays(
	target: Target,
	days: Map<string, ExportFile[]>,
	total: number,
	imported: Imported,
	onProgress: OnProgress,
	signal?: AbortSignal,
): Promise<void> {
	const addedTo = new Set<string>();
	let done = 0;
	let bytes = 0;
	onProgress(done, total, bytes);
	for (const [, files] of [...days].sort(([a], [b]) => (a < b ? -1 : 1))) {
		const onDone = (file: ExportFile) => {
			signal?.throwIfAborted();
			bytes += file.bytes;
			onProgress((done += 1), total, bytes);
		};
		const changed = await withDrafts(
			target.archive.root,
			(drafts) => importDay(target, drafts, files, imported, onDone),
			demandRoom,
		);
		for (const day of changed) addedTo.add(day);
	}
	imported.days = addedTo.size;
}

/** Groups the files by the day on which they seem to start. */
async function sortByDay(source: Export, imported: Imported): Promise<Map<string, ExportFile[]>> {
	const days = new Map<string, ExportFile[]>();
	let listBytes = 0;
	for await (const file of source.list()) {
		const [top] = file.path.split('/', 1);
		if ('problem' in file) {
			tell(imported, file.path, file.problem);
		} else if (file.path.length > MAX_PATH) {
			tell(imported, file.path, `has a path of more than ${MAX_PATH} characters`);
		} else if (top === 'days') {
			throw new ExportError(
				`That is an archive already: serve it with ${commandName} serve <folder>`,
			);
		} else if (/\/\.[^/]*$/.test(file.path)) {
			// Files that a file manager creates.
		} else if (archived.includes(top) && extensions[top].test(file.path)) {
			// Some strings use two bytes per character.
			listBytes += BYTES_OF_FILE + 2 * file.path.length;
			if (listBytes > MAX_LIST_BYTES) {
				throw new ExportError(
					'The export has too many files for one import. Nothing was imported. Unpack it, and import a part of its folders at a time',
				);
			}
			const day = dayOfPath(file.path);
			const files = days.get(day) ?? [];
			files.push(file);
			days.set(day, files);
		} else {
			imported.passedOver[top] = (imported.passedOver[top] ?? 0) + 1;
		}
	}
	for (const [day, files] of days) days.set(day, exactOnes(files));
	return days;
}

/** Skips the Markdown of lifelogs that also have JSON, which is exact. */
function exactOnes(files: ExportFile[]): ExportFile[] {
	const stem = ({ path }: ExportFile) => path.replace(/\.\w+$/, '');
	const ofJson = new Set(files.filter(isJson).map(stem));
	return files.filter((file) => isJson(file) || !isLifelog(file) || !ofJson.has(stem(file)));
}

const isLifelog = ({ path }: ExportFile) => path.startsWith('lifelogs/');
const isJson = (file: ExportFile) => isLifelog(file) && /\.json$/i.test(file.path);

function checkPlaces(from: string, to: string): void {
	const holds = (outer: string, inner: string) => {
		const path = relative(resolve(outer), resolve(inner));
		return path === '' || (path !== '..' && !path.startsWith(`..${sep}`));
	};
	if (holds(from, to) || ['lifelogs', 'chats', 'audio'].some((top) => holds(join(to, top), from))) {
		throw new ExportError(
			'The archive must be another folder than the export, and not inside of it',
		);
	}
}

async function openArchive(to: string): Promise<Folder> {
	return await makeFolder(to)
		.then(() => Folder.open(to))
		.catch((error: unknown) => {
			throw new ExportError(`${to} cannot be the folder of an archive: ${asError(error).message}`);
		});
}

/** Imports files that seem to start on one day; some may start on another. Returns the changed days. */
async function importDay(
	{ archive, timezone }: Target,
	drafts: Drafts,
	files: ExportFile[],
	imported: Imported,
	onDone: (file: ExportFile) => void,
): Promise<string[]> {
	const open = new Map<string, Promise<ImportedDay>>();
	const dayAt = (ms: number): Promise<ImportedDay> => {
		const day = new Date(ms).toISOString().slice(0, 10);
		const opened = open.get(day) ?? ImportedDay.open(archive, drafts, day, timezone);
		open.set(day, opened);
		return opened;
	};
	const attempt = async (kind: keyof Counts, file: ExportFile, add: () => Promise<boolean>) => {
		try {
			imported[(await add()) ? 'added' : 'known'][kind] += 1;
		} catch (error) {
			if (!(error instanceof EntryError) && !(error instanceof FileError)) throw error;
			tell(imported, file.path, error.message);
		}
		onDone(file);
	};
	const changed: string[] = [];
	const save = async () => {
		// An unreadable day is reported for each of its files.
		const opened = await Promise.all([...open.values()].map((day) => day.catch(() => undefined)));
		changed.push(
			...(await saveDays(
				archive,
				opened.filter((day) => day !== undefined),
			)),
		);
		open.clear();
	};
	const inOrder = files.sort((a, b) => (a.path < b.path ? -1 : 1));
	const entries = inOrder.filter(({ path }) => !path.startsWith('audio/'));
	for (const batch of batchesOf(entries)) {
		const results = await Promise.allSettled(
			batch.map((file) => {
				const isChat = file.path.startsWith('chats/');
				const add = isChat ? () => addChat(file, dayAt) : () => addLifelog(file, timezone, dayAt);
				return attempt(isChat ? 'chats' : 'lifelogs', file, add);
			}),
		);
		// Only now, when no file of the batch is still being written.
		for (const result of results) if (result.status === 'rejected') throw result.reason;
		if (open.size > MAX_DAYS) await save();
	}
	const begins = (file: ExportFile) => readRecordingName(file.path) ?? 0;
	const recordings = inOrder.filter(({ path }) => path.startsWith('audio/'));
	for (const file of recordings.sort((a, b) => begins(a) - begins(b))) {
		await attempt('audio', file, () => addAudio(file, drafts, dayAt));
		if (open.size > MAX_DAYS) await save();
	}
	await save();
	return changed;
}

/** Batches of files to read at once, limited by number and bytes. */
function* batchesOf(files: ExportFile[]): Generator<ExportFile[]> {
	let batch: ExportFile[] = [];
	for (const file of files) {
		const bytes = batch.reduce((sum, each) => sum + each.bytes, file.bytes);
		const isFull = batch.length === MAX_CONCURRENT_FILES || bytes > MAX_CONCURRENT_BYTES;
		if (isFull && batch.length > 0) {
			yield batch;
			batch = [];
		}
		batch.push(file);
	}
	if (batch.length > 0) yield batch;
}

type DayAt = (ms: number) => Promise<ImportedDay>;

async function addLifelog(file: ExportFile, timezone: string, dayAt: DayAt): Promise<boolean> {
	const text = decode(await readWhole(file, MAX_BYTES.lifelogs));
	const lifelog = isJson(file) ? readJson(text) : readMarkdown(text, file.path, timezone);
	return (await dayAt(Date.parse(lifelog.startTime))).addLifelog(lifelog);
}

function readMarkdown(text: string, path: string, timezone: string): Lifelog {
	if (text.split('\n').filter((line) => line.trim() !== '').length > MAX_LINES) {
		throw new ExportError(`has more than ${MAX_LINES.toLocaleString('en')} lines`);
	}
	return readLifelog(text, path, timezone);
}

async function addChat(file: ExportFile, dayAt: DayAt): Promise<boolean> {
	const { chat, isScheduled } = readChat(decode(await readWhole(file, MAX_BYTES.chats)), file.path);
	return (await dayAt(Date.parse(chat.createdAt))).addChat(chat, isScheduled);
}

async function addAudio(file: ExportFile, drafts: Drafts, dayAt: DayAt): Promise<boolean> {
	const begin = readRecordingName(file.path);
	if (begin === undefined) throw new ExportError('has no start time in its name');
	const [, recorder] = file.path.split('/');
	if (!/^[\w-]{1,64}$/.test(recorder)) throw new ExportError('is not in the folder of a recorder');
	return addRecording(drafts, dayAt, recorder, file, begin);
}

async function readWhole(file: ExportFile, limit: number): Promise<Buffer> {
	const tooLarge = () => new ExportError(`is too large: the maximum is ${limit / MiB} MiB`);
	if (file.bytes > limit) throw tooLarge();
	const pieces: Buffer[] = [];
	let bytes = 0;
	for await (const piece of file.read()) {
		bytes += piece.length;
		// A file in a folder may grow meanwhile.
		if (bytes > limit) throw tooLarge();
		pieces.push(piece);
	}
	return Buffer.concat(pieces);
}

function decode(content: Buffer): string {
	let text: string;
	try {
		text = new TextDecoder('utf-8', { fatal: true }).decode(content);
	} catch {
		throw new ExportError("isn't UTF-8 text");
	}
	// Each takes six bytes in JSON.
	if (text.split(/[^\P{Cc}\t\n\f\r]/u, MAX_CONTROLS + 1).length > MAX_CONTROLS) {
		throw new ExportError(`isn't text: it has more than ${MAX_CONTROLS} control characters`);
	}
	return text;
}

function tell(imported: Imported, path: string, problem: string): void {
	imported.unreadCount += 1;
	if (imported.unread.length >= MAX_UNREAD) return;
	// Copied, because a substring keeps the whole string in memory.
	const shown = Buffer.from(path.slice(0, MAX_PATH_SHOWN)).toString();
	imported.unread.push({ path: path.length > MAX_PATH_SHOWN ? `${shown}…` : path, problem });
}

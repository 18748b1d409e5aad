import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, parse } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DateTime } from 'luxon';
import type { Queued } from './queue.mts';

/** Folder of files in progress. Polling ignores hidden names. */
export const PROCESSING = '.processing';
const DONE = 'done';
const FAILED = 'failed';
const MAX_SAME_NAMES = 1_000;
const MAX_NAME_BYTES = 220;
/** A recording may have gigabytes: by the usual 64 KiB, reading it takes longer than the hash. */
const READ_BYTES = 2 ** 20;
const HOW_AGAIN = '\n\nTo try again, move the file back to the inbox.\n';

/** Fields needed to put away the file of a recording. */
type Ended = Pick<
	Queued,
	'inbox' | 'path' | 'sha256' | 'status' | 'error' | 'fileName' | 'startTime' | 'createdAt'
>;

/**
 * Moves a file of the inbox to `done/<year>/<month>/`, or to `failed/` with a text file that gives
 * the reason. A file that has grown since it was claimed returns to the inbox. If the file is gone
 * or replaced, looks for it at its target. Removes an earlier reason if its file is no longer in
 * `failed/`.
 *
 * @param timezone IANA time zone of the months.
 * @param note Text to put beside a finished file.
 * @returns The file's new path.
 * @throws Errors of the file system.
 */
export async function putAway(recording: Ended, timezone: string, note?: string): Promise<string> {
	const { inbox = '', path, sha256, status, error, fileName } = recording;
	const isDone = status === 'done';
	const time = DateTime.fromISO(recording.startTime ?? recording.createdAt, { zone: timezone });
	const folder = join(inbox, isDone ? `${DONE}/${time.toFormat('yyyy/MM')}` : FAILED);
	await mkdir(folder, { recursive: true });
	const isHere = await hasContent(path, sha256);
	// It has grown since it was claimed.
	if (!isHere && isProcessing(recording)) await moveInto(inbox, path, fileName);
	const target = isHere
		? await moveInto(folder, path, fileName)
		: await findMoved(folder, fileName, sha256);
	const before = join(inbox, FAILED, basename(path));
	if (!(await isThere(before)) && (await isReason(`${before}.txt`))) {
		await rm(`${before}.txt`, { force: true });
	}
	if (target === undefined) return path;
	if (isDone && note === undefined) return target;
	const reason = `${target}.txt`;
	const isTaken = (await isThere(reason)) && !(await isReason(reason));
	const text = isDone ? `${note}\n` : `${error}${HOW_AGAIN}`;
	await writeFile(isTaken ? `${target}.failed.txt` : reason, text);
	return target;
}

/** Whether a recording's file is in the inbox's folder of files in progress. */
export const isProcessing = ({ inbox, path }: Pick<Queued, 'inbox' | 'path'>) =>
	inbox !== undefined && dirname(path) === join(inbox, PROCESSING);

/** Finds a file that a killed process had moved. */
async function findMoved(
	folder: string,
	name: string,
	sha256: string,
): Promise<string | undefined> {
	for (const target of targetsIn(folder, name)) {
		if (!(await isThere(target))) return undefined;
		if (await hasContent(target, sha256)) return target;
	}
	return undefined;
}

/** The SHA-256 of a file, hexadecimal. */
export async function hashOf(path: string, signal?: AbortSignal): Promise<string> {
	const hash = createHash('sha256');
	await pipeline(createReadStream(path, { signal, highWaterMark: READ_BYTES }), hash);
	return hash.digest('hex');
}

/** Whether a file exists with its original content: users move files and reuse names. */
export async function hasContent(
	path: string,
	sha256: string,
	signal?: AbortSignal,
): Promise<boolean> {
	try {
		return (await hashOf(path, signal)) === sha256;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
		throw error;
	}
}

/** Whether this server wrote a text file. The user's file may have the same name. */
const isReason = async (path: string) =>
	(await readFile(path, 'utf8').catch(() => '')).endsWith(HOW_AGAIN);

/** Shortens a name, but keeps its extension and room for suffixes: file systems allow 255 bytes. */
export function shortName(name: string): string {
	if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
	const ending = extname(name).slice(0, 20);
	const cut = Buffer.from(parse(name).name).subarray(0, MAX_NAME_BYTES - Buffer.byteLength(ending));
	return cut.toString().replace(/\ufffd$/, '') + ending;
}

/**
 * Moves a file into a folder, renaming it if its name is taken.
 *
 * @returns Its new path; undefined if the file doesn't exist.
 */
export async function moveInto(
	folder: string,
	path: string,
	name: string,
): Promise<string | undefined> {
	for (const target of targetsIn(folder, name)) {
		if (target === path) return path;
		if (await isThere(target)) continue;
		try {
			await rename(path, target);
			return target;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
			throw error;
		}
	}
	throw new Error(`${folder} has too many files that are called ${name}. Move some of them away`);
}

function* targetsIn(folder: string, name: string): Generator<string> {
	const { name: stem, ext } = parse(shortName(name));
	for (let n = 1; n <= MAX_SAME_NAMES; n += 1) {
		yield join(folder, `${stem}${n === 1 ? '' : `-${n}`}${ext}`);
	}
}

export const isThere = async (path: string) =>
	await lstat(path).then(
		() => true,
		() => false,
	);

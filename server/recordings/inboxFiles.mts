import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, extname, join, parse } from 'node:path';
import { DateTime } from 'luxon';
import type { Queued } from './queue.mts';

/** Where files are while they are worked on. Polling leaves hidden names alone. */
export const PROCESSING = '.processing';
const DONE = 'done';
const FAILED = 'failed';
const MAX_SAME_NAMES = 1_000;
const MAX_NAME_BYTES = 220;
const HOW_AGAIN = '\n\nTo try again, move the file back to the inbox.\n';

/**
 * Moves a file of the inbox to `done/<year>/<month>/`, or to `failed/` with a text beside it that
 * says why. Does nothing if it was moved already.
 *
 * @param timezone IANA name of the zone of the months.
 * @returns Where the file is now.
 * @throws What the file system fails with.
 */
export async function putAway(recording: Queued, timezone: string): Promise<string> {
	const { inbox = '', path, status, error, fileName } = recording;
	const isDone = status === 'done';
	const time = DateTime.fromISO(recording.startTime ?? recording.createdAt, { zone: timezone });
	const folder = join(inbox, isDone ? `${DONE}/${time.toFormat('yyyy/MM')}` : FAILED);
	await mkdir(folder, { recursive: true });
	const target = await moveInto(folder, path, fileName);
	if (target === undefined) return path;
	const reason = (moved: string) => join(inbox, FAILED, `${basename(moved)}.txt`);
	if (isDone && (await isReason(reason(path)))) await rm(reason(path));
	if (isDone) return target;
	const isTaken = (await isThere(reason(target))) && !(await isReason(reason(target)));
	await writeFile(isTaken ? reason(`${target}.failed`) : reason(target), `${error}${HOW_AGAIN}`);
	return target;
}

/** Whether a text was written here. One of the user may have the same name. */
const isReason = async (path: string) =>
	(await readFile(path, 'utf8').catch(() => '')).endsWith(HOW_AGAIN);

/** A name with its ending that leaves room for what is added to it: file systems take 255 bytes. */
export function shortName(name: string): string {
	if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
	const ending = extname(name).slice(0, 20);
	const cut = Buffer.from(parse(name).name).subarray(0, MAX_NAME_BYTES - Buffer.byteLength(ending));
	return cut.toString().replace(/\ufffd$/, '') + ending;
}

/**
 * Moves a file into a folder, under another name if there is one of its name already.
 *
 * @returns Where it is now; undefined if there is no such file.
 */
export async function moveInto(
	folder: string,
	path: string,
	name: string,
): Promise<string | undefined> {
	const { name: stem, ext } = parse(shortName(name));
	for (let n = 1; n <= MAX_SAME_NAMES; n += 1) {
		const target = join(folder, `${stem}${n === 1 ? '' : `-${n}`}${ext}`);
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

const isThere = async (path: string) =>
	await lstat(path).then(
		() => true,
		() => false,
	);

// Compares one day's manifest with the files in its folders.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Day, type NamedFile, parsed, type Span } from './dayManifest.mts';
import type { Finding, Report } from './findings.mts';
import { type Folder, IS_MISSING } from './folder.mts';
import { dayOf, folderOf, instantOf, isNameOf, placeOf, updatedAtOf } from './layout.mts';

const MAX_CONCURRENT_FILES = 8;

/** The last instant of JavaScript dates, epoch ms. */
const LATEST_MS = 8.64e15;

/** A lifelog or a chat of the manifest. */
interface Entry {
	collection: 'lifelogs' | 'chats';
	id: string;
	ids: string[];
	files: NamedFile[];
	/** Whether it was deleted from the archive. */
	isDeleted: boolean;
	/** The problem of its JSON, if any. */
	problemOf: (json: Record<string, unknown>) => string | undefined;
}

/** What was found correct in a day. */
export interface Checked {
	files: number;
	bytes: number;
}

/** Checks all files that a day names, and finds others in its folders. */
export async function checkDay(folder: Folder, day: Day, report: Report): Promise<Checked> {
	const found = (finding: Omit<Finding, 'day'>) => report({ day: day.day, ...finding });
	const named = new Set<string>();
	const byName = new Map<string, string>();
	const checked: Checked = { files: 0, bytes: 0 };

	const isNew = ({ path }: NamedFile): boolean => {
		const other = byName.get(path.toLowerCase());
		byName.set(path.toLowerCase(), path);
		named.add(path);
		if (other === path) {
			found({ kind: 'broken', path, message: 'is listed twice in its day manifest' });
		} else if (other !== undefined) {
			const message = `differs from ${other} only by case, so one replaces the other on macOS and Windows`;
			found({ kind: 'broken', path, message });
		}
		return other !== path;
	};
	const entries = entriesOf(day);
	for (const { id, files, collection, isDeleted } of entries) {
		if (isDeleted) {
			const message = 'was deleted from the archive, but its day manifest still names its files';
			if (files.length > 0) found({ kind: 'broken', id, message });
			continue;
		}
		const extensions = collection === 'lifelogs' ? ['json', 'md'] : ['json'];
		for (const extension of extensions) {
			if (files.some(({ path }) => path.endsWith(`.${extension}`))) continue;
			found({
				kind: 'missing',
				id,
				message: `has no .${extension} file that its day manifest names`,
			});
		}
	}
	const checks = [
		...entries.flatMap((entry) =>
			entry.files.filter(isNew).map((file) => async () => {
				return { file, problem: await entryProblem(folder, day.day, entry, file) };
			}),
		),
		...day.audio.filter(isNew).map((file) => async () => {
			return { file, problem: await audioProblem(folder, day.day, file) };
		}),
	];
	const run = async (check: (typeof checks)[number]) => await check();
	for await (const { file, problem } of Readable.from(checks).map(run, {
		concurrency: MAX_CONCURRENT_FILES,
	})) {
		if (problem === undefined) {
			checked.files++;
			checked.bytes += file.bytes;
		} else {
			const kind = problem === IS_MISSING ? 'missing' : 'broken';
			found({ kind, path: file.path, message: problem });
		}
	}
	checkRanges(day, found);
	for (const { what, message } of day.failed) {
		found({ kind: 'incomplete', message: `${what}: ${message}` });
	}
	if (!day.isComplete && day.failed.length === 0) {
		found({ kind: 'incomplete', message: 'is not complete, and does not say why' });
	}
	if (day.isComplete && day.failed.length > 0) {
		found({ kind: 'broken', message: 'claims to be complete, but lists failures' });
	}
	for (const place of await foldersOf(folder, day.day)) {
		for await (const path of folder.files(place)) {
			if (!named.has(path))
				found({ kind: 'left over', path, message: "isn't named by a day manifest" });
		}
	}
	return checked;
}

/** The folders of a day's files. Each kind of recorder has one for audio. */
async function foldersOf(folder: Folder, day: string): Promise<string[]> {
	const recorders = await folder.names('audio');
	return ['lifelogs', 'chats', ...recorders.map((name) => `audio/${name}`)].map((collection) =>
		folderOf(collection, day),
	);
}

function entriesOf({ lifelogs, chats }: Day): Entry[] {
	return [
		...Object.entries(lifelogs).map(([id, { updatedAt, isStarred, files, deletedAt }]): Entry => {
			const problemOf = (json: Record<string, unknown>) => {
				if (updatedAtOf(json) !== Date.parse(updatedAt)) {
					return `was updated at ${shown(json.updatedAt)}, but its day manifest says ${updatedAt}`;
				}
				const isOtherwise = (json.isStarred === true) !== isStarred;
				return isOtherwise
					? `${isStarred ? 'has no' : 'has a'} star, unlike in its day manifest`
					: undefined;
			};
			const ids = Object.keys(lifelogs);
			return {
				collection: 'lifelogs',
				id,
				ids,
				files,
				isDeleted: deletedAt !== undefined,
				problemOf,
			};
		}),
		...Object.entries(chats).map(([id, { messages, files, deletedAt }]): Entry => {
			const problemOf = (json: Record<string, unknown>) => {
				const count = Array.isArray(json.messages) ? json.messages.length : 0;
				return count === messages
					? undefined
					: `has ${count} messages, but its day manifest says ${messages}`;
			};
			const ids = Object.keys(chats);
			return { collection: 'chats', id, ids, files, isDeleted: deletedAt !== undefined, problemOf };
		}),
	];
}

/** @returns The problem of a lifelog's or chat's file. */
async function entryProblem(
	folder: Folder,
	day: string,
	{ collection, id, ids, problemOf }: Entry,
	file: NamedFile,
): Promise<string | undefined> {
	const { path } = file;
	const begins = `${folderOf(collection, day)}/${day}_`;
	const ends = /^\d\dh\d\dm\d\ds_(.*)\.\w+$/.exec(path.slice(begins.length));
	if (!path.startsWith(begins) || ends === null || !isNameOf(ends[1], id, ids)) {
		return `isn't where the files of ${id} on that day are`;
	}
	if (!path.endsWith('.json')) {
		const sum = await folder.sum(path);
		return 'problem' in sum ? sum.problem : sumProblem(sum, file);
	}
	const read = await folder.read(path);
	if ('problem' in read) return read.problem;
	const sha256 = createHash('sha256').update(read.content).digest('hex');
	const problem = sumProblem({ bytes: read.content.length, sha256 }, file);
	if (problem !== undefined) return problem;
	const json = parsed(read.content) as Record<string, unknown> | null | undefined;
	if (json === undefined) return "isn't JSON";
	if (json === null || typeof json !== 'object' || json.id !== id) {
		return `doesn't contain ${id}, but its day manifest says so`;
	}
	const begin = instantOf(collection === 'lifelogs' ? json.startTime : json.createdAt);
	if (Number.isNaN(begin)) return 'does not say when it begins';
	const place = placeOf(collection, begin);
	return path === `${place}${ends[1]}.json`
		? problemOf(json)
		: `belongs to ${place}${ends[1]}.json by its contents`;
}

/** @returns The problem of an audio file. */
async function audioProblem(
	folder: Folder,
	day: string,
	file: NamedFile & Span,
): Promise<string | undefined> {
	const { path, startMs, endMs } = file;
	const [, recorder, rest] = /^audio\/([^/]+)\/(.*)$/.exec(path) ?? [];
	const isInDay = rest !== undefined && path.startsWith(`${folderOf(`audio/${recorder}`, day)}/`);
	if (!isInDay) return "isn't where the audio of that day is";
	if (Math.max(startMs, endMs) > LATEST_MS) return 'has an impossible time';
	if (endMs <= startMs) return 'ends before it begins';
	if (dayOf(startMs) !== day) return `begins on ${dayOf(startMs)}`;
	const sum = await folder.sum(path);
	if ('problem' in sum) return sum.problem;
	const problem = sumProblem(sum, file);
	if (problem !== undefined) return problem;
	if (sum.bytes === 0) return 'is empty';
	return path.endsWith('.ogg') && sum.head !== 'OggS' ? "isn't an Ogg file" : undefined;
}

function sumProblem(
	actual: { bytes: number; sha256: string },
	{ bytes, sha256 }: NamedFile,
): string | undefined {
	if (actual.bytes !== bytes)
		return `has ${actual.bytes} bytes, but its day manifest says ${bytes}`;
	return actual.sha256 === sha256
		? undefined
		: 'has a different SHA-256 than its day manifest says';
}

/** Audio of other devices, which may overlap in time. */
const RECORDINGS = 'audio/recordings/';

/** Reports audio ranges that overlap, or are both stored and missing. */
function checkRanges({ audio, missingAudio }: Day, found: (finding: Finding) => void): void {
	const ofService = audio.filter(({ path }) => !path.startsWith(RECORDINGS));
	const ranges = [
		...ofService.map(({ startMs, endMs, path }) => ({ startMs, endMs, path })),
		...missingAudio.map(({ startMs, endMs }) => ({ startMs, endMs, path: undefined })),
	].sort((a, b) => a.startMs - b.startMs);
	let last: (typeof ranges)[number] | undefined;
	for (const range of ranges) {
		const isBoth = last !== undefined && range.startMs < last.endMs;
		if (isBoth && (range.path ?? last!.path) !== undefined) {
			const other = (range.path && last!.path) ?? 'a range without audio';
			const path = range.path ?? last!.path;
			found({ kind: 'broken', path, message: `overlaps with ${other}` });
		}
		if (last === undefined || range.endMs > last.endMs) last = range;
	}
}

const shown = (value: unknown) => (typeof value === 'string' ? value : 'an unknown time');

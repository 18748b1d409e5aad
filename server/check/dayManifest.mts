// Reads the manifests in days/ and finds the current ones.
import { createHash } from 'node:crypto';
import { CannotCheck, type Report } from './findings.mts';
import type { Folder } from './folder.mts';
import { readDayName } from './layout.mts';
import { ajv } from './schema.mts';

export interface NamedFile {
	path: string;
	bytes: number;
	sha256: string;
}

/** A time span in epoch ms. */
export interface Span {
	startMs: number;
	endMs: number;
}

/** Common fields of a lifelog and a chat. */
interface Entry {
	/** Empty if it was deleted from the archive. */
	files: NamedFile[];
	goneAt?: string;
	deletedAt?: string;
}

/** Content of a day manifest. */
export interface Day {
	version: 1;
	day: string;
	lifelogs: Record<string, Entry & { updatedAt: string; isStarred: boolean; listed?: string }>;
	chats: Record<string, Entry & { messages: number; isScheduled: boolean }>;
	audio: Array<NamedFile & Span>;
	missingAudio: Span[];
	failed: Array<{ what: string; message: string }>;
	archivedAt: string;
	isComplete: boolean;
}

const object = (properties: Record<string, object>, optional: Record<string, object> = {}) => ({
	type: 'object',
	required: Object.keys(properties),
	properties: { ...properties, ...optional },
});
const time = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' };
const count = { type: 'integer', minimum: 0 };
const text = { type: 'string' };
const number = { type: 'number' };
const flag = { type: 'boolean' };
const list = (items: object) => ({ type: 'array', items });
const byId = (value: object) => ({ type: 'object', additionalProperties: value });
const span = { startMs: count, endMs: count };
const file = { path: text, bytes: count, sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' } };
const replaced = list(object({ id: text, heard: text, right: text }));
const lines = list(
	object({ startOffsetMs: number, was: text }, { text, speaker: text, typed: text, replaced }),
);
const own = {
	madeHere: object({ source: { enum: ['api', 'recording'] } }, { externalId: text }),
	edited: object(
		{ at: time },
		{ title: text, isStarred: flag, speakers: byId(text), namesBefore: byId(text), lines },
	),
	deletedAt: time,
	spans: list(object({ startMs: number, endMs: number })),
};
const marks = { goneAt: time, ...own };
const listed = { type: 'string', pattern: '^[0-9a-f]{16}$' };

const schema = object({
	version: { const: 1 },
	day: text,
	lifelogs: byId(
		object({ updatedAt: time, isStarred: flag, files: list(object(file)) }, { listed, ...marks }),
	),
	chats: byId(object({ messages: count, isScheduled: flag, files: list(object(file)) }, marks)),
	audio: list(object({ ...span, ...file })),
	missingAudio: list(object(span)),
	failed: list(object({ what: text, message: text })),
	archivedAt: time,
	isComplete: flag,
});
const isDayManifest = ajv.compile<Day>(schema);

/** The names in `days/` by day, both in order. */
export async function listDays(folder: Folder, report: Report): Promise<Map<string, string[]>> {
	const days = new Map<string, string[]>();
	for (const name of await folder.names('days')) {
		const known = readDayName(name);
		if (known) days.set(known.day, [...(days.get(known.day) ?? []), name]);
		else {
			report({
				...{ kind: 'left over', path: `days/${name}` },
				message: "isn't a day manifest: its name is not one",
			});
		}
	}
	if (days.size === 0) {
		throw new CannotCheck(
			`"${folder.root}" has no day manifest in days/: no day was finished, so there is nothing to check.`,
		);
	}
	return days;
}

/**
 * Reads the manifests of one day.
 *
 * @returns The one with the latest `archivedAt`; undefined if none is readable.
 */
export async function readDay(
	folder: Folder,
	day: string,
	names: string[],
	report: Report,
): Promise<Day | undefined> {
	let newest: Day | undefined;
	for (const name of names) {
		const path = `days/${name}`;
		const read = await readDayManifest(folder, path);
		if (typeof read === 'string') {
			report({ kind: 'broken', day, path, message: `${read}, so it is ignored` });
		} else if (newest === undefined || read.archivedAt >= newest.archivedAt) {
			newest = read;
		}
	}
	return newest;
}

/** Reads a day manifest; returns a string with the reason if it is invalid. */
async function readDayManifest(folder: Folder, path: string): Promise<Day | string> {
	const read = await folder.read(path);
	if ('problem' in read) return read.problem;
	if (read.content.length === 0) return 'is empty';
	const content = parsed(read.content);
	if (content === undefined) return "isn't JSON";
	const version = (content as { version?: unknown } | null)?.version;
	if (typeof version === 'number' && version !== 1) {
		return `has layout version ${version}, but this check supports only version 1`;
	}
	if (!isDayManifest(content)) {
		const [{ instancePath, message }] = isDayManifest.errors!;
		return `isn't a day manifest: ${[instancePath.slice(1), message].filter(Boolean).join(' ')}`;
	}
	const name = readDayName(path.slice('days/'.length))!;
	if (content.day !== name.day) return `is for ${content.day}, but its name has another day`;
	const actual = fingerprintOf(content);
	if (actual !== name.fingerprint) return `has the fingerprint ${actual}, not the one in its name`;
	return content;
}

/** @returns undefined for invalid JSON. */
export function parsed(content: Buffer): unknown {
	try {
		return JSON.parse(content.toString('utf8')) as unknown;
	} catch {
		return undefined;
	}
}

/**
 * The fingerprint in a day's name (docs/reference/archive.md). Independent of the code that writes
 * archives.
 */
function fingerprintOf({ lifelogs, chats, isComplete }: Day): string {
	const present = <Entry extends { goneAt?: string }>(entries: Record<string, Entry>) =>
		Object.entries(entries).filter(([, { goneAt }]) => goneAt === undefined);
	const lines = [
		...present(lifelogs).map(
			([id, { updatedAt, isStarred }]) => `lifelog ${id} ${updatedAt} ${isStarred}`,
		),
		...present(chats).map(([id, { messages }]) => `chat ${id} ${messages}`),
		...(isComplete ? [] : ['incomplete']),
	];
	return createHash('sha256').update(lines.sort().join('\n')).digest('hex').slice(0, 16);
}

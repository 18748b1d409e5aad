import { Ajv } from 'ajv';
import type { Span } from '../util/spans.mts';
import { fingerprintOf } from './fingerprint.mts';

/** Files that are being written. They count for nothing until a change moves them to their place. */
export const DRAFTS = '.lifelog-drafts';
/** The change that is in progress. */
export const JOURNAL = '.lifelog-journal.json';

/** Who is who, in the owner's words. */
export const PEOPLE = 'people.json';
/** Which words the owner has replaced in all lifelogs. */
export const REPLACEMENTS = 'replacements.json';

/** The recorder whose audio was recorded elsewhere and uploaded. */
export const RECORDINGS = 'recordings';

/** A range of audio that a day names. */
export interface AudioFile {
	startMs: number;
	endMs: number;
	/** From the folder of the archive. */
	path: string;
	bytes: number;
	sha256: string;
}

/** A file that a day names. */
export interface NamedFile {
	/** From the folder of the archive, with `/`. */
	path: string;
	bytes: number;
	sha256: string;
}

/** Where an entry comes from that lifelog-server made. The service doesn't know it. */
export interface MadeHere {
	source: 'api' | 'recording';
	externalId?: string;
}

/** What was changed by lifelog-server. The files stay as they were stored. */
export interface Edited {
	title?: string;
	isStarred?: boolean;
	/** New names by the names in the file; an empty one is that of lines without a speaker. */
	speakers?: Record<string, string>;
	/** Names that labels of an earlier transcript had, and these labels. */
	namesBefore?: Record<string, string>;
	lines?: EditedLine[];
	/** When, in UTC with milliseconds. */
	at: string;
}

/** A line that was corrected here, by its time and the text in the file. */
export interface EditedLine {
	startOffsetMs: number;
	was: string;
	/** What it is now; missing if that is the same. */
	text?: string;
	/** Of this line only. */
	speaker?: string;
	/** What somebody had typed before the replacements; missing if that is the text in the file. */
	typed?: string;
	/** The replacements that have changed it, in their order. */
	replaced?: Correction[];
}

/** Words that are heard wrong, and the right ones. */
export interface Correction {
	/** Of the replacement. */
	id: string;
	heard: string;
	right: string;
}

interface NamedEntry {
	files: NamedFile[];
	goneAt?: string;
	madeHere?: MadeHere;
	/** When it was deleted, in UTC with milliseconds. It then has no files. */
	deletedAt?: string;
}

/** A lifelog of a day. */
export interface LifelogEntry extends NamedEntry {
	updatedAt: string;
	isStarred: boolean;
	/** Tells that the service's title or end have changed: `listedOf`. */
	listed?: string;
	edited?: Edited;
	/** When a deleted lifelog was, so that an import recognizes it. */
	spans?: Span[];
}

/** A chat of a day. */
export interface ChatEntry extends NamedEntry {
	messages: number;
	isScheduled: boolean;
}

/** A day manifest (docs/reference/archive.md, "Day manifest"). */
export interface DayManifest {
	version: 1;
	day: string;
	lifelogs: Record<string, LifelogEntry>;
	chats: Record<string, ChatEntry>;
	audio: AudioFile[];
	/** Ranges of which the service said that it has no audio. */
	missingAudio?: Span[];
	/** What could not be archived. */
	failed?: { what: string; message: string }[];
	archivedAt: string;
	isComplete: boolean;
}

const DAY_MANIFEST_NAME = /^(\d{4}-\d{2}-\d{2})_[0-9a-f]{16}\.json$/;

/** The day of which a file in `days/` is, by its name; undefined for any other file. */
export function dayOfName(name: string): string | undefined {
	return DAY_MANIFEST_NAME.exec(name)?.[1];
}

const text = { type: 'string' };
const file = {
	type: 'object',
	required: ['path', 'bytes', 'sha256'],
	properties: {
		path: text,
		bytes: { type: 'integer', minimum: 0 },
		sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
	},
};
const entry = (required: string[], properties: object) => ({
	type: 'object',
	required: ['files', ...required],
	properties: {
		files: { type: 'array', items: file },
		goneAt: text,
		madeHere: {
			type: 'object',
			required: ['source'],
			properties: { source: { enum: ['api', 'recording'] }, externalId: text },
		},
		deletedAt: text,
		...properties,
	},
});
const spans = {
	type: 'array',
	items: {
		type: 'object',
		required: ['startMs', 'endMs'],
		properties: { startMs: { type: 'number' }, endMs: { type: 'number' } },
	},
};
const correction = {
	type: 'object',
	required: ['id', 'heard', 'right'],
	properties: { id: text, heard: text, right: text },
};
const lines = {
	type: 'array',
	items: {
		type: 'object',
		required: ['startOffsetMs', 'was'],
		properties: {
			startOffsetMs: { type: 'number' },
			was: text,
			text,
			speaker: text,
			typed: text,
			replaced: { type: 'array', items: correction },
		},
	},
};
const schema = {
	type: 'object',
	required: ['version', 'day', 'lifelogs', 'chats', 'audio', 'archivedAt', 'isComplete'],
	properties: {
		version: { const: 1 },
		day: text,
		lifelogs: {
			type: 'object',
			additionalProperties: entry(['updatedAt', 'isStarred'], {
				updatedAt: text,
				isStarred: { type: 'boolean' },
				listed: text,
				edited: {
					type: 'object',
					required: ['at'],
					properties: {
						title: text,
						isStarred: { type: 'boolean' },
						speakers: { type: 'object', additionalProperties: text },
						namesBefore: { type: 'object', additionalProperties: text },
						lines,
						at: text,
					},
				},
				spans,
			}),
		},
		chats: {
			type: 'object',
			additionalProperties: entry(['messages', 'isScheduled'], {
				messages: { type: 'integer' },
				isScheduled: { type: 'boolean' },
			}),
		},
		audio: {
			type: 'array',
			items: {
				...file,
				required: ['startMs', 'endMs', ...file.required],
				properties: {
					...file.properties,
					startMs: { type: 'integer', minimum: 0 },
					endMs: { type: 'integer', minimum: 0 },
				},
			},
		},
		missingAudio: spans,
		failed: {
			type: 'array',
			items: {
				type: 'object',
				required: ['what', 'message'],
				properties: { what: text, message: text },
			},
		},
		archivedAt: text,
		isComplete: { type: 'boolean' },
	},
};
const isDayManifest = new Ajv().compile<DayManifest>(schema);

/** Reads the text of a day manifest; undefined when it isn't one, or one of another day. */
export function parseDayManifest(json: string, day: string): DayManifest | undefined {
	const value = parseJson(json);
	const isOne =
		isDayManifest(value) && value.day === day && !Number.isNaN(Date.parse(value.archivedAt));
	return isOne ? value : undefined;
}

/** Whether a later version of lifelog-server wrote a manifest. */
export function isOfLaterVersion(json: string): boolean {
	const version = (parseJson(json) as { version?: unknown } | null | undefined)?.version;
	return typeof version === 'number' && version > 1;
}

const { lifelogs, chats } = schema.properties;
const ofManifest = new Set(Object.keys(schema.properties));
const ofEntry = new Set(
	[lifelogs, chats].flatMap(({ additionalProperties: { properties } }) => Object.keys(properties)),
);

/**
 * A new manifest with the fields of the one before that this version doesn't know: a later version
 * wrote them, of the manifest or of an entry. An entry that is deleted loses its own, because they may
 * have words of it.
 */
export function withUnknown(file: DayManifest, before: DayManifest | undefined): DayManifest {
	if (!before) return file;
	type Entries<Entry> = Record<string, Entry>;
	const entriesOf = <Entry extends NamedEntry>(now: Entries<Entry>, old: Entries<Entry>) =>
		Object.fromEntries(
			Object.entries(now).map(([id, entry]) => {
				const known = Object.hasOwn(old, id) ? old[id] : undefined;
				const isBuried = entry.deletedAt !== undefined && known?.deletedAt === undefined;
				return [id, isBuried ? only(ofEntry, entry) : { ...entry, ...unknownOf(ofEntry, known) }];
			}),
		);
	return {
		...file,
		lifelogs: entriesOf(file.lifelogs, before.lifelogs),
		chats: entriesOf(file.chats, before.chats),
		...unknownOf(ofManifest, before),
	};
}

const unknownOf = (known: Set<string>, value: object = {}) =>
	Object.fromEntries(Object.entries(value).filter(([name]) => !known.has(name)));
const only = <Entry extends object>(known: Set<string>, entry: Entry) =>
	Object.fromEntries(Object.entries(entry).filter(([name]) => known.has(name))) as Entry;

// Far more than anything here has. What goes on without end would exhaust the stack of what reads it.
const MAX_NESTING = 500;

/**
 * Parses JSON; undefined for text that is none, or is nested too deep. The parser's own message would
 * quote the text.
 */
export function parseJson(json: string): unknown {
	try {
		const value: unknown = JSON.parse(json);
		return isNestedDeeper(value, MAX_NESTING) ? undefined : value;
	} catch {
		return undefined;
	}
}

function isNestedDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	if (levels === 0) return true;
	return Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1));
}

// Clocks of two machines that archive and serve differ by less.
const CLOCK_TOLERANCE_MS = 3_600_000;

/** Whether a day was archived (epoch ms) later than now, so that a clock is wrong. */
export const isFuture = (archivedMs: number): boolean =>
	archivedMs > Date.now() + CLOCK_TOLERANCE_MS;

/** The name of a day manifest: its fingerprint tells what the day holds. */
export function nameOfDay(file: DayManifest): string {
	return `${file.day}_${fingerprintOf(file)}.json`;
}

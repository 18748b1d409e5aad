import { ajv } from '../util/schema.mts';
import type { Span } from '../util/spans.mts';
import { fingerprintOf } from './fingerprint.mts';

/** Files being written. They have no effect until a change moves them into place. */
export const DRAFTS = '.lifelog-drafts';
/** The change in progress. */
export const JOURNAL = '.lifelog-journal.json';

/** Names of people, edited by the owner. */
export const PEOPLE = 'people.json';
/** Words that the owner has replaced in all lifelogs. */
export const REPLACEMENTS = 'replacements.json';

/** Recorder of uploaded audio from other devices. */
export const RECORDINGS = 'recordings';

export interface AudioFile {
	startMs: number;
	endMs: number;
	/** Relative to the archive's folder. */
	path: string;
	bytes: number;
	sha256: string;
}

export interface NamedFile {
	/** Relative to the archive's folder, with `/`. */
	path: string;
	bytes: number;
	sha256: string;
}

/** Origin of an entry that lifelog-server created. The service doesn't know it. */
export interface MadeHere {
	source: 'api' | 'recording';
	externalId?: string;
}

/** Changes made by lifelog-server. The files stay as stored. */
export interface Edited {
	title?: string;
	isStarred?: boolean;
	/** New names by the names in the file; '' means lines without a speaker. */
	speakers?: Record<string, string>;
	/** Names given to labels of an earlier transcript, and these labels. */
	namesBefore?: Record<string, string>;
	lines?: EditedLine[];
	/** Time of the edit, in UTC with milliseconds. */
	at: string;
}

/** A corrected line, identified by its time and its text in the file. */
export interface EditedLine {
	startOffsetMs: number;
	was: string;
	/** Corrected text; missing if unchanged. */
	text?: string;
	/** For this line only. */
	speaker?: string;
	/** Text typed by the user, before replacements; missing if it is the text in the file. */
	typed?: string;
	/** Applied replacements, in order. */
	replaced?: Correction[];
}

/** Misheard words and their correction. */
export interface Correction {
	/** ID of the replacement. */
	id: string;
	heard: string;
	right: string;
}

interface NamedEntry {
	files: NamedFile[];
	goneAt?: string;
	madeHere?: MadeHere;
	/** Time of deletion, in UTC with milliseconds. The entry then has no files. */
	deletedAt?: string;
}

export interface LifelogEntry extends NamedEntry {
	updatedAt: string;
	isStarred: boolean;
	/** Changes with the service's title or end: `listedOf`. */
	listed?: string;
	edited?: Edited;
	/** Times of a deleted lifelog, so that an import recognizes it. */
	spans?: Span[];
}

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
	/** Ranges for which the service reported no audio. */
	missingAudio?: Span[];
	/** What couldn't be archived. */
	failed?: { what: string; message: string }[];
	archivedAt: string;
	isComplete: boolean;
}

const DAY_MANIFEST_NAME = /^(\d{4}-\d{2}-\d{2})_[0-9a-f]{16}\.json$/;

/** The day of a file in `days/`, from its name; undefined for other files. */
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
const isDayManifest = ajv.compile<DayManifest>(schema);

/** Parses a day manifest; undefined if it isn't one, or is another day's. */
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
 * A new manifest with the fields of the previous one that this version doesn't know. A later
 * version wrote them, in the manifest or in an entry. Deleted entries lose them, because they may
 * contain the user's words.
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

// Far more than real files have. Deeper nesting would exhaust the stack of readers.
const MAX_NESTING = 500;

/**
 * Parses JSON; undefined if it is invalid or nested too deep. The parser's own message would quote
 * the text.
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

// Clocks of the archiving and the serving machine differ by less.
const CLOCK_TOLERANCE_MS = 3_600_000;

/** Whether a day was archived in the future (epoch ms), which means that a clock was wrong. */
export const isFuture = (archivedMs: number): boolean =>
	archivedMs > Date.now() + CLOCK_TOLERANCE_MS;

/** The name of a day manifest. Its fingerprint identifies the day's content. */
export function nameOfDay(file: DayManifest): string {
	return `${file.day}_${fingerprintOf(file)}.json`;
}

import { Ajv } from 'ajv';
import type { AudioFile } from '../store/rows.mts';
import type { Span } from './spans.mts';
import { versionOf } from './version.mts';

/** A file that a day names. */
export interface NamedFile {
	/** From the folder of the archive, with `/`. */
	path: string;
	bytes: number;
	sha256: string;
}

interface NamedEntry {
	files: NamedFile[];
	goneAt?: string;
}

/** What `days/<day>_<version>.json` says (docs/archive.md, "The file of a day"). */
export interface DayFile {
	version: 1;
	day: string;
	lifelogs: Record<string, NamedEntry & { updatedAt: string; isStarred: boolean }>;
	chats: Record<string, NamedEntry & { messages: number; isScheduled: boolean }>;
	audio: AudioFile[];
	/** Ranges of which the service said that it has no audio. */
	missingAudio?: Span[];
	/** What could not be archived. */
	failed?: { what: string; message: string }[];
	archivedAt: string;
	isComplete: boolean;
}

const dayFileName = /^(\d{4}-\d{2}-\d{2})_[0-9a-f]{16}\.json$/;

/** The day of which a file in `days/` is, by its name; undefined for any other file. */
export function dayOf(name: string): string | undefined {
	return dayFileName.exec(name)?.[1];
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
	properties: { files: { type: 'array', items: file }, goneAt: text, ...properties },
});
const isDayFile = new Ajv().compile<DayFile>({
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
		missingAudio: {
			type: 'array',
			items: {
				type: 'object',
				required: ['startMs', 'endMs'],
				properties: { startMs: { type: 'number' }, endMs: { type: 'number' } },
			},
		},
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
});

/** Reads the text of a day's file; undefined when it is none, or one of another day. */
export function parseDayFile(json: string, day: string): DayFile | undefined {
	const value = parseJson(json);
	const isOne =
		isDayFile(value) && value.day === day && !Number.isNaN(Date.parse(value.archivedAt));
	return isOne ? value : undefined;
}

// Far more than anything here has. What goes on without end would exhaust the stack of what reads it.
const mostNested = 500;

/**
 * Parses JSON; undefined for text that is none, or is nested too deep. The parser's own message would
 * quote the text.
 */
export function parseJson(json: string): unknown {
	try {
		const value: unknown = JSON.parse(json);
		return isNestedDeeper(value, mostNested) ? undefined : value;
	} catch {
		return undefined;
	}
}

function isNestedDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	if (levels === 0) return true;
	return Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1));
}

/** The name of a day's file: its version tells what the day holds. */
export function nameOfDay(file: DayFile): string {
	return `${file.day}_${versionOf(file)}.json`;
}

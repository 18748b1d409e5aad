import { ajv } from '../util/schema.mts';
import type { Chat, ContentNode, Lifelog } from '../../lifelog/api.ts';
import { mapNodes } from '../../lifelog/contents.ts';
import { instantOf } from '../../lifelog/times.ts';
import type { Folder } from './folder.mts';
import { parseJson, type NamedFile } from './layout.mts';
import { possibleTime } from './listed.mts';

// The fields needed to serve an entry. All others stay as they are.
const text = { type: 'string' };
const isLifelog = ajv.compile<Lifelog>({
	type: 'object',
	required: ['id', 'title', 'contents', 'startTime', 'isStarred'],
	properties: {
		id: text,
		title: text,
		markdown: { anyOf: [text, { type: 'null' }] },
		contents: { type: 'array', items: { $ref: '#/$defs/node' } },
		startTime: text,
		isStarred: { type: 'boolean' },
	},
	$defs: {
		node: {
			type: 'object',
			required: ['type', 'content'],
			properties: {
				type: text,
				content: text,
				startTime: text,
				endTime: text,
				children: { type: 'array', items: { $ref: '#/$defs/node' } },
			},
		},
	},
});
const isChat = ajv.compile<Chat>({
	type: 'object',
	required: ['id', 'createdAt', 'startedAt', 'messages', 'visibility'],
	properties: {
		id: text,
		createdAt: text,
		startedAt: text,
		messages: {
			type: 'array',
			items: {
				type: 'object',
				required: ['createdAt'],
				properties: { createdAt: text, text: { anyOf: [text, { type: 'null' }] } },
			},
		},
		visibility: text,
	},
});

/**
 * Parses a lifelog's file and writes its times in UTC with milliseconds. Without an end it ends at
 * its start; without an update time, that is its end.
 *
 * @returns undefined if it isn't a lifelog, or has another ID than `id`.
 */
export function parseLifelog(json: string, id?: string): Lifelog | undefined {
	const value = parseJson(json);
	if (!isLifelog(value) || value.id !== (id ?? value.id)) return undefined;
	if (!isTime(value.startTime)) return undefined;
	const startTime = utc(value.startTime);
	const endTime = isTime(value.endTime) ? utc(value.endTime) : startTime;
	const updatedAt = possibleTime(value.updatedAt) === undefined ? endTime : utc(value.updatedAt);
	return { ...value, contents: mapNodes(value.contents, inUtc), startTime, endTime, updatedAt };
}

/**
 * Reads a lifelog of an archive; undefined if its day names no JSON file, or the file isn't a lifelog.
 *
 * @throws FileError if the file is unreadable, or doesn't match its manifest.
 */
export async function readArchived(
	folder: Folder,
	id: string,
	files: NamedFile[],
): Promise<Lifelog | undefined> {
	const named = files.find(({ path }) => path.endsWith('.json'));
	return named && parseLifelog(await folder.readNamed(named), id);
}

/** Parses a chat's file like `parseLifelog`. */
export function parseChat(json: string, id: string): Chat | undefined {
	const value = parseJson(json);
	if (!isChat(value) || value.id !== id) return undefined;
	const [createdAt, startedAt] = [value.createdAt, value.startedAt].map(utc);
	if (![createdAt, startedAt].every(isTime)) return undefined;
	const messages = value.messages.map((message) => ({
		...message,
		createdAt: utc(message.createdAt),
	}));
	return { ...value, createdAt, startedAt, messages };
}

function inUtc(node: ContentNode): ContentNode {
	return {
		...node,
		...(node.startTime && { startTime: utc(node.startTime) }),
		...(node.endTime && { endTime: utc(node.endTime) }),
	};
}

const isTime = (time: unknown): time is string => instantOf(time, 'UTC') !== undefined;

const UTC_WITH_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A time in UTC with milliseconds, so that times compare as strings. Other text stays unchanged. */
function utc(time: string): string {
	// Parsing dates took most of the time of reading an archive.
	if (UTC_WITH_MS.test(time)) return time;
	const ms = instantOf(time, 'UTC');
	return ms === undefined ? time : new Date(ms).toISOString();
}

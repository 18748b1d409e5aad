import type { Chat } from '../../nodes/shared/api/apiTypes.ts';
import { instantOf, parseChat } from '../archive/entries.mts';
import { parseJson } from '../archive/layout.mts';
import { ExportError } from './export.mts';
import { idOf } from './lifelogFile.mts';
import { asName, isTime, readName } from './names.mts';

/** A chat of an export. */
export interface ExportedChat {
	chat: Chat;
	isScheduled: boolean;
}

type Loose = Record<string, unknown>;

/** As names have it: file systems have names of 255 bytes at most, and the rest of this one is 26. */
const longestId = 229;

/**
 * Reads a chat of an export: the API's object, what it lacks filled in from its path. Messages may
 * have their words as `content` and their `role` beside them. Throws an ExportError for any other.
 */
export function readChat(json: string, path: string): ExportedChat {
	const value = parseJson(json);
	if (!isObject(value)) throw new ExportError('is no JSON of a chat');
	const messages = Array.isArray(value.messages) ? value.messages : undefined;
	if (!messages || !messages.every(isObject)) throw new ExportError('has no list of messages');
	const created =
		timeOf(value.createdAt) ??
		timeOf(value.startedAt) ??
		timeOf(messages[0]?.createdAt) ??
		readName(path).begin;
	if (created === undefined) throw new ExportError('says nowhere when it was');
	const createdAt = new Date(created).toISOString();
	const id = typeof value.id === 'string' && value.id !== '' ? value.id : idOf(path, created);
	if (asName(id).length > longestId) throw new ExportError('has an ID that no file name can hold');
	const whole = {
		...value,
		id,
		createdAt,
		startedAt: textOf(value.startedAt) ?? createdAt,
		messages: messages.map((message, index) => withDefaults(message, `${id}-${index}`, createdAt)),
		visibility: typeof value.visibility === 'string' ? value.visibility : 'private',
	};
	const chat = parseChat(JSON.stringify(whole), id);
	if (!chat) throw new ExportError('is no chat that can be read');
	return { chat, isScheduled: value.isScheduled === true };
}

function withDefaults({ content, role, ...message }: Loose, id: string, createdAt: string): Loose {
	return {
		...message,
		id: typeof message.id === 'string' ? message.id : id,
		text: message.text ?? (typeof content === 'string' ? content : null),
		createdAt: textOf(message.createdAt) ?? createdAt,
		user: isObject(message.user) ? message.user : { role: role ?? 'user', name: null },
	};
}

const isObject = (value: unknown): value is Loose =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** A time as the API has it: a text as it is, a number as one. */
function textOf(value: unknown): string | undefined {
	const ms = timeOf(value);
	if (ms === undefined) return undefined;
	return typeof value === 'string' ? value : new Date(ms).toISOString();
}

function timeOf(value: unknown): number | undefined {
	const ms = typeof value === 'number' ? value : instantOf(String(value ?? ''));
	return isTime(ms) ? ms : undefined;
}

import type { Chat } from '../../lifelog/api.ts';
import { instantOf } from '../../lifelog/times.ts';
import { parseChat } from '../archive/entries.mts';
import { parseJson } from '../archive/layout.mts';
import { ExportError } from './export.mts';
import { checkLevels } from './json.mts';
import { checkId, idOf } from './lifelogFile.mts';
import { isTime, readName } from './names.mts';

export interface ExportedChat {
	chat: Chat;
	isScheduled: boolean;
}

type Loose = Record<string, unknown>;

/** A normal chat has a few. Each takes a kilobyte of memory. */
const MAX_MESSAGES = 10_000;
/** The API's chat has 4. */
const MAX_LEVELS = 10;

/**
 * Parses a chat of an export: the API's object. Missing fields come from its path. Messages may
 * have the text as `content` with a `role`. Throws an ExportError for other formats.
 */
export function readChat(json: string, path: string): ExportedChat {
	checkLevels(json, MAX_LEVELS);
	const value = parseJson(json);
	if (!isObject(value)) throw new ExportError("isn't the JSON of a chat");
	const messages = Array.isArray(value.messages) ? value.messages : undefined;
	if (!messages || !messages.every(isObject)) throw new ExportError('has no list of messages');
	if (messages.length > MAX_MESSAGES) {
		throw new ExportError(`has more than ${MAX_MESSAGES.toLocaleString('en')} messages`);
	}
	const created =
		timeOf(value.createdAt) ??
		timeOf(value.startedAt) ??
		timeOf(messages[0]?.createdAt) ??
		readName(path).begin;
	if (created === undefined) throw new ExportError("doesn't say when it was");
	const createdAt = new Date(created).toISOString();
	const id = typeof value.id === 'string' && value.id !== '' ? value.id : idOf(path, created);
	checkId(id);
	const whole = {
		...value,
		id,
		createdAt,
		startedAt: textOf(value.startedAt) ?? createdAt,
		messages: messages.map((message, index) => withDefaults(message, `${id}-${index}`, createdAt)),
		visibility: typeof value.visibility === 'string' ? value.visibility : 'private',
	};
	const chat = parseChat(JSON.stringify(whole), id);
	if (!chat) throw new ExportError("can't be read as a chat");
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

/** A time in the API's format: strings stay unchanged, numbers are converted. */
function textOf(value: unknown): string | undefined {
	const ms = timeOf(value);
	if (ms === undefined) return undefined;
	return typeof value === 'string' ? value : new Date(ms).toISOString();
}

function timeOf(value: unknown): number | undefined {
	const ms = typeof value === 'number' ? value : instantOf(value, 'UTC');
	return ms !== undefined && isTime(ms) ? ms : undefined;
}

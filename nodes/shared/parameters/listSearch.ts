// What the editor shows in the lists of parameters.
import type {
	ILoadOptionsFunctions,
	INodeListSearchResult,
	INodePropertyOptions,
} from 'n8n-workflow';

import { DateTime } from 'luxon';

import type { Chat, Lifelog } from '../../../lifelog/api.ts';
import { promptOf } from '../api/chats';
import { METADATA_ONLY } from '../api/entries';
import { connect } from '../auth/connection';
import { readPage } from '../transport/pagination';
import { toInstant } from '../../../lifelog/times.ts';
import { oneLine } from '../../../lifelog/text.ts';
import { readZone } from './times';

/** A person waits for them, and can try again. */
const EDITOR_BUDGET = { maxWaitMs: 20_000, hasPriority: true, retries: 0 };
/** Pages of chats that one search reads; the editor then asks for more. */
const PAGES_A_SEARCH = 5;
/** In characters. */
const MAX_NAME_LENGTH = 80;

/** Fills the list of Time Zone. */
export async function getTimezones(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const zones = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);
	return [...zones].map((zone) => ({ name: zone, value: zone }));
}

/** Fills the list of `lifelogIdParameter`: the newest lifelogs, or a search for the words typed. */
export async function searchLifelogs(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const api = await connect(this, EDITOR_BUDGET);
	const timezone = zoneOfList(this);
	const search = filter?.trim() || undefined;
	const query = { ...METADATA_ONLY, timezone, search };
	const listing = { name: 'lifelogs' as const, query };
	const page = await readPage<Lifelog>(api, listing, ...placeOf(paginationToken));
	return {
		results: page.entries.map(({ id, title, startTime }) => ({
			name: nameInList(title, startTime, timezone),
			value: id,
		})),
		paginationToken: search ? undefined : tokenOf(page.nextCursor, page.size),
	};
}

/**
 * Fills the list of `chatIdParameter`: the newest chats. The service can't search chats, so the words
 * typed are compared with the names in the list.
 */
export async function searchChats(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const api = await connect(this, EDITOR_BUDGET);
	const timezone = zoneOfList(this);
	const listing = { name: 'chats' as const, query: { timezone } };
	const words = filter?.trim().toLowerCase() ?? '';
	let [cursor, size] = placeOf(paginationToken);
	for (let pagesLeft = PAGES_A_SEARCH; ; pagesLeft--) {
		const page = await readPage<Chat>(api, listing, cursor, size);
		({ nextCursor: cursor, size } = page);
		const results = page.entries.flatMap((chat) => {
			const title = chatTitle(chat);
			const searched = `${title} ${timeInList(chat.startedAt, timezone)}`;
			if (!searched.toLowerCase().includes(words)) return [];
			return [{ name: nameInList(title, chat.startedAt, timezone), value: chat.id }];
		});
		if (results.length > 0 || cursor === undefined || pagesLeft <= 1) {
			return { results, paginationToken: tokenOf(cursor, size) };
		}
	}
}

/** Where a list goes on: the editor connects anew for each part, and a cursor keeps to its page size. */
function tokenOf(cursor: string | undefined, size: number): string | undefined {
	return cursor === undefined ? undefined : `${size} ${cursor}`;
}

function placeOf(token = ''): [cursor?: string, size?: number] {
	const space = token.indexOf(' ');
	return space > 0 ? [token.slice(space + 1), Number(token.slice(0, space))] : [];
}

function chatTitle(chat: Chat): string {
	return chat.summary || promptOf(chat) || chat.id;
}

/**
 * The option Time Zone, else the zone of the n8n instance, because the editor doesn't say which one
 * the workflow has. The option isn't a zone yet while it is typed, or if it is an expression.
 */
function zoneOfList(context: ILoadOptionsFunctions): string {
	const option = context.getCurrentNodeParameter('options.timezone');
	try {
		return readZone(context, { timezone: typeof option === 'string' ? option : '' });
	} catch {
		return context.getTimezone();
	}
}

/** `Planning the garden · 1 Mar 2026, 09:00 (Europe/Berlin)` */
function nameInList(text: unknown, time: unknown, zone: string): string {
	const characters = [...(oneLine(text) || 'Untitled')];
	const isLong = characters.length > MAX_NAME_LENGTH;
	const name = isLong ? `${characters.slice(0, MAX_NAME_LENGTH).join('')}…` : characters.join('');
	const begin = timeInList(time, zone);
	return begin === '' ? name : `${name} · ${begin} (${zone})`;
}

/** `1 Mar 2026, 09:00`; empty for an unreadable time. */
function timeInList(time: unknown, zone: string): string {
	const instant = toInstant(time, zone, 'start');
	if (instant === undefined) return '';
	return DateTime.fromMillis(instant, { zone, locale: 'en' }).toFormat('d LLL yyyy, HH:mm');
}

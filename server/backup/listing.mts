// Reads the service's lists, without contents.
import { dayOf } from '../archive/lifelogFiles.mts';
import { listedOf, possibleTime, updatedAtOf } from '../archive/listed.mts';
import {
	type List,
	type ListName,
	MAX_PAGE_SIZE,
	METADATA_ONLY,
	pageOf,
	pages as pagesOf,
	sizeProblemOf,
} from '../../lifelog/paging.ts';
import { RequestError, type ServiceClient, ServiceError } from './service.mts';
import { DAY_MS } from '../util/durations.mts';

export interface ListedLifelog {
	/** UTC with milliseconds; the end if the service doesn't provide it. */
	updatedAt: string;
	/** Whether the service provides the update time. */
	isDated: boolean;
	/** Changes with title or end. */
	listed: string;
	isStarred: boolean;
	/** Epoch ms. */
	startMs: number;
	endMs: number;
}

export interface ListedChat {
	messages: number;
	isScheduled: boolean;
}

/** Entries of the service, by day (UTC) and ID. */
export interface Listing {
	/** undefined if chats weren't requested, or the list failed. */
	chats: Map<string, Map<string, ListedChat>> | undefined;
	lifelogs: Map<string, Map<string, ListedLifelog>>;
	/** Listed IDs that can't be archived. */
	unusable: Set<string>;
	/** Days whose list of lifelogs failed, with the reason. */
	brokenDays: Map<string, string>;
	/** Problems that aren't about one day. */
	problems: { what: string; message: string }[];
}

/** Days, inclusive, `YYYY-MM-DD` in UTC. */
export interface DayRange {
	from: string | undefined;
	to: string | undefined;
}

/** Recorders with a wrong clock have earlier days. Of these, only days with a lifelog are archived. */
export const FIRST_LIKELY_DAY = '2020-01-01';

type Entry = Record<string, unknown>;

/**
 * Lists the lifelogs of a range of days. If the list fails, each day is listed separately.
 *
 * @param knownFirst First day in the archive.
 * @param onPage Called with the number of entries so far.
 */
export async function listLifelogs(
	service: ServiceClient,
	{ from, to }: DayRange,
	knownFirst: string | undefined,
	onPage: (entries: number) => void,
): Promise<Pick<Listing, 'lifelogs' | 'unusable' | 'brokenDays' | 'problems'>> {
	const found = new Map<string, ListedLifelog>();
	const problems = new Map<string, string>();
	const unusable = new Set<string>();
	const brokenDays = new Map<string, string>();
	const read = async (query: Record<string, string>) => {
		for await (const page of pages(service, 'lifelogs', { ...METADATA_ONLY, ...query })) {
			for (const entry of page) addLifelog(found, unusable, problems, entry);
			onPage(found.size);
		}
	};
	const range = {
		...(from !== undefined && { start: `${from} 00:00:00` }),
		// It's undocumented whether the end is inclusive. Extra entries are removed below.
		...(to !== undefined && { end: `${dayOf(Date.parse(to) + DAY_MS)} 00:00:00` }),
		direction: 'asc',
	};
	try {
		await read(range);
	} catch (error) {
		if (!(error instanceof RequestError)) throw error;
		if (!service.hasAnswered) {
			const message = `The service can't be read: ${error.message}`;
			throw new ServiceError(service.aboutAll(message, error.fault));
		}
		const starts = [...found.values()].map(({ startMs }) => dayOf(startMs));
		const first = from ?? [...starts, knownFirst].filter((day) => day !== undefined).sort()[0];
		if (first === undefined) {
			throw new RequestError(
				`the list of lifelogs ends early (${error.message}), and the archive has no day yet: give the first day with --from`,
			);
		}
		const begin = first > FIRST_LIKELY_DAY ? first : FIRST_LIKELY_DAY;
		if (from === undefined) {
			const message = `ends early (${error.message}), and days before ${begin} were not looked at. Give the first day with --from`;
			problems.set('the list of lifelogs', message);
		}
		const today = dayOf(service.now());
		for (const day of daysBetween(begin, to !== undefined && to < today ? to : today)) {
			await read({ date: day }).catch((failure: unknown) => {
				if (!(failure instanceof RequestError)) throw failure;
				brokenDays.set(day, failure.message);
			});
		}
	}
	return {
		lifelogs: byDay(found, ({ startMs }) => startMs, { from, to }),
		unusable,
		brokenDays,
		problems: [...problems].map(([what, message]) => ({ what, message })),
	};
}

function addLifelog(
	found: Map<string, ListedLifelog>,
	unusable: Set<string>,
	problems: Map<string, string>,
	lifelog: Entry,
): void {
	const { id, startTime, endTime, updatedAt, isStarred } = lifelog;
	const startMs = possibleTime(startTime);
	if (typeof id !== 'string' || startMs === undefined) {
		if (typeof id === 'string') unusable.add(id);
		problems.set(
			`lifelog ${nameOf(id)}`,
			'is not archived, because the service returns no ID or no time (startTime)',
		);
		return;
	}
	found.set(id, {
		updatedAt: updatedAtOf(lifelog)!,
		isDated: possibleTime(updatedAt) !== undefined,
		listed: listedOf(lifelog),
		isStarred: isStarred === true,
		startMs,
		endMs: Math.max(startMs, possibleTime(endTime) ?? startMs),
	});
}

/** Lists all chats, and which of them come from scheduled prompts. */
export async function listChats(
	service: ServiceClient,
	range: DayRange,
	onPage: (entries: number) => void,
): Promise<Pick<Listing, 'chats' | 'unusable' | 'problems'>> {
	const unusable = new Set<string>();
	const found = new Map<string, ListedChat & { startMs: number }>();
	const problems: Listing['problems'] = [];
	try {
		for await (const page of pages(service, 'chats', {})) {
			for (const { id, createdAt, messages } of page) {
				const startMs = possibleTime(createdAt);
				if (typeof id !== 'string' || startMs === undefined) {
					if (typeof id === 'string') unusable.add(id);
					const message =
						'is not archived, because the service returns no ID or no time (createdAt)';
					problems.push({ what: `chat ${nameOf(id)}`, message });
				} else {
					found.set(id, { messages: countMessages(messages), isScheduled: false, startMs });
				}
			}
			onPage(found.size);
		}
		for await (const page of pages(service, 'chats', { isScheduled: 'true' })) {
			for (const { id } of page) {
				const chat = typeof id === 'string' ? found.get(id) : undefined;
				if (chat) chat.isScheduled = true;
			}
		}
	} catch (error) {
		if (!(error instanceof RequestError)) throw error;
		const message = `the list of chats ends early: ${error.message}`;
		return { chats: undefined, unusable, problems: [{ what: 'chats', message }] };
	}
	return { chats: byDay(found, ({ startMs }) => startMs, range), unusable, problems };
}

const nameOf = (id: unknown) => (typeof id === 'string' ? id : 'without an ID');

/** The number of messages in a chat. Only objects count. */
export function countMessages(messages: unknown): number {
	if (!Array.isArray(messages)) return 0;
	return messages.filter((message) => typeof message === 'object' && message !== null).length;
}

/** The days of a range, inclusive. */
export function daysBetween(first: string, last: string): string[] {
	const days: string[] = [];
	for (let ms = Date.parse(first); ms <= Date.parse(last); ms += DAY_MS) days.push(dayOf(ms));
	return days;
}

function byDay<Value>(
	entries: Map<string, Value>,
	startOf: (entry: Value) => number,
	{ from = '', to = '\uffff' }: DayRange,
): Map<string, Map<string, Value>> {
	const days = new Map<string, Map<string, Value>>();
	for (const [id, entry] of entries) {
		const day = dayOf(startOf(entry));
		if (day < from || day > to) continue;
		const ofDay = days.get(day) ?? new Map<string, Value>();
		days.set(day, ofDay.set(id, entry));
	}
	return days;
}

/**
 * Reads a list page by page, each entry once.
 *
 * @param pageSize Maximum page size to request.
 * @throws RequestError if a page can't be read or the list doesn't end.
 */
export function pages(
	service: ServiceClient,
	name: ListName,
	query: Record<string, string | boolean>,
	pageSize = MAX_PAGE_SIZE,
): AsyncGenerator<Entry[]> {
	const list: List<Entry> = {
		async getPage(limit, cursor) {
			const whole = { timezone: 'UTC', ...query, limit, ...(cursor && { cursor }) };
			const answer = await service.getJson(`/v1/${name}`, whole);
			const page = pageOf(answer, name);
			if (typeof page === 'string') {
				const message = `the answer is not a list of ${name}: ${page}. Check the address (--url)`;
				throw new RequestError(message, answer === undefined ? { status: 404 } : {});
			}
			service.hasAnswered = true;
			const isEntry = (entry: unknown) => typeof entry === 'object' && entry !== null;
			return {
				...page,
				entries: page.entries.map((entry) => (isEntry(entry) ? (entry as Entry) : {})),
			};
		},
		sizeProblem: (error) =>
			error instanceof RequestError ? sizeProblemOf(error.status) : undefined,
	};
	const endless = (problem: string) =>
		new RequestError(`the list of ${name} does not end: ${problem}`);
	return pagesOf(list, { pageSize, endless });
}

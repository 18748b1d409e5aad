// The service: lists by day, single entries, chats; its manners, its limits and its troubles.
import { DateTime } from 'luxon';
import {
	type Answered,
	type FaultKind,
	isMeant,
	type Resource,
	type Trouble,
} from './troubles.mts';
import { type Chat, dayOf, isAlive, latest, type Lifelog, type Version } from './truth.mts';
import { VirtualTime } from './virtual-time.mts';

const MINUTE = 60_000;
const REQUESTS_A_MINUTE = 180;
const HANG_MS = 9_000;
/** A request is open no longer: whoever waits for another poll that waits for it would wait forever. */
const MAX_OPEN_MS = 2 * MINUTE;

/** How the service of a history behaves for good. */
export interface Manners {
	maxPageSize: 10 | 25 | 100;
	/** The status for a request of a larger page, which otherwise gets a smaller one. */
	rejectsLimit?: 400 | 504;
	/** How long a request takes, in ms. */
	latencyMs: number;
	/** Whether times carry their offset, and single lifelogs their `updatedAt`. */
	hasOffsets: boolean;
	hasUpdatedAt: boolean;
	hasDate: boolean;
	/** How many requests a minute others make with the same key. */
	others: number;
}

/** What the handling of a request brings about, by its number in a poll. */
export type Events = Map<number, () => void | Promise<void>>;

/** What comes back on a request, before the connection breaks where it does. */
export interface Reply {
	status: number;
	headers: Record<string, string>;
	body: string;
	/** Whether it breaks in the middle of the body. */
	isCut: boolean;
}

/** The world of one history. */
export class World {
	readonly manners: Manners;
	readonly time: VirtualTime;
	readonly lifelogs = new Map<string, Lifelog>();
	readonly chats = new Map<string, Chat>();
	readonly troubles: Trouble[] = [];
	/** How far the service's `Date` is ahead of the time, in ms; null while it sends none. */
	dateAheadMs: number | null = 0;
	/** When a request was last refused for the rate limit. */
	limitedAt = -Infinity;
	/** The requests since the last `arrange`, and whether there may be more of them. */
	log: Answered[] = [];
	isPolled = false;
	private faults = new Map<number, FaultKind>();
	private events: Events = new Map();
	private minute = { number: 0, requests: 0 };

	constructor(manners: Manners, now: number) {
		this.manners = manners;
		this.time = new VirtualTime(now);
	}

	get now(): number {
		return this.time.now;
	}

	/** Whether n8n's clock is right, and the service's where it tells a time. */
	get areClocksRight(): boolean {
		return !this.dateAheadMs && this.time.aheadMs === 0;
	}

	/** @param faults What goes wrong with requests from now on, by their number from 1. */
	arrange(faults: Map<number, FaultKind>, events: Events): void {
		this.faults = faults;
		this.events = events;
		this.log = [];
		this.isPolled = true;
	}

	create(start: number, starred = false, at = this.now): Lifelog {
		const id = `e${String(this.lifelogs.size).padStart(4, '0')}`;
		const lifelog: Lifelog = { id, versions: [{ time: this.now, at, starred, start }] };
		this.lifelogs.set(id, lifelog);
		return lifelog;
	}

	change(lifelog: Lifelog, change: Partial<Version>): void {
		lifelog.versions.push({ ...latest(lifelog), ...change, time: this.now });
	}

	isTroubled(resource: Resource): Trouble | undefined {
		return this.troubles.find((trouble) => isMeant(trouble, resource, this.now));
	}

	/** Whether something is not to be had at present; an entry without ID hides no other. */
	isUnreadable(resource: Resource): boolean {
		return (this.isTroubled(resource)?.kind ?? 'noId') !== 'noId';
	}

	/**
	 * Answers a request.
	 *
	 * @param path With its query.
	 * @param timeBudgetMs How long the client waits; something that hangs does so until then.
	 * @returns undefined where the connection breaks instead.
	 */
	async answer(path: string, timeBudgetMs = HANG_MS): Promise<Reply | undefined> {
		const url = new URL(path, 'http://localhost');
		const entry: Answered = { ...resourceOf(url), isOpen: true, isWhole: false };
		const number = this.log.push(entry);
		const event = this.events.get(number);
		if (this.manners.latencyMs > 0) await this.time.hold(this.manners.latencyMs);
		if (event) await this.time.hold(() => withinOpenTime(event));
		const isLimited = this.isOverLimit();
		entry.fault = isLimited ? '429' : (this.faults.get(number) ?? this.isTroubled(entry)?.kind);
		if (entry.fault === '429') this.limitedAt = this.now;
		if (entry.fault === 'hangs') await this.time.hold(timeBudgetMs);
		entry.isOpen = false;
		if (entry.fault === 'cut' || entry.fault === 'hangs') return undefined;
		const [status, content] = this.content(url, entry);
		const isText = typeof content === 'string';
		const headers: Reply['headers'] = { 'Content-Type': isText ? 'text/html' : 'application/json' };
		if (this.manners.hasDate && this.dateAheadMs !== null) {
			headers.Date = new Date(this.now + this.dateAheadMs).toUTCString();
		}
		const body = isText ? content : JSON.stringify(content);
		return { status, headers, body, isCut: entry.fault === 'cutBody' };
	}

	private isOverLimit(): boolean {
		const number = Math.floor(this.now / MINUTE);
		if (this.minute.number !== number) this.minute = { number, requests: this.manners.others };
		return ++this.minute.requests > REQUESTS_A_MINUTE;
	}

	private content(url: URL, entry: Answered): [number, object | string] {
		switch (entry.fault) {
			case '429':
				return [429, { error: 'API key is rate limited', retryAfter: '60' }];
			case 'html':
				return [200, '<html><body>Please sign in</body></html>'];
			case undefined:
			case 'noId':
			case 'cutBody':
				return this.route(url, entry);
			default:
				return [Number(entry.fault), { error: 'out of order' }];
		}
	}

	private route({ searchParams: query }: URL, entry: Answered): [number, object] {
		const { name } = entry;
		const zone = query.get('timezone') ?? 'UTC';
		switch (entry.of) {
			case 'lifelogs':
				return this.list(query, entry);
			case 'chats':
				return this.listChats(query, entry);
			case 'lifelog': {
				const lifelog = this.lifelogs.get(name);
				if (!lifelog || !isAlive(lifelog)) return [404, { error: 'not found' }];
				const isMarkdown = query.get('includeMarkdown') !== 'false';
				return [200, { data: { lifelog: this.view(lifelog, zone, true, isMarkdown) } }];
			}
			case 'chat': {
				const chat = this.chats.get(name);
				if (!chat || !isAlive(chat)) return [404, { error: 'not found' }];
				return [200, { data: { chat: this.viewChat(chat, zone) } }];
			}
		}
	}

	private list(query: URLSearchParams, entry: Answered): [number, object] {
		const cursor = query.get('cursor');
		const entries = [...this.lifelogs.values()]
			.filter((lifelog) => isAlive(lifelog) && dayOf(latest(lifelog).start) === entry.name)
			.sort((a, b) => latest(a).start - latest(b).start || (a.id < b.id ? -1 : 1));
		const hidden = entries.filter(({ hideNext }) => hideNext);
		for (const lifelog of hidden) lifelog.hiddenAt = this.now;
		const shown = entries.filter((lifelog) => !hidden.includes(lifelog));
		const isWanted = (lifelog: Lifelog) =>
			!query.has('isStarred') || query.get('isStarred') === String(latest(lifelog).starred);
		const answer = this.page(shown.filter(isWanted), query, position, cursor);
		entry.isTooLarge = !answer;
		if (!answer) return [this.manners.rejectsLimit!, { error: 'at most 10 entries' }];
		if (!answer.meta.nextCursor) {
			for (const lifelog of hidden) lifelog.hideNext = false;
			entry.isWhole = isAnswered(entry);
		}
		const isMarkdown = query.get('includeMarkdown') !== 'false';
		const lifelogs = answer.page.map((lifelog) => this.view(lifelog, 'UTC', false, isMarkdown));
		if (entry.fault === 'noId') lifelogs.push({ title: 'Without ID' });
		return [200, { data: { lifelogs }, meta: { lifelogs: answer.meta } }];
	}

	private listChats(query: URLSearchParams, entry: Answered): [number, object] {
		const place = ({ createdAt, id }: Chat) => placeOf(createdAt, id);
		const prompt = query.get('globalPromptId');
		const chats = [...this.chats.values()]
			.filter((chat) => isAlive(chat) && chat.askedAt <= this.now)
			.filter((chat) => prompt === null || chat.prompt === prompt)
			.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
		const answer = this.page(chats, query, place, query.get('cursor'));
		if (!answer) return [this.manners.rejectsLimit!, { error: 'at most 10 entries' }];
		entry.isWhole = isAnswered(entry) && !answer.meta.nextCursor;
		const zone = query.get('timezone') ?? 'UTC';
		const page = answer.page.map((chat) => this.viewChat(chat, zone));
		if (entry.fault === 'noId') page.push({ messages: [] });
		return [200, { data: { chats: page }, meta: { chats: answer.meta } }];
	}

	private page<T>(
		entries: T[],
		query: URLSearchParams,
		place: (entry: T) => string,
		cursor: string | null,
	) {
		const { maxPageSize, rejectsLimit } = this.manners;
		const limit = Number(query.get('limit') ?? 10);
		if (limit > maxPageSize && rejectsLimit) return undefined;
		const isAscending = query.get('direction') === 'asc';
		const ordered = isAscending ? entries : [...entries].reverse();
		const rest = ordered.filter(
			(entry) => !cursor || (isAscending ? place(entry) > cursor : place(entry) < cursor),
		);
		const page = rest.slice(0, Math.min(limit, maxPageSize));
		const nextCursor = rest.length > page.length ? place(page[page.length - 1]) : null;
		return { page, meta: { nextCursor, count: page.length } };
	}

	private view(lifelog: Lifelog, zone: string, isSingle: boolean, isMarkdown: boolean): object {
		const { at, starred, start } = latest(lifelog);
		const hasUpdatedAt = !isSingle || this.manners.hasUpdatedAt;
		return {
			id: lifelog.id,
			title: `Entry ${lifelog.id}`,
			...(isMarkdown && { markdown: `# Entry ${lifelog.id}` }),
			contents: [],
			startTime: this.write(start, zone),
			endTime: this.write(start + 60_000, zone),
			isStarred: starred,
			...(hasUpdatedAt && { updatedAt: this.write(at, zone) }),
		};
	}

	private viewChat({ id, createdAt, messages }: Chat, zone: string): object {
		const { now } = this;
		const write = (instant: number) => this.write(instant, zone);
		return {
			id,
			createdAt: write(createdAt),
			startedAt: write(createdAt),
			visibility: 'private',
			messages: messages
				.filter(({ at }) => at <= now)
				.map(({ at, role, text, calls = 0, resultsAt = Infinity }, index) => ({
					id: `${id}m${index}`,
					text: text ?? null,
					createdAt: write(at),
					user: { role, name: null },
					...(calls > 0 && {
						toolCalls: numbers(calls).map((call) => ({ id: `t${call}`, toolName: 'search' })),
					}),
					...(resultsAt <= now && {
						toolResults: numbers(calls || 1).map((call) => ({
							toolCallId: `t${call}`,
							toolName: 'search',
							result: {},
							isError: false,
						})),
					}),
				})),
		};
	}

	private readonly written = new Map<string, string>();

	/** How the service writes a time. */
	write(instant: number, zone: string): string {
		const key = `${instant} ${zone}`;
		const text = this.written.get(key) ?? this.writeAnew(instant, zone);
		this.written.set(key, text);
		return text;
	}

	private writeAnew(instant: number, zone: string): string {
		const { hasOffsets } = this.manners;
		if (zone === 'UTC') return new Date(instant).toISOString().slice(0, hasOffsets ? 24 : 23);
		return DateTime.fromMillis(instant, { zone }).toISO({ includeOffset: hasOffsets })!;
	}
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Waits for what happens while a request is open, but no longer than it may be. */
async function withinOpenTime(event: () => void | Promise<void>): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	const end = new Promise<void>((resolve) => (timer = setTimeout(resolve, MAX_OPEN_MS)));
	await Promise.race([event(), end]).finally(() => clearTimeout(timer));
}

function resourceOf({ pathname, searchParams }: URL): Resource {
	const [, , collection, id] = pathname.split('/');
	if (collection === 'lifelogs') {
		if (id) return { of: 'lifelog', name: id };
		const isByDay = searchParams.get('timezone') === 'UTC' && searchParams.has('date');
		if (!isByDay) throw new Error('The model knows lists of UTC days only');
		return { of: 'lifelogs', name: searchParams.get('date')! };
	}
	return id ? { of: 'chat', name: id } : { of: 'chats', name: '' };
}

function position(lifelog: Lifelog): string {
	return placeOf(latest(lifelog).start, lifelog.id);
}

const placeOf = (start: number, id: string) => `${String(start).padStart(16, '0')} ${id}`;

/** Whether a list has been given; an entry without ID in it is passed over. */
function isAnswered({ fault }: Answered): boolean {
	return fault === undefined || fault === 'noId';
}

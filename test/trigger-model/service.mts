// The truth of a history, and the service that shows it: lists by day and single entries over HTTP.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const DAY_MS = 24 * 60 * 60_000;

export const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10);
export const daysBefore = (instant: number, days: number) => dayOf(instant - days * DAY_MS);

/** A lifelog as it was from some moment on. */
export interface TrueVersion {
	/** When it came about, by the service's clock; `at` is its `updatedAt`. */
	time: number;
	at: number;
	starred: boolean;
	start: number;
}

/** A lifelog and its whole past. */
export interface Truth {
	id: string;
	versions: TrueVersion[];
	deletedAt?: number;
	/** Absent from the next list of its day; from the one being read. */
	hideNext?: boolean;
	hidden?: boolean;
}

/** A scheduled chat: when it was made, and answered. */
export interface TrueChat {
	id: string;
	createdAt: number;
	answeredAt?: number;
	deletedAt?: number;
}

export type FaultKind = '429' | '500' | 'cut';

/** How the service of a history behaves. */
export interface Manners {
	largestPage: 10 | 25 | 100;
	/** Answers 400 to a larger page instead of giving a smaller one. */
	rejectsLimit: boolean;
	/** n8n's clock is ahead by so many ms. */
	skewMs: number;
	hasDate: boolean;
	/** How far the clock goes on with each request, in ms. */
	latencyMs: number;
}

export const latest = ({ versions }: Truth) => versions[versions.length - 1];
export const alive = (entry: Truth) => entry.deletedAt === undefined;

/** What was read of a service's lists of days, to their last page. */
export interface Shown {
	days: Set<string>;
	listed: Set<string>;
	/** Entries that exist and were not listed. */
	leftOut: Set<string>;
}

export const nothing = (): Shown => ({ days: new Set(), listed: new Set(), leftOut: new Set() });

/** The world of one history. */
export class World {
	readonly manners: Manners;
	/** The service's clock. */
	now: number;
	readonly entries = new Map<string, Truth>();
	readonly chats = new Map<string, TrueChat>();
	/** What goes wrong, by the number of the request since the last `arrange`. */
	private faults = new Map<number, FaultKind>();
	/** What happens just before a request is handled, by its number. */
	private events = new Map<number, () => void | Promise<void>>();
	/** Whether anything ever went wrong: what failed may be read some polls later. */
	hasFailed = false;
	requests = 0;
	/** Entries read by ID since the last `arrange`. */
	reads = 0;
	/** What the service has shown since {@link watch}. */
	shown = nothing();

	constructor(manners: Manners, now: number) {
		this.manners = manners;
		this.now = now;
	}

	arrange(faults: Map<number, FaultKind>, events: Map<number, () => void | Promise<void>>): void {
		this.faults = faults;
		this.events = events;
		this.requests = 0;
		this.reads = 0;
		this.shown = nothing();
	}

	/** What is shown from now on is noted apart. @returns What was shown until now. */
	watch(shown = nothing()): Shown {
		const before = this.shown;
		this.shown = shown;
		return before;
	}

	create(start: number, starred = false, at = this.now): Truth {
		const id = `e${String(this.entries.size).padStart(4, '0')}`;
		const entry: Truth = { id, versions: [{ time: this.now, at, starred, start }] };
		this.entries.set(id, entry);
		return entry;
	}

	change(entry: Truth, change: Partial<TrueVersion>): void {
		entry.versions.push({ ...latest(entry), ...change, time: this.now });
	}

	async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
		const number = ++this.requests;
		this.now += this.manners.latencyMs;
		await this.events.get(number)?.();
		const fault = this.faults.get(number);
		if (fault) this.hasFailed = true;
		if (fault === 'cut') {
			request.socket.destroy();
			return;
		}
		const url = new URL(path, 'http://localhost');
		const [status, body] =
			fault === '429'
				? [429, { error: 'rate limited', retryAfter: '90' }]
				: fault === '500'
					? [500, { error: 'out of order' }]
					: this.route(url.pathname, url.searchParams);
		response.statusCode = status;
		response.sendDate = false;
		if (this.manners.hasDate) response.setHeader('Date', new Date(this.now).toUTCString());
		response.setHeader('Content-Type', 'application/json');
		response.end(JSON.stringify(body));
	}

	private route(path: string, query: URLSearchParams): [number, object] {
		if (path === '/v1/lifelogs') return this.list(query);
		if (path === '/v1/chats') return this.listChats(query);
		this.reads++;
		const [, , collection, id] = path.split('/');
		if (collection === 'lifelogs') {
			const entry = this.entries.get(id);
			if (!entry || !alive(entry)) return [404, { error: 'not found' }];
			return [200, { data: { lifelog: view(entry, query.get('timezone')!, true) } }];
		}
		const chat = this.chats.get(id);
		if (!chat || chat.deletedAt !== undefined) return [404, { error: 'not found' }];
		return [200, { data: { chat: viewChat(chat) } }];
	}

	private list(query: URLSearchParams): [number, object] {
		const date = query.get('date')!;
		const cursor = query.get('cursor');
		const entries = [...this.entries.values()]
			.filter((entry) => alive(entry) && dayOf(latest(entry).start) === date)
			.sort((a, b) => (position(a) < position(b) ? -1 : 1));
		if (!cursor) {
			for (const entry of entries) {
				entry.hidden = entry.hideNext;
				entry.hideNext = false;
			}
		}
		for (const { id, hidden } of entries) if (hidden) this.shown.leftOut.add(id);
		const isWanted = (entry: Truth) =>
			!query.has('isStarred') || query.get('isStarred') === String(latest(entry).starred);
		const rest = entries.filter(
			(entry) => isWanted(entry) && !entry.hidden && (!cursor || position(entry) > cursor),
		);
		const answer = this.page(rest, query, position);
		if (!answer) return [400, { error: 'limit must be at most 10' }];
		if (answer.meta.nextCursor === null) {
			this.shown.days.add(date);
			for (const { id, hidden } of entries) if (!hidden) this.shown.listed.add(id);
		}
		const lifelogs = answer.page.map((entry) => view(entry, 'UTC', false));
		return [200, { data: { lifelogs }, meta: { lifelogs: answer.meta } }];
	}

	private listChats(query: URLSearchParams): [number, object] {
		const cursor = query.get('cursor');
		const place = ({ createdAt, id }: TrueChat) => `${9e15 - createdAt} ${id}`;
		const rest = [...this.chats.values()]
			.filter((chat) => chat.deletedAt === undefined && (!cursor || place(chat) > cursor))
			.sort((a, b) => (place(a) < place(b) ? -1 : 1));
		const answer = this.page(rest, query, place);
		if (!answer) return [400, { error: 'limit must be at most 10' }];
		return [200, { data: { chats: answer.page.map(viewChat) }, meta: { chats: answer.meta } }];
	}

	private page<T>(rest: T[], query: URLSearchParams, place: (entry: T) => string) {
		const { largestPage, rejectsLimit } = this.manners;
		const limit = Number(query.get('limit'));
		if (limit > largestPage && rejectsLimit) return undefined;
		const page = rest.slice(0, Math.min(limit, largestPage));
		const nextCursor = rest.length > page.length ? place(page[page.length - 1]) : null;
		return { page, meta: { nextCursor, count: page.length } };
	}
}

function position(entry: Truth): string {
	return `${String(latest(entry).start).padStart(16, '0')} ${entry.id}`;
}

function view(entry: Truth, zone: string, isFull: boolean): object {
	const { at, starred, start } = latest(entry);
	const write = (instant: number) =>
		zone === 'Asia/Tokyo'
			? new Date(instant + 9 * 3_600_000).toISOString().replace('Z', '+09:00')
			: new Date(instant).toISOString();
	return {
		id: entry.id,
		title: `Entry ${entry.id}`,
		...(isFull && { markdown: `# Entry ${entry.id}` }),
		contents: [],
		startTime: write(start),
		endTime: write(start + 60_000),
		isStarred: starred,
		updatedAt: write(at),
	};
}

function viewChat({ id, createdAt, answeredAt }: TrueChat): object {
	const asked = new Date(createdAt).toISOString();
	const messages = [{ id: 'q', text: 'And?', createdAt: asked, user: { role: 'user' } }];
	if (answeredAt !== undefined) {
		const answered = new Date(answeredAt).toISOString();
		messages.push({ id: 'a', text: 'So.', createdAt: answered, user: { role: 'assistant' } });
	}
	return { id, createdAt: asked, startedAt: asked, visibility: 'private', messages };
}

/** Serves worlds, one at a time, each under an address of its own. */
export async function startService() {
	let world: World | undefined;
	let worlds = 0;
	const server = createServer((request, response) => {
		const [, key, path] = /\/(w\d+)(\/.*)$/.exec(request.url!)!;
		if (key !== `w${worlds}`) throw new Error('A request of a history that is over');
		void world!.answer(request, response, path);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return {
		/** @returns The address of the world, which from now on is served. */
		serve(next: World): string {
			world = next;
			return `http://127.0.0.1:${port}/w${++worlds}`;
		},
		close() {
			server.closeAllConnections();
			server.close();
		},
	};
}

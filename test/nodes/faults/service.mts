import type { IncomingMessage, ServerResponse } from 'node:http';
import { serve as listen } from '../../support/serve.mts';

// A service small enough to be wrong in every way: each API key has a world of its own, with the
// same few entries, its own fault and its own log.

/** One request as it came. */
export interface Seen {
	method: string;
	path: string;
	query: Record<string, string>;
	/** Whether the fault dealt with it, instead of the service. */
	faulty: boolean;
}

/** A request under way, and what the service would answer to it. */
export interface Exchange {
	request: IncomingMessage;
	response: ServerResponse;
	path: string;
	/** Takes effect (a delete deletes) and gives the right answer. */
	serve: () => Answer;
	/** How many requests the fault has dealt with before. */
	nth: number;
	/** Address of another host, which logs what it is sent. */
	elsewhere: string;
}

export interface Answer {
	status: number;
	headers: Record<string, string>;
	body: Buffer;
}

/** Deals with a request in a wrong way. */
export type Play = (exchange: Exchange) => void | Promise<void>;

/** What one API key sees. */
export interface World {
	play?: Play;
	/** Says which requests the fault deals with, by their number from 0. */
	hits: (nth: number) => boolean;
	seen: Seen[];
	/** The entries that were deleted. */
	deleted: Set<string>;
	/** What there is, newest first. */
	lifelogs: Lifelog[];
	chats: Chat[];
}

type Chat = (typeof CHATS)[number];

interface Lifelog {
	id: string;
	title: string;
	markdown: string;
	startTime: string;
	endTime: string;
	isStarred: boolean;
	updatedAt: string;
	contents: object[];
}

const said = (speakerName: string, content: string) => ({
	type: 'blockquote',
	content,
	speakerName,
	speakerIdentifier: speakerName === 'Ann' ? 'user' : null,
	startTime: '2026-03-02T09:00:00.000Z',
	endTime: '2026-03-02T09:00:05.000Z',
	startOffsetMs: 0,
	endOffsetMs: 5000,
});

/** A lifelog that begins at an ISO time. */
export function lifelog(id: string, startTime: string): Lifelog {
	return {
		id,
		title: `Title of ${id}`,
		markdown: `# Title of ${id}`,
		startTime,
		endTime: startTime.replace(':00:00', ':30:00'),
		isStarred: false,
		updatedAt: startTime.replace(':00:00', ':40:00'),
		contents: [
			{
				type: 'heading1',
				content: `Title of ${id}`,
				children: [said('Ann', 'Good morning.'), said('Ben', 'Good morning, Ann.')],
			},
		],
	};
}

/** The lifelogs of every world, newest first. */
export const LIFELOGS = ['c', 'b', 'a'].map((id, index) =>
	lifelog(`lifelog-${id}`, `2026-03-02T${String(11 - index).padStart(2, '0')}:00:00.000Z`),
);

/** What a service that takes changes makes of every new lifelog, whatever it was sent. */
export const MADE = lifelog('made-1', '2026-03-02T11:30:00.000Z');
/** What it makes of every change. */
export const CHANGE = { title: 'Changed' };

/** What it makes of every recording. */
export const RECORDING = {
	...{ id: 'rec-1', status: 'done', lifelogIds: [MADE.id], error: null, attempts: 1 },
	...{ startTime: MADE.startTime, startTimeFrom: 'upload', durationMs: 1_800_000 },
	createdAt: '2026-03-02T12:00:00.000Z',
};

const message = (role: string, text: string) => ({
	id: `${role}-1`,
	text,
	toolCalls: null,
	toolResults: null,
	createdAt: '2026-03-02T08:00:00.000Z',
	user: { role, name: null },
});

/** A chat that was answered, created at an ISO time. */
export function chat(id: string, createdAt: string) {
	return {
		id,
		summary: `Summary of ${id}`,
		visibility: 'private',
		createdAt,
		startedAt: createdAt,
		messages: [message('user', 'What did I promise?'), message('assistant', 'A call to Ben.')],
	};
}

/** The chats of every world, newest first. */
export const CHATS = ['c', 'b', 'a'].map((id, index) =>
	chat(`chat-${id}`, `2026-03-02T${String(11 - index).padStart(2, '0')}:00:00.000Z`),
);

/** The time of day at the service, as it says in its answers. */
const NOW = 'Mon, 02 Mar 2026 12:00:00 GMT';

/** The audio of every range of time. */
export const AUDIO = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(40_000, 7)]);

/** Starts the service, and the other host that nobody should turn to. Call `close` when done. */
export async function startService() {
	const worlds = new Map<string, World>();
	const strangers: string[] = [];
	const elsewhere = await listen((request, response) => {
		strangers.push(`${request.method} ${request.url} ${JSON.stringify(request.rawHeaders)}`);
		response.end('{}');
	});
	const strangerUrl = elsewhere.url;

	const service = await listen((request, response) => {
		const url = new URL(request.url!, 'http://service');
		const world = worlds.get(String(request.headers['x-api-key']));
		const query = Object.fromEntries(url.searchParams);
		if (!world) {
			response.writeHead(401).end(JSON.stringify({ error: 'Unauthorized' }));
			return;
		}
		response.sendDate = false;
		const nth = world.seen.length;
		const faulty = world.play !== undefined && world.hits(nth);
		world.seen.push({ method: request.method!, path: url.pathname, query, faulty });
		const serve = () => answerOf(world, request.method!, url.pathname, query);
		if (!faulty) {
			send(response, serve());
			return;
		}
		const earlier = world.seen.slice(0, nth).filter((seen) => seen.faulty).length;
		const path = url.pathname;
		void world.play!({ request, response, path, serve, nth: earlier, elsewhere: strangerUrl });
	});

	return {
		/** What an API key works against. */
		url: `${service.url}/base`,
		elsewhere: strangerUrl,
		/** What came to the other host. */
		strangers,
		/** Makes a new key's world. */
		open(apiKey: string, play?: Play, hits: World['hits'] = () => true): World {
			const world = {
				play,
				hits,
				seen: [],
				deleted: new Set<string>(),
				lifelogs: LIFELOGS.map((one) => ({ ...one })),
				chats: [...CHATS],
			};
			worlds.set(apiKey, world);
			return world;
		},
		async close() {
			for (const server of [service, elsewhere]) await server.close();
		},
	};
}

export type Service = Awaited<ReturnType<typeof startService>>;

/** Sends an answer as it is. */
export function send(response: ServerResponse, { status, headers, body }: Answer): void {
	response.writeHead(status, { 'content-length': String(body.length), ...headers }).end(body);
}

/** An answer of JSON. */
export function json(status: number, body: unknown, headers = {}): Answer {
	return {
		status,
		headers: { 'content-type': 'application/json', date: NOW, ...headers },
		body: Buffer.from(JSON.stringify(body)),
	};
}

function answerOf(
	world: World,
	method: string,
	path: string,
	query: Record<string, string>,
): Answer {
	const [, base, version, collection, segment] = path.split('/');
	if (base !== 'base' || version !== 'v1') return json(404, { error: 'No such endpoint' });
	if (collection === 'download-audio') {
		return { status: 200, headers: { 'content-type': 'audio/ogg', date: NOW }, body: AUDIO };
	}
	if (collection === 'recordings') return json(200, { data: { recording: RECORDING } });
	const all: Array<{ id: string; startTime?: string }> =
		collection === 'chats' ? world.chats : world.lifelogs;
	const entries = all.filter(({ id }) => !world.deleted.has(id));
	if (segment === undefined && method === 'POST') {
		const made = world.lifelogs.find(({ id }) => id === MADE.id);
		if (!made) world.lifelogs.unshift(MADE);
		return json(made ? 200 : 201, { data: { lifelog: MADE } });
	}
	if (segment === undefined) return list(collection, entries, query);

	const id = decodeURIComponent(segment);
	const entry = entries.find((candidate) => candidate.id === id);
	if (!entry) return json(404, { error: 'Not found' });
	if (method === 'DELETE') {
		world.deleted.add(id);
		return json(200, collection === 'chats' ? { data: { success: true } } : { success: true });
	}
	if (method === 'PATCH') Object.assign(entry, CHANGE);
	return json(200, { data: { [collection.slice(0, -1)]: entry } });
}

/** Pages of two, so that three entries make two requests. A search is one page. */
function list(
	collection: string,
	entries: Array<{ id: string; startTime?: string }>,
	{ search, cursor, date }: Record<string, string>,
): Answer {
	const onDay = entries.filter(({ startTime }) => !date || startTime?.startsWith(date));
	const from = Number(cursor ?? 0);
	const page = search ? onDay : onDay.slice(from, from + 2);
	const isLast = Boolean(search) || from + 2 >= onDay.length;
	const meta = { count: page.length, ...(!isLast && { nextCursor: String(from + 2) }) };
	return json(200, { data: { [collection]: page }, meta: { [collection]: meta } });
}

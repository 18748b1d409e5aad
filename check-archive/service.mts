// What a service has now, read from its lists without contents.
import { setTimeout as sleep } from 'node:timers/promises';
import { addressProblem, baseAddress } from '../lifelog/addresses.ts';
import { CannotCheck } from './findings.mts';
import { dayOf, instantOf } from './layout.mts';

/** A service, and the key to it. */
export interface Access {
	/** Its address, before `/v1`. */
	baseUrl: string;
	apiKey: string;
}

/** A lifelog as the list has it. */
export interface ListedLifelog {
	id: string;
	/** In UTC. */
	day: string;
	/** Epoch ms. */
	updatedAt: number;
	isStarred: boolean;
}

/** A chat as the list has it. */
export interface ListedChat {
	id: string;
	day: string;
	messages: number;
}

/** What is told while it is read. */
export interface Watch {
	/** After each page: how many entries came so far. */
	read: (entries: number) => void;
	/** Before a pause for the rate limit, in seconds. */
	wait: (seconds: number) => void;
}

const MAX_PAGE_SIZE = 100;
/** For services whose maximum is lower (docs/api-spec.md, section 4.2). */
const FALLBACK_PAGE_SIZE = 10;
const TIMEOUT_MS = 60_000;
const RETRIES = 3;
const FIRST_PAUSE_MS = 500;
/** Waits for the rate limit before a request is given up. */
const MAX_WAITS = 10;
const RETRY_AFTER_S = 60;
const MAX_EMPTY_PAGES = 50;
const METADATA_ONLY = {
	includeMarkdown: 'false',
	includeHeadings: 'false',
	includeContents: 'false',
};

/** Every lifelog of the service (docs/api-spec.md, section 4.2). */
export async function* listLifelogs(access: Access, watch: Watch): AsyncGenerator<ListedLifelog> {
	for await (const entry of list(access, 'lifelogs', METADATA_ONLY, watch)) {
		const begin = instantOf(entry.startTime);
		const updatedAt = instantOf(entry.updatedAt);
		if (Number.isNaN(begin) || Number.isNaN(updatedAt)) {
			throw new CannotCheck(`The service's list has no times for the lifelog ${entry.id}.`);
		}
		const { id, isStarred } = entry;
		yield { id, day: dayOf(begin), updatedAt, isStarred: isStarred === true };
	}
}

/** Every chat of the service (docs/api-spec.md, section 4.6). */
export async function* listChats(access: Access, watch: Watch): AsyncGenerator<ListedChat> {
	for await (const { id, createdAt, messages } of list(access, 'chats', {}, watch)) {
		const begin = instantOf(createdAt);
		if (Number.isNaN(begin)) {
			throw new CannotCheck(`The service's list has no time for the chat ${id}.`);
		}
		yield { id, day: dayOf(begin), messages: Array.isArray(messages) ? messages.length : 0 };
	}
}

type Listed = Record<string, unknown> & { id: string };

/** A list, page after page, until no cursor comes. */
async function* list(
	access: Access,
	name: 'lifelogs' | 'chats',
	query: Record<string, string>,
	watch: Watch,
): AsyncGenerator<Listed> {
	const cursors = new Set<string>();
	let limit = MAX_PAGE_SIZE;
	let cursor: string | undefined;
	let count = 0;
	let emptyPages = 0;
	for (;;) {
		const whole = { timezone: 'UTC', direction: 'asc', ...query, limit: String(limit) };
		const path = `/v1/${name}?${new URLSearchParams({ ...whole, ...(cursor && { cursor }) })}`;
		const { status, body } = await request(access, path, watch);
		if (status === 400 && limit === MAX_PAGE_SIZE && cursor === undefined) {
			limit = FALLBACK_PAGE_SIZE;
			continue;
		}
		if (status !== 200) throw new CannotCheck(refusal(access, name, status, body));
		const { data, meta } = (body ?? {}) as {
			data?: Record<string, Listed[]>;
			meta?: Record<string, { nextCursor?: string | null }>;
		};
		const page = data?.[name];
		if (!Array.isArray(page) || page.some((entry) => typeof entry?.id !== 'string')) {
			throw new CannotCheck(`What ${access.baseUrl} returned isn't a list of ${name}.`);
		}
		count += page.length;
		watch.read(count);
		yield* page;
		cursor = meta?.[name]?.nextCursor ?? undefined;
		if (!cursor) return;
		emptyPages = page.length === 0 ? emptyPages + 1 : 0;
		if (cursors.has(cursor) || emptyPages === MAX_EMPTY_PAGES) {
			throw new CannotCheck(`The service's list of ${name} does not end.`);
		}
		cursors.add(cursor);
	}
}

interface Answer {
	status: number;
	/** As JSON; undefined where it is none. */
	body: unknown;
}

/** GETs, with pauses for the rate limit, and again if the service fails temporarily. */
async function request({ baseUrl, apiKey }: Access, path: string, watch: Watch): Promise<Answer> {
	let retries = 0;
	let waits = 0;
	for (;;) {
		const problem = await attempt();
		if (typeof problem === 'object') return problem;
		if (retries === RETRIES) throw new CannotCheck(problem);
		await sleep(FIRST_PAUSE_MS * 2 ** retries++);
	}

	/** The answer, or, as a text, what may be over soon. */
	async function attempt(): Promise<Answer | string> {
		for (;;) {
			let response: Response;
			let text: string;
			try {
				response = await fetch(baseUrl + path, {
					headers: { 'x-api-key': apiKey, accept: 'application/json' },
					// A redirect would carry the key to wherever it leads.
					redirect: 'manual',
					signal: AbortSignal.timeout(TIMEOUT_MS),
				});
				text = await response.text();
			} catch (error) {
				const { message, cause } = error as Error;
				return `${baseUrl} cannot be reached: ${(cause as Error | undefined)?.message ?? message}`;
			}
			const { status, headers } = response;
			const body = asJson(text);
			if (status >= 500) return `${baseUrl} answers ${status} to ${path.split('?')[0]}.`;
			if (status !== 429) return { status, body };
			if (waits++ === MAX_WAITS) {
				throw new CannotCheck(
					'The service keeps refusing requests because of the rate limit. Try again later.',
				);
			}
			const seconds = retryAfter(body, headers);
			watch.wait(seconds);
			await sleep(seconds * 1000);
		}
	}
}

/** How long a 429 asks to wait, in seconds (docs/api-spec.md, section 7). */
function retryAfter(body: unknown, headers: Headers): number {
	const header = headers.get('retry-after');
	const inBody = (body as { retryAfter?: unknown } | undefined)?.retryAfter;
	const untilDate = header === null ? NaN : (Date.parse(header) - Date.now()) / 1000;
	const candidates = [Number(inBody ?? NaN), Number(header ?? NaN), untilDate];
	return candidates.find((seconds) => Number.isFinite(seconds) && seconds >= 0) ?? RETRY_AFTER_S;
}

function refusal({ baseUrl, apiKey }: Access, name: string, status: number, body: unknown): string {
	if (status === 401 || status === 403) {
		return `${baseUrl} refuses the API key (${status}). Check LIFELOG_API_KEY, and LIFELOG_BASE_URL if it is another service's.`;
	}
	if (status >= 300 && status < 400) {
		return `${baseUrl} redirects to another address (${status}), and the key isn't sent there. Check LIFELOG_BASE_URL.`;
	}
	const words = (body as { error?: unknown } | undefined)?.error;
	const said = typeof words === 'string' ? `: ${words.replaceAll(apiKey, '…').slice(0, 200)}` : '';
	return `${baseUrl} refuses the list of ${name} (${status})${said}`;
}

function asJson(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/** @throws CannotCheck for a key that cannot be sent, or an address that it must not be sent to. */
export function accessFrom(apiKey: string, address: string): Access {
	// The HTTP client would quote it.
	if (!/^[\x20-\x7e]+$/.test(apiKey)) {
		throw new CannotCheck(
			"LIFELOG_API_KEY can't be sent: copy it again, in one line and without other characters.",
		);
	}
	const problem = addressProblem(address);
	if (problem === 'not an address') {
		throw new CannotCheck(`LIFELOG_BASE_URL isn't a web address: ${address.trim()}`);
	}
	if (problem !== undefined) {
		throw new CannotCheck(
			'LIFELOG_BASE_URL must begin with https:// (http:// only for this machine), and contain neither a user name nor a query.',
		);
	}
	return { apiKey, baseUrl: baseAddress(address) };
}

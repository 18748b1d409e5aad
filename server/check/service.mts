// Reads the current lists of the service, without contents.
import { setTimeout as sleep } from 'node:timers/promises';
import {
	type ListName,
	MAX_PAGE_SIZE,
	METADATA_ONLY,
	pageOf,
	pages,
	sizeProblemOf,
} from '../../lifelog/paging.ts';
import { retryAfterMs } from '../../lifelog/retryAfter.ts';
import { CannotCheck } from './findings.mts';
import { dayOf, instantOf, listedOf, updatedAtOf } from './layout.mts';

/** A service and its key. */
export interface Access {
	/** Address without `/v1`. */
	baseUrl: string;
	apiKey: string;
}

export interface ListedLifelog {
	id: string;
	/** In UTC. */
	day: string;
	/** Epoch ms. */
	updatedAt: number;
	isStarred: boolean;
	/** Hash of title and end. */
	listed: string;
}

export interface ListedChat {
	id: string;
	day: string;
	messages: number;
}

/** Callbacks while reading. */
export interface Watch {
	/** Called after each page with the number of entries so far. */
	read: (entries: number) => void;
	/** Called before a pause for the rate limit, in seconds. */
	wait: (seconds: number) => void;
}

const TIMEOUT_MS = 60_000;
const RETRIES = 3;
const FIRST_PAUSE_MS = 500;
/** Maximum pauses for the rate limit, per request. */
const MAX_WAITS = 10;

/** Lists all lifelogs of the service (docs/api-spec.md, section 4.2). */
export async function* listLifelogs(access: Access, watch: Watch): AsyncGenerator<ListedLifelog> {
	for await (const entry of list(access, 'lifelogs', METADATA_ONLY, watch)) {
		const begin = instantOf(entry.startTime);
		if (Number.isNaN(begin)) {
			throw new CannotCheck(`The service's list has no times for the lifelog ${entry.id}.`);
		}
		const { id, isStarred } = entry;
		const listed = listedOf(entry);
		const updatedAt = updatedAtOf(entry);
		yield { id, day: dayOf(begin), updatedAt, isStarred: isStarred === true, listed };
	}
}

/** Lists all chats of the service (docs/api-spec.md, section 4.6). */
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

/** The service refused a request. */
class Refusal extends CannotCheck {
	readonly status: number;

	constructor(status: number, message: string) {
		super(message);
		this.status = status;
	}
}

/** Reads a list entry by entry until there is no cursor. */
async function* list(
	access: Access,
	name: ListName,
	query: Record<string, boolean>,
	watch: Watch,
): AsyncGenerator<Listed> {
	let count = 0;
	const getPage = async (limit: number, cursor: string | undefined) => {
		const whole = { timezone: 'UTC', direction: 'asc', ...query, limit, ...(cursor && { cursor }) };
		const pairs = Object.entries(whole).map(([key, value]) => [key, String(value)]);
		const path = `/v1/${name}?${new URLSearchParams(pairs)}`;
		const { status, body } = await request(access, path, watch);
		if (status !== 200) throw new Refusal(status, refusal(access, name, status, body));
		const page = pageOf(body, name);
		const entries = typeof page === 'string' ? [] : (page.entries as Listed[]);
		if (typeof page === 'string' || entries.some((entry) => typeof entry?.id !== 'string')) {
			throw new CannotCheck(`What ${access.baseUrl} returned isn't a list of ${name}.`);
		}
		count += entries.length;
		watch.read(count);
		return { ...page, entries };
	};
	const sizeProblem = (error: unknown) =>
		error instanceof Refusal ? sizeProblemOf(error.status) : undefined;
	const endless = (problem: string) =>
		new CannotCheck(`The service's list of ${name} does not end: ${problem}.`);
	const found = pages<Listed>({ getPage, sizeProblem }, { pageSize: MAX_PAGE_SIZE, endless });
	for await (const page of found) yield* page;
}

interface Answer {
	status: number;
	/** Parsed JSON; undefined if invalid. */
	body: unknown;
}

/** Sends a GET request, with pauses for the rate limit and retries of temporary failures. */
async function request({ baseUrl, apiKey }: Access, path: string, watch: Watch): Promise<Answer> {
	let retries = 0;
	let waits = 0;
	for (;;) {
		const problem = await attempt();
		if (typeof problem === 'object') return problem;
		if (retries === RETRIES) throw new CannotCheck(problem);
		await sleep(FIRST_PAUSE_MS * 2 ** retries++);
	}

	/** The answer, or a string with the reason of a temporary failure. */
	async function attempt(): Promise<Answer | string> {
		for (;;) {
			let response: Response;
			let text: string;
			try {
				response = await fetch(baseUrl + path, {
					headers: { 'x-api-key': apiKey, accept: 'application/json' },
					// A redirect would send the key to another address.
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
			const ms = retryAfterMs(body, Object.fromEntries(headers));
			watch.wait(Math.ceil(ms / 1000));
			await sleep(ms);
		}
	}
}

function refusal({ baseUrl, apiKey }: Access, name: string, status: number, body: unknown): string {
	if (status === 401 || status === 403) {
		return `${baseUrl} refuses the API key (${status}). Check LIFELOG_API_KEY, and --url (LIFELOG_BASE_URL) if it is another service's.`;
	}
	if (status >= 300 && status < 400) {
		return `${baseUrl} redirects to another address (${status}), and the key isn't sent there. Check --url (LIFELOG_BASE_URL).`;
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

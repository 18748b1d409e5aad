// Many clients at once, each asking again as soon as it was answered.
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from 'simple-statistics';
import { count, type Row } from '../figures.mts';
import { words } from './life.mts';
import type { Served } from './processes.mts';

const CLIENTS = 50;
const DURATION_MS = 30_000;
const SEARCHES_PER_SECOND = 4;
const MAX_MS = 500;

type Kind = 'get' | 'list' | 'search';

/** How often each is asked for, of ten requests. */
const mix: Kind[] = [...Array<Kind>(6).fill('get'), ...Array<Kind>(3).fill('list'), 'search'];

/** The `nth` of some days spread over the three years. */
const dayOf = (nth: number) =>
	new Date(Date.parse('2023-05-01') + ((nth * 7) % 1000) * 86_400_000).toISOString().slice(0, 10);
const listOf = (nth: number) => `/v1/lifelogs?end=${dayOf(nth)}`;
const searchOf = (nth: number) =>
	`/v1/lifelogs?search=${words[90 + (nth % 400)]}%20${words[100 + (nth % 400)]}`;
const LISTS_FOR_IDS = 20;

/** Paths of some lifelogs of all years. */
async function someLifelogs(served: Served): Promise<string[]> {
	const paths: string[] = [];
	for (let nth = 0; nth < LISTS_FOR_IDS; nth += 1) {
		const path = `${listOf(nth * 7)}&limit=100&includeContents=false&includeMarkdown=false`;
		const response = await fetch(served.url + path, { headers: { 'X-API-Key': served.apiKey } });
		const { data } = (await response.json()) as { data: { lifelogs: { id: string }[] } };
		paths.push(...data.lifelogs.map(({ id }) => `/v1/lifelogs/${id}`));
	}
	return paths;
}

/** What the clients saw. */
export interface Load {
	/** How long the answers of each kind took, in ms. */
	taken: Record<Kind, number[]>;
	/** What was no 200. */
	errors: string[];
	ms: number;
}

/**
 * Has many clients ask for lifelogs, lists (ten with contents) and searches. A client whose turn it is
 * to search while enough others do in this second asks for one of the others.
 */
export async function load(served: Served, durationMs = DURATION_MS): Promise<Load> {
	const lifelogs = await someLifelogs(served);
	const paths: Record<Kind, (nth: number) => string> = {
		get: (nth) => lifelogs[(nth * 7) % lifelogs.length],
		list: listOf,
		search: searchOf,
	};
	const taken: Load['taken'] = { get: [], list: [], search: [] };
	const errors: string[] = [];
	const asked = { get: 0, list: 0, search: 0 };
	const began = performance.now();
	const since = () => performance.now() - began;
	const kindOf = (nth: number): Kind => {
		const kind = mix[nth % mix.length];
		const mayBe = Math.floor((since() / 1000) * SEARCHES_PER_SECOND) + 1;
		return kind === 'search' && asked.search >= mayBe ? mix[nth % 9] : kind;
	};
	const client = async (first: number) => {
		for (let nth = first; since() < durationMs; nth += 1) {
			const kind = kindOf(nth);
			const path = paths[kind]((asked[kind] += 1));
			const at = performance.now();
			try {
				const headers = { 'X-API-Key': served.apiKey };
				const response = await fetch(served.url + path, { headers });
				await response.arrayBuffer();
				if (response.ok) taken[kind].push(performance.now() - at);
				else errors.push(`${path} answered ${response.status}`);
			} catch (error) {
				errors.push(`${path}: ${String((error as Error).cause ?? error)}`);
				await sleep(100);
			}
		}
	};
	await Promise.all(Array.from({ length: CLIENTS }, (_, nth) => client(nth)));
	return { taken, errors, ms: since() };
}

/** The table's rows of what the clients saw of `lifelogs` lifelogs. */
export function loadRows({ taken, errors, ms }: Load, lifelogs: number): Row[] {
	const all = Object.values(taken).flat().length;
	const named = (name: string) => `${count(lifelogs)} lifelogs, ${CLIENTS} clients: ${name}`;
	const from = `${(ms / 1000).toFixed(0)} s; 60 % get, 30 % list (ten with contents), 10 % search, of these ${SEARCHES_PER_SECOND} a second at most`;
	const rowOf = (kind: Kind): Row => {
		const [p95, middle] = quantile(taken[kind], [0.95, 0.5]);
		return {
			what: named(kind),
			figure: `${p95.toFixed(0)} ms; half of the answers ${middle.toFixed(0)} ms at most`,
			from: `95th percentile of ${count(taken[kind].length)}; ${from}`,
			...(kind === 'search' ? { goal: '' } : { goal: `below ${MAX_MS} ms`, holds: p95 < MAX_MS }),
		};
	};
	return [
		...(['get', 'list', 'search'] as const).map(rowOf),
		{
			what: named('errors'),
			figure: `${count(errors.length)} of ${count(all + errors.length)}; ${(all / (ms / 1000)).toFixed(0)} answers a second`,
			from,
			goal: 'none',
			holds: errors.length === 0,
			...(errors.length > 0 && { reason: errors[0] }),
		},
	];
}

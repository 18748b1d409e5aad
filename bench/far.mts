// Reading over TLS with a round trip of 50 ms, connection and handshake included.
import type { SpawnedSandbox } from '../test/support/sandbox.mts';
import { distant, type Distant } from './far/distance.mts';
import { count, figureOf, ratioOf, type Row, seconds, spreadOf } from './figures.mts';
import { sample } from './processes.mts';
import { leastRequests, MOST_MORE } from './request-cases.mts';
import { AXIOS_LIKE_N8N, type Reading, type Way } from './ways.mts';

const ROUND_TRIP_MS = 50;
const RUNS = 3;
const NOW = '2026-03-03T00:00:00Z';
/** Three years with six bursts of recordings in them. */
const BURSTS = ['2023-04', '2023-11', '2024-05', '2025-01', '2025-08', '2026-02'].map((month) =>
	Date.parse(`${month}-01T08:00:00Z`),
);
const EVERY_MS = 20 * 60_000;
const LASTS_MS = 5 * 60_000;
const WORD = 'greenhouse';

interface Case {
	lifelogs: number;
	page: 10 | 100;
	/** Against the axios loop. */
	goal: number;
}

const cases: Case[] = [
	{ lifelogs: 1000, page: 10, goal: 0.55 },
	{ lifelogs: 1000, page: 100, goal: 1 },
	{ lifelogs: 10_000, page: 100, goal: 0.6 },
];

/** So many lifelogs, as many in each burst. */
async function fill({ control }: SpawnedSandbox, lifelogs: number, page: 10 | 100): Promise<void> {
	const dialect = { limit: { max: page }, rateLimit: { max: 1_000_000 } };
	await control.reset({ empty: true, now: NOW, dialect });
	for (let nth = 0; nth < lifelogs; nth++) {
		const burst = BURSTS[nth % BURSTS.length];
		const start = burst + Math.floor(nth / BURSTS.length) * EVERY_MS;
		const [startTime, endTime] = [start, start + LASTS_MS].map((ms) => new Date(ms).toISOString());
		await control.addLifelog({ title: `About the ${WORD}`, startTime, endTime });
	}
}

/** Readings of the same, by different ways, taking turns. */
async function takeTurns(
	sandbox: SpawnedSandbox,
	far: Distant,
	lifelogs: number,
	readings: Array<{ way: Way } & Partial<Reading>>,
): Promise<Array<{ ms: number[]; requests: number }>> {
	const taken = readings.map(() => ({ ms: [] as number[], requests: 0 }));
	for (let run = 0; run < RUNS; run++) {
		for (const [nth, reading] of readings.entries()) {
			await sandbox.control.clearRequests();
			const service = { baseUrl: far.url, apiKey: sandbox.apiKey };
			const asked = { ...service, ...reading, warmUps: 0, reads: 1 };
			const read = await sample('list', asked, [], far.env);
			if (read.lifelogs !== lifelogs) {
				throw new Error(`${reading.way}: ${read.lifelogs} of ${lifelogs}: ${read.error}`);
			}
			taken[nth].ms.push(read.ms);
			// The first one warms up, and finds nothing.
			taken[nth].requests = (await sandbox.control.requests()).length - 1;
		}
	}
	return taken;
}

const medianOf = ({ ms }: { ms: number[] }) => seconds(spreadOf(ms).median);

async function listRow(sandbox: SpawnedSandbox, far: Distant, each: Case): Promise<Row> {
	const { lifelogs, page, goal } = each;
	await fill(sandbox, lifelogs, page);
	const [own, since, axios, likeN8n] = await takeTurns(sandbox, far, lifelogs, [
		{ way: 'Lifelog node' },
		{ way: 'Lifelog node', range: { start: '2020-01-01 00:00:00' } },
		{ way: 'axios loop' },
		{ way: AXIOS_LIKE_N8N },
	]);
	const [toAxios, sinceToAxios, toNew] = [
		ratioOf(own.ms, axios.ms),
		ratioOf(since.ms, axios.ms),
		ratioOf(own.ms, likeN8n.ms),
	];
	const least = leastRequests(lifelogs, false) * (100 / page);
	const more = Math.max(own.requests, since.requests) - least;
	return {
		what: `Far away (TLS, ${ROUND_TRIP_MS} ms), ${count(lifelogs)} lifelogs in six bursts over three years, ${page} a page, against an axios loop that keeps its connection`,
		figure: `${figureOf(toAxios)}; with a Start in 2020 ${figureOf(sinceToAxios)}; requests ${own.requests} and ${since.requests} where the least is ${least}`,
		from: `${medianOf(own)}, with a Start ${medianOf(since)}; axios ${medianOf(axios)}, opening connections ${medianOf(likeN8n)}`,
		goal: `at most ${goal.toFixed(2)}; at most ${MOST_MORE} requests more`,
		holds: toAxios.median <= goal && sinceToAxios.median <= goal && more <= MOST_MORE,
		reason: `n8n opens a connection for each request, three round trips instead of one; against axios that does so too it is ${figureOf(toNew)}`,
	};
}

async function searchRow(sandbox: SpawnedSandbox, far: Distant): Promise<Row> {
	await fill(sandbox, 200, 100);
	const search = { search: WORD, includeContents: true };
	const [own, axios] = await takeTurns(sandbox, far, 100, [
		{ way: 'Lifelog node', ...search },
		{ way: 'axios loop', ...search },
	]);
	const ratio = ratioOf(own.ms, axios.ms);
	return {
		what: `Far away, a search for 100 lifelogs with their contents, against axios that reads one after another`,
		figure: figureOf(ratio),
		from: `${medianOf(own)}, axios ${medianOf(axios)}; ${own.requests} requests each`,
		goal: 'at most 1.00',
		holds: ratio.median <= 1,
	};
}

/** Lists and searches of a service that is far away. */
export async function far(sandbox: SpawnedSandbox): Promise<Row[]> {
	const service = await distant(sandbox.url, ROUND_TRIP_MS);
	try {
		const rows: Row[] = [];
		for (const each of cases) rows.push(await listRow(sandbox, service, each));
		return [...rows, await searchRow(sandbox, service)];
	} finally {
		await service.close();
	}
}

// Reading over TLS with a round trip of 50 ms, connection and handshake included.
import type { TestSandbox } from '../test/support/sandbox.mts';
import { distant, type Distant } from './far/distance.mts';
import { count, figureOf, intervalOf, PAIRS, type Row, seconds, spreadOf } from './figures.mts';
import { sample } from './processes.mts';
import type { Point } from './lists.mts';
import { minRequests } from './request-cases.mts';
import { type Reading, type Way, WAYS } from './ways.mts';

const ROUND_TRIP_MS = 50;
/** What simplifying takes is not seen from so far. */
const FAR_WAYS = WAYS.filter((way) => way !== 'Lifelog node, Raw');
const NOW = '2026-03-03T00:00:00Z';
/** Three years with six bursts of recordings in them. */
const BURSTS = ['2023-04', '2023-11', '2024-05', '2025-01', '2025-08', '2026-02'].map((month) =>
	Date.parse(`${month}-01T08:00:00Z`),
);
const EVERY_MS = 20 * 60_000;
const LASTS_MS = 5 * 60_000;

/** So many lifelogs, as many in each burst. */
async function fill({ control }: TestSandbox, lifelogs: number): Promise<void> {
	const dialect = { rateLimit: { max: 1_000_000 } };
	await control.reset({ empty: true, now: NOW, dialect });
	for (let nth = 0; nth < lifelogs; nth++) {
		const burst = BURSTS[nth % BURSTS.length];
		const start = burst + Math.floor(nth / BURSTS.length) * EVERY_MS;
		const [startTime, endTime] = [start, start + LASTS_MS].map((ms) => new Date(ms).toISOString());
		await control.addLifelog({ startTime, endTime });
	}
}

/** Readings of the same, by different ways, taking turns. */
async function takeTurns(
	sandbox: TestSandbox,
	far: Distant,
	lifelogs: number,
	readings: Array<{ way: Way } & Partial<Reading>>,
): Promise<Array<{ ms: number[]; requests: number }>> {
	const taken = readings.map(() => ({ ms: [] as number[], requests: 0 }));
	for (let run = 0; run < PAIRS; run++) {
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

/** Lists of a service that is far away. */
export async function far(sandbox: TestSandbox): Promise<{ rows: Row[]; points: Point[] }> {
	const service = await distant(sandbox.url, ROUND_TRIP_MS);
	const rows: Row[] = [];
	const points: Point[] = [];
	try {
		for (const lifelogs of [1000, 10_000]) {
			await fill(sandbox, lifelogs);
			const taken = await takeTurns(
				sandbox,
				service,
				lifelogs,
				FAR_WAYS.map((way) => ({ way })),
			);
			const [own, http, axios] = taken;
			const ratio = intervalOf(own.ms, http.ms);
			const minimum = minRequests(lifelogs, false);
			rows.push({
				what: `The same over TLS and ${ROUND_TRIP_MS} ms, ${count(lifelogs)} lifelogs`,
				figure: `HTTP Request node: ${figureOf(ratio)}`,
				from: taken
					.map(({ ms }, nth) => `${FAR_WAYS[nth]} ${seconds(spreadOf(ms).median)}`)
					.join(', '),
				goal: 'HTTP Request node: at most 1.05',
				holds: ratio.high <= 1.05 && own.requests === minimum,
				reason: `${own.requests} requests; against the axios loop it is ${figureOf(intervalOf(own.ms, axios.ms))}`,
			});
			points.push(
				...taken.map(({ ms }, nth) => ({
					way: FAR_WAYS[nth],
					lifelogs,
					latencyMs: ROUND_TRIP_MS,
					ms,
				})),
			);
		}
	} finally {
		await service.close();
	}
	return { rows, points };
}

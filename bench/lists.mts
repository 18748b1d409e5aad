// Reading lists: time and memory, against the other ways to read them.
import type { TestSandbox } from '../test/support/sandbox.mts';
import {
	count,
	figureOf,
	intervalOf,
	mebibytes,
	PAIRS,
	ratioOf,
	type Row,
	seconds,
	spreadOf,
} from './figures.mts';
import { sample, times } from './processes.mts';
import { monthOf } from './request-cases.mts';
import { type Reading, type Way, WAYS } from './ways.mts';

const MARKDOWN_BYTES = 4096;
/** Lists of so many lifelogs have a goal. */
const GOALS = [1000, 10_000];
/** A list that shows what memory it takes, of so many lifelogs of so many bytes. */
const MANY = 50_000;
const MARKDOWN_BYTES_OF_MANY = 1024;

/** One point of the chart: times in ms, one for each run. */
export interface Point {
	way: Way;
	lifelogs: number;
	latencyMs: number;
	ms: number[];
}

async function fill(
	{ control }: TestSandbox,
	lifelogs: number,
	markdownBytes = MARKDOWN_BYTES,
): Promise<void> {
	const dialect = { rateLimit: { max: 1_000_000 } };
	await control.reset({ ...monthOf, lifelogs, markdownBytes, dialect });
}

function readingOf({ url, apiKey }: TestSandbox): Reading {
	return { baseUrl: url, apiKey };
}

/** The times of all ways, interleaved. */
async function timeWays(sandbox: TestSandbox, lifelogs: number, runs: number): Promise<Point[]> {
	await fill(sandbox, lifelogs);
	const reading = readingOf(sandbox);
	const warmUps = Math.ceil(10_000 / lifelogs);
	const reads = Math.ceil(5500 / lifelogs);
	const points = WAYS.map((way): Point => ({ way, lifelogs, latencyMs: 0, ms: [] }));
	for (let run = 0; run < runs; run++) {
		for (const { way, ms } of points) {
			const taken = await sample('list', { ...reading, way, warmUps, reads });
			if (taken.lifelogs !== lifelogs) throw new Error(`${way}: ${taken.lifelogs} of ${lifelogs}`);
			ms.push(taken.ms);
			await sandbox.control.clearRequests();
		}
	}
	return points;
}

/** Time near by. */
export async function time(sandbox: TestSandbox): Promise<{ rows: Row[]; points: Point[] }> {
	const points: Point[] = [];
	for (const lifelogs of [1000, 2500, 5500, 10_000]) {
		points.push(...(await timeWays(sandbox, lifelogs, GOALS.includes(lifelogs) ? PAIRS : 3)));
	}
	const rows = GOALS.flatMap((lifelogs): Row[] => {
		const these = points.filter((point) => point.lifelogs === lifelogs);
		const [simplified, raw, http, axios] = these.map(({ ms }) => ms);
		const from = these.map(({ way, ms }) => `${way} ${seconds(spreadOf(ms).median)}`).join(', ');
		const row = (what: string, own: number[], reason: string): Row => {
			const [toHttp, toAxios] = [intervalOf(own, http), intervalOf(own, axios)];
			return {
				what,
				figure: `${figureOf(toAxios)}; HTTP Request node: ${figureOf(toHttp)}`,
				from,
				goal: 'at most 1.25; HTTP Request node: at most 1.05',
				holds: toAxios.high <= 1.25 && toHttp.high <= 1.05,
				reason,
			};
		};
		const what = `Time near by, ${count(lifelogs)} lifelogs of 4 KB`;
		const ofHttp = `the HTTP Request node takes ${figureOf(intervalOf(http, axios))} of the axios loop`;
		return [
			row(`${what} as the service sends them (Raw), against an axios loop`, raw, ofHttp),
			row(`${what}, simplified, against the same`, simplified, "the others don't simplify"),
		];
	});
	return { rows, points };
}

/** Peak memory of a long list against that of n8n's own node, which gives pages. */
export async function memory(sandbox: TestSandbox): Promise<Row[]> {
	await fill(sandbox, MANY, MARKDOWN_BYTES_OF_MANY);
	const peaks = await times(3, async () => {
		const taken: number[] = [];
		for (const way of ['Lifelog node', 'HTTP Request node'] as const) {
			const asked = { ...readingOf(sandbox), way, warmUps: 0, reads: 1 };
			const { lifelogs, peak, error } = await sample('list', asked);
			if (lifelogs !== MANY) throw new Error(`${way}: ${lifelogs} of ${MANY}: ${error}`);
			taken.push(peak);
		}
		return taken;
	});
	const [own, http] = [0, 1].map((nth) => peaks.map((taken) => taken[nth]));
	const ratio = ratioOf(own, http);
	return [
		{
			what: `Peak memory, ${count(MANY)} lifelogs of 1 KB, against the HTTP Request node`,
			figure: figureOf(ratio),
			from: [own, http].map((each) => mebibytes(spreadOf(each).median)).join(', '),
			goal: 'at most 1.15',
			holds: ratio.median <= 1.15,
			reason: 'it returns pages, an item each, and this one an item for each lifelog',
		},
	];
}

// Reading lists: requests, time and memory, against the other ways to read them.
import type { SpawnedSandbox } from '../test/support/sandbox.mts';
import { count, figureOf, mebibytes, ratioOf, type Row, seconds, spreadOf } from './figures.mts';
import { sample, times } from './processes.mts';
import { leastRequests, MOST_MORE, month, monthOf, requestCases } from './request-cases.mts';
import { AXIOS_LIKE_N8N, open, PAGE_AFTER_PAGE, type Reading, type Way, WAYS } from './ways.mts';

const MARKDOWN_BYTES = 4096;
const LATENCY_MS = 100;
/** Growth is the slope of the upper half against that of the lower half. */
const [LOW, MIDDLE, HIGH] = [1000, 5500, 10_000];
/** A list that shows what memory it takes, of so many lifelogs of so many bytes. */
const MANY = 50_000;
const MARKDOWN_BYTES_OF_MANY = 1024;
/** V8's young generation would swallow the first thousands, as if they cost nothing. */
const SMALL_YOUNG_GENERATION = ['--max-semi-space-size=1'];

/** One point of the chart: times in ms, one for each run. */
export interface Point {
	way: Way;
	lifelogs: number;
	latencyMs: number;
	ms: number[];
}

async function fill(
	{ control }: SpawnedSandbox,
	lifelogs: number,
	latencyMs = 0,
	markdownBytes = MARKDOWN_BYTES,
): Promise<void> {
	const rateLimit = { max: 1_000_000 };
	const dialect = { rateLimit, latencyMs };
	await control.reset({ ...monthOf, lifelogs, markdownBytes, dialect });
}

function readingOf({ url, apiKey }: SpawnedSandbox, more: Partial<Reading> = {}): Reading {
	return { baseUrl: url, apiKey, ...more };
}

/** How many requests lists of several lengths cost, with and without a range of time. */
export async function requests(sandbox: SpawnedSandbox): Promise<Row[]> {
	const reader = await open('Lifelog node', readingOf(sandbox));
	const more: number[] = [];
	const counts: string[] = [];
	for (const { lifelogs, includeContents } of requestCases) {
		await fill(sandbox, lifelogs);
		const least = leastRequests(lifelogs, includeContents);
		const made: number[] = [];
		for (const range of [undefined, month]) {
			await sandbox.control.clearRequests();
			const read = await reader.read(readingOf(sandbox, { range, includeContents }));
			if (read.lifelogs !== lifelogs) throw new Error(`${read.lifelogs} of ${lifelogs} came`);
			made.push((await sandbox.control.requests()).length);
		}
		more.push(...made.map((requests) => requests - least));
		counts.push(
			`${count(lifelogs)}${includeContents ? ' with contents' : ''}: ${made[0]}, range ${made[1]}`,
		);
	}
	await reader.close();
	return [
		{
			what: 'Requests for a list, more than the least',
			figure: `at most ${Math.max(...more)}`,
			from: counts.join('; '),
			goal: `at most ${MOST_MORE}`,
			holds: Math.max(...more) <= MOST_MORE,
		},
	];
}

/** The times of all ways, interleaved. */
async function timeWays(
	sandbox: SpawnedSandbox,
	lifelogs: number,
	latencyMs: number,
	runs: number,
): Promise<Point[]> {
	await fill(sandbox, lifelogs, latencyMs);
	const reading = readingOf(sandbox, latencyMs > 0 ? { range: month } : {});
	// The service must not be slow for long only to warm up what then reads 10,000.
	const warmUps = latencyMs > 0 ? Math.floor(LOW / lifelogs) : Math.ceil((3 * LOW) / lifelogs);
	const reads = latencyMs > 0 ? 1 : Math.ceil(MIDDLE / lifelogs);
	const ways: readonly Way[] = latencyMs > 0 ? WAYS : [...WAYS, AXIOS_LIKE_N8N, PAGE_AFTER_PAGE];
	const points: Point[] = ways.map((way): Point => ({ way, lifelogs, latencyMs, ms: [] }));
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

function compare(points: Point[], lifelogs: number) {
	const these = points.filter((point) => point.lifelogs === lifelogs);
	const [own, ...others] = these.map(({ ms }) => ms);
	const [toHttp, toAxios, toNew, toPaged] = others.map((ms) => ratioOf(own, ms));
	const medians = these.map(({ way, ms }) => `${way} ${seconds(spreadOf(ms).median)}`).join(', ');
	return {
		figure: `${figureOf(toAxios)}; HTTP Request node: ${figureOf(toHttp)}`,
		from: medians,
		ratios: [toAxios.median, toHttp.median],
		reason:
			toNew &&
			`against axios that, like n8n, opens a connection for each request, it is ${figureOf(toNew)}, and against the same node page after page ${figureOf(toPaged)}: several places at once, which pay far away, cost a few requests more`,
	};
}

/** Time without latency, and its growth. */
export async function time(sandbox: SpawnedSandbox): Promise<{ rows: Row[]; points: Point[] }> {
	const points: Point[] = [];
	for (const lifelogs of [LOW, 2500, MIDDLE, HIGH]) {
		points.push(...(await timeWays(sandbox, lifelogs, 0, lifelogs === 2500 ? 3 : 7)));
	}
	const rows = [LOW, HIGH].map((lifelogs): Row => {
		const { figure, from, ratios, reason } = compare(points, lifelogs);
		return {
			what: `Time, ${count(lifelogs)} lifelogs of 4 KB, against an axios loop`,
			figure,
			from,
			goal: 'at most 1.25; HTTP Request node: at most 1.00',
			holds: ratios[0] <= 1.25 && ratios[1] <= 1,
			reason,
		};
	});
	const growthOf = (way: Way) =>
		growth(
			'Time',
			[LOW, MIDDLE, HIGH].map(
				(lifelogs) => points.find((point) => point.way === way && point.lifelogs === lifelogs)!.ms,
			),
			seconds,
		);
	const reason = `the axios loop, against the same sandbox, has ${growthOf('axios loop').figure}`;
	return { rows: [...rows, { ...growthOf('Lifelog node'), reason }], points };
}

/** Time with latency, of a range of 30 days. */
export async function timeWithLatency(
	sandbox: SpawnedSandbox,
): Promise<{ rows: Row[]; points: Point[] }> {
	const points = [
		...(await timeWays(sandbox, LOW, LATENCY_MS, 5)),
		...(await timeWays(sandbox, 2500, LATENCY_MS, 3)),
		...(await timeWays(sandbox, HIGH, LATENCY_MS, 3)),
	];
	const chains = new Map<number, number>();
	for (const lifelogs of [LOW, HIGH]) chains.set(lifelogs, await longestChain(sandbox, lifelogs));
	const rows = [LOW, HIGH].map((lifelogs): Row => {
		const { figure, from, ratios } = compare(points, lifelogs);
		const chain = chains.get(lifelogs)!;
		return {
			what: `Time with ${LATENCY_MS} ms latency, ${count(lifelogs)} lifelogs in a range of 30 days, against an axios loop`,
			figure,
			from,
			goal: 'at most 0.35',
			holds: ratios[0] <= 0.35,
			reason: `${chain} of its requests follow one another, whose latency alone is ${seconds(chain * LATENCY_MS)}`,
		};
	});
	return { rows, points };
}

/** How many requests of a range wait for one another: the first page, then those of a lane. */
async function longestChain(sandbox: SpawnedSandbox, lifelogs: number): Promise<number> {
	await fill(sandbox, lifelogs);
	const reader = await open('Lifelog node', readingOf(sandbox));
	await sandbox.control.clearRequests();
	await reader.read(readingOf(sandbox, { range: month }));
	await reader.close();
	const [, ...ofLanes] = await sandbox.control.requests();
	const lanes = new Map<string, number>();
	for (const { query } of ofLanes) {
		const lane = `${query.start} ${query.end}`;
		lanes.set(lane, (lanes.get(lane) ?? 0) + 1);
	}
	return 1 + Math.max(...lanes.values());
}

/** Growth of the peak memory. */
export async function memory(sandbox: SpawnedSandbox): Promise<Row[]> {
	const peaks: number[][] = [];
	for (const lifelogs of [LOW, MIDDLE, HIGH]) {
		await fill(sandbox, lifelogs);
		const asked = { ...readingOf(sandbox), way: 'Lifelog node' as const, warmUps: 0, reads: 1 };
		const taken = await times(5, () => sample('list', asked, SMALL_YOUNG_GENERATION));
		peaks.push(taken.map(({ peak }) => peak));
	}
	const reason = 'it grows by less, not by more, the longer the list is';
	return [{ ...growth('Peak memory', peaks, mebibytes), reason }, await memoryOfMany(sandbox)];
}

/** Peak memory of a long list against that of n8n's own node, which gives pages. */
async function memoryOfMany(sandbox: SpawnedSandbox): Promise<Row> {
	await fill(sandbox, MANY, 0, MARKDOWN_BYTES_OF_MANY);
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
	return {
		what: `Peak memory, ${count(MANY)} lifelogs of 1 KB, against the HTTP Request node`,
		figure: figureOf(ratio),
		from: [own, http].map((each) => mebibytes(spreadOf(each).median)).join(', '),
		goal: 'at most 1.15',
		holds: ratio.median <= 1.15,
		reason: 'it gives pages, an item each, and this one an item for each lifelog',
	};
}

/** How much steeper something grows in the upper half than in the lower half. */
function growth(name: string, values: number[][], write: (value: number) => string): Row {
	const [low, middle, high] = values.map((runs) => spreadOf(runs).median);
	const slope = (high - middle) / (middle - low);
	const runs = values[0].map((_, nth) => {
		const [first, second, third] = values.map((each) => each[nth]);
		return (third - second) / (second - first);
	});
	const { low: least, high: most } = spreadOf(runs);
	return {
		what: `${name}, growth from ${count(MIDDLE)} to ${count(HIGH)} lifelogs against that from ${count(LOW)} to ${count(MIDDLE)}`,
		figure: figureOf({ median: slope, low: least, high: most }),
		from: [low, middle, high].map(write).join(', '),
		goal: '0.90 to 1.10',
		holds: slope >= 0.9 && slope <= 1.1,
	};
}

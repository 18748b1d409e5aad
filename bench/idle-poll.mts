// What a poll of the trigger costs when nothing has happened.
import type { TestSandbox } from '../test/support/sandbox.mts';
import { count, figureOf, intervalOf, PAIRS, type Row, spreadOf } from './figures.mts';
import { sample, times } from './processes.mts';

/** Polls in a process, of which the median counts. */
const POLLS = 20;
/** Days with 50 lifelogs each, as many as an idle poll reads. */
const dates = ['2026-03-18', '2026-03-19', '2026-03-20'];
const MAX_WITH_CONTENTS = 25;

/** Bytes of the answers to a list request and to those for its further pages. */
async function bytes(sandbox: TestSandbox, query: Record<string, unknown>): Promise<number> {
	const given = Object.entries(query).map(([name, value]) => [name, String(value)]);
	const response = await fetch(`${sandbox.url}/v1/lifelogs?${new URLSearchParams(given)}`, {
		headers: { 'X-API-Key': sandbox.apiKey },
	});
	const body = await response.text();
	const cursor = JSON.parse(body).meta.lifelogs.nextCursor as string | undefined;
	const more = cursor === undefined ? 0 : await bytes(sandbox, { ...query, cursor });
	return Buffer.byteLength(body) + more;
}

/** Requests, CPU time and bytes of an idle poll, with pages of 100 and of 10. */
export async function idlePoll(sandbox: TestSandbox): Promise<Row[]> {
	const rows: Row[] = [];
	for (const [page, expected] of [
		[100, 3],
		[10, 15],
	] as const) {
		await sandbox.control.reset({
			now: '2026-03-20T20:00:00Z',
			days: 31,
			perDay: 50,
			dialect: { limit: { max: page }, rateLimit: { max: 1_000_000 } },
		});
		const { url: baseUrl, apiKey } = sandbox;
		const poll = async (polls: number) => {
			await sandbox.control.clearRequests();
			const taken = await sample('poll', { baseUrl, apiKey, polls, pageSize: page, dates });
			return { ...taken, requests: await sandbox.control.requests() };
		};
		const baseline = (await poll(0)).requests.length;
		const runs = await times(PAIRS, () => poll(POLLS));
		// The HTTP Request node makes the same requests.
		const requests = (runs[0].requests.length - baseline) / (2 * POLLS);
		const cpu = spreadOf(runs.flatMap(({ cpuMs }) => cpuMs));
		const http = spreadOf(runs.flatMap(({ httpCpuMs }) => httpCpuMs));
		const ratio = intervalOf(
			runs.map(({ cpuMs }) => spreadOf(cpuMs).median),
			runs.map(({ httpCpuMs }) => spreadOf(httpCpuMs).median),
		);
		const first = runs[0].requests.slice(baseline, baseline + expected);
		const polled = first.map(({ query }) => query);
		const light = await total(
			sandbox,
			polled.filter(({ cursor }) => cursor === undefined),
		);
		const full = await total(
			sandbox,
			[...new Set(polled.map(({ date }) => date))].map((date) => ({
				date,
				timezone: 'UTC',
				limit: Math.min(page, MAX_WITH_CONTENTS),
				includeMarkdown: true,
				includeHeadings: true,
				includeContents: true,
			})),
		);
		const share = (100 * light) / full;
		rows.push({
			what: `An idle poll of the trigger, 50 lifelogs a day, 31 days, ${page} a page`,
			figure: `${requests} requests; CPU ${figureOf(ratio)} of the HTTP Request node's`,
			from: `CPU ${figureOf(cpu, 1)} ms, by the HTTP Request node ${figureOf(http, 1)} ms; ${count(light)} bytes, ${share.toFixed(1)} % of the same days in full`,
			goal: `${expected} requests; at most 1.50`,
			holds: requests === expected && ratio.high <= 1.5,
		});
	}
	return rows;
}

async function total(
	sandbox: TestSandbox,
	queries: Array<Record<string, unknown>>,
): Promise<number> {
	let sum = 0;
	for (const query of queries) sum += await bytes(sandbox, query);
	return sum;
}

// 500 requests under the documented rule of 180 a minute; a minute is so long that one run will do.
import type { TestSandbox } from '../test/support/sandbox.mts';
import { count, type Row, seconds } from './figures.mts';
import { sample } from './processes.mts';
import { month, monthOf } from './request-cases.mts';
import type { Way } from './ways.mts';

const LIFELOGS = 5000;
const PAGE = 10;
const REQUESTS = LIFELOGS / PAGE;
const LIMIT = 180;
const WINDOW_MS = 60_000;
const WINDOWS = Math.ceil(REQUESTS / LIMIT);
/** All windows but the last have to pass. */
const MIN_MS = (WINDOWS - 1) * WINDOW_MS;

async function run(sandbox: TestSandbox, way: Way) {
	await sandbox.control.reset({
		...monthOf,
		lifelogs: LIFELOGS,
		dialect: { limit: { max: PAGE }, rateLimit: { max: LIMIT, windowMs: WINDOW_MS } },
	});
	const reading = { baseUrl: sandbox.url, apiKey: sandbox.apiKey, range: month };
	const taken = await sample('list', { ...reading, way, warmUps: 0, reads: 1 });
	const log = await sandbox.control.requests();
	return { ...taken, refused: log.filter(({ status }) => status === 429).length };
}

/** How long it takes, how often the service refuses, and what the HTTP Request node does. */
export async function rateLimit(sandbox: TestSandbox): Promise<Row[]> {
	const own = await run(sandbox, 'Lifelog node');
	const http = await run(sandbox, 'HTTP Request node');
	if (own.lifelogs !== LIFELOGS) {
		throw new Error(`${own.lifelogs} of ${LIFELOGS} came: ${own.error}`);
	}
	const ratio = own.ms / MIN_MS;
	return [
		{
			what: `${REQUESTS} requests, ${LIMIT} allowed in ${WINDOW_MS / 1000} s, against the theoretical minimum`,
			figure: `${ratio.toFixed(2)}; HTTP Request node: ${count(http.lifelogs)} of ${count(LIFELOGS)} lifelogs, ${http.error ? `error "${http.error}"` : 'no error'}`,
			from: `${seconds(own.ms)} against ${seconds(MIN_MS)}, all ${count(LIFELOGS)} lifelogs; the HTTP Request node took the first 429 (of ${http.refused}) for the end, after ${seconds(http.ms)}`,
			goal: 'at most 1.10',
			holds: ratio <= 1.1,
		},
		{
			what: 'Refused (429) while doing so',
			figure: String(own.refused),
			from: `${WINDOWS} windows`,
			goal: 'below 10',
			holds: own.refused < 10,
		},
	];
}

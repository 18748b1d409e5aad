// 500 requests under the rule of 180 a minute, the minute shortened to 6 s.
import type { SpawnedSandbox } from '../test/support/sandbox.mts';
import { count, figureOf, type Row, seconds, spreadOf } from './figures.mts';
import { sample, times } from './processes.mts';
import { LANES, month, monthOf } from './request-cases.mts';
import type { Way } from './ways.mts';

const LIFELOGS = 5000;
const PAGE = 10;
const REQUESTS = LIFELOGS / PAGE;
const LIMIT = 180;
const WINDOW_MS = 6000;
const WINDOWS = Math.ceil(REQUESTS / LIMIT);
/** All windows but the last have to pass. */
const LEAST_MS = (WINDOWS - 1) * WINDOW_MS;

async function run(sandbox: SpawnedSandbox, way: Way) {
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
export async function rateLimit(sandbox: SpawnedSandbox): Promise<Row[]> {
	const own = await times(3, () => run(sandbox, 'Lifelog node'));
	const http = await times(3, () => run(sandbox, 'HTTP Request node'));
	for (const { lifelogs, error } of own) {
		if (lifelogs !== LIFELOGS) throw new Error(`${lifelogs} of ${LIFELOGS} came: ${error}`);
	}
	const ratio = spreadOf(own.map(({ ms }) => ms / LEAST_MS));
	const refused = spreadOf(own.map((each) => each.refused));
	const got = spreadOf(http.map(({ lifelogs }) => lifelogs));
	const { error, refused: httpRefused } = http[0];
	return [
		{
			what: `${REQUESTS} requests, ${LIMIT} allowed in ${WINDOW_MS / 1000} s, against the theoretical minimum`,
			figure: `${figureOf(ratio)}; HTTP Request node: ${count(got.median)} of ${count(LIFELOGS)} lifelogs, ${error ? `error "${error}"` : 'no error'}`,
			from: `${seconds(spreadOf(own.map(({ ms }) => ms)).median)} against ${seconds(LEAST_MS)}, all ${count(LIFELOGS)} lifelogs; the HTTP Request node took the first 429 (of ${httpRefused}) for the end, after ${seconds(spreadOf(http.map(({ ms }) => ms)).median)}`,
			goal: 'at most 1.20',
			holds: ratio.median <= 1.2,
		},
		{
			what: 'Refused (429) while doing so',
			figure: figureOf(refused, 0),
			from: `${LANES} lanes, ${WINDOWS} windows`,
			goal: `below ${LANES * WINDOWS}`,
			holds: refused.high < LANES * WINDOWS,
		},
	];
}

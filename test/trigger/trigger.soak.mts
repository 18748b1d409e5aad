import fc from 'fast-check';
import { KINDS } from './promises/generate.mts';
import { type History, type Step } from './promises/history.mts';
import { play } from './promises/play.mts';
import { createTheatre } from './promises/stage.mts';
import { overHttp } from './promises/wire.mts';
import { randomSeed } from '../support/size.mts';

// One trigger that runs for a month: its state grows old, and nothing is missing or repeated.

const HOUR_MS = 3_600_000;
const POLLS = 30 * 24;

/** What happens between polls and to them, as in the model test, but never at rest for long. */
function stepsOf(seed: number): Step[] {
	const steps: Step[] = [];
	for (let more = 0; steps.length < POLLS; more++) {
		const [{ steps: next }] = fc.sample(KINDS.hiccups, { seed: seed + more, numRuns: 1 });
		steps.push(...next.map((step) => ({ ...step, waitMs: HOUR_MS, actions: quiet(step) })));
	}
	return steps.slice(0, POLLS);
}

/** A month has room for fewer recordings a poll than a history of seven polls. */
function quiet({ actions }: Step): Step['actions'] {
	return actions.filter((action) => action.do !== 'createMany').slice(0, 1);
}

test.each(['memory', 'durable'] as const)(
	'30 days of polls every hour with faults, engine %s',
	async (engine) => {
		const seed = randomSeed();
		const [begin] = fc.sample(KINDS.hiccups, { seed, numRuns: 1 });
		const month: History = { ...begin, engine, steps: stepsOf(seed) };
		const { perform, close, takeTotals } = await createTheatre(await overHttp());
		let totals = takeTotals();
		try {
			await perform(month, (stage) => play(month, stage));
		} finally {
			await close();
			totals = takeTotals();
			process.stdout.write(`trigger, ${engine}, seed ${seed}: ${JSON.stringify(totals)}\n`);
		}
		expect(totals.polls).toBeGreaterThanOrEqual(POLLS);
		expect(totals.failures).toBeGreaterThan(0);
	},
);

// `npm run test:model -- --runs 20000 [--seed 1] [--kind days] [--path 3:0] [--package dir]
// [--threads 2] [--http]`: the histories of the model test, as many as wanted, the same number of
// each kind, on as many threads as the machine has cores.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { report } from './campaign.mts';
import { KINDS } from './generate.mts';
import { add, type Totals, ZERO } from './stage.mts';
import type { Played, Task } from './worker.mts';

/** Histories of a kind played in one go; they have one seed. */
const MAX_RUNS_OF_TASK = 10;
/** The progress is shown so often, in tasks. */
const SHOWN = 50;

const { values } = parseArgs({
	options: {
		runs: { type: 'string' },
		seed: { type: 'string' },
		kind: { type: 'string' },
		path: { type: 'string' },
		package: { type: 'string' },
		threads: { type: 'string', default: String(availableParallelism()) },
		http: { type: 'boolean' },
	},
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const kinds = values.kind ? values.kind.split(',') : Object.keys(KINDS);
const runs = Number(values.runs ?? (values.path ? 1 : 20_000));
const each = Math.ceil(runs / kinds.length);
const began = process.hrtime.bigint();
const seconds = () => Math.round(Number(process.hrtime.bigint() - began) / 1e9);

const tasks: Task[] = [];
for (let done = 0; done < each; done += MAX_RUNS_OF_TASK) {
	const runs = Math.min(MAX_RUNS_OF_TASK, each - done);
	for (const kind of kinds) tasks.push({ kind, runs, seed: seed + done, path: values.path });
}
const count = tasks.length;
let played = 0;
let broken = 0;
/** Of the tasks in which every promise was kept. */
let totals: Totals = ZERO;

function note({ failure, totals: more }: Played): void {
	if (failure) {
		broken++;
		console.log(`\n${report(failure)}\n`);
	} else {
		totals = add(totals, more);
	}
	if (++played % SHOWN === 0 || played === count) {
		console.log(
			`${played} of ${count}, ${broken} broken, ${seconds()} s: ${JSON.stringify(totals)}`,
		);
	}
}

/** Gives a thread one task after another. */
async function work(): Promise<void> {
	const { package: dir, http } = values;
	const worker = new Worker(new URL('./worker.mts', import.meta.url), {
		workerData: { dir, http },
	});
	await new Promise<void>((resolve, reject) => {
		const next = () => worker.postMessage(tasks.shift());
		worker.on('message', (done: Played) => {
			note(done);
			next();
		});
		worker.on('error', reject);
		worker.on('exit', () => resolve());
		next();
	});
}

console.log(`seed ${seed}, ${each} histories of each of: ${kinds.join(', ')}`);
await Promise.all(Array.from({ length: Number(values.threads) }, work));
process.exitCode = broken > 0 ? 1 : 0;

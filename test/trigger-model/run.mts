// `npm run test:model -- --runs 20000 [--seed 1] [--kind days] [--path 3:0] [--package dir]`: the
// histories of the model test, as many as wanted, the same number of each kind.
import { parseArgs } from 'node:util';
import { playKind, report } from './campaign.mts';
import { KINDS } from './generate.mts';
import { createTheatre } from './stage.mts';

/** Histories of a kind played in one go; between them the progress is shown. */
const AT_ONCE = 10;

const { values } = parseArgs({
	options: {
		runs: { type: 'string', default: '20000' },
		seed: { type: 'string' },
		kind: { type: 'string' },
		path: { type: 'string' },
		package: { type: 'string' },
	},
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const kinds = values.kind ? values.kind.split(',') : Object.keys(KINDS);
const each = Math.ceil(Number(values.runs) / kinds.length);
const began = process.hrtime.bigint();
const seconds = () => Math.round(Number(process.hrtime.bigint() - began) / 1e9);
const theatre = await createTheatre(values.package);
const { totals } = theatre;
let broken = 0;

console.log(`seed ${seed}, ${each} histories of each of: ${kinds.join(', ')}`);
for (let done = 0; done < each && !broken; done += AT_ONCE) {
	for (const kind of kinds) {
		const runs = Math.min(AT_ONCE, each - done);
		const failure = await playKind(theatre, kind, runs, seed + done, values.path);
		if (!failure) continue;
		broken++;
		console.log(`\n${report(failure)}\n`);
	}
	console.log(
		`${Math.min(done + AT_ONCE, each)} of ${each} of each kind, ${seconds()} s: ${JSON.stringify(totals)}`,
	);
}
await theatre.close();
process.exitCode = broken > 0 ? 1 : 0;

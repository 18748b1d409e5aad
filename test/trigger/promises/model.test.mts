// The promises of docs/reference/trigger.md, each with its check; histories in which one was once broken; and
// random ones, of which `npm run test:model` plays more.
import { readdirSync, readFileSync } from 'node:fs';
import { playKind, report, type Theatre } from './campaign.mts';
import { KINDS } from './generate.mts';
import { KNOWN } from './known.mts';
import { play } from './play.mts';
import { PROMISES } from './promises.mts';
import { createTheatre } from './stage.mts';
import { inProcess, overHttp, type Wire } from './wire.mts';

const SEED = 4;
const RUNS_OF_A_KIND = 1;

test('each promise of docs/reference/trigger.md has its check, and each check its promise', () => {
	const page = readFileSync('docs/reference/trigger.md', 'utf8');
	const promised = [...page.matchAll(/^- \*\*([a-z-]+)\*\*/gm)].map(([, name]) => name);
	expect(promised).toEqual(PROMISES);

	const folder = 'test/trigger/promises';
	const sources = readdirSync(folder).filter((name) => name !== 'promises.mts');
	const code = sources.map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join('\n');
	const unchecked = PROMISES.filter((name) => !code.includes(`'${name}'`));
	expect(unchecked).toEqual([]);
});

test('the code names each promise once, where it keeps it, and no other', () => {
	const folder = 'nodes/LifelogTrigger';
	const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
	const sources = files.filter((name) => name.endsWith('.ts'));
	const code = sources.map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join('\n');
	const named = [...code.matchAll(/\b_([a-z]+(?:-[a-z]+)*)_\b/g)].map(([, name]) => name);
	expect(named.sort()).toEqual([...PROMISES].sort());
});

describe('every guarantee holds over HTTP', () => {
	const theatre = onStage(overHttp);

	test.each(Object.keys(KNOWN))('%s', async (name) => {
		await theatre().perform(KNOWN[name], (stage) => play(KNOWN[name], stage));
	});
});

describe('every promise is kept in random histories within the process', () => {
	const theatre = onStage(inProcess);

	test.each(Object.keys(KINDS))('%s', async (kind) => {
		const failure = await playKind(theatre(), kind, RUNS_OF_A_KIND, SEED);
		if (failure) throw new Error(report(failure));
	});
});

/** A theatre while the tests of a block run; says in the end what was played. */
function onStage(wire: () => Wire | Promise<Wire>): () => Theatre {
	let theatre: Theatre;
	beforeAll(async () => {
		theatre = await createTheatre(await wire());
	});
	afterAll(async () => {
		await theatre.close();
		const totals = JSON.stringify(theatre.takeTotals());
		process.stdout.write(`trigger model, seed ${SEED}, ${wire.name}: ${totals}\n`);
	});
	return () => theatre;
}

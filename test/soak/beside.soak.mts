// What was made, edited or deleted in an archive, beside everything else that writes to it: as in
// besideArchive.soak.mts, many times and for longer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { steps, walk } from '../support/besideModel.mts';
import { Commands } from '../support/commands.mts';
import { type TestSandbox, startSandbox } from '../support/sandbox.mts';
import { randomSeed } from './seed.mts';

jest.setTimeout(3_600_000);

const seed = randomSeed();
const RUNS = 60;
const MAX_ROUNDS = 12;

let sandbox: TestSandbox;
let commands: Commands;
const root = mkdtempSync(join(tmpdir(), 'lifelog-beside-'));

beforeAll(async () => {
	sandbox = await startSandbox({ days: 1 });
	commands = new Commands(sandbox);
});
afterAll(async () => {
	await commands.close();
	await sandbox.close();
	rmSync(root, { recursive: true, force: true });
});

test(`nothing of it is lost, and nothing deleted comes back, in any order of steps (seed ${seed})`, async () => {
	const property = fc.asyncProperty(steps(MAX_ROUNDS), async (all) => {
		await walk({ sandbox, commands }, mkdtempSync(join(root, 'walk-')), all);
	});
	await fc.assert(property, { numRuns: RUNS, seed });
});

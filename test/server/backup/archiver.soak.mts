// lifelog-server archive, killed at random moments: nothing is harmed, nothing is lost.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	archiving,
	checkFolder,
	contentsOf,
	runCommand,
	startCommand,
} from '../../support/archiveCommand.mts';
import { type TestSandbox, startSandbox } from '../../support/sandbox.mts';
import { KILLS, randomSeed } from '../../support/size.mts';

const seed = randomSeed();
const DAYS = 12;
const DAY_MS = 86_400_000;
const MAX_RUN_MS = 4000;

let sandbox: TestSandbox;
const root = mkdtempSync(join(tmpdir(), 'lifelog-archiver-'));

beforeAll(async () => {
	sandbox = await startSandbox({ days: 1 });
	await sandbox.control.reset({ empty: true, dialect: { rateLimit: { max: 1_000_000 } } });
});
afterAll(async () => {
	await sandbox.close();
	rmSync(root, { recursive: true, force: true });
});

/** The same numbers for the same seed, 0 to 1. */
function* randomNumbers(): Generator<number, never> {
	let state = seed;
	for (;;) {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		yield state / 2 ** 32;
	}
}

async function addLifelog(day: string, time: string): Promise<void> {
	const startMs = Date.parse(`${day}T${time}Z`);
	const times = [startMs, startMs + 30_000].map((ms) => new Date(ms).toISOString());
	await sandbox.control.addLifelog({ title: time, startTime: times[0], endTime: times[1] });
}

test(`${KILLS} kills while the service changes make the same archive as none (seed ${seed})`, async () => {
	const random = randomNumbers();
	const days = Array.from({ length: DAYS }, (_, n) =>
		new Date(Date.now() - (n + 1) * DAY_MS).toISOString().slice(0, 10),
	);
	for (const day of days) {
		await addLifelog(day, '08:15:00');
		await addLifelog(day, '19:00:01');
		await sandbox.control.addChat({ createdAt: `${day}T12:00:00.000Z` });
	}
	const folder = join(root, 'killed');
	for (let kill = 0; kill < KILLS; kill++) {
		// A change now and then, so that what is stored is written anew.
		const lifelogs = await sandbox.control.lifelogs();
		const { id } = lifelogs[Math.floor(random.next().value * lifelogs.length)];
		await sandbox.control.updateLifelog(id, { title: `Edited before kill ${kill}` });
		const running = startCommand(...archiving(sandbox, folder));
		await Promise.race([sleep(random.next().value * MAX_RUN_MS), running.ended]);
		running.child.kill('SIGKILL');
		await running.ended;
		if (readdirSync(root).length === 0 || !readdirSync(folder).includes('days')) continue;
		if (readdirSync(join(folder, 'days')).length === 0) continue;
		// What a journal is to finish may be half done; everything else is as its day says.
		if (readdirSync(folder).includes('.lifelog-journal.json')) continue;
		const { findings } = await checkFolder(folder);
		// What was being written counts for nothing, and the next run removes it.
		const harmed = findings.filter(({ path = '' }) => !path.startsWith('.lifelog-drafts/'));
		expect({ kill, harmed }).toEqual({ kill, harmed: [] });
	}
	const { status, stderr } = await runCommand(...archiving(sandbox, folder));
	expect([status, stderr]).toEqual([0, expect.any(String)]);
	expect(await checkFolder(folder, sandbox)).toMatchObject({ isComplete: true, findings: [] });
	const inOneRun = join(root, 'one-run');
	await runCommand(...archiving(sandbox, inOneRun));
	const killed = contentsOf(folder);
	for (const [path, content] of Object.entries(contentsOf(inOneRun))) {
		expect(killed[path]).toBe(content);
	}
});

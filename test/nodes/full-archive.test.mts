// What the Code nodes of Full archive decide from one run to the next; test/n8n runs the whole in n8n.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runFullArchive } from '../support/fullArchive.mts';
import { changeDay, newestManifests } from '../support/manifests.mts';
import { startSandbox, type TestSandbox } from '../support/sandbox.mts';

const HOUR_MS = 3_600_000;
const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
const dayAgo = (days: number) => ago(24 * days).slice(0, 10);

let sandbox: TestSandbox;
let folder: string;

beforeAll(async () => {
	sandbox = await startSandbox({ days: 1 });
	folder = mkdtempSync(join(tmpdir(), 'lifelog-full-archive-'));
	mkdirSync(join(folder, 'days'));
});
afterAll(async () => {
	await sandbox.close();
	rmSync(folder, { recursive: true });
});

/** Runs it, and returns the starts of the audio that it asked for. */
async function run(): Promise<string[]> {
	await sandbox.control.clearRequests();
	await runFullArchive(folder, sandbox);
	const asked = (await sandbox.control.requests()).filter(({ path }) =>
		path.startsWith('/v1/download-audio'),
	);
	return asked.map(({ query }) => new Date(Number(query.startMs)).toISOString());
}

test('audio that was missing in the last week is requested again, once a day', async () => {
	const { control } = sandbox;
	await control.reset({ empty: true, dialect: { rateLimit: { max: 1_000_000 } } });
	const day = dayAgo(3);
	for (const hour of ['10', '15']) {
		const [startTime, endTime] = ['00', '01'].map((minute) => `${day}T${hour}:${minute}:00.000Z`);
		await control.addLifelog({ startTime, endTime });
	}
	const late = `${day}T14:00:00.000Z`;
	const path = `/v1/download-audio?startMs=${Date.parse(late)}`;
	await control.faults([{ path, status: 404, body: { error: 'No audio' } }]);
	expect(await run()).toHaveLength(3 * 12);
	expect(newestManifests(folder).get(day)!.audio).toHaveLength(1);

	for (const [archivedAt, isAskedAgain] of [
		[ago(19), false],
		[ago(21), true],
	] as const) {
		for (const each of [3, 2, 1]) {
			changeDay(folder, dayAgo(each), (file) => ({ ...file, archivedAt }));
		}
		const asked = await run();
		expect(asked).toHaveLength(isAskedAgain ? 11 + 12 + 12 : 0);
		expect(asked.includes(late)).toBe(isAskedAgain);
	}
	expect(newestManifests(folder).get(day)!.audio).toHaveLength(2);
	expect(await run()).toEqual([]);
});

test('audio that was missing more than a week ago is not requested again', async () => {
	const { control } = sandbox;
	await control.reset({ empty: true, dialect: { rateLimit: { max: 1_000_000 } } });
	rmSync(join(folder, 'days'), { recursive: true });
	mkdirSync(join(folder, 'days'));
	const day = dayAgo(9);
	await control.addLifelog({ startTime: `${day}T10:00:00.000Z`, endTime: `${day}T10:01:00.000Z` });
	await run();
	for (let each = 9; each > 0; each--) {
		changeDay(folder, dayAgo(each), (file) => ({ ...file, archivedAt: ago(21) }));
	}
	const days = new Set((await run()).map((start) => start.slice(0, 10)));
	expect([...days].sort()).toEqual([7, 6, 5, 4, 3, 2, 1].map(dayAgo));
});

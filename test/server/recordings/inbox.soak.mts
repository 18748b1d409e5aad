import { existsSync, watch } from 'node:fs';
import {
	appendFile,
	copyFile,
	mkdir,
	readdir,
	readFile,
	rename,
	stat,
	truncate,
	writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnLifelogServer, startLifelogServer } from '../../support/lifelogServer.mts';
import { RecordingLab } from '../../support/recordingLab.mts';
import { archivedIn, uploadTo } from '../../support/recordings.mts';
import { temporaryFolder } from '../sources.mts';

/** Longer than the time between two looks, shorter than a file must not have changed. */
const PAUSE_MS = 7000;
const UNCHANGED_MS = 10_000;
/** Above 2 ** 31, and the usual --max-upload. */
const OVER_2_GIB = 2.2e9;
const FOUR_GB = 4e9;
const KILLS_AT_CLAIM = 5;

let lab: RecordingLab;
beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
});
afterAll(() => lab.close());

/** Serves another archive, with an inbox. */
async function startOverInbox() {
	const [folder, archive, inbox] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
	const server = await startLifelogServer(archive, lab.argsOf('--inbox', inbox));
	return { folder, archive, inbox, server };
}

test('a file in the inbox is taken only after ten seconds without a change', async () => {
	const { inbox, server } = await startOverInbox();
	const content = await readFile(lab.ten());
	const third = Math.ceil(content.length / 3);
	const path = join(inbox, '20260301 090412.m4a');
	for (let at = 0; at < content.length; at += third) {
		if (at > 0) await sleep(PAUSE_MS);
		await appendFile(path, content.subarray(at, at + third));
	}
	const began = performance.now();
	while (existsSync(path)) await sleep(20);
	expect(performance.now() - began).toBeGreaterThan(UNCHANGED_MS - 100);
	const done = join(inbox, 'done/2026/03');
	while (!existsSync(done)) await sleep(20);
	while ((await readdir(done)).length === 0) await sleep(20);
	expect(await readdir(done)).toEqual(['20260301 090412.m4a']);
	expect(await readFile(join(done, '20260301 090412.m4a'))).toEqual(content);
	expect(lab.endpoint.asked.flatMap(({ heard }) => heard)).toHaveLength(10);
	await server.close();
});

test('a file of 4 GB without audio is kept with the reason, an upload of half of it is refused, and others continue', async () => {
	const { folder, archive, inbox, server } = await startOverInbox();
	const large = join(folder, 'meeting.wav');
	await writeFile(large, '');
	// Sparse: it takes no space on the disk.
	await truncate(large, OVER_2_GIB);
	const before = await readdir(archive, { recursive: true });
	const { status, error } = await uploadTo(server, large);
	expect([status, error]).toEqual([413, expect.stringContaining('--max-upload')]);
	expect(await readdir(archive, { recursive: true })).toEqual(before);

	await truncate(large, FOUR_GB);
	await rename(large, join(inbox, 'meeting.wav'));
	await copyFile(lab.ten(), join(inbox, '20260301 090412.m4a'));
	const done = join(inbox, 'done/2026/03/20260301 090412.m4a');
	const failed = join(inbox, 'failed/meeting.wav');
	while (!existsSync(done) || !existsSync(`${failed}.txt`)) await sleep(200);
	expect((await stat(failed)).size).toBe(FOUR_GB);
	while ((await readFile(`${failed}.txt`, 'utf8')) === '') await sleep(50);
	expect(await readFile(`${failed}.txt`, 'utf8')).toMatch(/To try again/);
	expect(archivedIn(archive).map(({ day }) => day)).toEqual(['2026-03-01']);
	await server.close();
});

test('a kill while a file is claimed loses no file and imports none twice', async () => {
	const [archive, inbox] = [temporaryFolder(), temporaryFolder()];
	const args = lab.argsOf('--inbox', inbox);
	const names: string[] = [];
	await mkdir(join(inbox, '.processing'));
	for (let kill = 0; kill < KILLS_AT_CLAIM; kill += 1) {
		for (let at = 0; at < 2; at += 1) {
			const name = `2026030${kill + 1} 0${at}0000.m4a`;
			await copyFile(lab.ten(), join(inbox, name));
			names.push(name);
		}
		const { child, exited, ready } = spawnLifelogServer(archive, args);
		await ready;
		const known = new Set(await readdir(join(inbox, '.processing')));
		const watcher = watch(join(inbox, '.processing'), (_event, name) => {
			if (name && !known.has(name)) child.kill('SIGKILL');
		});
		await exited;
		watcher.close();
	}
	const server = await startLifelogServer(archive, args);
	const done = join(inbox, 'done/2026/03');
	const isDone = async () => (await readdir(done).catch(() => [])).length === names.length;
	while (!(await isDone())) await sleep(200);
	await server.close();
	expect((await readdir(done)).sort()).toEqual(names);
	expect(archivedIn(archive).flatMap(({ lifelogs }) => lifelogs)).toHaveLength(names.length);
});

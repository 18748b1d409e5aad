import {
	appendFile,
	mkdir,
	mkdtemp,
	readdir,
	readFile,
	rm,
	stat,
	truncate,
	writeFile,
} from 'node:fs/promises';
import { existsSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnLifelogServer, startLifelogServer } from '../../support/lifelogServer.mts';
import { archivedIn, uploadTo } from '../../support/recordings.mts';
import { makeTones } from '../../support/tones.mts';
import { startTranscription } from '../../support/transcription.mts';

/** Longer than the time between two looks, shorter than a file must not have changed. */
const PAUSE_MS = 7000;
const UNCHANGED_MS = 10_000;
const FOUR_GB = 4e9;
const KILLS_AT_CLAIM = 5;

/** An inbox, an archive, and a server over both with its transcription endpoint. */
async function startOverInbox() {
	const folder = await mkdtemp(join(tmpdir(), 'lifelog-soak-'));
	const endpoint = await startTranscription();
	const [archive, inbox] = [join(folder, 'archive'), join(folder, 'inbox')];
	for (const path of [archive, inbox]) await mkdir(path);
	const server = await startLifelogServer(archive, [
		...['--inbox', inbox, '--allow-changes', '--transcription-url', endpoint.url],
		...['--transcription-model', 'whisper-1'],
	]);
	const close = async () => {
		await server.close();
		await endpoint.close();
		await rm(folder, { recursive: true, force: true });
	};
	return { folder, archive, inbox, endpoint, server, close };
}

test('a file in the inbox is taken only after ten seconds without a change', async () => {
	const { folder, inbox, endpoint, close } = await startOverInbox();
	const whole = join(folder, 'whole.mp3');
	await makeTones(whole, { seconds: 10 });
	const content = await readFile(whole);
	const third = Math.ceil(content.length / 3);
	try {
		const path = join(inbox, '20260301 090412.mp3');
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
		expect(await readdir(done)).toEqual(['20260301 090412.mp3']);
		expect(await readFile(join(done, '20260301 090412.mp3'))).toEqual(content);
		expect(endpoint.asked.flatMap(({ heard }) => heard)).toHaveLength(10);
	} finally {
		await close();
	}
});

test('a file of 4 GB without audio is kept with the reason, an upload of it is refused, and others continue', async () => {
	const { folder, archive, inbox, server, close } = await startOverInbox();
	try {
		const large = join(folder, 'meeting.wav');
		await writeFile(large, '');
		// Sparse: it takes no space on the disk.
		await truncate(large, FOUR_GB);
		const before = await readdir(folder, { recursive: true });
		const { status, error } = await uploadTo(server, large);
		expect([status, error]).toEqual([413, expect.stringContaining('--max-upload')]);
		expect(await readdir(folder, { recursive: true })).toEqual(before);

		const inInbox = join(inbox, 'meeting.wav');
		await writeFile(inInbox, '');
		await truncate(inInbox, FOUR_GB);
		await makeTones(join(inbox, '20260301 090412.mp3'), { seconds: 10 });
		const done = join(inbox, 'done/2026/03/20260301 090412.mp3');
		const failed = join(inbox, 'failed/meeting.wav');
		while (!existsSync(done) || !existsSync(`${failed}.txt`)) await sleep(200);
		expect((await stat(failed)).size).toBe(FOUR_GB);
		while ((await readFile(`${failed}.txt`, 'utf8')) === '') await sleep(50);
		expect(await readFile(`${failed}.txt`, 'utf8')).toMatch(/To try again/);
		expect(archivedIn(archive).map(({ day }) => day)).toEqual(['2026-03-01']);
	} finally {
		await close();
	}
});

test('a kill while a file is claimed loses no file and imports none twice', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'lifelog-soak-'));
	const endpoint = await startTranscription();
	const [archive, inbox] = [join(folder, 'archive'), join(folder, 'inbox')];
	for (const path of [archive, join(inbox, '.processing')]) await mkdir(path, { recursive: true });
	const args = [
		...['--inbox', inbox, '--transcription-url', endpoint.url],
		...['--transcription-model', 'whisper-1'],
	];
	const names: string[] = [];
	try {
		for (let kill = 0; kill < KILLS_AT_CLAIM; kill += 1) {
			for (let at = 0; at < 2; at += 1) {
				const name = `2026030${kill + 1} 0${at}0000.mp3`;
				await makeTones(join(inbox, name), { seconds: 2 + names.length });
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
	} finally {
		await endpoint.close();
		await rm(folder, { recursive: true, force: true });
	}
});

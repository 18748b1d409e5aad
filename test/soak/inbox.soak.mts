import { appendFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLifelogServer } from '../support/lifelog-server.mts';
import { makeTones } from '../support/tones.mts';
import { startTranscription } from '../support/transcription.mts';

jest.setTimeout(3_600_000);

/** Longer than the time between two looks, shorter than a file must not have changed. */
const PAUSE_MS = 7000;
const UNCHANGED_MS = 10_000;

test('a file of the inbox is taken when it has not changed for ten seconds, and not before', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'lifelog-soak-'));
	const endpoint = await startTranscription();
	const [archive, inbox] = [join(folder, 'archive'), join(folder, 'inbox')];
	for (const path of [archive, inbox]) await mkdir(path);
	const whole = join(folder, 'whole.mp3');
	await makeTones(whole, { seconds: 10 });
	const content = await readFile(whole);
	const third = Math.ceil(content.length / 3);
	const server = await startLifelogServer(archive, [
		...['--inbox', inbox, '--transcription-url', endpoint.url],
		...['--transcription-model', 'whisper-1'],
	]);
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
		await server.close();
		await endpoint.close();
		await rm(folder, { recursive: true, force: true });
	}
});

// What happens to recordings around a lifelog-server: full disks, files that grow, bodies that are none.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
	appendFileSync,
	copyFileSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statfsSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Recording } from '../../../server/recordings/queue.mts';
import { findingsIn } from '../../support/findings.mts';
import { RecordingLab } from '../../support/recordingLab.mts';
import { serverKey, spawnLifelogServer } from '../../support/lifelogServer.mts';
import { mayMount } from '../../support/mount.mts';
import { askRecordings, uploadTo, whenRecording } from '../../support/recordings.mts';
import { makeTones } from '../../support/tones.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

const START = { startTime: '2026-03-01T08:00:00Z' };
let lab: RecordingLab;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
	for (const seconds of [3, 4, 20]) await makeTones(at(seconds), { seconds });
});
afterEach(async () => {
	lab.mend();
	for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => lab.close());

const at = (seconds: number) => join(lab.files, `${seconds}.wav`);

/** Serves an archive of the test's own. */
async function starts(folder: string, ...args: string[]): Promise<SpawnedServer> {
	const server = await startLifelogServer(folder, lab.argsOf(...args));
	closing.push(server.close);
	return server;
}

const listed = async (server: SpawnedServer): Promise<Recording[]> =>
	(await (await ask(server, '/v1/recordings?limit=100')).json()).data.recordings;
const isEnded = ({ status }: Recording) => status === 'done' || status === 'failed';

describe("a body that isn't a complete form is refused, and no part of it is kept", () => {
	const boundary = 'boundary';
	const part = (head: string, content: Buffer | string) => [
		Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
		...[Buffer.from(content), Buffer.from('\r\n')],
	];
	const file = () => part('name="file"; filename="memo.wav"', readFileSync(at(3)));
	const whole = () => Buffer.concat([...file(), Buffer.from(`--${boundary}--`)]);
	const cases: [name: string, type: string, body: () => Buffer, message: RegExp][] = [
		['without a boundary', '', whole, /Content-Type with its boundary/],
		['with another boundary', '; boundary=other', whole, /Content-Type with its boundary/],
		[
			'without its end',
			`; boundary=${boundary}`,
			() => Buffer.concat(file()),
			/Send all of it, and let/,
		],
		[
			'with a field of 10 MB after the file',
			`; boundary=${boundary}`,
			() => Buffer.concat([...file(), ...part('name="title"', 'x'.repeat(1e7)), whole()]),
			/title is longer than 1000 characters/,
		],
	];
	test.each(cases)('%s', async (_name, type, body, message) => {
		const before = await lab.everything();
		const answer = await lab.fetch('/v1/recordings', {
			method: 'POST',
			headers: { 'content-type': `multipart/form-data${type}` },
			body: new Uint8Array(body()),
		});
		expect([answer.status, (await answer.json()).error]).toEqual([
			400,
			expect.stringMatching(message),
		]);
		expect(await lab.everything()).toEqual(before);
		expect(lab.server.log).toEqual([]);
	});
});

// Names and kinds of files that other programs trip over, in one folder, because it takes 15 seconds.
const onPosix = process.platform === 'win32' ? test.skip : test;
onPosix('an inbox takes files of any name, and one that still grows goes back', async () => {
	const folder = temporaryFolder();
	const inbox = temporaryFolder();
	const elsewhere = temporaryFolder();
	const names = [
		...['-rf.wav', 'line\nbreak.wav', `quo"te'\`$(id)\`.wav`, '😀.wav', 'file:a|b.wav'],
		...['%03d.wav', `${'x'.repeat(251)}.wav`],
	];
	for (const [n, name] of names.entries()) {
		copyFileSync(at(3), join(inbox, name));
		appendFileSync(join(inbox, name), Buffer.alloc(2 * (n + 1)));
	}
	copyFileSync(at(4), join(elsewhere, 'linked.wav'));
	symlinkSync(join(elsewhere, 'linked.wav'), join(inbox, 'link.wav'));
	symlinkSync('loop.wav', join(inbox, 'loop.wav'));
	mkdirSync(join(inbox, 'folder.wav'));
	execFileSync('mkfifo', [join(inbox, 'fifo.wav')]);
	const socket = createServer().listen(join(inbox, 'socket.wav'));
	await once(socket, 'listening');
	closing.push(async () => void socket.close());
	const growing = '20260301 090412.wav';
	copyFileSync(at(20), join(inbox, growing));
	// A second name of the same file, by which it can be written wherever the inbox has moved it.
	linkSync(join(inbox, growing), join(elsewhere, growing));
	lab.endpoint.instead = () => {
		appendFileSync(join(elsewhere, growing), 'more');
		return { text: 'Words.' };
	};
	const server = await starts(folder, '--inbox', inbox);
	let found: Recording[] = [];
	while (found.length < names.length + 1 || !found.every(isEnded)) {
		await sleep(300);
		found = await listed(server);
	}
	const failed = found.filter(({ status }) => status === 'failed');
	expect(failed).toMatchObject([{ fileName: growing, lifelogIds: [] }]);
	while (readdirSync(join(inbox, '.processing')).length > 0) await sleep(50);
	expect(failed[0].error).toMatch(/still being written.*taken again/);
	expect(found.map(({ fileName }) => fileName).sort()).toEqual([...names, growing].sort());
	const left = ['fifo.wav', 'folder.wav', 'link.wav', 'loop.wav', 'socket.wav'];
	expect(readdirSync(inbox).sort()).toEqual(
		['.processing', 'done', 'failed', growing, ...left].sort(),
	);
	expect(await findingsIn(folder)).toEqual([]);
});

test('a second server for the same archive and inbox says so, and takes nothing', async () => {
	const [folder, inbox] = [temporaryFolder(), temporaryFolder()];
	await starts(folder, '--inbox', inbox);
	const index = ['--index', join(temporaryFolder(), 'own.sqlite')];
	const second = await starts(folder, '--inbox', inbox, ...index);
	expect(second.log).toEqual([expect.stringMatching(/so this one changes nothing: use that one/)]);
	expect(await uploadTo(second, at(3), START)).toMatchObject({ status: 403 });
});

test('a deleted index is rebuilt with the same lifelogs and recordings', async () => {
	const folder = temporaryFolder();
	const all = async (server: SpawnedServer) => [
		await (await ask(server, '/v1/lifelogs')).json(),
		await listed(server),
	];
	const first = await starts(folder);
	const { recording } = await uploadTo(first, at(3), START);
	await whenRecording(first, recording.id, isEnded);
	const before = await all(first);
	await closing.pop()!();
	rmSync(join(folder, '.lifelog-index.sqlite'));
	expect(await all(await starts(folder))).toEqual(before);
});

onPosix('a server that is stopped while ffmpeg works leaves none of it, and goes on', async () => {
	const folder = temporaryFolder();
	const long = join(lab.files, 'long.wav');
	await makeTones(long, { seconds: 300 });
	const { child, exited, ready } = spawnLifelogServer(folder, lab.argsOf());
	const { recording } = await uploadTo(await ready, long, START);
	const ours = () =>
		execFileSync('ps', ['-A', '-o', 'args=']).toString().split('\n').filter(isOurs).length;
	const isOurs = (line: string) => line.startsWith('ffmpeg') && line.includes(folder);
	while (ours() === 0) await sleep(10);
	const stoppedAt = performance.now();
	child.kill('SIGTERM');
	expect(await exited).toEqual([0, null]);
	expect(performance.now() - stoppedAt).toBeLessThan(25_000);
	expect(ours()).toBe(0);
	lab.endpoint.instead = () => ({ text: 'Words.' });
	const server = await starts(folder);
	const ended = await whenRecording(server, recording.id, isEnded);
	expect(ended).toMatchObject({ status: 'done', attempts: 1 });
});

onPosix('a server stops within seconds, whatever it waits for', async () => {
	const inbox = temporaryFolder();
	mkdirSync(join(inbox, '.processing'));
	const large = join(inbox, '.processing', 'large.wav');
	writeFileSync(large, '');
	// Of holes, and longer to read than a server may take to stop.
	truncateSync(large, 2 ** 40);
	const silent = createHttpServer().listen(0, '127.0.0.1');
	closing.push(async () => void silent.close().closeAllConnections());
	await once(silent, 'listening');
	const chat = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
	const { child, exited, ready } = spawnLifelogServer(
		temporaryFolder(),
		lab.argsOf('--inbox', inbox, '--chat-url', chat, '--chat-model', 'silent'),
	);
	const server = await ready;
	await Promise.all([once(silent, 'request'), uploadTo(server, at(3), START)]);
	const stoppedAt = performance.now();
	child.kill('SIGTERM');
	expect(await exited).toEqual([0, null]);
	expect(performance.now() - stoppedAt).toBeLessThan(25_000);
	expect(server.log).toEqual([]);
	expect(readdirSync(join(inbox, '.processing'))).toEqual(['large.wav']);
});

test('an upload is answered though a slow disk needs longer than half a minute to save it', async () => {
	const slow = pathToFileURL('test/support/slowDisk.mts').href;
	const server = await startLifelogServer(temporaryFolder(), lab.argsOf(), {
		...{ LIFELOG_SERVER_KEY: serverKey, NODE_OPTIONS: `--import ${slow}` },
	});
	closing.push(server.close);
	const { status, recording } = await uploadTo(server, at(3), START);
	expect([status, recording.status]).toEqual([202, 'queued']);
});

(mayMount ? test : test.skip)(
	'a disk that fills up during a transcription is the reason that is said',
	async () => {
		const folder = temporaryFolder();
		execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder]);
		closing.push(async () => void execFileSync('umount', ['-l', folder]));
		const filling = join(folder, '.filling');
		const server = await starts(folder);
		// The first one needs room in the queue, too.
		const { recording: first } = await uploadTo(server, at(3), START);
		await whenRecording(server, first.id, isEnded);
		while (readdirSync(join(folder, '.lifelog-recordings')).length > 0) await sleep(20);
		const { bavail, bsize } = statfsSync(folder);
		const room = statSync(at(20)).size + 60 * 1024;
		writeFileSync(filling, Buffer.alloc(bavail * bsize - room));
		const { recording } = await uploadTo(server, at(20), START);
		const waiting = await whenRecording(server, recording.id, ({ error }) => error !== null);
		expect(waiting).toMatchObject({ status: 'queued', error: expect.stringMatching(/disk.*full/) });
		expect(server.log.at(-1)).toMatch(/is tried again later: .*disk.*full/);
		expect(readdirSync(join(folder, '.lifelog-recordings'))).toEqual([`${recording.id}.original`]);
		rmSync(filling);
		expect((await askRecordings(server, `/${recording.id}/retry`, { method: 'POST' })).status).toBe(
			200,
		);
		expect(await whenRecording(server, recording.id, isEnded)).toMatchObject({ status: 'done' });
		expect(await findingsIn(folder)).toEqual([]);
	},
);

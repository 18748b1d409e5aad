// Audio as an HTTP server sends it: ranges of bytes, readers that stand still, and files that many ask for.
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { open as openFile, rename, type FileHandle } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import Fastify from 'fastify';
import { downloadAudio } from '../../../server/http/routes/audio.mts';
import { asFileError, Folder } from '../../../server/archive/folder.mts';
import { writeArchive, type ArchivedAudio } from '../../support/archive.mts';
import { openStore } from '../../support/archiveStore.mts';
import { readOgg, writeOgg } from '../../support/ogg.mts';
import { ask, startLifelogServer, temporaryFolder } from '../sources.mts';

const noon = Date.parse('2026-03-01T12:00:00Z');
const apiKey = 'key';
const closing: (() => unknown)[] = [];
afterEach(async () => {
	jest.restoreAllMocks();
	for (const close of closing.splice(0).reverse()) await close();
});

/** Seconds of audio in packets of 20 ms, of `bytes` each; the first packet has a number. */
function audioOf(seconds: number, { bytes = 60, first = 0, serial = 1 } = {}): Buffer {
	const packets = Array.from({ length: seconds * 50 }, (_, nth) => {
		const packet = Buffer.alloc(bytes, nth % 251);
		packet[0] = 0xf8;
		packet.writeUInt32LE(first + nth, 1);
		return packet;
	});
	return writeOgg({ serial, preSkip: 312, packets, perPage: 50, trim: 960 - 312 });
}
/** How much of it is heard, in ms. */
const lengthOf = (seconds: number) => seconds * 1000 - 20;

/** Files, one after the other, in a new archive. */
async function archiveOf(contents: Buffer[], lengthMs: number) {
	const folder = temporaryFolder();
	const audio: ArchivedAudio[] = contents.map((content, nth) => ({
		startMs: noon + nth * lengthMs,
		endMs: noon + (nth + 1) * lengthMs,
		content,
	}));
	await writeArchive(folder, { audio });
	return folder;
}

/** Serves files with a server of its own, which is held to openapi.yaml. */
async function serve(contents: Buffer[], lengthMs: number) {
	const server = await startLifelogServer(await archiveOf(contents, lengthMs));
	return { ...server, ...downloader(server) };
}

/** Serves files in this process, so that it can be seen what is read. */
async function serveHere(contents: Buffer[], lengthMs: number) {
	const folder = await archiveOf(contents, lengthMs);
	const problems: string[] = [];
	const { store, close } = await openStore(folder, join(folder, 'index.sqlite'), {
		onProblem: (_path, reason) => problems.push(reason),
	});
	closing.push(close);
	await store.refresh();
	const service = {
		...{
			name: 'a server',
			documentation: 'https://example.com',
			current: () => store,
			tools: async () => [],
		},
		...{ visitorOfKey: () => ({ canChange: true, isOwner: false }), now: Date.now },
	};
	const app = Fastify({ forceCloseConnections: true });
	const sockets: Socket[] = [];
	app.server.on('connection', (socket) => sockets.push(socket));
	app.get('/v1/download-audio', ({ query, headers }, reply) => {
		const { startMs, endMs } = query as Record<string, string>;
		return downloadAudio(
			service,
			{ startMs: Number(startMs), endMs: Number(endMs) },
			headers,
			reply,
		);
	});
	closing.push(() => app.close());
	const url = await app.listen({ host: '127.0.0.1', port: 0 });
	const [path] = readdirSync(folder, { recursive: true })
		.map(String)
		.filter((name) => name.endsWith('.ogg'));
	return {
		...{ url, store, folder, problems, sockets, path: join(folder, path) },
		...downloader({ url, apiKey }),
	};
}

const downloader = (server: { url: string; apiKey: string }) => ({
	download: async (startMs: number, endMs: number, headers: Record<string, string> = {}) => {
		const path = `/v1/download-audio?startMs=${startMs}&endMs=${endMs}`;
		const response = await ask(server, path, { headers });
		const body = Buffer.from(await response.arrayBuffer());
		const given: Record<string, string> = {};
		response.headers.forEach((value, name) => (given[name] = value));
		return { status: response.status, headers: given, body };
	},
});

const CHECK_EVERY_MS = 30_000 / 4;

/** Closes stalled readers after this time, not 30 s. */
function closeStalledAfter(stallMs: number): void {
	const { setInterval } = globalThis;
	jest
		.spyOn(globalThis, 'setInterval')
		.mockImplementation((work, ms) => setInterval(work, ms === CHECK_EVERY_MS ? stallMs / 4 : ms));
}

/** Readers are checked only by what this returns, which checks the last one. */
function checkByHand(): () => void {
	const { setInterval } = globalThis;
	let check: (() => void) | undefined;
	jest.spyOn(globalThis, 'setInterval').mockImplementation((work, ms) => {
		if (ms === CHECK_EVERY_MS) check = work;
		return setInterval(work, ms === CHECK_EVERY_MS ? 2 ** 30 : ms);
	});
	return () => check!();
}

/** Counts the reads of files: of whole ones, and how many are open. */
async function watchFiles() {
	const handle = await openFile(__filename);
	await handle.close();
	const prototype = Object.getPrototypeOf(handle) as FileHandle;
	const counts = { scans: 0, open: new Set<FileHandle>(), first: Infinity };
	const { createReadStream } = prototype;
	jest.spyOn(prototype, 'createReadStream').mockImplementation(function (
		this: FileHandle,
		options,
	) {
		if (options?.start === undefined) counts.scans += 1;
		else counts.first = Math.min(counts.first, options.start);
		return createReadStream.call(this, options);
	});
	const { open } = Folder.prototype;
	jest.spyOn(Folder.prototype, 'open').mockImplementation(async function (this: Folder, path) {
		const file = await open.call(this, path);
		counts.open.add(file);
		const { close } = file;
		file.close = async () => {
			await close.call(file);
			counts.open.delete(file);
		};
		return file;
	});
	return counts;
}

test('30 requests for a new file at the same time read it once', async () => {
	const { download } = await serveHere([audioOf(600)], lengthOf(600));
	const counts = await watchFiles();
	const cuts = await Promise.all(
		Array.from({ length: 30 }, (_, nth) => download(noon + nth * 1000, noon + nth * 1000 + 10_000)),
	);
	expect(cuts.map(({ status }) => status)).toEqual(Array(30).fill(200));
	expect(counts.scans).toBe(1);
	expect(counts.open.size).toBe(0);
});

test('audio has a length and an ETag, and only the same bytes have the same ETag', async () => {
	const contents = [audioOf(30), audioOf(30, { first: 2000, serial: 2 })];
	const range = [noon + 12_345, noon + 45_678] as const;
	const answers = [];
	// The same content elsewhere, as after a backup was restored.
	for (let nth = 0; nth < 2; nth += 1) {
		const { download, close } = await serve(contents, lengthOf(30));
		answers.push(await download(...range), await download(...range));
		answers.push(await download(range[0], range[1] + 1));
		await close();
	}
	const [one, again, other, copy] = answers;
	expect(one.status).toBe(200);
	expect(one.headers).toMatchObject({
		'content-length': String(one.body.length),
		'accept-ranges': 'bytes',
		etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
	});
	expect(one.headers).not.toHaveProperty('transfer-encoding');
	for (const { headers, body } of [again, copy]) {
		expect([headers.etag, body.equals(one.body)]).toEqual([one.headers.etag, true]);
	}
	expect(other.headers.etag).not.toBe(one.headers.etag);
});

describe('a range of bytes', () => {
	let server: Awaited<ReturnType<typeof serve>>;
	let whole: Buffer;
	let etag: string;
	const range = [noon + 2_345, noon + 320_678] as const;
	beforeAll(async () => {
		// Three files of one stream, and one of stereo, which makes a chain.
		const stereo = audioOf(90, { first: 20_000, serial: 4 });
		stereo[37] = 2;
		const contents = [0, 1, 2].map((nth) => audioOf(90, { first: nth * 5000, serial: nth + 1 }));
		server = await serve([...contents, stereo], lengthOf(90));
		const { body, headers } = await server.download(...range);
		[whole, etag] = [body, headers.etag];
		expect(readOgg(whole).filter(({ begins }) => begins)).toHaveLength(2);
	});
	afterAll(() => server.close());

	const partOf = async (header: string, headers: Record<string, string> = {}) =>
		server.download(...range, { range: header, ...headers });

	test.each<[string, (length: number) => [from: number, to: number]]>([
		['bytes=0-', (length) => [0, length]],
		['bytes=0-0', () => [0, 1]],
		['bytes=1-46', () => [1, 47]],
		['bytes=47-47', () => [47, 48]],
		['bytes=100000-200000', () => [100_000, 200_001]],
		['bytes=70000-', (length) => [70_000, length]],
		['bytes=-1', (length) => [length - 1, length]],
		['bytes=-100000', (length) => [length - 100_000, length]],
		['bytes=-99999999', (length) => [0, length]],
		['bytes=5-99999999999999999999', (length) => [5, length]],
		['BYTES=5-9', () => [5, 10]],
	])('%s returns that part of the file', async (header, expected) => {
		const [from, to] = expected(whole.length);
		const { status, headers, body } = await partOf(header);
		expect([status, headers['content-range']]).toEqual([
			206,
			`bytes ${from}-${to - 1}/${whole.length}`,
		]);
		expect(headers).toMatchObject({ etag, 'content-length': String(to - from) });
		expect(body.equals(whole.subarray(from, to))).toBe(true);
	});

	test('parts of any size joined together are the whole file', async () => {
		const parts: Buffer[] = [];
		for (let at = 0, step = 1; at < whole.length; at += step, step = ((step * 7) % 60_013) + 1) {
			const { status, body } = await partOf(`bytes=${at}-${at + step - 1}`);
			expect([at, status]).toEqual([at, 206]);
			parts.push(body);
		}
		expect(Buffer.concat(parts).equals(whole)).toBe(true);
	});

	test.each(['bytes=-0', 'bytes=99999999-', 'bytes=99999999-999999999', 'bytes=5-2'])(
		'%s is answered 416',
		async (header) => {
			const { status, headers, body } = await partOf(header);
			expect([status, headers['content-range']]).toEqual([416, `bytes */${whole.length}`]);
			expect(JSON.parse(body.toString()).error).toContain(`${whole.length} bytes`);
		},
	);

	test('a range that begins after the last byte is answered 416', async () => {
		expect((await partOf(`bytes=${whole.length}-`)).status).toBe(416);
		expect((await partOf(`bytes=${whole.length - 1}-`)).status).toBe(206);
	});

	test.each(['bytes=0-1,5-6', 'bytes=-', 'bytes=a-b', 'bytes', 'seconds=0-1', 'bytes=--1', ''])(
		'"%s" is ignored',
		async (header) => {
			const { status, body } = await partOf(header);
			expect([status, body.equals(whole)]).toEqual([200, true]);
		},
	);

	test('applies only if If-Range names the same audio', async () => {
		expect((await partOf('bytes=0-9', { 'if-range': etag })).status).toBe(206);
		for (const other of ['"other"', `W/${etag}`, new Date().toUTCString()]) {
			const { status, body } = await partOf('bytes=0-9', { 'if-range': other });
			expect([other, status, body.equals(whole)]).toEqual([other, 200, true]);
		}
	});
});

test('the end of a file is sent without reading the rest', async () => {
	const { download } = await serveHere([audioOf(600)], lengthOf(600));
	const { body } = await download(noon, noon + 600_000);
	const counts = await watchFiles();
	const { status } = await download(noon, noon + 600_000, { range: 'bytes=-1000' });
	expect(status).toBe(206);
	expect(counts.first).toBeGreaterThan(body.length / 2);
});

test('closes the connection and files of a client that stops reading', async () => {
	const counts = await watchFiles();
	// More than lies in the buffers of two sockets.
	const { url } = await serveHere([audioOf(600, { bytes: 1200 })], lengthOf(600));
	closeStalledAfter(300);
	const { port, hostname } = new URL(url);
	const socket = connect(Number(port), hostname);
	closing.push(() => socket.destroy());
	const request = `GET /v1/download-audio?startMs=${noon}&endMs=${noon + 600_000} HTTP/1.1`;
	socket.write(`${request}\r\nHost: ${hostname}\r\nX-API-Key: ${apiKey}\r\n\r\n`);
	await new Promise((resolve) => socket.once('readable', resolve));
	const isClosed = new Promise((resolve) => socket.once('close', resolve));
	socket.on('error', () => {});
	while (counts.open.size === 0) await new Promise(setImmediate);
	while (counts.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
	let bytes = 0;
	socket.on('data', (piece) => (bytes += piece.length));
	await isClosed;
	expect(bytes).toBeLessThan(600 * 50 * 1200);
});

test('HEAD is answered like GET, without the audio', async () => {
	const server = await serve([audioOf(30)], lengthOf(30));
	closing.push(server.close);
	const path = `/v1/download-audio?startMs=${noon}&endMs=${noon + 20_000}`;
	for (const headers of [{}, { range: 'bytes=0-9' }] as Record<string, string>[]) {
		const get = await server.download(noon, noon + 20_000, headers);
		const head = await ask(server, path, { method: 'HEAD', headers });
		expect([head.status, await head.text()]).toEqual([get.status, '']);
		const names = ['content-type', 'content-length', 'content-range', 'accept-ranges', 'etag'];
		for (const name of names) {
			expect([name, head.headers.get(name)]).toEqual([name, get.headers[name] ?? null]);
		}
	}
	const late = `/v1/download-audio?startMs=${noon + 1e9}&endMs=${noon + 1e9 + 1000}`;
	expect((await ask(server, late, { method: 'HEAD' })).status).toBe(404);
	expect((await fetch(server.url + path, { method: 'HEAD' })).status).toBe(401);
});

test('a stalled client is checked four times in 30 seconds', async () => {
	const { url } = await serveHere([audioOf(30)], lengthOf(30));
	const setInterval = jest.spyOn(globalThis, 'setInterval');
	await ask({ url, apiKey }, `/v1/download-audio?startMs=${noon}&endMs=${noon + 20_000}`);
	expect(setInterval.mock.calls.map(([, ms]) => ms)).toContain(CHECK_EVERY_MS);
});

test("the connection of a stalled client is closed at the fourth check, and that of a slow one isn't", async () => {
	const check = checkByHand();
	const counts = await watchFiles();
	const { url, sockets } = await serveHere([audioOf(600, { bytes: 1200 })], lengthOf(600));
	const { port, hostname } = new URL(url);
	const request = `GET /v1/download-audio?startMs=${noon}&endMs=${noon + 600_000} HTTP/1.1`;
	const begin = async () => {
		const socket = connect(Number(port), hostname);
		closing.push(() => socket.destroy());
		socket.on('error', () => {});
		socket.write(`${request}\r\nHost: ${hostname}\r\nX-API-Key: ${apiKey}\r\n\r\n`);
		await new Promise((resolve) => socket.once('readable', resolve));
		return socket;
	};
	const slow = await begin();
	for (let checks = 0; checks < 12; checks += 1) {
		check();
		// Four times as much is more than the system holds for a connection.
		for (let bytes = 0; bytes < 2_500_000 && !slow.closed;) {
			const piece = slow.read();
			if (piece) bytes += piece.length;
			else await new Promise(setImmediate);
		}
	}
	expect(slow.closed).toBe(false);
	slow.destroy();
	while (counts.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));

	await begin();
	const socket = sockets.at(-1)!;
	const looks: { taken: number; isWaiting: boolean }[] = [];
	while (!socket.destroyed) {
		// Nothing can change between this and the check.
		const { bytesWritten, writableLength } = socket;
		looks.push({ taken: bytesWritten - writableLength, isWaiting: writableLength > 0 });
		check();
		const [before, ...last] = looks.slice(-5);
		const isStalled = last.every(({ taken, isWaiting }) => isWaiting && taken === before.taken);
		expect(socket.destroyed).toBe(last.length === 4 && isStalled);
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
	while (counts.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
});

test('a file that is replaced after its structure was read is read again', async () => {
	const contents = [audioOf(30)];
	const { download, path, problems } = await serveHere(contents, lengthOf(30));
	const { body } = await download(noon, noon + 20_000);
	// The same bytes in another file, as a program that writes an archive does.
	const { fingerprint } = Folder.prototype;
	let calls = 0;
	jest.spyOn(Folder.prototype, 'fingerprint').mockImplementation(async function (
		this: Folder,
		name,
	) {
		calls += 1;
		// Between the look at the structure and the first read.
		return calls === 2 ? 'another' : fingerprint.call(this, name);
	});
	writeFileSync(`${path}.new`, contents[0]);
	await rename(`${path}.new`, path);
	const again = await download(noon, noon + 20_000);
	expect([again.status, again.body.equals(body), problems]).toEqual([200, true, []]);
});

test('a file that keeps changing is answered 503, with the advice to try again later', async () => {
	const { download } = await serveHere([audioOf(30)], lengthOf(30));
	let calls = 0;
	jest
		.spyOn(Folder.prototype, 'fingerprint')
		.mockImplementation(() => Promise.resolve(String((calls += 1))));
	const { status, body } = await download(noon + 5000, noon + 20_000);
	expect(status).toBe(503);
	expect(JSON.parse(body.toString()).message).toBe(
		'The audio changes, or cannot be read for now: try again later',
	);
});

test("a range with a file that can't be read is answered 503, not 404 or with less audio", async () => {
	const contents = [audioOf(30), audioOf(30, { first: 2000, serial: 2 })];
	const { download, folder } = await serveHere(contents, lengthOf(30));
	const { open } = Folder.prototype;
	const failing = jest.spyOn(Folder.prototype, 'open').mockImplementation(function (
		this: Folder,
		path,
	) {
		// Root may read everything, so no rights would keep it from this file.
		if (/120029Z|120030Z_/.test(path)) throw asFileError({ code: 'EACCES' });
		return open.call(this, path);
	});
	expect((await download(noon, noon + 50_000)).status).toBe(503);
	failing.mockRestore();
	expect((await download(noon, noon + 50_000)).status).toBe(200);
	renameSync(folder, `${folder}-away`);
	for (const [from, to] of [
		[0, 10_000],
		[0, 50_000],
	]) {
		const { status, body } = await download(noon + from, noon + to);
		expect(status).toBe(503);
		expect(JSON.parse(body.toString()).message).toContain("The archive's folder is missing");
	}
	renameSync(`${folder}-away`, folder);
	expect((await download(noon, noon + 50_000)).status).toBe(200);
});

test('a file is read again when its day manifest names another checksum', async () => {
	const after = audioOf(30, { first: 5000 });
	const { download, folder, store, path, problems } = await serveHere([audioOf(30)], lengthOf(30));
	const { fingerprint } = Folder.prototype;
	jest.spyOn(Folder.prototype, 'fingerprint').mockImplementation(function (this: Folder, name) {
		return name.startsWith('audio/') ? Promise.resolve('same') : fingerprint.call(this, name);
	});
	writeFileSync(path, after);
	expect((await download(noon, noon + 20_000)).status).toBe(404);
	expect(problems).toEqual(['has a different checksum than its day manifest says']);
	const audio = [{ startMs: noon, endMs: noon + lengthOf(30), content: after }];
	await writeArchive(folder, { audio });
	await store.refresh();
	expect((await download(noon, noon + 20_000)).status).toBe(200);
});

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { writePage } from '../../../server/audio/page.mts';
import { writeArchive } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { readOgg } from '../../support/ogg.mts';
import { startSandbox } from '../../support/sandbox.mts';
import { closing, examine, noon, open, packetOf, read, recording, second } from './audioRanges.mts';
import { archiveSandbox, ask, startLifelogServer, temporaryFolder } from '../sources.mts';
import { seededRandom } from '../../support/seededRandom.mts';

test('a whole file is returned as one stream with all audible packets unchanged', async () => {
	const { content, endMs, heard } = recording(noon, [4_000, 2_500, 61_000], seededRandom(7), 1);
	const folder = temporaryFolder();
	await writeArchive(folder, { audio: [{ startMs: noon, endMs, content }] });
	const { store } = await open(folder);
	const links = examine(await read(store, noon, endMs));
	expect(links).toHaveLength(1);
	// The first stream with what a player skips, the later ones without.
	const wanted = heard.filter(({ fromMs, toMs, stream }) => stream[0] === noon || toMs > fromMs);
	expect(links[0].numbers).toEqual(wanted.map(({ number }) => number));
	expect(links[0].numbers.length).toBeLessThan(heard.length);
	const again = await read(store, noon, endMs);
	expect(again.equals(await read(store, noon, endMs))).toBe(true);
});

test('parts with another number of channels are separate streams, exact to the sample', async () => {
	const first = recording(noon, [3_000, 2_000], seededRandom(4), 1);
	const stereo = Buffer.from(recording(first.endMs, [4_000], seededRandom(5), 1000).content);
	// The number of channels (RFC 7845, section 5.1).
	stereo[28 + 9] = 2;
	const endMs = first.endMs + 4_000;
	const folder = temporaryFolder();
	const content = Buffer.concat([first.content, stereo]);
	await writeArchive(folder, { audio: [{ startMs: noon, endMs, content }] });
	const { store } = await open(folder);
	const links = examine(await read(store, noon + 1_003, endMs - 1_007));
	expect(links.map(({ playedMs }) => playedMs)).toEqual([3_997, 2_993]);
});

/** Pages of one stream, by hand: flags, granule position, sizes of segments, what follows. */
function pagesOf(...pages: [flags: number, granule: number, lacing: number[], body: Buffer][]) {
	return Buffer.concat(
		pages.map(([flags, granule, lacing, body], sequence) => {
			const segments = Buffer.from(lacing);
			return writePage({ flags, granule, serial: 5, sequence, lacing: segments, body });
		}),
	);
}
const opusHead = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1');
const opusTags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(8)]);
const headers: Parameters<typeof pagesOf> = [
	[2, 0, [19], opusHead],
	[0, 0, [16], opusTags],
];
const second50 = Array.from({ length: 50 }, (_, nth) => packetOf(nth + 1, 50));
const secondOf = (flags: number, granule: number): Parameters<typeof pagesOf>[0] => [
	flags,
	granule,
	Array(50).fill(50),
	Buffer.concat(second50),
];
const broken = (file: Buffer) => file.fill(0, 22, 26);

test.each<[string, Buffer, number]>([
	['without a last page', pagesOf(...headers, secondOf(0, 48_000), secondOf(0, 96_000)), 2_000],
	['with wrong checksums', broken(pagesOf(...headers, secondOf(4, 48_000))), 1_000],
	['with negative positions', pagesOf(...headers, secondOf(0, -5), secondOf(4, -(2 ** 60))), 2_000],
	[
		'with a position of centuries',
		pagesOf(...headers, secondOf(0, 2 ** 52), secondOf(4, 7)),
		2_000,
	],
	[
		'with pages of nothing',
		pagesOf(
			...headers,
			...Array.from({ length: 5000 }, () => [0, -1, [], Buffer.alloc(0)] as never),
			secondOf(0, 48_000),
			...Array.from({ length: 5000 }, () => [0, -1, [], Buffer.alloc(0)] as never),
			secondOf(4, 96_000),
		),
		2_000,
	],
	[
		'with ends of packets that never began, and beginnings that never end',
		pagesOf(
			...headers,
			[1, 0, [255, 10], Buffer.alloc(265, 0xf8)],
			secondOf(0, 48_000),
			[0, -1, [255], Buffer.alloc(255, 0xf8)],
			secondOf(4, 96_000),
		),
		2_000,
	],
	[
		'with comments over pages',
		pagesOf(
			headers[0],
			[0, -1, Array(255).fill(255), Buffer.concat([opusTags, Buffer.alloc(255 * 255 - 16)])],
			[1, 0, [7], Buffer.alloc(7)],
			secondOf(4, 48_000),
		),
		1_000,
	],
	[
		'with a stream after one that has no last page',
		Buffer.concat([
			pagesOf(...headers, secondOf(0, 48_000)),
			pagesOf(...headers, secondOf(4, 48_000)),
		]),
		2_000,
	],
])('a file %s is cut into a valid file', async (_what, content, lengthMs) => {
	const folder = temporaryFolder();
	const endMs = noon + lengthMs;
	await writeArchive(folder, { audio: [{ startMs: noon, endMs, content }] });
	const { store, log } = await open(folder);
	for (const [from, to] of [
		[0, lengthMs],
		[333, lengthMs - 1],
		[lengthMs - 1, lengthMs],
		[0, 1],
	]) {
		const file = await read(store, noon + from, noon + to);
		const audio = await store.getAudio(noon + from, noon + to);
		expect(file).toHaveLength(audio!.bytes);
		const links = examine(file);
		expect(links.map(({ playedMs }) => playedMs)).toEqual([to - from]);
		const packets = links.flatMap(({ numbers }) => numbers);
		expect(packets.filter((number) => number < 1 || number > 50)).toEqual([]);
	}
	expect(log).toEqual([]);
});

test.each<[string, Buffer, string]>([
	['of no bytes', Buffer.alloc(0), 'contains no Opus audio'],
	['of headers alone', pagesOf(...headers), 'contains no Opus audio'],
	[
		'with an empty packet',
		pagesOf(...headers, [4, 960, [0], Buffer.alloc(0)]),
		'has an empty packet',
	],
	[
		'with a packet longer than a page',
		pagesOf(
			...headers,
			[0, -1, Array(255).fill(255), Buffer.alloc(255 * 255, 0xf8)],
			[5, 960, [255, 1], Buffer.alloc(256, 0xf8)],
		),
		'has a packet that is longer than a page',
	],
	[
		'with a packet that never ends',
		pagesOf(
			...headers,
			[0, -1, Array(255).fill(255), Buffer.alloc(255 * 255, 0xf8)],
			[1, -1, Array(255).fill(255), Buffer.alloc(255 * 255, 0xf8)],
			secondOf(4, 48_000),
		),
		'has a packet that is longer than a page',
	],
])('a file %s is logged and left out', async (_what, content, problem) => {
	const folder = temporaryFolder();
	await writeArchive(folder, { audio: [{ startMs: noon, endMs: noon + 1_000, content }] });
	const { store, log } = await open(folder);
	expect(await store.getAudio(noon, noon + 1_000)).toBeUndefined();
	expect(log).toEqual([expect.stringContaining(problem)]);
});

test('sending a file ends with an error if the file changes meanwhile', async () => {
	const { content, endMs } = recording(noon, [600_000], seededRandom(9), 1);
	const folder = temporaryFolder();
	await writeArchive(folder, { audio: [{ startMs: noon, endMs, content }] });
	const { store } = await open(folder);
	const audio = await store.getAudio(noon, endMs);
	const pieces = (audio!.read(0, audio!.bytes) as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
	expect((await pieces.next()).done).toBe(false);
	const [path] = readdirSync(folder, { recursive: true })
		.map(String)
		.filter((name) => name.endsWith('.ogg'));
	const last = content.at(-2)! ^ 1;
	const file = openSync(join(folder, path), 'r+');
	writeSync(file, Buffer.of(last), 0, 1, content.length - 2);
	closeSync(file);
	await expect(async () => {
		for (let next = await pieces.next(); !next.done; next = await pieces.next());
	}).rejects.toThrow('has changed while it was read');
});

test('a file that is shorter than its range plays at the times of its lifelogs', async () => {
	const { content } = recording(noon, [30_000, 60_000], seededRandom(8), 1);
	const talk = (id: string, from: number, to: number) =>
		lifelogOf(id, new Date(noon + from * second).toISOString(), {
			endTime: new Date(noon + to * second).toISOString(),
		});
	const folder = temporaryFolder();
	const lifelogs = [talk('a', 100, 130), talk('b', 200, 250), talk('c', 240, 260)];
	await writeArchive(folder, {
		lifelogs,
		audio: [{ startMs: noon, endMs: noon + 7_200_000, content }],
	});
	const { store } = await open(folder);
	const playedMs = async (from: number, to: number) => {
		const audio = await store.getAudio(noon + from * second, noon + to * second);
		if (!audio) return 0;
		return examine(await read(store, noon + from * second, noon + to * second)).reduce(
			(sum, link) => sum + link.playedMs,
			0,
		);
	};
	expect(await playedMs(0, 7200)).toBeCloseTo(90_000);
	expect(await playedMs(0, 100)).toBe(0);
	expect(await playedMs(100, 130)).toBeCloseTo(30_000);
	expect(await playedMs(120, 210)).toBeCloseTo(20_000);
	expect(await playedMs(130, 200)).toBe(0);
	expect(await playedMs(255, 7000)).toBeCloseTo(5_000);
});

test('a file that is shorter than its range keeps its times if a lifelog is created or deleted', async () => {
	const { content } = recording(noon, [30_000, 60_000], seededRandom(8), 1);
	const talk = (id: string, from: number, to: number) =>
		lifelogOf(id, new Date(noon + from * second).toISOString(), {
			endTime: new Date(noon + to * second).toISOString(),
		});
	const folder = temporaryFolder();
	const audio = [{ startMs: noon, endMs: noon + 7_200_000, content }];
	await writeArchive(folder, { lifelogs: [talk('a', 100, 130), talk('b', 200, 260)], audio });
	const server = await startLifelogServer(folder, ['--allow-changes', '--allow-delete']);
	closing.push(server.close);
	const send = async (method: string, path: string, body?: object) => {
		const headers = { 'content-type': 'application/json' };
		const request = { method, ...(body && { headers, body: JSON.stringify(body) }) };
		return await (await ask(server, `/v1/lifelogs${path}`, request)).json();
	};
	const heard = async () => {
		const range = `startMs=${noon + 200 * second}&endMs=${noon + 260 * second}`;
		const file = await ask(server, `/v1/download-audio?${range}`);
		return examine(Buffer.from(await file.arrayBuffer())).map(({ numbers }) => numbers);
	};
	const before = await heard();
	expect(before).toHaveLength(1);
	const call = { text: 'A phone call.', start: 0, end: 20 };
	const { data } = await send('POST', '', { startTime: noon + 150 * second, transcript: [call] });
	expect(await heard()).toEqual(before);
	await send('DELETE', `/${data.lifelog.id}`);
	expect(await heard()).toEqual(before);
	await send('DELETE', '/a');
	expect(await heard()).toEqual(before);
});

test('a file that is shorter than its range plays from its start if there are no lifelogs', async () => {
	const { content } = recording(noon, [30_000], seededRandom(9), 1);
	const folder = temporaryFolder();
	await writeArchive(folder, { audio: [{ startMs: noon, endMs: noon + 7_200_000, content }] });
	const { store } = await open(folder);
	expect(await store.getAudio(noon, noon + 10_000)).toBeDefined();
	expect(await store.getAudio(noon + 30_000, noon + 40_000)).toBeUndefined();
});

test.each([
	['stat', () => Promise.reject(new Error('EIO'))],
	[
		'createReadStream',
		() =>
			new Readable({
				read() {
					this.destroy(new Error('EIO'));
				},
			}),
	],
] as const)(
	"a file that temporarily can't be read (%s) is reported once, and served when it can be read",
	async (method, fail) => {
		const { content, endMs } = recording(noon, [20_000], seededRandom(3), 1);
		const folder = temporaryFolder();
		await writeArchive(folder, { audio: [{ startMs: noon, endMs, content }] });
		const { store, log } = await open(folder);
		const file = await openFile(__filename);
		await file.close();
		const failing = jest.spyOn(Object.getPrototypeOf(file), method).mockImplementation(fail);
		for (let nth = 0; nth < 2; nth += 1) {
			await expect(store.getAudio(noon, endMs)).rejects.toThrow('cannot be read for now');
		}
		expect(log).toEqual([expect.stringMatching(/\.ogg cannot be read$/)]);
		failing.mockRestore();
		expect((await read(store, noon, endMs)).length).toBeGreaterThan(0);
	},
);

test.each<[string, (file: Buffer) => Buffer]>([
	['of the same length with another byte', (file) => file.fill(file[5000] ^ 1, 5000, 5001)],
	['cut off', (file) => file.subarray(0, 5000)],
	['no Ogg', (file) => file.fill(7)],
])(
	'a file that is %s is reported and left out, and other files are served',
	async (_how, spoil) => {
		const folder = temporaryFolder();
		const first = recording(noon, [20_000], seededRandom(1), 1);
		const second = recording(first.endMs, [20_000], seededRandom(2), 5_000);
		await writeArchive(folder, {
			audio: [
				{ startMs: noon, endMs: first.endMs, content: first.content },
				{ startMs: first.endMs, endMs: second.endMs, content: second.content },
			],
		});
		const path = join(
			folder,
			'audio/pendant/2026/03/01/audio_20260301T120000Z_20260301T120020Z.ogg',
		);
		writeFileSync(path, spoil(readFileSync(path)));
		const { store, log } = await open(folder);
		expect(await store.getAudio(noon, first.endMs)).toBeUndefined();
		const links = examine(await read(store, noon, second.endMs));
		expect(links.flatMap(({ numbers }) => numbers)).toEqual(
			second.heard.map(({ number }) => number),
		);
		expect(log).toEqual([expect.stringContaining('audio_20260301T120000Z')]);
	},
);

test('a file with an impossible time is reported and left out, and other files are served', async () => {
	const folder = temporaryFolder();
	const { endMs, content, heard } = recording(noon, [20_000], seededRandom(1), 1);
	const day = await writeArchive(folder, { audio: [{ startMs: noon, endMs, content }] });
	const path = join(folder, day[0]);
	const file = JSON.parse(readFileSync(path, 'utf8'));
	file.audio.push({ ...file.audio[0], startMs: noon - 1000, endMs: 1e16 });
	writeFileSync(path, JSON.stringify(file));
	const { store, log } = await open(folder);
	const links = examine(await read(store, noon - 1000, endMs));
	expect(links.flatMap(({ numbers }) => numbers)).toEqual(heard.map(({ number }) => number));
	expect(log).toEqual([expect.stringContaining('has an impossible time')]);
});

describe('served', () => {
	test('audio of the sandbox has the same packets, and another parser accepts it', async () => {
		const sandbox = await startSandbox({ now: '2026-03-20T20:00:00Z', days: 1 });
		closing.push(sandbox.close);
		const from = Date.parse('2026-03-20T09:00:00Z');
		const ranges = [
			[from, from + 1_800_000],
			[from + 1_800_000, from + 3_600_000],
		] as const;
		const folder = temporaryFolder();
		await archiveSandbox(sandbox, folder, [...ranges]);
		const server = await startLifelogServer(folder);
		closing.push(server.close);
		const download = async (
			source: { url: string; apiKey: string },
			startMs: number,
			endMs: number,
		) => {
			const path = `/v1/download-audio?startMs=${startMs}&endMs=${endMs}`;
			const response = await ask(source, path);
			expect(response.status).toBe(200);
			expect(response.headers.get('content-type')).toBe('audio/ogg');
			expect(response.headers.get('cache-control')).toBe(
				source === server ? 'private, no-store' : 'public, max-age=3600',
			);
			expect(response.headers.get('content-disposition')).toBe('inline; filename="audio.ogg"');
			return Buffer.from(await response.arrayBuffer());
		};
		const packetsOf = (file: Buffer) =>
			readOgg(file)
				.flatMap(({ packets }) => packets)
				.filter((packet) => !/^Opus(Head|Tags)/.test(packet.toString('latin1', 0, 8)));
		for (const [startMs, endMs] of ranges) {
			const expected = packetsOf(await download(sandbox, startMs, endMs));
			const given = packetsOf(await download(server, startMs, endMs));
			expect(given.length).toBe(expected.length);
			expect(given.every((packet, index) => packet.equals(expected[index]))).toBe(true);
		}
		// Over both files, beginning and ending in the middle of a packet.
		const file = await download(server, from + 601_003, from + 2_345_678);
		const reader = join(process.cwd(), 'test', 'server', 'sandbox', 'read-ogg.mts');
		const { stdout } = spawnSync(process.execPath, [reader], { input: file, encoding: 'utf8' });
		expect(JSON.parse(stdout)).toMatchObject({ codec: 'opus', problems: [] });
		const nothing = await ask(server, `/v1/download-audio?startMs=${from - 10}&endMs=${from - 5}`);
		expect([nothing.status, await nothing.json()]).toEqual([
			404,
			{ error: 'No audio for the requested range' },
		]);
	});
});

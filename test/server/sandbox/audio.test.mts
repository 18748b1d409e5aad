import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readOgg, type OggPage } from '../../support/ogg.mts';
import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { clientOf, type Client } from './client.mts';

let sandbox: TestSandbox;
let client: Client;

const start = Date.parse('2026-03-20T09:00:00Z');
const minute = 60_000;
const at = (minutes: number) => new Date(start + minutes * minute).toISOString();

beforeAll(async () => {
	sandbox = await startSandbox();
	client = clientOf(sandbox);
	await sandbox.control.reset({ empty: true, now: '2026-03-20T20:00:00Z' });
	const record = (from: number, to: number) =>
		sandbox.control.addLifelog({ id: `from-${from}`, startTime: at(from), endTime: at(to) });
	await record(10, 20);
	await record(15, 25);
	await record(40, 41);
});
afterAll(() => sandbox.close());

const audioPath = '/v1/download-audio';

async function download(from: number, to: number, given: Record<string, string> = {}) {
	const range = `startMs=${start + from * minute}&endMs=${start + to * minute}`;
	const response = await fetch(`${sandbox.url}${audioPath}?${range}`, {
		headers: { 'X-API-Key': sandbox.apiKey, ...given },
	});
	expect(response.status).toBe(given.range === undefined ? 200 : 206);
	return { headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

const preSkip = 312;
const playedMs = (pages: OggPage[]) =>
	pages.filter(({ ends }) => ends).reduce((sum, { granule }) => sum + (granule - preSkip) / 48, 0);

test('a range has the length of the audio in it', async () => {
	const { headers, body } = await download(0, 120);
	expect(headers.get('content-type')).toBe('audio/ogg');
	expect(headers.get('cache-control')).toBe('public, max-age=3600');
	expect(headers.get('content-disposition')).toBe('inline; filename="audio.ogg"');
	expect(headers.get('content-length')).toBe(String(body.length));
	const pages = readOgg(body);
	expect(pages.filter(({ isIntact }) => !isIntact)).toEqual([]);
	expect(playedMs(pages)).toBeCloseTo(16 * minute);
	expect(body.length / (16 * 60)).toBeLessThan(3500);

	const begun = pages.filter(({ begins }) => begins).map(({ serial }) => serial);
	const ended = pages.filter(({ ends }) => ends).map(({ serial }) => serial);
	expect([begun, ended]).toEqual([[pages[0].serial], [pages[0].serial]]);
});

test('another parser accepts the audio', async () => {
	const { body } = await download(18, 20.76);
	const reader = join(process.cwd(), 'test', 'server', 'sandbox', 'read-ogg.mts');
	const { stdout } = spawnSync(process.execPath, [reader], { input: body, encoding: 'utf8' });
	const found = JSON.parse(stdout);
	expect(found).toMatchObject({ codec: 'opus', problems: [] });
	expect(found.serials).toHaveLength(1);
	expect(Math.abs(found.frameMs - 2.76 * minute)).toBeLessThan(30);
});

test('a part of a recording is cut to the millisecond, the same bytes each time', async () => {
	const { body } = await download(24.5, 40.00025);
	expect(playedMs(readOgg(body))).toBeCloseTo(30_015);
	expect((await download(24.5, 40.00025)).body.equals(body)).toBe(true);
});

test('a range of bytes is part of the file, and other audio has another ETag', async () => {
	const { headers, body } = await download(11, 13);
	const etag = headers.get('etag')!;
	for (const [from, to] of [
		[0, 0],
		[40, 300],
		[3000, 99_999],
		[body.length - 1, body.length - 1],
	]) {
		const part = await download(11, 13, { range: `bytes=${from}-${to}`, 'if-range': etag });
		expect(part.headers.get('content-range')).toBe(`bytes ${from}-${to}/${body.length}`);
		expect(part.headers.get('content-length')).toBe(String(to + 1 - from));
		expect(part.body.equals(body.subarray(from, to + 1))).toBe(true);
	}
	expect((await download(11, 13)).headers.get('etag')).toBe(etag);
	expect((await download(11, 13.001)).headers.get('etag')).not.toBe(etag);
	expect((await download(11.1, 13.1)).headers.get('etag')).not.toBe(etag);
});

test('the length can be left out', async () => {
	const known = await download(10, 12);
	await sandbox.control.dialect({ audioContentLength: false });
	const { headers, body } = await download(10, 12);
	await sandbox.control.dialect({ audioContentLength: true });
	expect(headers.get('content-length')).toBeNull();
	expect(headers.get('accept-ranges')).toBeNull();
	expect(headers.get('transfer-encoding')).toBe('chunked');
	expect(body.equals(known.body)).toBe(true);
});

test('a range without audio is answered 404', async () => {
	const query = { startMs: start + 25 * minute, endMs: start + 40 * minute };
	expect(await client.get(audioPath, query)).toMatchObject({
		status: 404,
		body: { error: 'No audio for the requested range' },
		checked: true,
	});
});

test('deleting an entry deletes its audio', async () => {
	const query = { startMs: start + 40 * minute, endMs: start + 41 * minute };
	expect((await download(40, 41)).body.length).toBeGreaterThan(0);
	await client.delete('/v1/lifelogs/from-40');
	expect(await client.get(audioPath, query)).toMatchObject({ status: 404 });
});

test.each([
	[{ startMs: start, endMs: start }, 'endMs must be greater than startMs'],
	[{ startMs: start, endMs: start - 1 }, 'endMs must be greater than startMs'],
	[{ startMs: start, endMs: start + 7_200_001 }, '2 hours'],
	[{ startMs: start }, 'endMs'],
	[{ startMs: -1, endMs: start }, 'startMs'],
	[{ startMs: 'noon', endMs: start }, 'startMs'],
	[{ startMs: start, endMs: start + 1, audioSource: 'phone' }, 'audioSource'],
])('%j is answered 400', async (query, text) => {
	expect(await client.get(audioPath, query)).toMatchObject({
		status: 400,
		body: { error: expect.stringContaining(text) },
		checked: true,
	});
});

import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { IDataObject } from 'n8n-workflow';
import { byId } from '../../support/workflow.mts';
import { at, minute, ms, PATH, sha256, useAudio } from './audio.mts';

const { sandbox, run, downloadRange, engineFor, startEngine, record, fetchAudio } = useAudio();

describe('a download', () => {
	test('returns one item with the file and its properties', async () => {
		await record('09:10', 5);
		const { json, items, asked } = await downloadRange(at('10:00'), at('11:30'), {
			timezone: 'Europe/Berlin',
			fileNames: 'archive',
		});
		const [item] = items('Node');
		const [start, end] = [ms('09:00'), ms('10:30')];
		const expected = {
			startTime: '2026-03-20T10:00:00.000+01:00',
			endTime: '2026-03-20T11:30:00.000+01:00',
			fileName: 'audio_20260320T090000Z_20260320T103000Z.ogg',
			fileSize: item.binary!.data.bytes,
			mimeType: 'audio/ogg',
			sha256: sha256(await fetchAudio([start, end])),
			part: 1,
			parts: 1,
			missingRanges: [],
			failedRanges: [],
			startMs: start,
			endMs: end,
		};
		expect(json).toEqual([expected]);
		expect(Object.keys(json[0])).toEqual(Object.keys(expected));
		expect(item.binary!.data).toMatchObject({
			data: 'filesystem-v2',
			fileName: 'audio_20260320T090000Z_20260320T103000Z.ogg',
			mimeType: 'audio/ogg',
			fileExtension: 'ogg',
			fileType: 'audio',
		});
		expect(asked).toEqual([[ms('09:00'), ms('10:30')]]);
	});

	test.each([true, false])(
		'stores the bytes that were sent; length declared: %p',
		async (declared) => {
			await sandbox.control.dialect({ audioContentLength: declared });
			await record('08:59', 130);
			const { items, binary, asked, json } = await downloadRange(at('09:00'), at('11:00'));
			const stored = await binary(items('Node')[0], 'data');
			expect(sha256(stored)).toBe(sha256(await fetchAudio(asked[0])));
			expect(stored.length).toBeGreaterThan(20e6);
			expect(json[0].fileSize).toBe(stored.length);
			expect(json[0].sha256).toBe(sha256(stored));
		},
	);

	test('is Ogg Opus that another library can read', async () => {
		await record('09:00', 3);
		const { items, binary } = await downloadRange(at('09:01'), at('09:02'));
		const reader = join(process.cwd(), 'test', 'server', 'sandbox', 'read-ogg.mts');
		const input = await binary(items('Node')[0], 'data');
		const { stdout } = spawnSync(process.execPath, [reader], { input, encoding: 'utf8' });
		expect(JSON.parse(stdout)).toMatchObject({ codec: 'opus', problems: [] });
		expect(Math.abs(JSON.parse(stdout).frameMs - minute)).toBeLessThan(500);
	});

	test('puts the file into the chosen output field', async () => {
		await record('09:00', 1);
		const range = { start: at('09:00'), end: at('09:01') };
		const { items } = await run({ ...range, binaryPropertyName: 'recording' });
		expect(Object.keys(items('Node')[0].binary!)).toEqual(['recording']);
		const { error, requests } = await run({ ...range, binaryPropertyName: '={{ " " }}' });
		expect(error?.message).toBe("'Put Output File in Field' is empty");
		expect(requests).toEqual([]);
	});

	test('requests fresh, uncompressed audio of the default source', async () => {
		const seen: Array<{ headers: IncomingHttpHeaders; url: string }> = [];
		const own = await engineFor(({ headers, url = '' }, response) => {
			seen.push({ headers, url });
			response.writeHead(200, { 'content-type': 'audio/ogg' }).end('OggS');
		});
		await run({ start: at('09:00'), end: at('09:01') }, { on: own });
		expect(seen).toHaveLength(1);
		expect(seen[0].headers).toMatchObject({
			'cache-control': 'no-cache',
			'accept-encoding': 'identity',
			'x-api-key': sandbox.apiKey,
		});
		expect(seen[0].url.split('/v1/')[1]).toBe(
			`download-audio?startMs=${ms('09:00')}&endMs=${ms('09:01')}`,
		);
	});

	test.each<[string, IDataObject, string | null]>([
		['a day', { source: 'day', day: 'date', date: '2026-03-20' }, 'recordings'],
		['a range', { start: at('09:00'), end: at('09:01') }, 'recordings'],
		['a lifelog', { source: 'lifelog', lifelogId: byId('walk') }, null],
	])('of %s with Audio Source asks for the audio of %p', async (_name, range, expected) => {
		const sources: Array<string | null> = [];
		const own = await engineFor(({ url = '' }, response) => {
			const { pathname, searchParams } = new URL(url, 'http://service');
			if (pathname === PATH) {
				sources.push(searchParams.get('audioSource'));
				return response.writeHead(200, { 'content-type': 'audio/ogg' }).end('OggS');
			}
			const lifelog = { id: 'walk', startTime: at('09:00:00Z'), endTime: at('09:01:00Z') };
			return response.end(JSON.stringify({ data: { lifelog } }));
		});
		const options = { audioSource: 'Recordings' };
		const { error } = await run({ ...range, options }, { on: own });
		expect(error).toBeUndefined();
		expect(new Set(sources)).toEqual(new Set([expected]));
	});
});

test.each([
	['application/octet-stream', 'OggS and so on', 'audio/ogg', '.ogg'],
	['video/ogg', 'OggS and so on', 'audio/ogg', '.ogg'],
	['audio/x.php', 'OggS and so on', 'audio/ogg', '.ogg'],
	[`audio/${'x'.repeat(5000)}`, 'OggS and so on', 'audio/ogg', '.ogg'],
])('a file of type %.40s gets the right name and type', async (type, body, mimeType, extension) => {
	await sandbox.control.faults([{ path: PATH, body, headers: { 'content-type': type } }]);
	const { json, items, binary } = await downloadRange(at('09:00'), at('10:00'));
	expect(json[0]).toMatchObject({ mimeType, fileSize: body.length });
	expect(json[0].fileName).toBe(`2026-03-20 09.00 Audio${extension}`);
	expect((await binary(items('Node')[0], 'data')).toString()).toBe(body);
});

describe('audio that is compressed despite the request', () => {
	const audio = Buffer.concat([Buffer.from('OggS'), randomBytes(50_000)]);
	const packed = gzipSync(audio);
	const range = { start: at('09:00'), end: at('10:00') };
	const headers = {
		'content-type': 'audio/ogg',
		'content-encoding': 'gzip',
		'content-length': packed.length,
	};

	test('is complete, although it is shorter than its compressed length', async () => {
		expect(audio.length).toBeLessThan(packed.length);
		const own = await engineFor((_request, response) => {
			response.writeHead(200, headers).end(packed);
		});
		const { items, binary, json, message } = await run(range, { on: own });
		expect(message).toBeUndefined();
		expect(sha256(await binary(items('Node')[0], 'data'))).toBe(sha256(audio));
		expect(json[0]).toMatchObject({ fileSize: audio.length, sha256: sha256(audio) });
	});

	test('is requested again when the compressed bytes are interrupted', async () => {
		let requests = 0;
		const own = await engineFor((_request, response) => {
			response.writeHead(200, headers);
			if (++requests > 1) response.end(packed);
			else response.write(packed.subarray(0, -20_000), () => response.destroy());
		});
		const { json } = await run(range, { on: own });
		expect(json[0]).toMatchObject({ sha256: sha256(audio) });
		expect(requests).toBe(2);
	});
});

test('a file of any size takes little memory, its hash included', async () => {
	const part = randomBytes(1024 * 1024);
	const parts = 300;
	const expected = createHash('sha256').update('OggS');
	let peak = 0;
	const own = await engineFor((_request, response) => {
		response.writeHead(200, { 'content-type': 'audio/ogg' });
		response.write('OggS');
		let sent = 0;
		const more = () => {
			peak = Math.max(peak, process.memoryUsage().arrayBuffers);
			while (sent < parts) {
				expected.update(part);
				if (++sent === parts) return void response.end(part);
				if (!response.write(part)) return;
			}
		};
		response.on('drain', more);
		more();
	});
	const before = process.memoryUsage().arrayBuffers;
	const range = { start: at('09:00'), end: at('10:00') };
	const { json } = await run(range, { on: own });
	expect(json[0]).toMatchObject({
		fileSize: parts * part.length + 4,
		sha256: expected.digest('hex'),
	});
	expect(peak - before).toBeLessThan(150 * 1024 * 1024);
});

test('returns the complete file if n8n keeps binary data in memory', async () => {
	await record('09:00', 5);
	const inMemory = await startEngine(sandbox.url, { binaryMode: 'default' });
	const range = { start: at('09:00'), end: at('10:00') };
	const { items, binary, left } = await run(range, { on: inMemory });
	const stored = await binary(items('Node')[0], 'data');
	expect(sha256(stored)).toBe(sha256(await fetchAudio([ms('09:00'), ms('10:00')])));
	expect(left).toEqual([]);
});

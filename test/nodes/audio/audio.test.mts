import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type IDataObject, type IExecuteFunctions, type INode, NodeHelpers } from 'n8n-workflow';
import { connect } from '../../../nodes/shared/auth/connection.ts';
import { download } from '../../../nodes/shared/transport/request.ts';
import { type Engine, loadPackage, type RunOptions, standIn } from '../../support/engine.mts';
import { engineAt, type Lab, startLab, startLabAt } from '../../support/lab.mts';
import type { Fault } from '../../support/sandbox.mts';
import { serve } from '../../support/serve.mts';
import { skipPauses } from '../../support/skipPauses.mts';
import { endsSoon } from '../../support/soon.mts';
import { byId, workflowWith } from '../../support/workflow.mts';

const PATH = '/v1/download-audio';
const NOW = '2026-03-20T23:00:00Z';
const minute = 60_000;
const hour = 60 * minute;

const pauses = skipPauses();
afterAll(() => pauses.stop());

let lab: Lab;
let sandbox: Lab['sandbox'];
let engine: Lab['engine'];
let binaryDir: string;

beforeAll(async () => {
	binaryDir = await mkdtemp(join(tmpdir(), 'audio-'));
	lab = await startLab(1, { binaryMode: 'filesystem', binaryDir });
	({ sandbox, engine } = lab);
});

afterAll(async () => {
	await lab.close();
	await rm(binaryDir, { recursive: true });
});

beforeEach(async () => {
	await sandbox.control.reset({ empty: true, now: NOW });
});

const started: Array<{ close: () => Promise<void> }> = [];

afterEach(async () => {
	for (const { close } of started.splice(0)) await close();
});

/** An engine whose service answers as a test wants it to. */
async function engineFor(handler: RequestListener, nodeTypes = {}): Promise<Engine> {
	const service = { ...(await serve(handler)), apiKey: sandbox.apiKey };
	const own = await startLabAt(service, { nodeTypes, binaryMode: 'filesystem', binaryDir });
	started.push(own);
	return own.engine;
}

async function run(
	parameters: IDataObject,
	options?: RunOptions,
	more?: Partial<INode>,
	on: Engine = engine,
) {
	await sandbox.control.clearRequests();
	const before = await storedFiles();
	const workflow = workflowWith(
		'lifelogAudio',
		{ operation: 'download', source: 'timeRange', ...parameters },
		more,
	);
	const result = await on.runWorkflow(workflow, options);
	const requests = await sandbox.control.requests();
	return {
		...result,
		json: result.items('Node').map(({ json }) => json),
		requests,
		checks: requests.filter(({ path }) => path === '/v1/chats').length,
		asked: requests
			.filter(({ path }) => path === PATH)
			.map(({ query }) => [Number(query.startMs), Number(query.endMs)]),
		left: (await settledFiles()).filter((file) => !before.includes(file)),
		message: result.error?.message,
		description: (result.error as { description?: string } | undefined)?.description,
	};
}

const downloadRange = async (start: unknown, end: unknown, options: IDataObject = {}) =>
	await run({ source: 'timeRange', start, end, options } as IDataObject);

async function storedFiles(): Promise<string[]> {
	const files = await readdir(binaryDir, { recursive: true, withFileTypes: true });
	return files
		.filter((file) => file.isFile())
		.map(({ parentPath, name }) => join(parentPath, name));
}

/** The same, once n8n has put away what it had begun to write. */
async function settledFiles(): Promise<string[]> {
	let files = await storedFiles();
	while (files.some((file) => file.includes('.tmp.'))) {
		await sleep(20);
		files = await storedFiles();
	}
	return files;
}

/** Something recorded for some minutes, from a time of 20 March 2026 (UTC) on. */
const record = async (time: string, minutes: number, id?: string) => {
	const start = Date.parse(`2026-03-20T${time}Z`);
	const [startTime, endTime] = [start, start + minutes * minute].map((ms) =>
		new Date(ms).toISOString(),
	);
	return await sandbox.control.addLifelog({ ...(id && { id }), startTime, endTime });
};

/** A range as the output lists it; times of 20 March 2026, UTC. */
const spanOf = (from: string, to: string) => ({
	startMs: ms(from),
	endMs: ms(to),
	startTime: `${at(from)}:00.000Z`,
	endTime: `${at(to)}:00.000Z`,
});
const at = (time: string) => `2026-03-20T${time}`;
const ms = (time: string) => Date.parse(`${at(time)}Z`);
/** The beginning of the address of the chunk that begins then, for a fault of it alone. */
const chunkAt = (time: string) => `${PATH}?startMs=${ms(time)}`;
/** How often the chunk was asked for that was asked for most. */
const maxForOneChunk = (asked: number[][]) =>
	Math.max(...asked.map(([start]) => asked.filter(([other]) => other === start).length));
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function fetchAudio([startMs, endMs]: number[]): Promise<Buffer> {
	const headers = { 'x-api-key': sandbox.apiKey };
	const url = `${sandbox.url}${PATH}?startMs=${startMs}&endMs=${endMs}`;
	const response = await fetch(url, { headers });
	expect(response.status).toBe(200);
	return Buffer.from(await response.arrayBuffer());
}

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
		const reader = join(process.cwd(), 'test', 'sandbox', 'read-ogg.mts');
		const input = await binary(items('Node')[0], 'data');
		const { stdout } = spawnSync(process.execPath, [reader], { input, encoding: 'utf8' });
		expect(JSON.parse(stdout)).toMatchObject({ codec: 'opus', problems: [] });
		expect(Math.abs(JSON.parse(stdout).frameMs - minute)).toBeLessThan(500);
	});

	test('puts the file into the chosen output field', async () => {
		await record('09:00', 1);
		const range = { source: 'timeRange', start: at('09:00'), end: at('09:01') };
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
		await run({ source: 'timeRange', start: at('09:00'), end: at('09:01') }, undefined, {}, own);
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
		['a range', { source: 'timeRange', start: at('09:00'), end: at('09:01') }, 'recordings'],
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
		const { error } = await run({ ...range, options }, undefined, {}, own);
		expect(error).toBeUndefined();
		expect(new Set(sources)).toEqual(new Set([expected]));
	});
});

describe('a range', () => {
	/** Whether every millisecond was asked for once: the chunks lie end to end. */
	const expectChunks = (asked: number[][], startMs: number, lengths: number[]) => {
		let reached = startMs;
		const expected = lengths.map((length) => [reached, (reached += length)]);
		expect(asked).toEqual(expected);
	};
	const twoHours = (count: number, ...rest: number[]) => [
		...Array.from({ length: count }, () => 2 * hour),
		...rest,
	];

	test.each([
		['exactly two hours', 2 * hour, twoHours(1)],
		['two hours and a millisecond', 2 * hour + 1, twoHours(1, 1)],
		['24 hours', 24 * hour, twoHours(12)],
		['25 hours and a half', 25.5 * hour, twoHours(12, 1.5 * hour)],
	])('of %s is requested once, and the last chunk is shorter', async (_name, length, lengths) => {
		const start = Date.parse('2026-03-10T05:00:00.007Z');
		const { asked, status } = await downloadRange(start, start + length, { ifNoAudio: 'skip' });
		expect(status).toBe('success');
		expectChunks(asked, start, lengths);
	});

	test.each([
		['of no length', at('09:00'), at('09:00'), "'Start' and 'End' are the same"],
		['of no length, in two ways', at('09:00'), ms('09:00'), "'Start' and 'End' are the same"],
		['of days in the wrong order', '2026-11-21', '2026-11-20', "'Start' is later than 'End'"],
		[
			'of days far apart in the wrong order',
			'2026-11-21',
			'2026-11-18',
			"'Start' is later than 'End'",
		],
		['of negative length', at('09:00'), at('08:59'), "'Start' is later than 'End'"],
		['without a start', '', at('09:00'), "'Start' is empty"],
		['without a start that is one', 'soon', at('09:00'), `'Start' is not a date and time: "soon"`],
		['of seconds', ms('09:00') / 1000, ms('09:01'), "'Start' is not a date and time"],
	])('%s is refused before any request', async (_name, start, end, expected) => {
		const { message, requests } = await downloadRange(start, end);
		expect(message).toContain(expected);
		expect(requests).toEqual([]);
	});

	test('with fractions of milliseconds is widened to whole ones', async () => {
		const start = ms('09:00');
		const { asked } = await downloadRange(start + 0.25, start + 2 * hour + 0.25, {
			ifNoAudio: 'skip',
		});
		expectChunks(asked, start, [2 * hour, 1]);
	});

	test.each([
		['the 23 hours of the day when spring skips one', '2026-03-29', '2026-03-30', 11, hour],
		['the 25 hours of the day when autumn repeats one', '2025-10-26', '2025-10-27', 12, hour],
	])('covers %s', async (_name, from, to, whole, last) => {
		const { asked, status } = await downloadRange(`${from}T00:00:00`, `${to}T00:00:00`, {
			timezone: 'Europe/Berlin',
			ifNoAudio: 'skip',
		});
		expect(status).toBe('success');
		const start = Date.parse(`${from}T00:00:00${from < '2026' ? '+02:00' : '+01:00'}`);
		expectChunks(asked, start, twoHours(whole, last));
	});

	test('within the repeated hour of autumn covers both passes', async () => {
		const { asked } = await downloadRange('2025-10-26T02:15:00', '2025-10-26T02:45:00', {
			timezone: 'Europe/Berlin',
			ifNoAudio: 'skip',
		});
		expectChunks(asked, Date.parse('2025-10-26T02:15:00+02:00'), [1.5 * hour]);
	});

	test('is divided into chunks of the requested length', async () => {
		const { asked } = await downloadRange(at('09:00'), at('09:10'), {
			chunkMinutes: 4,
			ifNoAudio: 'skip',
		});
		expectChunks(asked, ms('09:00'), [4 * minute, 4 * minute, 2 * minute]);
	});

	test.each([0, 0.5, 1.5, 121, -1, '={{ "long" }}'])(
		'in chunks of %p minutes is refused',
		async (chunkMinutes) => {
			const { message, requests } = await downloadRange(at('09:00'), at('10:00'), { chunkMinutes });
			expect(message).toMatch(
				/^'Chunk Length' must be a whole number of minutes, 1 to 120, not "(-?[\d.]+|long)"$/,
			);
			expect(requests).toEqual([]);
		},
	);
});

describe('the audio of a lifelog', () => {
	const downloadOf = async (id: string, options: IDataObject = {}) =>
		await run({ source: 'lifelog', lifelogId: byId(id), options });

	test.each(['UTC', 'Asia/Kolkata', 'America/St_Johns'])(
		'covers its start to its end, with times in %s',
		async (timezone) => {
			const { id } = await record('09:00:30', 12.5);
			const { json, requests, asked } = await downloadOf(id, { timezone });
			expect(asked).toEqual([[ms('09:00:30'), ms('09:13')]]);
			expect(json).toMatchObject([{ lifelogId: id, part: 1, parts: 1 }]);
			expect(requests[0].path).toBe(`/v1/lifelogs/${id}`);
			expect(requests[0].query).toEqual({
				timezone,
				includeMarkdown: 'false',
				includeHeadings: 'false',
				includeContents: 'false',
			});
			const [[startMs, endMs]] = asked;
			const [query] = requests.filter(({ path }) => path === PATH).map((each) => each.query);
			expect(query).toEqual({ startMs: String(startMs), endMs: String(endMs) });
		},
	);

	test('can be padded', async () => {
		const { id } = await record('09:00', 10);
		const { asked } = await downloadOf(id, { padding: 90.5 });
		expect(asked).toEqual([[ms('09:00') - 90_500, ms('09:10') + 90_500]]);
	});

	test("isn't padded beyond now", async () => {
		const { id } = await record('22:45', 14);
		const { asked } = await downloadOf(id, { padding: 3600 });
		expect(asked).toEqual([[ms('21:45'), Date.parse(NOW)]]);
	});

	test("isn't padded beyond 1970", async () => {
		const times = { startTime: '1970-01-01T00:00:05Z', endTime: '1970-01-01T00:00:10Z' };
		const { id } = await sandbox.control.addLifelog(times);
		const { asked } = await downloadOf(id, { padding: 60 });
		expect(asked).toEqual([[0, 70_000]]);
	});

	test('longer than a chunk is returned in several items that name the lifelog', async () => {
		const { id } = await record('09:00', 150);
		const { json } = await downloadOf(id);
		expect(json).toMatchObject([
			{ lifelogId: id, part: 1, parts: 2 },
			{ lifelogId: id, part: 2, parts: 2 },
		]);
		const names = Object.keys(json[1]);
		expect(names.slice(names.indexOf('parts'), -2)).toEqual([
			...['parts', 'lifelogId', 'missingRanges', 'failedRanges'],
		]);
	});

	test.each([-1, '={{ "some" }}'])('with a padding of %p is refused', async (padding) => {
		const { message, requests } = await downloadOf('x', { padding });
		expect(message).toMatch(/^'Padding' must be a number of seconds, 0 or more, not "(-1|some)"$/);
		expect(requests).toEqual([]);
	});

	test('of no length is an error, unless it is padded', async () => {
		const { id } = await record('09:00', 0);
		expect((await downloadOf(id)).message).toBe(`The lifelog "${id}" has no length`);
		expect((await downloadOf(id, { padding: 1, ifNoAudio: 'skip' })).asked).toEqual([
			[ms('09:00') - 1000, ms('09:00') + 1000],
		]);
	});

	test("of a lifelog that doesn't exist is an error that names the ID", async () => {
		const { message, asked } = await downloadOf('nobody');
		expect(message).toBe('No lifelog with the ID "nobody" was found');
		expect(asked).toEqual([]);
	});

	test('without times is an error', async () => {
		await sandbox.control.faults([{ body: { data: { lifelog: { id: 'x', startTime: 'noon' } } } }]);
		expect((await downloadOf('x')).message).toContain('the lifelog has no start or no end');
	});

	test('can be chosen from the list of lifelogs', async () => {
		const { id } = await record('09:00', 1);
		const [, node] = workflowWith('lifelogAudio', { source: 'lifelog' }).nodes;
		const { results } = await engine.loadOptions(node, 'searchLifelogs');
		expect(results.map(({ value }) => value)).toEqual([id]);
	});
});

describe('gaps', () => {
	test('return items for the other chunks, and the first item names the gaps', async () => {
		await record('02:10', 1);
		await record('09:10', 1);
		const { json, asked } = await downloadRange(at('00:00'), at('14:00'));
		const missingRanges = [
			spanOf('00:00', '02:00'),
			spanOf('04:00', '08:00'),
			spanOf('10:00', '14:00'),
		];
		expect(json).toMatchObject([
			{ part: 2, parts: 7, startMs: ms('02:00'), missingRanges },
			{ part: 5, parts: 7, startMs: ms('08:00'), missingRanges: [] },
		]);
		expect(asked).toHaveLength(7);
	});

	test('in the entire range are an error that names the range', async () => {
		const { message, description, asked } = await downloadRange(at('00:00'), at('05:00'));
		expect(message).toBe(
			'There is no audio from 2026-03-20T00:00:00.000Z to 2026-03-20T05:00:00.000Z',
		);
		expect(description).toContain('If No Audio');
		expect(asked).toHaveLength(3);
	});

	test('return no item with If No Audio: Skip, if the entire range has no audio', async () => {
		const result = await downloadRange(at('00:00'), at('05:00'), { ifNoAudio: 'skip' });
		expect(result.status).toBe('success');
		expect(result.json).toEqual([]);
	});

	test('in the entire range return one item without a file with If No Audio: Report', async () => {
		const result = await downloadRange(at('00:00'), at('05:00'), { ifNoAudio: 'report' });
		expect(result.status).toBe('success');
		expect(result.items('Node').map(({ binary }) => binary)).toEqual([undefined]);
		const { startMs, endMs, startTime, endTime } = spanOf('00:00', '05:00');
		const missingRanges = [spanOf('00:00', '05:00')];
		const expected = { startTime, endTime, parts: 3, missingRanges, failedRanges: [] };
		expect(result.json).toEqual([{ ...expected, startMs, endMs }]);
		expect(Object.keys(result.json[0])).toEqual([...Object.keys(expected), 'startMs', 'endMs']);
	});

	test('in an entire lifelog name the lifelog', async () => {
		const { id } = await record('09:00', 5);
		await sandbox.control.faults([{ path: PATH, status: 404, body: { error: 'None' } }]);
		const options = { ifNoAudio: 'report' };
		const { json, checks } = await run({ source: 'lifelog', lifelogId: byId(id), options });
		expect(json).toMatchObject([{ lifelogId: id, missingRanges: [spanOf('09:00', '09:05')] }]);
		expect(checks).toBe(0);
	});
});

describe('a 404', () => {
	const skip = { ifNoAudio: 'skip' };

	test.each<[string, Fault]>([
		[
			'a page of HTML',
			{ body: '<html><title>nginx</title></html>', headers: { 'content-type': 'text/html' } },
		],
		['JSON of another shape', { body: { message: 'Not Found', statusCode: 404 } }],
		['JSON with an error that is no text', { body: { error: { message: 'nothing' } } }],
		['a text', { body: 'Not found', headers: { 'content-type': 'text/plain' } }],
		['nothing at all', { body: '' }],
	])('that is %s is not taken for "no audio"', async (_name, fault) => {
		await sandbox.control.faults([{ path: PATH, status: 404, ...fault }]);
		const { message, description } = await downloadRange(at('00:00'), at('01:00'), skip);
		expect(message).toContain('has no endpoint at the address of this request (404)');
		expect(description).toContain("Check the 'Base URL'");
		expect(description).toContain('Requested: audio from 2026-03-20T00:00:00.000Z');
	});

	test.each(['error', 'skip', 'report'])(
		'in the right form from another server is not taken for "no audio" (%s)',
		async (ifNoAudio) => {
			const own = await engineFor((_request, response) => {
				response.writeHead(404, { 'content-type': 'application/json' });
				response.end(JSON.stringify({ statusCode: 404, error: 'Not Found' }));
			});
			const parameters = { start: at('09:00'), end: at('10:00'), options: { ifNoAudio } };
			const { message, json } = await run(parameters, undefined, {}, own);
			expect(message).toContain('has no endpoint at the address of this request (404)');
			expect(json).toEqual([]);
		},
	);

	test('is accepted if the service has already responded correctly, otherwise after one probe for each run', async () => {
		await record('09:10', 1);
		const found = await downloadRange(at('00:00'), at('14:00'), skip);
		expect(found.checks).toBe(0);
		const input = [0, 1, 2].map((hour) => ({ json: { start: ms('00:00') + hour * 3_600_000 } }));
		const parameters = { start: '={{ $json.start }}', end: '={{ $json.start + 60000 }}' };
		const nothing = await run({ ...parameters, options: skip }, { input });
		expect(nothing.status).toBe('success');
		expect([nothing.asked.length, nothing.checks]).toEqual([3, 1]);
	});
});

describe('a refusal', () => {
	test.each([
		[
			400,
			{ error: 'endMs is off' },
			'The service refused a parameter: endMs is off (audio from ',
			'startMs=',
		],
		[401, { error: 'Unauthorized' }, 'The API key was refused', 'Check the API key'],
		[403, '', 'The API key is not allowed to do this', 'Check that'],
		[302, '', 'The service redirects to another address (302)', 'was not followed'],
	])('by %d quotes the service', async (status, body, message, description) => {
		await record('09:00', 1);
		const headers = { location: 'http://127.0.0.1:9/' };
		await sandbox.control.faults([{ status, body, headers, times: 9 }]);
		const result = await downloadRange(at('09:00'), at('10:00'));
		expect(result.message).toContain(message);
		expect(result.description).toContain(description);
		expect(result.left).toEqual([]);
	});
});

describe('an interrupted body', () => {
	beforeEach(async () => {
		await record('06:00', 5);
		await record('08:00', 5);
		await record('10:00', 5);
	});
	const archive = async (faults: Fault[]) => {
		await sandbox.control.faults(faults);
		return await downloadRange(at('06:00'), at('12:00'));
	};

	test.each([true, false])(
		'is an error after all retries, length declared: %p',
		async (declared) => {
			await sandbox.control.dialect({ audioContentLength: declared });
			const { message, asked, left, json } = await archive([
				{ path: PATH, cutBody: true, times: 99 },
			]);
			expect(message).toMatch(
				/the response was interrupted \(audio from 2026-03-20T\d\d:00:00.000Z to 2026-03-20T\d\d:00:00.000Z\)/,
			);
			expect(json).toEqual([]);
			// Three chunks at a time, and none of them more than four times.
			expect(maxForOneChunk(asked)).toBe(4);
			expect(left).toEqual([]);
		},
	);

	test.each([true, false])(
		'is requested again, without the other chunks, length declared: %p',
		async (declared) => {
			await sandbox.control.dialect({ audioContentLength: declared });
			const { json, asked, items, binary, left } = await archive([
				{ path: chunkAt('08:00'), cutBody: true, times: 2 },
			]);
			expect(asked.map(([startMs]) => startMs).sort()).toEqual([
				...[ms('06:00'), ms('08:00'), ms('08:00'), ms('08:00'), ms('10:00')],
			]);
			expect(json.map(({ part }) => part)).toEqual([1, 2, 3]);
			expect(json.map(({ fileName }) => fileName)).toEqual(
				['06.00', '08.00', '10.00'].map((time) => `2026-03-20 ${time} Audio.ogg`),
			);
			for (const item of items('Node')) {
				const { startMs, endMs } = item.json as { startMs: number; endMs: number };
				expect(sha256(await binary(item, 'data'))).toBe(sha256(await fetchAudio([startMs, endMs])));
			}
			// Each file and what n8n notes of it.
			expect(left).toHaveLength(6);
		},
	);

	test('shares its retries with other failures of the same chunk', async () => {
		const path = chunkAt('06:00');
		const { asked, left } = await archive([
			{ path, cutBody: true },
			{ path, status: 503, skip: 0, times: 2 },
			{ path, cutBody: true, times: 9 },
		]);
		expect(maxForOneChunk(asked)).toBe(4);
		// What other chunks had stored stays, as what n8n stored before an error does.
		expect(left.length).toBeLessThanOrEqual(4);
	});

	test.each<[string, Fault]>([
		['a 500', { status: 500 }],
		['a 429', { status: 429, body: { error: 'slow', retryAfter: '1' } }],
		['a connection that breaks', { reset: 'before' }],
		['a refusal that breaks off', { status: 404, body: { error: 'x'.repeat(500) }, cutBody: true }],
	])(
		"in the middle of an archive doesn't end the download, nor do other failures: %s",
		async (_name, fault) => {
			const { json, asked, requests } = await archive([{ path: chunkAt('08:00'), ...fault }]);
			expect(json.map(({ part }) => part)).toEqual([1, 2, 3]);
			expect(asked.map(([startMs]) => startMs).sort()).toEqual([
				...[ms('06:00'), ms('08:00'), ms('08:00'), ms('10:00')],
			]);
			const [refused, again] = requests.filter(
				({ query }) => Number(query.startMs) === ms('08:00'),
			);
			if (fault.status === 429) expect(again.at - refused.at).toBeGreaterThanOrEqual(990);
		},
	);
});

describe('a body that stalls', () => {
	const stall: RequestListener = (_request, response) => {
		response.writeHead(200, { 'content-type': 'audio/ogg', 'content-length': 1000 });
		response.write('OggS and a bit');
	};

	test('counts as interrupted', async () => {
		const probe = standIn('probe');
		probe.execute = async function (this: IExecuteFunctions) {
			const api = await connect(this, { maxWaitMs: 0, retries: 1, timeoutMs: 300 });
			await download(api, PATH, {}, { noun: 'audio' }, async (body) => {
				return await this.helpers.prepareBinaryData(body.stream(), 'x.ogg', 'audio/ogg');
			});
			return [[]];
		};
		probe.description.credentials = [{ name: 'lifelogApi', required: true }];
		let open = 0;
		const service: RequestListener = (request, response) => {
			open++;
			response.on('close', () => open--);
			stall(request, response);
		};
		const own = await engineFor(service, { 'n8n-nodes-lifelog.probe': probe });
		const before = await storedFiles();
		const { error } = await own.runWorkflow(workflowWith('probe', {}));
		expect(error?.message).toContain('the service took too long');
		expect(await storedFiles()).toEqual(before);
		for (let checks = 0; open > 0 && checks < 100; checks++) await sleep(50);
		expect(open).toBe(0);
	});

	test('ends immediately when the workflow is canceled', async () => {
		let asked = false;
		const own = await engineFor((request, response) => {
			stall(request, response);
			asked = true;
		});
		const before = await storedFiles();
		const running = own.startWorkflow(
			workflowWith('lifelogAudio', { source: 'timeRange', start: at('09:00'), end: at('10:00') }),
		);
		while (!asked) await sleep(20);
		await sleep(200);
		running.cancel();
		expect(await endsSoon(running.done)).toBe(true);
		expect((await running.done).status).toBe('canceled');
		expect(await storedFiles()).toEqual(before);
	});
});

describe('a success without audio', () => {
	test.each<[string, Fault, string, string]>([
		[
			'JSON',
			{ body: { error: 'still encoding' } },
			"it isn't Ogg audio",
			'It says: still encoding',
		],
		[
			'JSON that says it is audio',
			{ body: '{"error":"still encoding"}', headers: { 'content-type': 'audio/ogg' } },
			"it isn't Ogg audio",
			'It says: still encoding',
		],
		[
			'a page',
			{
				body: '<html><title>Sign in</title></html>',
				headers: { 'content-type': 'text/html; charset=utf-8' },
			},
			"it isn't Ogg audio",
			'It says: a page of HTML.',
		],
		[
			'an empty body',
			{ body: '', headers: { 'content-type': 'audio/ogg' } },
			'it is empty (audio from 2026-03-20T09:00:00.000Z',
			'Check the',
		],
		['no content at all', { status: 204 }, 'it is empty (audio from', 'Check the'],
		[
			'another kind of audio',
			{ body: 'ID3 and so on', headers: { 'content-type': 'audio/mpeg' } },
			"it isn't Ogg audio",
			'Check the',
		],
	])('is an error that says what was returned: %s', async (_name, fault, message, description) => {
		await record('09:00', 1);
		await sandbox.control.faults([{ path: PATH, ...fault }]);
		const { left, asked, ...failed } = await downloadRange(at('09:00'), at('10:00'));
		expect(failed.message).toContain(message);
		expect(failed.description).toContain(description);
		expect(asked).toHaveLength(1);
		expect(left).toEqual([]);
	});

	test("and without an end isn't read to the end", async () => {
		let sent = 0;
		const own = await engineFor((_request, response) => {
			response.writeHead(200, { 'content-type': 'text/plain' });
			const more = () => {
				while (!response.destroyed && response.write('x'.repeat(65_536))) sent++;
			};
			response.on('drain', more);
			more();
		});
		const range = { source: 'timeRange', start: at('09:00'), end: at('10:00') };
		const { message } = await run(range, undefined, {}, own);
		expect(message).toContain("it isn't Ogg audio");
		expect(sent * 65_536).toBeLessThan(20e6);
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

describe('a failed chunk', () => {
	const report = { ifPartFails: 'report' };
	const archive = async (faults: Fault[], options: IDataObject = report, more?: Partial<INode>) => {
		await sandbox.control.faults(faults);
		const range = { start: at('06:00'), end: at('12:00') };
		return await run({ ...range, options }, undefined, more);
	};
	const failed = (from: string, to: string, message: unknown) => ({
		...spanOf(from, to),
		message,
	});

	beforeEach(async () => {
		await record('06:00', 5);
		await record('08:00', 5);
		await record('10:00', 5);
	});

	test.each<[string, Fault, string]>([
		['a 500', { status: 500, times: 4 }, 'The service failed (500)'],
		['a 400', { status: 400, body: { error: 'no' } }, 'The service refused a parameter: no'],
		['a body that breaks off', { cutBody: true, times: 4 }, 'the response was interrupted'],
		['a connection that breaks', { reset: 'before', times: 4 }, 'the connection was interrupted'],
		['an answer that is no audio', { body: { error: 'later' } }, "it isn't Ogg audio"],
	])('is listed in the items of the other chunks: %s', async (_name, fault, message) => {
		const result = await archive([{ path: chunkAt('08:00'), ...fault }]);
		expect(result.status).toBe('success');
		const failedRanges = [failed('08:00', '10:00', expect.stringContaining(message))];
		expect(result.json).toMatchObject([
			{ part: 1, parts: 3, missingRanges: [], failedRanges },
			{ part: 3, parts: 3, missingRanges: [], failedRanges: [] },
		]);
		expect(result.items('Node').every(({ binary }) => binary?.data !== undefined)).toBe(true);
		expect(result.hints('Node')).toMatchObject([
			{ message: expect.stringContaining('failedRanges'), type: 'warning' },
		]);
		// Each file and what n8n notes of it, nothing of the part that failed.
		expect(result.left).toHaveLength(4);
	});

	test('is listed even if it is the first, after another chunk or a probe succeeded', async () => {
		const { json, checks } = await archive([
			{ path: chunkAt('06:00'), status: 204 },
			{ path: chunkAt('08:00'), status: 204 },
		]);
		const failedRanges = [failed('06:00', '10:00', expect.stringContaining('it is empty'))];
		expect(json).toMatchObject([{ part: 3, parts: 3, failedRanges }]);
		expect(checks).toBeLessThanOrEqual(1);
	});

	test('is listed together with the gaps', async () => {
		await sandbox.control.reset({ empty: true, now: NOW });
		await record('10:00', 5);
		const result = await archive([{ path: chunkAt('08:00'), status: 204 }]);
		expect(result.json).toMatchObject([
			{
				part: 3,
				missingRanges: [spanOf('06:00', '08:00')],
				failedRanges: [failed('08:00', '10:00', expect.any(String))],
			},
		]);
	});

	test.each(['error', 'skip', 'report'])(
		'returns one item without a file if no chunk succeeds (If No Audio: %s)',
		async (ifNoAudio) => {
			const options = { ...report, ifNoAudio };
			const { items, json, status } = await archive(
				[
					{ path: chunkAt('06:00'), status: 404, body: { error: 'None' } },
					{ path: PATH, status: 204, times: 9 },
				],
				options,
			);
			expect(status).toBe('success');
			expect(items('Node').map(({ binary }) => binary)).toEqual([undefined]);
			expect(json).toEqual([
				{
					...spanOf('06:00', '12:00'),
					parts: 3,
					missingRanges: [spanOf('06:00', '08:00')],
					failedRanges: [failed('08:00', '12:00', expect.stringContaining('it is empty'))],
				},
			]);
		},
	);

	test.each([401, 403, 302, 404])('with status %d stops all chunks', async (status) => {
		const headers = { location: 'http://127.0.0.1:9/' };
		const faults = [{ path: chunkAt('06:10'), status, headers, times: 9 }];
		const { asked, message, json } = await archive(faults, { ...report, chunkMinutes: 10 });
		expect(message).toMatch(/API key|redirects|has no endpoint at the address/);
		expect(json).toEqual([]);
		// Of 36, three at a time.
		expect(asked.length).toBeLessThan(12);
	});

	test('stops all chunks if the connection is refused', async () => {
		const own = await engineAt({ url: 'http://127.0.0.1:9', apiKey: sandbox.apiKey });
		started.push(own);
		const parameters = { start: at('06:00'), end: at('12:00'), options: report };
		const { message, json } = await run(parameters, undefined, {}, own);
		expect(message).toContain('the connection was refused');
		expect(json).toEqual([]);
	});

	test("from an address that isn't the service stops all chunks", async () => {
		let requests = 0;
		const own = await engineFor((_request, response) => {
			requests++;
			response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Welcome</title>');
		});
		const parameters = { start: at('06:00'), end: at('12:00'), options: report };
		const { message } = await run(parameters, undefined, {}, own);
		expect(message).toContain('The service returned an unexpected response');
		// Three chunks, and one question whether it is the service.
		expect(requests).toBeLessThanOrEqual(4);
	});

	test("that n8n can't store stops all chunks", async () => {
		await rm(binaryDir, { recursive: true });
		await writeFile(binaryDir, 'a file where the folder should be');
		await sandbox.control.clearRequests();
		const range = { source: 'timeRange', start: at('06:00'), end: at('12:00') };
		const workflow = workflowWith('lifelogAudio', { ...range, options: report });
		const { status } = await engine.runWorkflow(workflow);
		const asked = (await sandbox.control.requests()).filter(({ path }) => path === PATH);
		await rm(binaryDir);
		await mkdir(binaryDir);
		expect(status).toBe('error');
		expect(asked.length).toBeLessThanOrEqual(3);
	});

	test('stops all chunks if the execution was canceled', async () => {
		let requests = 0;
		const own = await engineFor((_request, response) => {
			requests++;
			response.writeHead(200, { 'content-type': 'audio/ogg' }).write('OggS and a bit');
		});
		const range = { source: 'timeRange', start: at('06:00'), end: at('12:00') };
		const parameters = { operation: 'download', ...range, options: report };
		const more = { onError: 'continueRegularOutput' } as const;
		const running = own.startWorkflow(workflowWith('lifelogAudio', parameters, more));
		while (requests === 0) await sleep(20);
		running.cancel();
		expect((await running.done).status).toBe('canceled');
		expect(requests).toBeLessThanOrEqual(3);
	});

	test("by a rate limit longer than Max Rate Limit Wait is listed, and later chunks aren't requested", async () => {
		const body = { error: 'slow', retryAfter: '1' };
		const { json, asked } = await archive(
			[{ path: chunkAt('06:00'), status: 429, body, times: 9 }],
			{ ...report, maxWait: 0, chunkMinutes: 20 },
		);
		const failedRanges = json[0].failedRanges as IDataObject[];
		expect(failedRanges[0]).toEqual(
			failed('06:00', '06:20', 'The rate limit asks for a wait of 1 s'),
		);
		expect(failedRanges.at(-1)).toMatchObject({
			endMs: ms('12:00'),
			message: expect.stringMatching(/^Not requested, .*a wait of 1 s$/),
		});
		// Of 18, three at a time.
		expect(asked.length).toBeLessThan(9);
		await sleep(1100);
	});

	test('ten times in a row lists the later chunks without requesting them', async () => {
		await sandbox.control.faults([{ path: PATH, status: 204, times: 999 }]);
		const options = { ...report, chunkMinutes: 1, maxWait: 60 };
		const { json, asked } = await downloadRange(at('06:00'), at('06:30'), options);
		// Ten in a row, and what was under way with the last of them.
		expect(asked.length).toBeGreaterThanOrEqual(10);
		expect(asked.length).toBeLessThanOrEqual(13);
		expect(json).toHaveLength(1);
		const failedRanges = json[0].failedRanges as IDataObject[];
		expect(failedRanges[0].message).not.toContain('Not requested');
		expect(failedRanges.at(-1)).toMatchObject({
			endMs: ms('06:30'),
			message: expect.stringContaining('Not requested'),
		});
	});

	test('is an error that names the range, unless If Part Fails is Report', async () => {
		const failure = await archive([{ path: chunkAt('08:00'), status: 503, times: 9 }], {});
		expect(failure.message).toBe(
			'The service failed (503): audio from 2026-03-20T08:00:00.000Z to 2026-03-20T10:00:00.000Z',
		);
		expect(failure.json).toEqual([]);
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		"isn't a failed item if it is listed, but an error of all chunks is (%s)",
		async (onError) => {
			const faults = [{ path: chunkAt('08:00'), status: 204 }];
			const listed = await archive(faults, report, { onError });
			expect(listed.json.map(({ part, error }) => [part, error])).toEqual([
				[1, undefined],
				[3, undefined],
			]);
			const refused = await archive([{ path: chunkAt('08:00'), status: 401 }], report, { onError });
			const output = onError === 'continueErrorOutput' ? 1 : 0;
			expect(refused.items('Node', output).map(({ json }) => json.error)).toEqual([
				'The API key was refused',
			]);
		},
	);
});

describe('a choice', () => {
	test('of Source is a lifelog by default', async () => {
		const { id } = await record('09:00', 5);
		const { items } = await engine.runWorkflow(
			workflowWith('lifelogAudio', { lifelogId: byId(id) }),
		);
		expect(items('Node').map(({ json }) => json.lifelogId)).toEqual([id]);
	});

	test('by an expression is read in upper and lower case', async () => {
		const choose = (value: string) => `={{ "${value}" }}`;
		const { json } = await run({
			source: choose('TimeRange'),
			start: at('09:00'),
			end: at('09:01'),
			options: { ifNoAudio: choose('REPORT'), ifPartFails: choose('Report') },
		});
		expect(json).toMatchObject([{ missingRanges: [spanOf('09:00', '09:01')] }]);
	});

	test.each([
		[{ source: '={{ "week" }}' }, `'Source' must be lifelog, day or timeRange, not "week"`],
		[
			{ options: { ifNoAudio: '={{ "stop" }}' } },
			`'If No Audio' must be error, report or skip, not "stop"`,
		],
		[
			{ options: { ifPartFails: '={{ "skip" }}' } },
			`'If Part Fails' must be error or report, not "skip"`,
		],
	])(
		'by an expression that returns an unknown value is refused: %j',
		async (parameters, expected) => {
			const range = { start: at('09:00'), end: at('09:01') };
			const { message, requests } = await run({ ...range, ...parameters });
			expect(message).toBe(expected);
			expect(requests).toEqual([]);
		},
	);
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
		const { items, binary, json, message } = await run(range, undefined, {}, own);
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
		const { json } = await run(range, undefined, {}, own);
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
	const range = { source: 'timeRange', start: at('09:00'), end: at('10:00') };
	const { items } = await own.runWorkflow(workflowWith('lifelogAudio', range));
	const [{ json }] = items('Node');
	expect(json).toMatchObject({ fileSize: parts * part.length + 4, sha256: expected.digest('hex') });
	expect(peak - before).toBeLessThan(150 * 1024 * 1024);
});

describe('several input items', () => {
	const parameters = {
		source: 'timeRange',
		start: '={{ $json.start }}',
		end: '={{ $json.end }}',
	};
	const input = [
		{ json: { start: at('06:00'), end: at('11:00') } },
		{ json: { start: at('00:00'), end: at('01:00'), note: 'night' } },
		{ json: { start: at('08:00'), end: at('10:00:00.001') } },
	];
	const night = 'There is no audio from 2026-03-20T00:00:00.000Z to 2026-03-20T01:00:00.000Z';

	beforeEach(async () => {
		await record('06:30', 1);
		await record('08:30', 1);
		await record('09:59', 2);
	});

	test('are each paired with their chunks', async () => {
		const result = await run(parameters, { input: [input[0], input[2]] });
		expect(result.items('Node').map(({ pairedItem, json }) => [pairedItem, json.part])).toEqual([
			...[1, 2, 3].map((part) => [{ item: 0 }, part]),
			...[1, 2].map((part) => [{ item: 1 }, part]),
		]);
	});

	test('stop at the item that fails', async () => {
		const { error, message } = await run(parameters, { input });
		expect(message).toBe(night);
		expect((error as unknown as { context: IDataObject }).context.itemIndex).toBe(1);
	});

	test('with "continue" keep the others when one fails', async () => {
		const result = await run(parameters, { input }, { onError: 'continueRegularOutput' });
		expect(result.items('Node').map(({ pairedItem }) => pairedItem)).toEqual([
			...[0, 0, 0, 1, 2, 2].map((item) => ({ item })),
		]);
		expect(result.json[3]).toEqual({
			...input[1].json,
			error: night,
			errorDetails: {
				code: '404',
				description: expect.stringContaining('Audio can be uploaded late'),
			},
		});
		expect(result.items('Node')[5].binary).toBeDefined();
	});

	test('with the error output keep the others when one fails', async () => {
		const result = await run(parameters, { input }, { onError: 'continueErrorOutput' });
		expect(result.json.map(({ part }) => part)).toEqual([1, 2, 3, 1, 2]);
		const [failed, ...rest] = result.items('Node', 1);
		expect(rest).toEqual([]);
		expect(failed.json).toEqual({ ...input[1].json, error: night });
	});

	test('with "continue" keep the files stored before another item fails', async () => {
		await sandbox.control.faults([{ path: PATH, cutBody: true, skip: 4, times: 4 }]);
		const [first, , last] = input;
		const result = await run(
			parameters,
			{ input: [first, last] },
			{ onError: 'continueRegularOutput' },
		);
		expect(result.json.map(({ part }) => part)).toEqual([1, 2, 3, undefined]);
		expect(result.json[3].error).toContain('the response was interrupted');
	});
});

test('the tool description says what the operation does', () => {
	const type = loadPackage().nodeTypes['n8n-nodes-lifelog.lifelogAudio'] as Parameters<
		typeof NodeHelpers.getVersionedNodeType
	>[0];
	const versioned = NodeHelpers.getVersionedNodeType(type);
	const [, node] = workflowWith('lifelogAudio', { operation: 'download', resource: 'audio' }).nodes;
	expect(versioned.description.usableAsTool).toBe(true);
	expect(NodeHelpers.getToolDescriptionForNode(node, versioned)).toBe(
		'Download audio in Lifelog Audio',
	);
});

test('returns the complete file if n8n keeps binary data in memory', async () => {
	await record('09:00', 5);
	const inMemory = await engineAt(sandbox, { binaryMode: 'default' });
	started.push(inMemory);
	const range = { source: 'timeRange', start: at('09:00'), end: at('10:00') };
	const { items, binary, left } = await run(range, undefined, {}, inMemory);
	const stored = await binary(items('Node')[0], 'data');
	expect(sha256(stored)).toBe(sha256(await fetchAudio([ms('09:00'), ms('10:00')])));
	expect(left).toEqual([]);
});

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import type { Fault } from '../../support/sandbox.mts';
import type { NodeRun } from '../../support/useNode.mts';
import { byId, workflowWith } from '../../support/workflow.mts';
import { at, chunkAt, ms, NOW, PATH, spanOf, useAudio } from './audio.mts';
import { asksForWait, INTERRUPTED, REFUSED } from '../../support/messages.mts';

// A range of which some chunks have no audio, or fail.

const { sandbox, engine, binaryDir, run, downloadRange, startEngine, engineFor, record } =
	useAudio();

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

describe('a failed chunk', () => {
	const report = { ifPartFails: 'report' };
	const archive = async (faults: Fault[], options: IDataObject = report, more?: NodeRun) => {
		await sandbox.control.faults(faults);
		const range = { start: at('06:00'), end: at('12:00') };
		return await run({ ...range, options }, more);
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
		['a connection that breaks', { reset: 'before', times: 4 }, INTERRUPTED],
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
		const own = await startEngine('http://127.0.0.1:9');
		const parameters = { start: at('06:00'), end: at('12:00'), options: report };
		const { message, json } = await run(parameters, { on: own });
		expect(message).toContain(REFUSED);
		expect(json).toEqual([]);
	});

	test("from an address that isn't the service stops all chunks", async () => {
		let requests = 0;
		const own = await engineFor((_request, response) => {
			requests++;
			response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Welcome</title>');
		});
		const parameters = { start: at('06:00'), end: at('12:00'), options: report };
		const { message } = await run(parameters, { on: own });
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
		expect(failedRanges[0]).toEqual(failed('06:00', '06:20', asksForWait('1 s')));
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

test('with "continue" the files stay that were stored before another item fails', async () => {
	for (const time of ['06:30', '08:30', '09:59']) await record(time, 2);
	await sandbox.control.faults([{ path: PATH, cutBody: true, skip: 4, times: 4 }]);
	const parameters = { start: '={{ $json.start }}', end: '={{ $json.end }}' };
	const input = [
		{ json: { start: at('06:00'), end: at('11:00') } },
		{ json: { start: at('08:00'), end: at('10:00:00.001') } },
	];
	const result = await run(parameters, { input, onError: 'continueRegularOutput' });
	expect(result.json.map(({ part }) => part)).toEqual([1, 2, 3, undefined]);
	expect(result.json[3].error).toContain('the response was interrupted');
});

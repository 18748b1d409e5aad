import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IExecuteFunctions } from 'n8n-workflow';
import { connect } from '../../../nodes/shared/auth/connection.ts';
import { download } from '../../../nodes/shared/transport/request.ts';
import { standIn } from '../../support/engine.mts';
import type { Fault } from '../../support/sandbox.mts';
import { endsSoon } from '../../support/soon.mts';
import { workflowWith } from '../../support/workflow.mts';
import { at, chunkAt, ms, PATH, sha256, useAudio } from './audio.mts';
import { TOO_SLOW } from '../../support/messages.mts';

// Answers that aren't the audio; what the matrix says of each fault isn't repeated here.

const { sandbox, run, downloadRange, engineFor, storedFiles, record, fetchAudio } = useAudio();

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
			const { message, json } = await run(parameters, { on: own });
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

/** How often the chunk was asked for that was asked for most. */
const maxForOneChunk = (asked: number[][]) =>
	Math.max(...asked.map(([start]) => asked.filter(([other]) => other === start).length));

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
		expect(error?.message).toContain(TOO_SLOW);
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
		const range = { start: at('09:00'), end: at('10:00') };
		const { message } = await run(range, { on: own });
		expect(message).toContain("it isn't Ogg audio");
		expect(sent * 65_536).toBeLessThan(20e6);
	});
});

import type { RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { IDataObject } from 'n8n-workflow';
import type { Engine } from '../support/engine.mts';
import { engineAt as anyEngineAt } from '../support/lab.mts';
import type { Fault } from '../support/sandbox.mts';
import { serve as anyServe, type Served } from '../support/serve.mts';
import { skipPauses } from '../support/skipPauses.mts';
import { endsSoon } from '../support/soon.mts';
import { type NodeRun, useNode } from '../support/useNode.mts';
import { byId, workflowWith } from '../support/workflow.mts';
import { asksForWait, REFUSED } from '../support/messages.mts';

// What the request, the rate limit and the paginator do when the service is not at its best.

const pauses = skipPauses();
afterAll(() => pauses.stop());
afterEach(() => {
	pauses.areSkipped = true;
});

const { sandbox, engine, run: runNode } = useNode('lifelog');
let ids: string[];

beforeEach(async () => {
	await sandbox.control.reset({ days: 6, lifelogs: 250 });
	ids = (await sandbox.control.lifelogs()).map(({ id }) => id).reverse();
});

/** How many requests the services started by `serve` have had in this test. */
let served = 0;
const services: Served[] = [];
const engines: Engine[] = [];

afterEach(async () => {
	served = 0;
	for (const started of [...services.splice(0), ...engines.splice(0)]) await started.close();
});

/** A service that answers as a test wants it to. Returns its address. */
async function serve(handler: RequestListener): Promise<string> {
	const service = await anyServe((request, response) => {
		served++;
		handler(request, response);
	});
	services.push(service);
	return service.url;
}

function answer(response: ServerResponse, status: number, body: unknown, headers = {}): void {
	const type = typeof body === 'string' ? 'text/html' : 'application/json';
	response.writeHead(status, { 'content-type': type, ...headers });
	response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

async function engineAt(baseUrl: string, apiKey = sandbox.apiKey): Promise<Engine> {
	const started = await anyEngineAt({ url: baseUrl, apiKey });
	engines.push(started);
	return started;
}

async function run(parameters: IDataObject, options?: NodeRun) {
	const began = Date.now();
	const result = await runNode(parameters, options);
	return { ...result, ms: Date.now() - began, ids: result.json.map(({ id }) => id) };
}

const getMany = async (options: IDataObject = {}, on?: Engine) =>
	await run({ operation: 'getMany', returnAll: true, options }, { on });

/** Page after page. */
const getLimited = async (on?: Engine) => await run({ operation: 'getMany', limit: 1000 }, { on });

const getOne = async (on?: Engine) =>
	await run({ operation: 'get', lifelogId: byId(ids[0]) }, { on });

test("a delete isn't retried if nothing was sent: a 404 would then not mean that it was done", async () => {
	const closed = await engineAt('http://127.0.0.1:9');
	const before = pauses.pausesMs;
	const parameters = { operation: 'delete', lifelogIdToDelete: byId('nobody') };
	const { message } = await run(parameters, { on: closed });
	expect(message).toContain(REFUSED);
	expect(pauses.pausesMs).toBe(before);
});

describe('a 429', () => {
	test.each<[string, Partial<Fault>, number]>([
		['in its body', { body: { error: 'slow down', retryAfter: '2' } }, 2000],
		['in its header', { body: 'slow down', headers: { 'retry-after': '1' } }, 1000],
		['of zero seconds', { body: { retryAfter: '0' } }, 1000],
	])('is waited for, for the time %s', async (_where, fault, waitMs) => {
		const before = pauses.pausesMs;
		await sandbox.control.faults([{ status: 429, skip: 1, ...fault }]);
		const { ids: listed, requests } = await run({ operation: 'getMany', limit: 250 });
		expect(listed).toEqual(ids);
		expect(requests.map(({ status }) => status)).toEqual([200, 429, 200, 200]);
		const waitedMs = pauses.pausesMs - before;
		expect(waitedMs).toBeGreaterThanOrEqual(waitMs - 100);
		expect(waitedMs).toBeLessThan(waitMs + 900);
	});

	test('that asks for more than Max Rate Limit Wait fails at once and says so', async () => {
		const body = { error: 'API key is rate limited', retryAfter: '60' };
		const own = await engineAt(await serve((_request, response) => answer(response, 429, body)));
		const { message, description, ms } = await getMany({ maxWait: 30 }, own);
		expect(message).toBe(
			`${asksForWait('60 s')}, more than the 30 s that a request may wait (lifelogs)`,
		);
		expect(description).toContain('The service says: API key is rate limited');
		expect(ms).toBeLessThan(25_000);

		const next = await getMany({ maxWait: 30 }, own);
		expect(next.message).toContain(asksForWait(''));
		expect(served).toBe(1);
	});

	test('is added to one before a failure', async () => {
		const refuse = (_request: unknown, response: ServerResponse) =>
			answer(response, served === 2 ? 503 : 429, { retryAfter: '2' });
		const { message } = await getMany({ maxWait: 3 }, await engineAt(await serve(refuse)));
		expect(message).toContain(asksForWait('2 s'));
		expect(served).toBe(3);
	});

	test('that asks for exactly Max Rate Limit Wait is waited for by all requests', async () => {
		await sandbox.control.faults([{ status: 429, body: { retryAfter: '1' } }]);
		const get = { operation: 'get', lifelogId: byId(ids[0]), options: { maxWait: 1 } };
		const runs = await Promise.all(Array.from({ length: 40 }, async () => await run(get)));
		expect(runs.map(({ message }) => message).filter(Boolean)).toEqual([]);
	});

	test('that asks for a longer wait than before and too long a wait names both', async () => {
		const waits = ['2', '5'];
		const own = await engineAt(
			await serve((_request, response) =>
				answer(response, 429, { error: 'slow down', retryAfter: waits[served - 1] }),
			),
			'another key',
		);
		const { message } = await getMany({ maxWait: 4 }, own);
		const said = (first: number) =>
			`${asksForWait('5 s')} after one of ${first} s, more than the 4 s that a request may wait (lifelogs)`;
		expect([said(2), said(3)]).toContain(message);
	});

	test.each([-1, 'soon', '={{ NaN }}'])('Max Rate Limit Wait of %p is refused', async (maxWait) => {
		const { message, requests } = await getMany({ maxWait });
		expect(message).toMatch(
			/^'Max Rate Limit Wait' must be a number of seconds, 0 or more, not "(-1|soon|NaN)"$/,
		);
		expect(requests).toEqual([]);
	});
});

test.each([250, 290, 299, 300])(
	'a key that the service quotes after %p letters is redacted completely',
	async (before) => {
		const apiKey = 'sk-0123456789-abcdefghij-0123456789';
		const error = `${'x'.repeat(before)}${apiKey} is not known`;
		const own = await engineAt(
			await serve((_request, response) => answer(response, 403, { error })),
			apiKey,
		);
		const { message, description } = await getMany({}, own);
		expect(message).toContain('not allowed');
		expect(description).toContain('xxx');
		expect(description).not.toContain(apiKey.slice(0, 4));
	},
);

describe('the rate limit of the service', () => {
	const windowMs = 3000;

	test('200 requests all succeed, and wait for the time that the service asks for', async () => {
		await sandbox.control.dialect({ rateLimit: { max: 40, windowMs } });
		// Refused once in any case: where the machine is slow, requests keep below the limit by themselves.
		await sandbox.control.faults([
			{ skip: 20, status: 429, body: { error: 'slow', retryAfter: '1' } },
		]);
		const input = ids.slice(0, 200).map((id) => ({ json: { id } }));
		const parameters = { operation: 'get', lifelogId: byId('={{ $json.id }}') };
		const { ids: got, requests } = await run(parameters, { input });
		expect(got).toEqual(ids.slice(0, 200));
		const refused = requests.filter(({ status }) => status === 429);
		expect(refused.length).toBeGreaterThanOrEqual(1);
		expect(requests).toHaveLength(200 + refused.length);
		for (const { at } of refused) {
			const next = requests.find((request) => request.at > at);
			expect(next!.at - at).toBeGreaterThanOrEqual(990);
		}
	});

	test('while one workflow waits, the others wait too, without a 429 for each', async () => {
		await sandbox.control.dialect({ rateLimit: { max: 20, windowMs } });
		await sandbox.control.clearRequests();
		const workflow = workflowWith('lifelog', {
			operation: 'get',
			lifelogId: byId('={{ $json.id }}'),
		});
		const runs = await Promise.all(
			Array.from({ length: 10 }, async (_, nth) => {
				const input = ids.slice(nth * 5, nth * 5 + 5).map((id) => ({ json: { id } }));
				return await engine.runWorkflow(workflow, { input });
			}),
		);
		expect(runs.flatMap((one) => one.items('Node').map(({ json }) => json.id))).toEqual(
			ids.slice(0, 50),
		);
		const refused = (await sandbox.control.requests()).filter(({ status }) => status === 429);
		expect(refused.length).toBeGreaterThanOrEqual(1);
		expect(refused.length).toBeLessThanOrEqual(30);
	});

	test('canceling the workflow ends the wait at once', async () => {
		pauses.areSkipped = false;
		const body = { retryAfter: '60' };
		const own = await engineAt(await serve((_request, response) => answer(response, 429, body)));
		const running = own.startWorkflow(workflowWith('lifelog', { operation: 'getMany' }));
		while (served === 0) await sleep(20);
		await sleep(50);
		running.cancel();
		expect(await endsSoon(running.done)).toBe(true);
		expect((await running.done).status).toBe('canceled');
	});
});

describe('a temporary failure', () => {
	test.each<[string, Fault]>([
		['a 500', { status: 500 }],
		['a 502 with a page', { status: 502, body: '<html><title>Bad gateway</title></html>' }],
		['a 503', { status: 503 }],
		['a connection broken before the answer', { reset: 'before' }],
		['a connection broken instead of the answer', { reset: 'after' }],
		['an answer broken off', { cutBody: true }],
	])('is retried: %s', async (_name, fault) => {
		await sandbox.control.faults([{ skip: 1, times: 2, ...fault }]);
		const { ids: listed, requests } = await run({ operation: 'getMany', limit: 250 });
		expect(listed).toEqual(ids);
		expect(requests).toHaveLength(5);
		const pauses = [requests[2].at - requests[1].at, requests[3].at - requests[2].at];
		expect(pauses[0]).toBeGreaterThan(400);
		expect(pauses[1]).toBeGreaterThan(900);
	});

	test('that lasts is an error after three retries', async () => {
		await sandbox.control.faults([{ status: 503, body: { error: 'closed for today' }, times: 9 }]);
		const { message, description, requests } = await getOne();
		expect(message).toBe(`The service failed (503): lifelog "${ids[0]}"`);
		expect(description).toContain('The service says: closed for today');
		expect(requests).toHaveLength(4);
	});

	test('canceling the workflow ends the pauses at once', async () => {
		pauses.areSkipped = false;
		const own = await engineAt(await serve((_request, response) => answer(response, 500, {})));
		const running = own.startWorkflow(workflowWith('lifelog', { operation: 'getMany' }));
		while (served < 2) await sleep(20);
		running.cancel();
		expect(await endsSoon(running.done, 30)).toBe(true);
		expect((await running.done).status).toBe('canceled');
		expect(served).toBe(2);
	});
});

describe('an error says what happened and what to do', () => {
	const page = `<!doctype html><html><head><title>Just a moment</title></head>${'x'.repeat(9000)}</html>`;

	test.each<[number, unknown, string, string]>([
		[
			400,
			{ error: 'timezone is unknown' },
			'The service refused a parameter: timezone is unknown',
			'Sent: timezone=UTC',
		],
		[401, { error: 'Unauthorized' }, 'The API key was refused', 'Check the API key'],
		[401, '', 'The API key was refused', 'Check the API key'],
		[
			403,
			{ message: 'Forbidden' },
			'The API key is not allowed to do this',
			'The service says: Forbidden',
		],
		[
			404,
			{ error: 'Not Found' },
			'The service has no endpoint at the address of this request (404)',
			"Check the 'Base URL' in the credential: http://127.0.0.1:",
		],
		[
			418,
			{ error: { message: 'a teapot' } },
			'The service refused the request (418)',
			'The service says: a teapot',
		],
		[301, '', 'The service redirects to another address (301)', 'was not followed'],
		[400, page, 'The service refused a parameter: a page titled "Just a moment"', 'Sent:'],
		[
			200,
			page,
			'The service returned an unexpected response: it is not a JSON object (lifelogs)',
			'It says: a page of HTML.',
		],
		[
			200,
			'',
			'The service returned an unexpected response: it is empty (lifelogs)',
			"Check the 'Base URL'",
		],
		[200, [], 'it is not a JSON object (lifelogs)', 'Check the'],
		[200, {}, 'it has no list of lifelogs (data.lifelogs)', 'Check the'],
		[200, { data: null }, 'it has no list of lifelogs (data.lifelogs)', 'Check the'],
		[200, { data: { lifelogs: {} } }, 'it has no list of lifelogs (data.lifelogs)', 'Check the'],
		[200, { data: { lifelogs: ['a', null] } }, 'some of its lifelogs have no ID', 'Check the'],
	])('%d %j', async (status, body, message, description) => {
		const location = status === 301 ? { location: 'http://127.0.0.1:9/' } : {};
		const own = await engineAt(
			await serve((_request, response) => answer(response, status, body, location)),
		);
		const result = await run({ operation: 'getMany', limit: 5 }, { on: own });
		expect(result.message).toContain(message);
		expect(result.description).toContain(description);
		expect(JSON.stringify(result.error)).not.toContain('xxxx');
		expect(served).toBe(1);
	});

	test.each([
		[200, { data: {} }, 'it has no lifelog (data.lifelog)'],
		[200, { data: 'no' }, 'it has no lifelog (data.lifelog)'],
		[403, {}, 'The API key is not allowed to do this with the lifelog "'],
	])('%d %j to one lifelog', async (status, body, message) => {
		const own = await engineAt(await serve((_request, response) => answer(response, status, body)));
		expect((await getOne(own)).message).toContain(message);
	});

	test("a service that can't be reached", async () => {
		const address = await serve(() => {});
		for (const { close } of services.splice(0)) await close();
		const { message, description } = await getMany({}, await engineAt(address));
		expect(message).toBe(`No answer from ${new URL(address).host}: ${REFUSED} (lifelogs)`);
		expect(description).toContain('Check that the service runs');
	});

	test('words that look like system errors stay unchanged', async () => {
		const body = { error: 'conflicts with a preexisting entry' };
		const own = await engineAt(await serve((_request, response) => answer(response, 400, body)));
		expect((await getOne(own)).message).toBe(
			`The service refused a parameter: conflicts with a preexisting entry (lifelog "${ids[0]}")`,
		);
	});
});

describe('the API key', () => {
	const apiKey = 'marked-key-8c1f';

	test.each<[string, number, unknown]>([
		['quoted by the service', 401, { error: `The key ${apiKey} is not valid` }],
		['with a server error', 500, { error: apiKey }],
		["with an answer that isn't JSON", 200, `<html>${apiKey}</html>`],
		['with a rate limit', 429, { error: `slow, ${apiKey}`, retryAfter: '3600' }],
	])('is in no error: %s', async (_name, status, body) => {
		const own = await engineAt(
			await serve((_request, response) => answer(response, status, body)),
			apiKey,
		);
		const { error, runData } = await getMany({}, own);
		expect(error).toBeDefined();
		expect(inspect({ error, runData }, { depth: Infinity, showHidden: true })).not.toContain(
			apiKey,
		);
	});

	test('is in no error of a connection', async () => {
		const own = await engineAt(await serve((request) => request.destroy()), apiKey);
		const { error, runData } = await getMany({}, own);
		expect(error).toBeDefined();
		expect(inspect({ error, runData }, { depth: Infinity, showHidden: true })).not.toContain(
			apiKey,
		);
	});

	test('does not follow a redirect to another host', async () => {
		const other = await serve((_request, response) => answer(response, 200, {}));
		const own = await engineAt(
			await serve((_request, response) => answer(response, 302, '', { location: other })),
			apiKey,
		);
		const { message } = await getMany({}, own);
		expect(message).toContain('redirects to another address (302)');
		expect(served).toBe(1);
	});
});

describe('paging', () => {
	const pageOf = (id: string | undefined, nextCursor: unknown) => ({
		data: { lifelogs: id ? [{ id, startTime: '2026-03-01T09:00:00Z' }] : [] },
		meta: { lifelogs: { count: id ? 1 : 0, nextCursor } },
	});

	test('in a circle is an error', async () => {
		const own = await engineAt(
			await serve((_request, response) =>
				answer(response, 200, pageOf(`id${served}`, `c${served % 3}`)),
			),
		);
		expect((await getLimited(own)).message).toContain('it sent a cursor twice');
		expect(served).toBe(4);
		served = 0;
		expect((await getMany({}, own)).message).toContain('it sent a cursor twice');
	});

	test('gives up after 50 empty pages in a row', async () => {
		const own = await engineAt(
			await serve((_request, response) => answer(response, 200, pageOf(undefined, `c${served}`))),
		);
		expect((await getLimited(own)).message).toContain('50 pages in a row with nothing new');
		expect(served).toBe(50);
		served = 0;
		expect((await getMany({}, own)).message).toContain('50 pages in a row with nothing new');
		expect(served).toBe(50);
	});

	test('continues after 49 empty pages', async () => {
		const own = await engineAt(
			await serve((_request, response) => {
				const id = served % 50 === 0 ? `id${served}` : undefined;
				answer(response, 200, pageOf(id, served < 100 ? `c${served}` : undefined));
			}),
		);
		expect((await getMany({}, own)).ids).toEqual(['id50', 'id100']);
	});

	test('returns an entry once if it is on two pages', async () => {
		const own = await engineAt(
			await serve((_request, response) =>
				answer(
					response,
					200,
					pageOf(served < 3 ? 'same' : 'other', served < 4 ? `c${served}` : ''),
				),
			),
		);
		expect((await getLimited(own)).ids).toEqual(['same', 'other']);
		expect(served).toBe(4);
		served = 0;
		expect((await getMany({}, own)).ids).toEqual(['same', 'other']);
	});

	test('counts only the first 400 as a refused page size', async () => {
		const own = await engineAt(
			await serve((_request, response) => answer(response, 400, { error: 'date is wrong' })),
		);
		expect((await getMany({}, own)).message).toContain('date is wrong');
		expect(served).toBe(2);
	});
});

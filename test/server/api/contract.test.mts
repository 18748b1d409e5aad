import fc from 'fast-check';
import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { clientOf, type Client, type Query } from '../sandbox/client.mts';
import {
	archiveSandbox,
	startLifelogServer,
	temporaryFolder,
	type SpawnedServer,
} from '../sources.mts';

const SEED = Number(process.env.SOAK_SEED ?? 20261121);

let sandbox: TestSandbox;
let server: SpawnedServer;
let invented: Client;
let archived: Client;
let ids: { lifelogs: string[]; chats: string[] };

beforeAll(async () => {
	sandbox = await startSandbox({ now: '2026-10-27T20:00:00Z', days: 5 });
	// An id that needs writing otherwise in a file's name and in a path, and two of one instant.
	await sandbox.control.addLifelog({ id: 'a/b c?d é', startTime: '2026-10-26T07:00:00Z' });
	await sandbox.control.addLifelog({ id: 'twin-2', startTime: '2026-10-26T07:00:00Z' });
	await sandbox.control.dialect({ rateLimit: { max: 1_000_000 } });
	const folder = temporaryFolder();
	await archiveSandbox(sandbox, folder);
	server = await startLifelogServer(folder);
	invented = clientOf(sandbox);
	archived = clientOf({ ...sandbox, url: server.url, apiKey: server.apiKey });
	const own = (await sandbox.control.chats()).filter(({ owner }) => owner === 'self');
	ids = {
		lifelogs: (await sandbox.control.lifelogs()).map(({ id }) => id),
		chats: own.map(({ id }) => id),
	};
});
afterAll(async () => {
	await server.close();
	await sandbox.close();
});

/** What both answer, when they answer the same. */
async function answerOfBoth(path: string, query?: Query) {
	const [expected, given] = await Promise.all([
		invented.get(path, query),
		archived.get(path, query),
	]);
	expect({ status: given.status, body: given.body }).toEqual({
		status: expected.status,
		body: expected.body,
	});
	expect(given.checked).toBe(expected.checked);
	return given;
}

describe('an archive is served like the service that it came from', () => {
	test.each<[string, Query]>([
		['the newest', {}],
		['the oldest', { direction: 'asc', limit: 30 }],
		['a day', { date: '2026-10-25', limit: 100 }],
		['a day of 25 hours in its zone', { date: '2026-10-25', timezone: 'Europe/Berlin' }],
		['a range', { start: '2026-10-24 12:00:00', end: '2026-10-25', timezone: 'Asia/Tokyo' }],
		['the starred ones', { isStarred: true, limit: 100 }],
		['with little', { includeMarkdown: false, includeContents: false }],
		['without headings', { includeHeadings: false, limit: 3 }],
		['by a search', { search: 'meeting OR walk' }],
		['by a search that is misspelt', { search: 'meetign budegt' }],
		['by a phrase', { search: '"as well"', limit: 100 }],
		['by a search within a day', { search: 'garden OR dinner', date: '2026-10-25' }],
		['what is refused', { limit: 0 }],
		['another refusal', { timezone: 'Mars/Olympus' }],
	])('lifelogs: %s', async (_name, query) => {
		await answerOfBoth('/v1/lifelogs', query);
	});

	test.each<[string, Query]>([
		['the newest', {}],
		['the oldest', { direction: 'asc', limit: 2, timezone: 'America/New_York' }],
		['of prompts', { isScheduled: true, limit: 100 }],
		['of people', { isScheduled: false, limit: 100 }],
		['what is refused', { direction: 'up' }],
	])('chats: %s', async (_name, query) => {
		await answerOfBoth('/v1/chats', query);
	});

	test('each entry by its ID, whatever characters it has', async () => {
		for (const id of ids.lifelogs.filter((_id, index) => index % 20 === 0).concat('a/b c?d é')) {
			const { status } = await answerOfBoth(`/v1/lifelogs/${encodeURIComponent(id)}`, {
				timezone: 'Asia/Kolkata',
			});
			expect(status).toBe(200);
		}
		for (const id of ids.chats) await answerOfBoth(`/v1/chats/${encodeURIComponent(id)}`);
		await answerOfBoth('/v1/lifelogs/none');
		await answerOfBoth('/v1/chats/none');
	});

	test.each(['asc', 'desc'])('every page, %s', async (direction) => {
		const query = { direction, limit: 9, includeContents: false };
		const pages = await archived.pages('/v1/lifelogs', query);
		expect(pages).toEqual(await invented.pages('/v1/lifelogs', query));
		expect(new Set(pages.flat())).toEqual(new Set(ids.lifelogs));
		const chats = await archived.pages('/v1/chats', { direction, limit: 4 });
		expect(chats).toEqual(await invented.pages('/v1/chats', { direction, limit: 4 }));
		expect(chats.flat()).toHaveLength(ids.chats.length);
	});
});

describe('random requests', () => {
	const odd = fc.oneof(
		fc.string({ unit: 'binary', maxLength: 40 }),
		fc.constantFrom('', '%', '"', '* OR', 'a AND (b', '\0', 'NaN', '-1', '1e999', 'null', '[]'),
	);
	const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns');
	const time = fc.constantFrom(
		'2026-10-25',
		'2026-10-25 02:30:00',
		'2026-10-26T12:00',
		'0000-01-01',
		'9999-12-31',
	);
	const words = fc.array(
		fc.constantFrom(
			'meeting',
			'gard',
			'dinenr',
			'OR',
			'AND',
			'"as well"',
			'"',
			'the',
			"don't",
			'é',
		),
		{ maxLength: 90 },
	);
	/** A cursor that somebody made up. */
	const madeUp = fc
		.record({
			query: fc.oneof(
				fc.object(),
				fc.record({ timezone: odd, direction: odd, limit: fc.integer() }),
			),
			after: fc.oneof(fc.record({ time: odd, id: odd }), fc.anything()),
		})
		.map((cursor) => {
			const json = JSON.stringify(cursor, (_key, value) => (typeof value === 'bigint' ? 1 : value));
			return Buffer.from(json).toString('base64url');
		});
	const query = fc.record(
		{
			timezone: fc.oneof({ weight: 4, arbitrary: zone }, odd),
			date: fc.oneof(time, odd),
			start: fc.oneof(time, odd),
			end: fc.oneof(time, odd),
			direction: fc.oneof({ weight: 4, arbitrary: fc.constantFrom('asc', 'desc') }, odd),
			limit: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: -1, max: 130 }).map(String) }, odd),
			search: fc.oneof(
				words.map((all) => all.join(' ')),
				odd,
			),
			cursor: fc.oneof(odd, madeUp),
			isStarred: fc.constantFrom('true', 'false', 'maybe'),
			isScheduled: fc.constantFrom('true', 'false', 'maybe'),
			includeMarkdown: fc.constantFrom('true', 'false'),
			includeHeadings: fc.constantFrom('true', 'false'),
			includeContents: fc.constantFrom('true', 'false'),
			startMs: fc.oneof(fc.integer({ min: 0 }).map(String), odd),
			endMs: fc.oneof(fc.integer({ min: 0 }).map(String), odd),
		},
		{ requiredKeys: [] },
	);
	const path = fc.oneof(
		{ weight: 4, arbitrary: fc.constantFrom('/v1/lifelogs', '/v1/chats', '/v1/download-audio') },
		fc
			.tuple(
				fc.constantFrom('/v1/lifelogs/', '/v1/chats/', '/v1/', '/'),
				fc.oneof(
					odd,
					fc.constantFrom('..', '../../etc/passwd', '%2e%2e%2f', '.lifelog-index.sqlite'),
				),
			)
			.map(([start, id]) => start + encodeURIComponent(id)),
	);

	test('get the same answer from both, and never a 500', async () => {
		await fc.assert(
			fc.asyncProperty(path, query, async (target, parameters) => {
				// There the server has its page.
				fc.pre(new URL(target, server.url).pathname !== '/');
				const search = new URLSearchParams(parameters);
				const [expected, given] = await Promise.all(
					[sandbox, server].map(async ({ url, apiKey }) => {
						const response = await fetch(`${url}${target}?${search}`, {
							headers: { 'X-API-Key': apiKey },
							redirect: 'manual',
						});
						return { status: response.status, text: await response.text() };
					}),
				);
				expect(given.status).toBeLessThan(500);
				expect(given).toEqual(expected);
			}),
			{ seed: SEED, numRuns: 400 },
		);
	});

	test('with bodies never get a 500', async () => {
		const headers = {
			'X-API-Key': server.apiKey,
			'content-type': 'application/json',
			accept: 'application/json, text/event-stream',
		};
		const call = fc.record({
			jsonrpc: fc.constantFrom('2.0', '1.0'),
			id: fc.oneof(fc.integer(), odd),
			method: fc.oneof({ weight: 3, arbitrary: fc.constant('tools/call') }, odd),
			params: fc.record({
				name: fc.constantFrom(
					'search_lifelogs',
					'list_lifelogs',
					'get_lifelog',
					'get_transcript',
					'list_chats',
					'get_chat',
					'x',
				),
				arguments: fc.dictionary(
					fc.constantFrom(
						...['id', 'query', 'limit', 'date', 'timezone'],
						...['from', 'to', 'isStarred', 'offset'],
					),
					fc.oneof(odd, fc.integer(), fc.constant(null)),
				),
			}),
		});
		await fc.assert(
			fc.asyncProperty(
				fc.oneof(
					call.map((json) => JSON.stringify(json)),
					odd,
				),
				async (body) => {
					const response = await fetch(`${server.url}/mcp`, { method: 'POST', headers, body });
					await response.text();
					expect(response.status).toBeLessThan(500);
				},
			),
			{ seed: SEED, numRuns: 150 },
		);
	});
});

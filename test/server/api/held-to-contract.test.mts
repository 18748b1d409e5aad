// What watches the answers of the servers in these tests, watched itself.
import { spawnSync } from 'node:child_process';
import { AGAINST_CONTRACT } from '../../support/againstContract.mts';
import { contradictionIn } from '../../support/contract.mts';

const json = { 'content-type': 'application/json; charset=utf-8' };
const audio = {
	'content-type': 'audio/ogg',
	'cache-control': 'public, max-age=3600',
	'content-disposition': 'inline; filename="audio.ogg"',
};
const lifelog = {
	id: 'a',
	title: 'A',
	contents: [],
	startTime: '2026-03-01T08:00:00.000Z',
	endTime: '2026-03-01T08:10:00.000Z',
	isStarred: false,
	updatedAt: '2026-03-01T08:10:00.000Z',
};
const listOf = (...lifelogs: object[]) => ({
	data: { lifelogs },
	meta: { lifelogs: { count: lifelogs.length } },
});

/** What is found in an answer to GET. */
const found = (path: string, status: number, headers: object, body: unknown) =>
	contradictionIn({
		method: 'GET',
		path,
		status,
		headers: headers as Record<string, string>,
		body: typeof body === 'string' ? body : JSON.stringify(body),
	});

test.each<[string, number, object, unknown]>([
	['/v1/lifelogs', 200, json, listOf(lifelog)],
	['/v1/lifelogs/a%2Fb', 200, json, { data: { lifelog: null } }],
	['/v1/lifelogs/a', 404, json, { error: 'Lifelog not found' }],
	['/v1/lifelogs', 400, json, { error: 'limit must be >= 1' }],
	['/v1/chats', 429, json, { error: 'Too many', retryAfter: '60' }],
	['/v1/download-audio', 200, audio, 'OggS'],
	['/', 302, { location: 'https://example.com/docs' }, ''],
	['/v2', 404, json, { error: 'There is no endpoint GET /v2' }],
	['/mcp', 405, json, { error: 'Only POST works here' }],
])('%s %i that follows the contract is accepted', (path, status, headers, body) => {
	expect(found(path, status, headers, body)).toBeUndefined();
});

test.each<[string, number, object, unknown, string]>([
	['/v1/lifelogs', 200, json, listOf({ ...lifelog, isStarred: 'no' }), 'isStarred must be boolean'],
	['/v1/lifelogs', 200, json, listOf({ ...lifelog, endTime: 'soon' }), 'must match format'],
	['/v1/lifelogs', 200, json, { data: { lifelogs: [] } }, "must have required property 'meta'"],
	['/v1/lifelogs/a', 200, json, listOf(lifelog), "must have required property 'lifelog'"],
	['/v1/lifelogs', 200, { 'content-type': 'text/html' }, listOf(), 'the body is text/html, not'],
	['/v1/lifelogs', 200, json, '{"data":', "the body isn't JSON"],
	['/v1/lifelogs', 201, json, listOf(), 'does not list this status'],
	['/v1/lifelogs', 400, json, { message: 'limit' }, "must have required property 'error'"],
	['/v1/lifelogs', 500, json, { error: 'Oh' }, 'a server that failed'],
	['/v1/chats', 429, json, { error: 'Too many' }, "must have required property 'retryAfter'"],
	['/v1/download-audio', 200, { ...audio, 'cache-control': 'no-store' }, 'OggS', 'Cache-Control'],
	['/v1/download-audio', 200, { 'content-type': 'audio/ogg' }, 'OggS', 'Cache-Control'],
	['/v1/download-audio', 404, json, '', "the body isn't JSON"],
	['/', 302, { location: 'nowhere at all' }, '', 'Location'],
	['/v2', 404, { 'content-type': 'text/plain' }, 'Not found', "the body isn't JSON"],
])('%s %i that breaks the contract is reported', (path, status, headers, body, problem) => {
	expect(found(path, status, headers, body)).toContain(`GET ${path} ${status}: `);
	expect(found(path, status, headers, body)).toContain(problem);
});

test('a server with the contract check reports wrong answers to any client', () => {
	const program = `
		import { createServer } from 'node:http';
		const server = createServer(({ url }, response) => {
			response.setHeader('content-type', 'application/json');
			if (url !== '/v1/chats') response.setHeader('cache-control', 'private, no-store');
			if (url.startsWith('/v1/lifelogs')) response.write('{"data":');
			response.end(url.startsWith('/v1/chats') ? '{"error":"none"}' : '7}');
		}).listen(0, '127.0.0.1', async () => {
			const { port } = server.address();
			for (const path of ['health', 'v1/lifelogs?limit=1', 'v1/chats']) {
				await (await fetch('http://127.0.0.1:' + port + '/' + path)).text();
			}
			server.close();
		});`;
	const args = ['--import', './test/support/holdToContractPreload.mts', '--input-type=module'];
	const { stderr } = spawnSync(process.execPath, [...args, '--eval', program], {
		encoding: 'utf8',
	});
	expect(stderr.trim().split('\n')).toEqual([
		`${AGAINST_CONTRACT}GET /v1/lifelogs 200: data must have required property 'meta', data/data must be object`,
		`${AGAINST_CONTRACT}GET /v1/chats may be cached`,
		`${AGAINST_CONTRACT}GET /v1/chats 200: data must have required property 'data', data must have required property 'meta'`,
	]);
});

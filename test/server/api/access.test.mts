// Who may do what: links that sign in, keys with names, sessions, and attempts to get around them.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectAnswer, NewKey } from '../../../server/http/pageApi/answers.mts';
import { LINK_MINUTES, makeLink } from '../../../server/http/auth/link.mts';
import { listOperations, serverContract } from '../../../server/http/contract.mts';
import { writeArchive } from '../../support/archive.mts';
import { chatOf, lifelogOf } from '../../support/invented.mts';
import { serverKey } from '../../support/lifelogServer.mts';
import { posixTest } from '../../support/platform.mts';
import { until } from '../../support/soon.mts';
import { buildPage, send, type Answer } from '../../support/web.mts';
import { startLifelogServer, temporaryFolder } from '../sources.mts';

beforeAll(buildPage);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

const CHANGING = [
	...['--allow-changes', '--allow-delete'],
	...['--transcription-url', 'http://127.0.0.1:9', '--transcription-model', 'any'],
];

async function starts(args: string[] = [], folder?: string, key: string | undefined = serverKey) {
	const served = folder ?? temporaryFolder();
	if (folder === undefined) {
		await writeArchive(served, {
			lifelogs: [lifelogOf('a', '2026-03-01T12:00:00Z', { title: 'Plans' })],
			chats: [chatOf('q', '2026-03-01T20:00:00Z')],
		});
	}
	const env = { LIFELOG_SERVER_KEY: key };
	const server = await startLifelogServer(served, args, env);
	let isOpen = true;
	const close = async () => {
		if (isOpen) await server.close();
		isOpen = false;
	};
	closing.push(close);
	return { ...server, close, folder: served };
}
type Started = Awaited<ReturnType<typeof starts>>;

const index = (folder: string) => join(folder, '.lifelog-index.sqlite');
const linkTo = ({ folder }: Started) => makeLink(index(folder), `${index(folder)}.key`, Date.now());

type Headers = Record<string, string>;
const ofPage = (url: string): Headers => ({ 'x-lifelog-page': '1', origin: url });
const signIn = (
	{ url }: Pick<Started, 'url'>,
	body: { link?: string; key?: string },
	headers: Headers = {},
) => send(url, '/session', { method: 'POST', headers: { ...ofPage(url), ...headers }, body });
const cookieOf = ({ status, headers }: Answer) => {
	expect(status).toBe(204);
	return headers['set-cookie']![0].split(';')[0];
};
const statusWith = async ({ url }: Started, headers: Headers, path = '/web/days') =>
	(await send(url, path, { headers })).status;
/** Signs somebody in by a link. */
const owner = async (server: Started) => {
	const cookie = cookieOf(await signIn(server, { link: linkTo(server) }));
	const headers = { cookie, ...ofPage(server.url) };
	const ask = (method: string, path: string, body?: object) =>
		send(server.url, path, { method, headers, body });
	return {
		cookie,
		ask,
		read: async (): Promise<ConnectAnswer> => (await ask('GET', '/web/connect')).json(),
		makeKey: async (name: string, isReadOnly = false): Promise<NewKey> => {
			const answer = await ask('POST', '/web/keys', { name, isReadOnly });
			expect(answer.status).toBe(201);
			return answer.json();
		},
	};
};

describe('a link', () => {
	test('signs in once, with a session that may make keys', async () => {
		const server = await starts();
		const link = linkTo(server);
		expect(link).toMatch(/^[\w-]{43}$/);
		const headers = { cookie: cookieOf(await signIn(server, { link })) };
		const session = await send(server.url, '/web/session', { headers });
		expect(session.json()).toMatchObject({ isSignedIn: true, isOwner: true, isReadOnly: false });
		const again = await signIn(server, { link });
		expect([again.status, again.headers['set-cookie'], again.json()]).toEqual([
			...[401, undefined],
			{ error: 'This link was used, is older than 15 minutes, or there is a newer one' },
		]);
		expect(await statusWith(server, headers)).toBe(200);
	});

	test('that two tabs send at the same time signs one of them in', async () => {
		const server = await starts();
		for (let round = 1; round <= 2; round += 1) {
			const link = linkTo(server);
			const tabs = await Promise.all([1, 2, 3].map(() => signIn(server, { link })));
			expect(tabs.map(({ status }) => status).sort()).toEqual([204, 401, 401]);
		}
	});

	test(`is refused after ${LINK_MINUTES} minutes`, async () => {
		const server = await starts();
		const made = (ago: number) =>
			makeLink(index(server.folder), `${index(server.folder)}.key`, Date.now() - ago * 60_000);
		expect((await signIn(server, { link: made(15.1) })).status).toBe(401);
		expect((await signIn(server, { link: made(14.9) })).status).toBe(204);
	});

	test('is refused once there is a newer one', async () => {
		const server = await starts();
		const [first, second] = [linkTo(server), linkTo(server)];
		expect((await signIn(server, { link: first })).status).toBe(401);
		expect((await signIn(server, { link: second })).status).toBe(204);
	});

	test('is refused and stays good over plain HTTP beyond this machine', async () => {
		const server = await starts(['--host', '0.0.0.0']);
		const near = { ...server, url: server.url.replace('0.0.0.0', '127.0.0.1') };
		const link = linkTo(server);
		const far = { host: '192.168.1.5', origin: 'http://192.168.1.5' };
		const refused = await signIn(near, { link }, far);
		expect([refused.status, refused.headers['set-cookie']]).toEqual([403, undefined]);
		expect((await signIn(near, { link })).status).toBe(204);
	});

	test.each([
		['by HTTP with --allow-http', ['--host', '0.0.0.0', '--allow-http'], 'http://192.168.1.5', {}],
		[
			'by HTTPS through a proxy at --public-url',
			['--trust-proxy', '127.0.0.1', '--public-url', 'https://days.example.org'],
			'https://days.example.org',
			{ 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' },
		],
	])('works once from another machine, %s', async (_how, args, origin, more) => {
		const server = await starts(args);
		const near = { ...server, url: server.url.replace('0.0.0.0', '127.0.0.1') };
		const link = linkTo(server);
		const headers = { host: new URL(origin).host, origin, ...more };
		const cookie = cookieOf(await signIn(near, { link }, headers));
		expect(await statusWith(near, { ...headers, cookie })).toBe(200);
		expect((await signIn(near, { link }, headers)).status).toBe(401);
		expect((await signIn(near, { link })).status).toBe(401);
	});

	test("is refused and stays good without the page's header, and from other sites", async () => {
		const server = await starts();
		const link = linkTo(server);
		const { url } = server;
		const attempts: Headers[] = [
			...[{}, { origin: url }, { 'x-lifelog-page': '1' }],
			{ ...ofPage(url), origin: 'https://evil.example' },
			{ ...ofPage(url), origin: 'null' },
			{ ...ofPage(url), host: 'evil.example', origin: 'http://evil.example' },
		];
		for (const headers of attempts) {
			const answer = await send(url, '/session', { method: 'POST', headers, body: { link } });
			expect([headers, answer.status]).toEqual([headers, 403]);
		}
		for (const path of [`/?link=${link}`, `/session?link=${link}`, `/web/days?link=${link}`]) {
			expect((await send(url, path)).headers['set-cookie']).toBeUndefined();
		}
		expect((await signIn(server, { link })).status).toBe(204);
	});

	test('is counted like a wrong key: the sixth in a minute is answered 429', async () => {
		const server = await starts();
		const link = linkTo(server);
		const statuses: number[] = [];
		for (let nth = 1; nth <= 3; nth += 1) {
			statuses.push((await signIn(server, { link: `wrong${nth}` })).status);
			statuses.push((await signIn(server, { key: `wrong${nth}` })).status);
		}
		expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
		const sixth = await signIn(server, { link: 'wrong' });
		expect(sixth.json().error).toMatch(/^Too many wrong links. Try again in \d+ s$/);
		expect((await signIn(server, { link })).status).toBe(204);
	});

	test("is sent without a key, and isn't accepted as one", async () => {
		const server = await starts();
		const link = linkTo(server);
		expect((await signIn(server, { link, key: serverKey })).status).toBe(400);
		expect((await signIn(server, {})).status).toBe(400);
		expect((await signIn(server, { link: '' })).status).toBe(400);
		expect((await signIn(server, { key: link })).status).toBe(401);
		expect(await statusWith(server, { 'x-api-key': link }, '/v1/lifelogs')).toBe(401);
		expect((await signIn(server, { link })).status).toBe(204);
	});

	test('takes the place of a session of the same browser', async () => {
		const server = await starts();
		const cookie = cookieOf(await signIn(server, { key: serverKey }));
		const after = cookieOf(await signIn(server, { link: linkTo(server) }, { cookie }));
		const answer = await send(server.url, '/web/connect', { headers: { cookie: after } });
		const { sessions } = answer.json() as ConnectAnswer;
		expect(sessions).toEqual([expect.objectContaining({ key: null, isThis: true })]);
		expect(await statusWith(server, { cookie })).toBe(401);
		expect(await statusWith(server, { cookie: after })).toBe(200);
	});
});

/** Asks a server that heeds it to take a change for a read. */
const OVERRIDDEN: Headers = { 'x-http-method-override': 'GET' };

describe('a key that can only read', () => {
	/** How somebody comes with it, at a path. */
	const ways = async (server: Started, key: string): Promise<Record<string, Headers>> => ({
		'as a key': { 'x-api-key': key },
		'as a session': {
			cookie: cookieOf(await signIn(server, { key })),
			...ofPage(server.url),
		},
	});
	const operations = listOperations(serverContract)
		.filter(({ method, path }) => method !== 'GET' && path !== '/mcp')
		.map(({ method, path }) => [method, path.replace('{id}', 'a')] as const);

	test('changes nothing by any operation of the API, with a full one each is let through', async () => {
		const server = await starts(CHANGING);
		const { makeKey } = await owner(server);
		const { key } = await makeKey('Agent', true);
		const full = await makeKey('n8n');
		expect(operations.length).toBeGreaterThanOrEqual(8);
		const before = allFiles(server.folder);
		for (const [way, headers] of Object.entries(await ways(server, key))) {
			for (const [method, path] of [
				...operations,
				...['POST', 'PUT', 'PATCH', 'DELETE'].map((each) => [each, '/mcp/a'] as const),
			]) {
				for (const more of [{}, OVERRIDDEN]) {
					const body = method === 'DELETE' ? undefined : { title: 'Changed' };
					const answer = await send(server.url, path, {
						...{ method, body },
						headers: { ...headers, ...more },
					});
					const isRoute = !path.startsWith('/mcp');
					expect([way, method, path, answer.status]).toEqual([
						...[way, method, path, isRoute ? 403 : 404],
					]);
					if (isRoute) expect(answer.json().error).toMatch(/^This key can only read\. /);
				}
			}
			expect(await statusWith(server, headers, '/v1/lifelogs/a')).toBe(200);
			expect(await statusWith(server, headers, '/v1/recordings')).toBe(200);
		}
		expect(allFiles(server.folder)).toEqual(before);
		for (const [method, path] of operations) {
			const headers = { 'x-api-key': full.key };
			const { status } = await send(server.url, path, { method, headers });
			expect([method, path, status]).not.toEqual([method, path, 403]);
		}
	});

	test('reads by MCP, whose tools change nothing', async () => {
		const server = await starts(CHANGING);
		const { makeKey } = await owner(server);
		const { key } = await makeKey('Agent', true);
		const call = async (headers: Headers, method: string, params = {}) =>
			await send(server.url, '/mcp', {
				...{ method: 'POST', headers: { accept: 'application/json', ...headers } },
				body: { jsonrpc: '2.0', id: 1, method, params },
			});
		const both: Headers[] = [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }];
		for (const headers of both) {
			const { result } = (await call(headers, 'tools/list')).json();
			expect(result.tools.length).toBeGreaterThan(0);
			for (const { name, annotations } of result.tools) {
				expect([name, annotations]).toEqual([name, { readOnlyHint: true }]);
			}
			const got = await call(headers, 'tools/call', {
				...{ name: 'get_lifelog', arguments: { id: 'a' } },
			});
			expect(got.json().result.isError).toBeUndefined();
		}
		expect((await call({ authorization: 'Bearer guess' }, 'tools/list')).status).toBe(401);
	});

	test('is shown a page without anything that changes', async () => {
		const server = await starts(CHANGING);
		const { makeKey } = await owner(server);
		const { key } = await makeKey('Agent', true);
		const headers = { cookie: cookieOf(await signIn(server, { key })) };
		expect((await send(server.url, '/web/session', { headers })).json()).toMatchObject({
			...{ isSignedIn: true, isReadOnly: true, isOwner: false, hasRecordings: true },
			...{ canChange: false, canDelete: false, canUpload: false, canTitle: false },
		});
	});

	test('makes the page refuse every route under /web/ that changes', async () => {
		const server = await starts(CHANGING);
		const { makeKey } = await owner(server);
		const { key, id } = await makeKey('Agent', true);
		for (const headers of Object.values(await ways(server, key))) {
			for (const [method, path, body] of connectRoutes(id)) {
				const { status } = await send(server.url, path, { method, headers, body });
				expect([method, path, status]).toEqual([method, path, 403]);
			}
		}
	});
});

/** The routes of Connect. */
const connectRoutes = (id: string) =>
	[
		['GET', '/web/connect'],
		['POST', '/web/keys', { name: 'Another', isReadOnly: false }],
		['DELETE', `/web/keys/${id}`],
		['DELETE', `/web/sessions/${id}`],
		['DELETE', '/web/sessions'],
	] as const;

describe('keys and sessions', () => {
	test('are made, removed and ended only by a session that began with a link', async () => {
		const server = await starts();
		const { makeKey, read, ask } = await owner(server);
		const { key, id } = await makeKey('n8n');
		const attempts: [Headers, number][] = [
			[{}, 401],
			[{ 'x-api-key': 'guess' }, 401],
			[{ 'x-api-key': serverKey }, 403],
			[{ 'x-api-key': key }, 403],
			[{ cookie: cookieOf(await signIn(server, { key })), ...ofPage(server.url) }, 403],
			[{ cookie: cookieOf(await signIn(server, { key: serverKey })), ...ofPage(server.url) }, 403],
		];
		for (const [headers, refusal] of attempts) {
			for (const [method, path, body] of connectRoutes(id)) {
				const { status } = await send(server.url, path, { method, headers, body });
				expect([headers, method, path, status]).toEqual([headers, method, path, refusal]);
			}
		}
		expect((await read()).keys.map(({ name }) => name)).toEqual(['LIFELOG_SERVER_KEY', 'n8n']);
		expect((await read()).sessions).toHaveLength(3);
		expect((await ask('DELETE', `/web/keys/${id}`)).status).toBe(204);
	});

	test("of a link are changed only with the page's header and origin", async () => {
		const server = await starts();
		const { cookie, makeKey, read } = await owner(server);
		const { id } = await makeKey('n8n');
		const incomplete: Headers[] = [{}, { origin: server.url }, { 'x-lifelog-page': '1' }];
		for (const headers of [...incomplete, { ...ofPage(server.url), origin: 'https://e.example' }]) {
			for (const [method, path, body] of connectRoutes(id).slice(1)) {
				const sent = { method, headers: { cookie, ...headers }, body };
				expect((await send(server.url, path, sent)).status).toBe(403);
			}
		}
		expect((await read()).keys).toHaveLength(2);
	});

	test('a key has a name, and is accepted by its hash until it is removed', async () => {
		const server = await starts();
		const { makeKey, read, ask } = await owner(server);
		const made = await makeKey('n8n & friends ‮');
		expect(made.key).toMatch(/^[\w-]{43}$/);
		const [, listed] = (await read()).keys;
		expect(listed).toEqual({
			...{ id: made.id, name: 'n8n & friends ‮', isReadOnly: false, isGiven: false },
			...{ createdAt: expect.stringMatching(/Z$/), usedAt: null },
		});
		expect(await statusWith(server, { 'x-api-key': made.key })).toBe(200);
		const usedAt = async () => (await read()).keys[1].usedAt;
		expect(Date.now() - Date.parse((await usedAt())!)).toBeLessThan(60_000);
		expect((await ask('DELETE', `/web/keys/${made.id}`)).status).toBe(204);
		expect(await statusWith(server, { 'x-api-key': made.key })).toBe(401);
		expect((await ask('DELETE', `/web/keys/${made.id}`)).status).toBe(404);
		for (const name of ['', ' ', 'n'.repeat(101)]) {
			const body = { name, isReadOnly: true };
			expect((await ask('POST', '/web/keys', body)).status).toBe(400);
		}
		expect((await ask('POST', '/web/keys', { name: 'n8n' })).status).toBe(400);
	});

	test('survive a restart, with the time of their last use', async () => {
		const first = await starts();
		const { makeKey, cookie, read } = await owner(first);
		const [full, agent] = [await makeKey('n8n'), await makeKey('Agent', true)];
		for (const { key } of [full, agent]) await statusWith(first, { 'x-api-key': key });
		const before = await read();
		await first.close();
		const server = await starts(CHANGING, first.folder);
		const answer = await send(server.url, '/web/connect', { headers: { cookie } });
		const after = answer.json() as ConnectAnswer;
		expect(after.keys.slice(1)).toEqual(before.keys.slice(1));
		expect(after.sessions[0].startedAt).toBe(before.sessions[0].startedAt);
		const remove = async (key: string) =>
			(
				await send(server.url, '/v1/lifelogs/none', {
					...{ method: 'DELETE', headers: { 'x-api-key': key } },
				})
			).status;
		expect([await remove(agent.key), await remove(full.key)]).toEqual([403, 404]);
	});

	test('a session ends with its key, also after a restart', async () => {
		const first = await starts();
		const { makeKey, ask, read, cookie } = await owner(first);
		const { key, id } = await makeKey('Tablet');
		const other = await makeKey('Phone');
		const tablet = cookieOf(await signIn(first, { key }));
		const phone = cookieOf(await signIn(first, { key: other.key }));
		expect((await read()).sessions.map((each) => each.key)).toEqual([null, 'Tablet', 'Phone']);
		expect(await statusWith(first, { cookie: tablet })).toBe(200);
		await ask('DELETE', `/web/keys/${id}`);
		expect(await statusWith(first, { cookie: tablet })).toBe(401);
		expect(await statusWith(first, { cookie: phone })).toBe(200);
		await first.close();
		const again = await starts([], first.folder);
		expect(await statusWith(again, { cookie: tablet })).toBe(401);
		for (const left of [phone, cookie]) expect(await statusWith(again, { cookie: left })).toBe(200);
	});

	test('each session can be ended, and all together', async () => {
		const server = await starts();
		const { ask, read, cookie } = await owner(server);
		const [one, two] = [
			cookieOf(await signIn(server, { key: serverKey })),
			cookieOf(await signIn(server, { key: serverKey })),
		];
		const [own, first] = (await read()).sessions;
		expect([own.isThis, first.isThis, first.key]).toEqual([true, false, 'LIFELOG_SERVER_KEY']);
		expect((await ask('DELETE', `/web/sessions/${first.id}`)).status).toBe(204);
		const statuses = async () =>
			await Promise.all([cookie, one, two].map((each) => statusWith(server, { cookie: each })));
		expect(await statuses()).toEqual([200, 401, 200]);
		expect((await ask('DELETE', '/web/sessions')).status).toBe(204);
		expect(await statuses()).toEqual([401, 401, 401]);
		expect(await statusWith(server, { 'x-api-key': serverKey })).toBe(200);
	});

	test('the key that the owner gave is listed, and is changed where it was given', async () => {
		const server = await starts();
		const { ask, read } = await owner(server);
		const [given] = (await read()).keys;
		expect(given).toMatchObject({ name: 'LIFELOG_SERVER_KEY', isGiven: true, isReadOnly: false });
		const answer = await ask('DELETE', `/web/keys/${given.id}`);
		expect([answer.status, answer.json().error]).toEqual([
			409,
			expect.stringContaining('is the one in LIFELOG_SERVER_KEY. Change it there'),
		]);
		expect(await statusWith(server, { 'x-api-key': serverKey })).toBe(200);
	});

	test('a file that has something else is reported, with what to do', async () => {
		const folder = temporaryFolder();
		for (const content of ['{}', '{"keys":[{"hash":"x"}]}', 'words']) {
			writeFileSync(`${index(folder)}.key`, content);
			await expect(startLifelogServer(folder)).rejects.toThrow(
				/\.key contains no hash of a key: delete it, then make new keys on the page/,
			);
		}
	});
});

/** All files of a folder with their contents; those of the index and of keys change with each use. */
const allFiles = (folder: string) =>
	readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile() && !entry.name.startsWith('.lifelog-index'))
		.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'utf8')])
		.sort();

describe('a secret', () => {
	test('is in no line of the log and in no file', async () => {
		const server = await starts([...CHANGING, '--log-level', 'debug']);
		const wrong = linkTo(server);
		const link = linkTo(server);
		await signIn(server, { link: wrong });
		const { makeKey, cookie } = await owner(server);
		const { key } = await makeKey('n8n');
		const agent = await makeKey('Agent', true);
		const session = cookieOf(await signIn(server, { key }));
		for (const each of [key, agent.key, link]) {
			await send(server.url, `/v1/lifelogs/${each}?key=${each}`, {
				headers: { 'x-api-key': each },
			});
			await send(server.url, '/v1/lifelogs/none', {
				...{ method: 'DELETE', headers: { 'x-api-key': each } },
			});
		}
		await until(async () => server.log.filter((line) => / ms, /.test(line)).length >= 11);
		await server.close();
		const secrets = [link, wrong, key, agent.key, cookie, session, serverKey];
		const kept = readdirSync(server.folder, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
			.join('\n');
		for (const secret of secrets) {
			for (const value of [secret, secret.split('=').at(-1)!]) {
				expect(server.log.join('\n')).not.toContain(value);
				expect(kept).not.toContain(value);
			}
		}
		expect(kept).toContain(createHash('sha256').update(key).digest('hex'));
		// Of what somebody chose, not even the hash.
		expect(kept).not.toContain(createHash('sha256').update(serverKey).digest('hex'));
	});

	posixTest('is in files that only their owner can read', async () => {
		const server = await starts();
		const { makeKey } = await owner(server);
		await makeKey('n8n');
		linkTo(server);
		for (const end of ['.key', '.link', '.session']) {
			const path = index(server.folder) + end;
			expect([end, statSync(path).mode & 0o777]).toEqual([end, 0o600]);
		}
	});
});

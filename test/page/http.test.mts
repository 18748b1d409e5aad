// The page of lifelog-server as an HTTP client sees it: sessions, names, headers and data.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sign } from '@fastify/cookie';
import { readAccessFile } from '../../server/http/auth/accessFile.mts';
import { sessionSecret } from '../../server/http/auth/session.mts';
import { freePorts } from '../support/ports.mts';
import { writeArchive } from '../support/archive.mts';
import { lifelogOf } from '../support/invented.mts';
import { serverKey, spawnLifelogServer } from '../support/lifelogServer.mts';
import { readOgg, writeOgg } from '../support/ogg.mts';
import { until } from '../support/soon.mts';
import { buildPage, send, type Answer } from '../support/web.mts';
import { startLifelogServer, temporaryFolder, type SpawnedServer } from '../server/sources.mts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const POLICY =
	"default-src 'none';script-src 'self';style-src 'self';img-src 'self';media-src 'self';connect-src 'self';font-src 'self';form-action 'self';frame-ancestors 'none';base-uri 'none'";
const VIEWS = [
	...['/', '/days/2026-03-01', '/lifelogs/a', '/search?q=garden', '/chats', '/chats/c'],
	...['/people', '/person?name=Anna', '/words', '/recordings', '/status', '/connect', '/add'],
];

/** 300 s of audio in packets of 20 ms. */
const AUDIO = writeOgg({
	...{ serial: 1, preSkip: 312, perPage: 50, trim: 960 - 312 },
	packets: Array.from({ length: 300 * 50 }, () => Buffer.alloc(60, 0xf8)),
});

const said = (content: string, atMs: number) => ({
	...{ type: 'blockquote', content, speakerName: 'Anna' },
	startTime: new Date(NOON + atMs).toISOString(),
	endTime: new Date(NOON + atMs + 5_000).toISOString(),
});
const LIFELOGS = [
	lifelogOf('before', '2026-02-27T12:00:00Z'),
	lifelogOf('a', '2026-03-01T12:00:00Z', {
		...{ title: 'Plans', isStarred: true },
		contents: [
			{ type: 'heading1', content: 'Plans' },
			{ type: 'heading2', content: 'Outside' },
			said('First the kitchen.', 1_000),
			said('Then the garden, and only the garden.', 20_000),
		],
	}),
	// The next day in Berlin.
	lifelogOf('late', '2026-03-01T23:30:00Z'),
];

beforeAll(buildPage);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

const starts = async (args: string[] = [], folder?: string, key = serverKey) => {
	const served = folder ?? temporaryFolder();
	if (folder === undefined) {
		const audio = [{ startMs: NOON, endMs: NOON + 300_000 - 20, content: AUDIO }];
		await writeArchive(served, { lifelogs: LIFELOGS, audio });
	}
	const server = await startLifelogServer(served, ['--timezone', 'Europe/Berlin', ...args], {
		LIFELOG_SERVER_KEY: key,
	});
	let isOpen = true;
	const close = async () => {
		if (isOpen) await server.close();
		isOpen = false;
	};
	closing.push(close);
	return { ...server, close, folder: served };
};

/** What the page sends with a change. */
const ofPage = (url: string) => ({ 'x-lifelog-page': '1', origin: url });
const signIn = (
	{ url }: Pick<SpawnedServer, 'url'>,
	key = serverKey,
	headers: Record<string, string> = {},
) =>
	send(url, '/session', {
		method: 'POST',
		headers: { ...ofPage(url), ...headers },
		body: { key },
	});
const cookieOf = ({ headers }: Answer) => headers['set-cookie']![0].split(';')[0];
const signedIn = async (server: Pick<SpawnedServer, 'url'>) => cookieOf(await signIn(server));
const statusWith = async (
	{ url }: Pick<SpawnedServer, 'url'>,
	cookie: string,
	headers: Record<string, string> = {},
) => (await send(url, '/web/days', { headers: { cookie, ...headers } })).status;

describe('signing in', () => {
	test("sets a cookie for 30 days that scripts and other sites can't use", async () => {
		const server = await starts();
		const answer = await signIn(server);
		expect(answer.status).toBe(204);
		expect(answer.headers['set-cookie']).toHaveLength(1);
		const attributes = answer.headers['set-cookie']![0].split('; ').slice(1);
		expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Strict']);
		expect(cookieOf(answer)).not.toContain(serverKey);
		expect(await statusWith(server, cookieOf(answer))).toBe(200);
	});

	test('sets a cookie only for HTTPS if the request reached the trusted proxy by HTTPS', async () => {
		const server = await starts([
			...['--trust-proxy', '127.0.0.1', '--allowed-hosts', 'days.example.org'],
		]);
		const proxied = {
			...{ host: 'days.example.org', 'x-forwarded-proto': 'https' },
			origin: 'https://days.example.org',
		};
		const answer = await signIn(server, serverKey, proxied);
		expect(answer.status).toBe(204);
		expect(answer.headers['set-cookie']![0].split('; ')).toContain('Secure');
		expect(await statusWith(server, cookieOf(answer), proxied)).toBe(200);
		const page = await send(server.url, '/', { headers: proxied });
		expect(page.headers['cross-origin-opener-policy']).toBe('same-origin');
	});

	test('the sixth wrong key in a minute is answered 429, and the right key still works', async () => {
		const server = await starts();
		for (let nth = 1; nth <= 5; nth += 1) {
			const answer = await signIn(server, `wrong ${nth}`);
			expect([nth, answer.status]).toEqual([nth, 401]);
			expect(answer.headers['set-cookie']).toBeUndefined();
		}
		const sixth = await signIn(server, 'wrong 6');
		expect(sixth.status).toBe(429);
		const waitS = Number(sixth.headers['retry-after']);
		expect([waitS > 0, waitS <= 60]).toEqual([true, true]);
		expect((await signIn(server)).status).toBe(204);
	});

	test('is refused with a clear message', async () => {
		const server = await starts();
		const wrong = await signIn(server, 'wrong');
		expect(wrong.json()).toEqual({ error: "That isn't an API key of this server" });
		for (let nth = 2; nth <= 5; nth += 1) await signIn(server, 'wrong');
		expect((await signIn(server, 'wrong')).json()).toEqual({
			error: expect.stringMatching(/^Too many wrong keys. Try again in \d+ s$/),
		});
		const long = await signIn(server, 'k'.repeat(20_000));
		expect([long.status, long.json()]).toEqual([413, { error: 'Request body is too large' }]);
		const empty = await signIn(server, '');
		expect([empty.status, empty.json()]).toEqual([400, { error: expect.stringMatching(/^key /) }]);
	});

	test('wrong keys are counted for a minute, for each address separately', async () => {
		const server = await starts(['--trust-proxy', '127.0.0.1']);
		const from = async (address: string, key = 'wrong') =>
			(await signIn(server, key, { 'x-forwarded-for': address })).status;
		for (let nth = 1; nth <= 5; nth += 1) expect(await from('192.0.2.1')).toBe(401);
		expect(await from('192.0.2.1')).toBe(429);
		expect(await from('192.0.2.2')).toBe(401);
		// A network of IPv6 is one address.
		for (let nth = 1; nth <= 5; nth += 1) expect(await from(`2001:db8::${nth}`)).toBe(401);
		expect(await from('2001:db8::6')).toBe(429);
		expect(await from('2001:db8:0:1::6')).toBe(401);
	});

	test("needs the page's header and its origin, and so does signing out", async () => {
		const { url } = await starts();
		const incomplete: Record<string, string>[] = [{}, { origin: url }, { 'x-lifelog-page': '1' }];
		for (const method of ['POST', 'DELETE']) {
			for (const headers of incomplete) {
				const body = method === 'POST' ? { key: serverKey } : undefined;
				const answer = await send(url, '/session', { method, headers, body });
				expect([method, headers, answer.status]).toEqual([method, headers, 403]);
				expect(answer.headers['set-cookie']).toBeUndefined();
			}
		}
	});

	test('the page can read whether you are signed in, and signing out ends the session', async () => {
		const server = await starts(['--allow-changes']);
		const session = async (headers = {}) =>
			(await send(server.url, '/web/session', { headers })).json();
		expect(await session()).toEqual({ isSignedIn: false });
		const cookie = await signedIn(server);
		expect(await session({ cookie })).toMatchObject({
			...{ isSignedIn: true, timezone: 'Europe/Berlin' },
			...{ canChange: true, canDelete: false },
		});
		const out = await send(server.url, '/session', {
			method: 'DELETE',
			headers: { cookie, ...ofPage(server.url) },
		});
		expect(out.status).toBe(204);
		// Also if the cookie was copied.
		expect(await statusWith(server, cookie)).toBe(401);
		expect(out.headers['set-cookie']![0]).toMatch(
			/^lifelog_session_\w+=;.*Expires=Thu, 01 Jan 1970/,
		);
	});

	test('the page shows recordings only if the server lists them', async () => {
		const endpoint = ['--transcription-url', 'http://127.0.0.1:9', '--transcription-model', 'any'];
		for (const [args, isShown] of [
			[['--allow-delete'], false],
			[['--allow-changes'], true],
			[['--inbox', temporaryFolder()], true],
		] as const) {
			const server = await starts([...endpoint, ...args]);
			const headers = { cookie: await signedIn(server) };
			const session = (await send(server.url, '/web/session', { headers })).json();
			expect([args, session.hasRecordings]).toEqual([args, isShown]);
			const { status } = await send(server.url, '/v1/recordings', { headers });
			expect([args, status]).toEqual([args, isShown ? 200 : 403]);
		}
	});

	test('a cookie that was changed, has expired or has another secret is refused', async () => {
		const server = await starts();
		const cookie = await signedIn(server);
		const beside = join(server.folder, '.lifelog-index.sqlite');
		const secret = sessionSecret(`${beside}.session`);
		const [name] = cookie.split('=');
		const of = (id: string, by = secret) => `${name}=${encodeURIComponent(sign(id, by))}`;
		const { sessions } = readAccessFile(`${beside}.key`);
		expect(sessions).toHaveLength(1);
		expect(await statusWith(server, of(sessions[0].id))).toBe(200);
		expect(await statusWith(server, of(sessions[0].id, 'another secret'))).toBe(401);
		expect(await statusWith(server, of('another'))).toBe(401);
		expect(await statusWith(server, cookie.replace('=', '=a'))).toBe(401);
		expect(await statusWith(server, `${name}=`)).toBe(401);
		await server.close();
		const old = readFileSync(`${beside}.key`, 'utf8').replace(
			/("startedAt": )(\d+)/,
			(_all, before, ms) => before + String(Number(ms) - 30 * 86_400_000),
		);
		writeFileSync(`${beside}.key`, old);
		expect(await statusWith(await starts([], server.folder), cookie)).toBe(401);
	});

	test("a session file that can't be created is reported, with what to do", () => {
		const path = join(temporaryFolder(), 'file', 'index.session');
		writeFileSync(dirname(path), '');
		expect(() => sessionSecret(path)).toThrow(
			/index\.session can't be written or read \(ENOTDIR.*choose a folder for the index .* with --index$/,
		);
	});

	test('servers on one host have separate sessions', async () => {
		const [one, other] = [await starts(), await starts()];
		const both = `${await signedIn(one)}; ${await signedIn(other)}`;
		expect(new Set(both.split('; ').map((each) => each.split('=')[0])).size).toBe(2);
		for (const server of [one, other]) expect(await statusWith(server, both)).toBe(200);
	});

	test('sessions survive a restart, and a new key or a new secret ends them', async () => {
		const first = await starts();
		const cookie = await signedIn(first);
		await first.close();
		const again = await starts([], first.folder);
		expect(await statusWith(again, cookie)).toBe(200);
		await again.close();
		const other = await starts([], first.folder, 'another'.padEnd(40, '-'));
		expect(await statusWith(other, cookie)).toBe(401);
		await other.close();
		rmSync(join(first.folder, '.lifelog-index.sqlite.session'));
		expect(await statusWith(await starts([], first.folder), cookie)).toBe(401);
	});
});

/** Holds that the style of a page is served. */
const hasStyle = async (url: string, html: string) => {
	const [, style] = /<link rel="stylesheet"[^>]* href="([^"]+)"/.exec(html)!;
	expect((await send(url, style)).status).toBe(200);
};

describe('names and networks', () => {
	test('an unknown host name gets no page and no session', async () => {
		// What would be refused over plain HTTP isn't to hide what is refused for its name.
		const server = await starts(['--allow-http']);
		const headers = { host: 'evil.example' };
		const cookie = await signedIn(server);
		for (const path of VIEWS) {
			const answer = await send(server.url, path, { headers });
			expect([path, answer.status]).toEqual([path, 403]);
			expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
			expect(answer.headers['content-security-policy']).toBe(POLICY);
			const html = answer.body.toString();
			expect(html).toContain('lifelog-server serve &lt;folder&gt; --allowed-hosts evil.example<');
			expect(html).toContain('<main>');
			expect(html).not.toContain('<script');
			await hasStyle(server.url, html);
		}
		const odd = await send(server.url, '/', { headers: { host: '<script>alert(1)</script>' } });
		expect(odd.body.toString()).not.toContain('<script');
		const attempt = await signIn(server, serverKey, { ...headers, origin: 'http://evil.example' });
		expect(attempt.status).toBe(403);
		expect(await statusWith(server, cookie, headers)).toBe(403);
		const withKey = { ...headers, 'x-api-key': serverKey };
		expect((await send(server.url, '/v1/lifelogs', { headers: withKey })).status).toBe(200);
	});

	test('a host name of --allowed-hosts gets the page', async () => {
		const server = await starts(['--allowed-hosts', 'days.lan, other.lan', '--allow-http']);
		const headers = { host: 'other.lan' };
		expect((await send(server.url, '/', { headers })).body.toString()).toContain('<script');
		const answer = await signIn(server, serverKey, { ...headers, origin: 'http://other.lan' });
		expect(answer.status).toBe(204);
	});

	test('plain HTTP from another machine gets an explanation, and no session', async () => {
		const server = await starts(['--host', '0.0.0.0']);
		const local = { ...server, url: server.url.replace('0.0.0.0', '127.0.0.1') };
		const cookie = await signedIn(local);
		const headers = { host: '192.168.1.5' };
		for (const path of VIEWS) {
			const page = await send(local.url, path, { headers });
			expect(page.status).toBe(200);
			expect(page.body.toString()).toContain('This page needs HTTPS');
			expect(page.body.toString()).not.toContain('<script');
			expect(page.body.toString()).toContain('--allow-http</code>');
			await hasStyle(local.url, page.body.toString());
			expect(page.headers['content-security-policy']).toBe(POLICY);
		}
		const refused = await signIn(local, serverKey, { ...headers, origin: 'http://192.168.1.5' });
		expect(refused.status).toBe(403);
		expect(refused.headers['set-cookie']).toBeUndefined();
		expect(await statusWith(local, cookie, headers)).toBe(401);
		expect(await statusWith(local, cookie)).toBe(200);
	});

	test('with --allow-http, plain HTTP from another machine gets the page', async () => {
		const server = await starts(['--host', '0.0.0.0', '--allow-http']);
		const local = { ...server, url: server.url.replace('0.0.0.0', '127.0.0.1') };
		const headers = { host: '192.168.1.5' };
		expect((await send(local.url, '/', { headers })).body.toString()).toContain('<script');
		const answer = await signIn(local, serverKey, { ...headers, origin: 'http://192.168.1.5' });
		expect(await statusWith(local, cookieOf(answer), headers)).toBe(200);
	});
});

test("a change needs the page's header and origin with a cookie, but not with the key", async () => {
	const server = await starts(['--allow-changes', '--allow-delete']);
	const cookie = await signedIn(server);
	const page = ofPage(server.url);
	const change = async (headers: Record<string, string>, method = 'PATCH') =>
		(
			await send(server.url, '/v1/lifelogs/a', {
				...{ method, headers },
				...(method === 'PATCH' && { body: { title: 'New' } }),
			})
		).status;
	for (const method of ['PATCH', 'DELETE']) {
		expect(await change({ cookie }, method)).toBe(403);
		expect(await change({ cookie, 'x-lifelog-page': '1' }, method)).toBe(403);
		expect(await change({ cookie, origin: server.url }, method)).toBe(403);
		expect(await change({ cookie, ...page, origin: 'https://evil.example' }, method)).toBe(403);
		expect(await change({ cookie, ...page, origin: 'null' }, method)).toBe(403);
	}
	expect(await change({ cookie, ...page })).toBe(200);
	expect(await change({ 'x-api-key': serverKey })).toBe(200);
	expect(await change({ cookie, ...page }, 'DELETE')).toBe(200);
});

test('a script of another site is refused, whatever it sends', async () => {
	const server = await starts();
	const cookie = await signedIn(server);
	const headers = { cookie, 'x-api-key': serverKey, origin: 'https://evil.example' };
	for (const path of ['/', '/web/days', '/v1/lifelogs']) {
		const answer = await send(server.url, path, { headers });
		expect([path, answer.status]).toEqual([path, 403]);
		expect(answer.headers['access-control-allow-origin']).toBeUndefined();
	}
});

describe('the page', () => {
	test('every view has an address, and a policy that blocks all other sources', async () => {
		const { url } = await starts();
		const pages = await Promise.all(VIEWS.map((path) => send(url, path)));
		for (const { status, headers, body } of pages) {
			expect(status).toBe(200);
			expect(headers['content-type']).toBe('text/html; charset=utf-8');
			expect(headers['content-security-policy']).toBe(POLICY);
			expect(headers['x-content-type-options']).toBe('nosniff');
			expect(headers['referrer-policy']).toBe('no-referrer');
			expect(headers['cross-origin-opener-policy']).toBeUndefined();
			expect(body).toEqual(pages[0].body);
		}
		const html = pages[0].body.toString();
		expect(html).not.toMatch(
			/<style|\sstyle=|\son\w+=|javascript:|https?:|<script(?![^>]*\ssrc=)/i,
		);
		const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
		expect(files).toHaveLength(4);
		for (const path of files) {
			const file = await send(url, path);
			expect([path, file.status]).toEqual([path, 200]);
			expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable');
		}
	});

	test('HEAD is answered like GET, without the page', async () => {
		const { url } = await starts();
		for (const path of VIEWS) {
			const [head, page] = await Promise.all([
				send(url, path, { method: 'HEAD' }),
				send(url, path),
			]);
			expect([path, head.status, head.body.length]).toEqual([path, 200, 0]);
			expect(head.headers).toEqual({ ...page.headers, date: expect.any(String) });
		}
	});

	test('a browser gets a page for an unknown address, every other client JSON', async () => {
		const { url } = await starts();
		const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
		const ask = (path: string, accept?: string, method = 'GET') =>
			send(url, path, { method, headers: { ...(accept && { accept }) } });
		for (const path of ['/nonsense', '/2026-99-99', '/days/2026-03-01/more', '/assets/unknown']) {
			const { status, headers, body } = await ask(path, browser);
			expect([path, status]).toEqual([path, 404]);
			expect(headers).toMatchObject({
				...{ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY },
				...{ 'cache-control': 'private, no-store', 'x-content-type-options': 'nosniff' },
			});
			expect(headers['cross-origin-opener-policy']).toBeUndefined();
			const html = body.toString();
			expect(html).toContain('<a href="/">Go to the calendar</a>');
			expect(html).not.toContain('<script');
			await hasStyle(url, html);
			const head = await ask(path, browser, 'HEAD');
			expect([head.status, head.body.length]).toEqual([404, 0]);
			expect(head.headers['content-length']).toBe(String(body.length));
		}
		// The last is that of n8n's HTTP Request node.
		const others = [undefined, '*/*', 'application/json,text/html,application/xhtml+xml,*/*;q=0.7'];
		for (const [path, accept, method] of [
			...others.map((accept) => ['/nonsense', accept]),
			...['/v1', '/v1/unknown?a=b', '/v2/lifelogs', '/mcp/unknown', '/web/unknown'].map((path) => [
				...[path, browser],
			]),
			['/nonsense', browser, 'POST'],
		] as const) {
			const answer = await ask(path!, accept, method);
			expect([path, accept, answer.status]).toEqual([path, accept, 404]);
			expect(answer.json()).toEqual({ error: `There is no endpoint ${method ?? 'GET'} ${path}` });
			expect(answer.headers['content-security-policy']).toBeUndefined();
		}
		const long = await ask(`/lifelogs/${'a'.repeat(1001)}`, browser);
		expect([long.status, long.json()]).toEqual([
			...[414, { error: 'The address has a part of over 1000 characters' }],
		]);
	});

	test('scripts and styles are sent compressed if the client accepts it', async () => {
		const { url } = await starts();
		const names = readdirSync('server/page/dist/assets').filter((name) =>
			/^index.*\.(js|css)$/.test(name),
		);
		expect(names).toHaveLength(2);
		for (const name of names) {
			const content = readFileSync(join('server/page/dist/assets', name));
			const ask = (encodings: string, more = {}, method = 'GET') =>
				send(url, `/assets/${name}`, {
					...{ method, headers: { 'accept-encoding': encodings, ...more } },
				});
			const plain = await ask('identity');
			const packed = await ask('gzip, deflate, br');
			for (const { status, headers } of [plain, packed]) {
				expect([name, status]).toEqual([name, 200]);
				expect(headers['content-type']).toMatch(
					/^(application\/javascript|text\/css); charset=utf-8$/,
				);
				expect(headers['content-security-policy']).toBe(POLICY);
				expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
				expect(headers.vary).toBe('accept-encoding');
			}
			expect(plain.headers['content-encoding']).toBeUndefined();
			expect(plain.body).toEqual(content);
			expect(packed.headers['content-encoding']).toBe('gzip');
			expect(packed.headers['content-length']).toBe(String(packed.body.length));
			expect(gunzipSync(packed.body)).toEqual(content);
			expect(packed.body.length).toBeLessThan(content.length);
			for (const encodings of ['', 'br', 'gzip;q=0', 'unknown']) {
				expect((await ask(encodings)).body).toEqual(content);
			}
			const head = await ask('gzip', {}, 'HEAD');
			expect([head.status, head.body.length]).toEqual([200, 0]);
			expect(head.headers).toMatchObject({
				...{ 'content-encoding': 'gzip', 'content-length': String(packed.body.length) },
				etag: packed.headers.etag,
			});
			expect(packed.headers.etag).not.toBe(plain.headers.etag);
			for (const [encodings, etag, status] of [
				['gzip', packed.headers.etag, 304],
				['identity', plain.headers.etag, 304],
				['gzip', plain.headers.etag, 200],
				['identity', packed.headers.etag, 200],
			] as const) {
				const again = await ask(encodings, { 'if-none-match': etag });
				expect([encodings, again.status]).toEqual([encodings, status]);
				expect(again.headers.vary).toBe('accept-encoding');
				if (status === 304) expect(again.body).toHaveLength(0);
			}
		}
	});

	test('the scripts have at most 110 KB in total, compressed', () => {
		const folder = 'server/page/dist/assets';
		const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'));
		const bytes = scripts.map((name) => gzipSync(readFileSync(join(folder, name))).length);
		expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(110_000);
	});

	test("data needs a session, and isn't cached", async () => {
		const server = await starts();
		const cookie = await signedIn(server);
		for (const path of [
			...['/web/days', '/web/days/2026-03-01', '/web/search?q=garden', '/web/status'],
			...['/web/lifelogs/a/audio-map', '/web/audio/a', '/web/session', '/v1/lifelogs/a'],
		]) {
			const { status, headers } = await send(server.url, path, { headers: { cookie } });
			expect([path, status]).toEqual([path, 200]);
			expect([path, headers['cache-control']]).toEqual([path, 'private, no-store']);
			if (path === '/web/session') continue;
			expect([path, (await send(server.url, path)).status]).toEqual([path, 401]);
		}
	});
});

describe('data', () => {
	let server: Awaited<ReturnType<typeof starts>>;
	let cookie: string;
	beforeEach(async () => {
		server = await starts();
		cookie = await signedIn(server);
	});
	const get = (path: string, headers = {}) =>
		send(server.url, path, { headers: { cookie, ...headers } });

	test('the calendar has the days of the time zone, newest first', async () => {
		expect((await get('/web/days')).json()).toEqual({
			days: [
				{ day: '2026-03-02', lifelogs: 1, starred: 0, durationMs: 600_000, audioMs: 0 },
				{ day: '2026-03-01', lifelogs: 1, starred: 1, durationMs: 600_000, audioMs: 299_980 },
				{ day: '2026-02-27', lifelogs: 1, starred: 0, durationMs: 600_000, audioMs: 0 },
			],
		});
	});

	test('a day with only audio is in the calendar, and is a neighboring day', async () => {
		const folder = temporaryFolder();
		const lateMs = NOON + 3 * 86_400_000;
		const audio = [{ startMs: lateMs, endMs: lateMs + 300_000 - 20, content: AUDIO }];
		await writeArchive(folder, { lifelogs: LIFELOGS, audio });
		const own = await starts([], folder);
		const headers = { cookie: await signedIn(own) };
		const read = async (path: string) => (await send(own.url, path, { headers })).json();
		expect((await read('/web/days')).days[0]).toEqual({
			...{ day: '2026-03-04', lifelogs: 0, starred: 0, durationMs: 0, audioMs: 299_980 },
		});
		expect((await read('/web/days/2026-03-02')).next).toBe('2026-03-04');
		expect((await read('/web/days/2026-03-04')).previous).toBe('2026-03-02');
		expect((await read('/web/days/2026-03-03')).previous).toBe('2026-03-02');
	});

	test('a change appears in the calendar', async () => {
		const own = await starts(['--allow-changes']);
		const headers = { cookie: await signedIn(own) };
		const starred = async () =>
			(await send(own.url, '/web/days', { headers }))
				.json()
				.days.map((each: { starred: number }) => each.starred);
		expect(await starred()).toEqual([0, 1, 0]);
		await send(own.url, '/v1/lifelogs/late', {
			...{ method: 'PATCH', body: { isStarred: true } },
			headers: { ...headers, ...ofPage(own.url) },
		});
		expect(await starred()).toEqual([1, 1, 0]);
	});

	test('a day has its lifelogs in short, its audio and its neighboring days', async () => {
		expect((await get('/web/days/2026-03-01')).json()).toEqual({
			...{ day: '2026-03-01', timezone: 'Europe/Berlin' },
			...{ previous: '2026-02-27', next: '2026-03-02' },
			startMs: Date.parse('2026-02-28T23:00:00Z'),
			endMs: Date.parse('2026-03-01T23:00:00Z'),
			lifelogs: [
				{
					...{ id: 'a', title: 'Plans', isStarred: true },
					...{ startTime: '2026-03-01T12:00:00.000Z', endTime: '2026-03-01T12:10:00.000Z' },
					...{ speakers: ['Anna'], headings: ['Outside'] },
				},
			],
			audio: [{ startMs: NOON, endMs: NOON + 300_000 - 20 }],
		});
		expect((await get('/web/days/2020-01-01')).json()).toMatchObject({ lifelogs: [], audio: [] });
	});

	test('a search marks the words and names the time of their line', async () => {
		const { results, nextOffset } = (await get('/web/search?q=garden')).json();
		expect(nextOffset).toBeNull();
		expect(results).toHaveLength(1);
		const [{ snippet, marks, at, id, day }] = results;
		expect({ id, day }).toEqual({ id: 'a', day: '2026-03-01' });
		expect(marks.map(([from, to]: [number, number]) => snippet.slice(from, to))).toEqual([
			...['garden', 'garden'],
		]);
		expect(Date.parse(at)).toBe(NOON + 20_000);
		const found = async (filter: string) =>
			(await get(`/web/search?q=garden&${filter}`)).json().results.length;
		expect(await found('speaker=anna&isStarred=true&from=2026-03-01&to=2026-03-01')).toBe(1);
		expect(await found('speaker=Bob')).toBe(0);
		expect(await found('from=2026-03-02')).toBe(0);
		expect(await found('to=2026-02-28')).toBe(0);
	});

	test('a search marks the words in titles, and shows the lines around them', async () => {
		const folder = temporaryFolder();
		const lines = ['One', 'Two', 'Three', 'The garden', 'Five', 'Six'];
		await writeArchive(folder, {
			lifelogs: [
				lifelogOf('g', '2026-03-01T12:00:00Z', {
					title: 'The garden in spring',
					contents: lines.map((line, nth) => ({
						...said(line, nth * 1_000),
						...(line === 'Five' && { speakerName: 'SPEAKER_00' }),
					})),
				}),
			],
		});
		const own = await starts([], folder);
		const headers = { cookie: await signedIn(own) };
		const [found] = (await send(own.url, '/web/search?q=garden', { headers })).json().results;
		expect(found.titleMarks).toEqual([[4, 10]]);
		expect(found.snippet).toBe('Anna: Three\nAnna: The garden\nSpeaker 1: Five');
		expect(
			found.marks.map(([from, to]: [number, number]) => found.snippet.slice(from, to)),
		).toEqual(['garden']);
		expect(Date.parse(found.at)).toBe(NOON + 3_000);
	});

	test('a search for a speaker looks at all lifelogs with the words', async () => {
		const folder = temporaryFolder();
		const garden = (id: string, minute: number, speakerName: string) =>
			lifelogOf(id, new Date(NOON + minute * 60_000).toISOString(), {
				contents: [{ type: 'blockquote', content: 'The garden.', speakerName }],
			});
		const frequent = Array.from({ length: 300 }, (_, nth) => garden(`l${nth}`, nth + 1, 'Anna'));
		await writeArchive(folder, { lifelogs: [garden('rare', 0, 'Élodie Roux'), ...frequent] });
		const own = await starts([], folder);
		const headers = { cookie: await signedIn(own) };
		const found = async (speaker: string) =>
			(await send(own.url, `/web/search?q=garden&speaker=${speaker}`, { headers }))
				.json()
				.results.map(({ id }: { id: string }) => id);
		expect(await found(encodeURIComponent(' élodie'))).toEqual(['rare']);
		expect(await found('ann')).toHaveLength(20);
		expect(await found('nobody')).toEqual([]);
	});

	test('a search without a query lists all lifelogs that pass the filters, newest first', async () => {
		const found = async (query: string) => {
			const { results, nextOffset } = (await get(`/web/search?${query}`)).json();
			expect(nextOffset).toBeNull();
			return results.map(({ id }: { id: string }) => id);
		};
		expect(await found('')).toEqual(['late', 'a', 'before']);
		expect(await found('isStarred=true')).toEqual(['a']);
		expect(await found('isStarred=false')).toEqual(['late', 'before']);
		expect(await found('speaker=ANN&from=2026-03-01&to=2026-03-01')).toEqual(['a']);
		expect(await found('speaker=nobody')).toEqual([]);
		expect(await found('from=2026-03-01')).toEqual(['late', 'a']);
		expect(await found('offset=2')).toEqual(['before']);
	});

	test('a search says whether more lifelogs match than it lists', async () => {
		const folder = temporaryFolder();
		const of = (count: number, title: string) =>
			Array.from({ length: count }, (_, nth) =>
				lifelogOf(`${title}${nth}`, new Date(NOON + nth * 60_000).toISOString(), { title }),
			);
		await writeArchive(folder, { lifelogs: [...of(201, 'many'), ...of(200, 'some')] });
		const own = await starts([], folder);
		const headers = { cookie: await signedIn(own) };
		for (const [word, isCut] of [
			['many', true],
			['some', false],
		]) {
			const path = `/web/search?q=${word}&offset=180`;
			const answer = (await send(own.url, path, { headers })).json();
			expect(answer.results).toHaveLength(20);
			expect(answer).toMatchObject({ nextOffset: null, isCut });
		}
		const all = (await send(own.url, '/web/search?offset=400', { headers })).json();
		expect(all).toMatchObject({ nextOffset: null, isCut: false });
		expect(all.results).toHaveLength(1);
	});

	test('a search leaves out a last word that may be unfinished, if nothing has it', async () => {
		const found = async (q: string) => {
			const { results, without } = (await get(`/web/search?q=${encodeURIComponent(q)}`)).json();
			return [results.length, without];
		};
		expect(await found('garden')).toEqual([1, null]);
		for (const last of ['k', 'ki', 'kit']) {
			expect(await found(`garden ${last}`)).toEqual([1, last]);
		}
		expect(await found('garden kitc')).toEqual([1, null]);
		expect(await found('garden xyzw')).toEqual([0, null]);
		expect(await found('garden ki ')).toEqual([0, null]);
		expect(await found('"garden ki')).toEqual([0, null]);
		expect(await found('"only the garden" ki')).toEqual([1, 'ki']);
		expect(await found('ki')).toEqual([0, null]);
	});

	test('if few lifelogs have all words of a search, it adds those with most of them', async () => {
		const folder = temporaryFolder();
		const of = (id: string, minute: number, content: string, speakerName = 'Anna') =>
			lifelogOf(id, new Date(NOON + minute * 60_000).toISOString(), {
				contents: [{ type: 'blockquote', content, speakerName }],
			});
		await writeArchive(folder, {
			lifelogs: [
				of('three', 1, 'Garden, water and roses.'),
				of('two', 2, 'The water of the garden.'),
				of('one', 3, 'Water.'),
				of('hers', 4, 'Roses.', 'Zora'),
				...Array.from({ length: 10 }, (_, nth) => of(`other${nth}`, 5 + nth, 'Plums and pears.')),
			],
		});
		const own = await starts([], folder);
		const headers = { cookie: await signedIn(own) };
		const search = async (q: string) => {
			const path = `/web/search?q=${encodeURIComponent(q)}`;
			const { results, partly, corrected } = (await send(own.url, path, { headers })).json();
			const idsOf = (found: { id: string }[]) => found.map(({ id }) => id);
			return { all: idsOf(results), some: idsOf(partly), corrected };
		};
		const none = { corrected: null };
		expect(await search('garden water roses')).toEqual({ all: ['three'], some: ['two'], ...none });
		expect(await search('garden water')).toEqual({
			...{ all: expect.arrayContaining(['three', 'two']), some: ['one'], ...none },
		});
		// Rarer words first.
		expect(await search('water zora')).toEqual({
			all: [],
			some: ['hers', 'one', 'two', 'three'],
			...none,
		});
		// Half of the words, or else as many as any lifelog has.
		expect((await search('roses ship moon night')).some).toEqual(['hers', 'three']);
		// An alternative of one word can't be met in part, and ten matches are enough.
		expect((await search('water OR moon')).some).toEqual([]);
		expect((await search('plums water')).some).toHaveLength(10);
		expect((await search('plums pears')).some).toEqual([]);
		expect(await search('gadren')).toEqual({ all: [], some: [], corrected: 'garden' });
		expect((await search('roses gadren')).corrected).toBe('roses garden');
		expect((await search('"water of teh garden"')).corrected).toBe(null);
		// The API's own search stays as it is.
		const api = await send(own.url, '/v1/lifelogs?search=garden+water+roses', { headers });
		expect(api.json().data.lifelogs).toHaveLength(1);
	});

	test('audio is served in parts, and the audio map says which time is at which position', async () => {
		const whole = await get('/web/audio/a');
		expect(whole.headers['content-type']).toBe('audio/ogg');
		expect(whole.headers['content-length']).toBe(String(whole.body.length));
		const head = await send(server.url, '/web/audio/a', { method: 'HEAD', headers: { cookie } });
		expect([head.status, head.body.length, head.headers['content-length']]).toEqual([
			...[200, 0, String(whole.body.length)],
		]);
		const part = await get('/web/audio/a', { range: 'bytes=1000-1999' });
		expect(part.status).toBe(206);
		expect(part.headers['content-range']).toBe(`bytes 1000-1999/${whole.body.length}`);
		expect(part.body).toEqual(whole.body.subarray(1000, 2000));
		const pages = readOgg(whole.body);
		const heardMs = (pages.at(-1)!.granule - pages[0].packets[0].readUInt16LE(10)) / 48;
		const { spans, files } = (await get('/web/lifelogs/a/audio-map')).json();
		expect(files).toEqual([expect.stringMatching(/^audio\/.*\.ogg$/)]);
		const mapped = spans.reduce(
			(sum: number, span: { startMs: number; endMs: number }) => sum + span.endMs - span.startMs,
			0,
		);
		expect(Math.abs(mapped - heardMs)).toBeLessThanOrEqual(20);
		expect(spans[0]).toMatchObject({ startMs: NOON, positionMs: 0 });
	});

	test('a lifelog has those before and after it', async () => {
		const of = async (id: string) => (await get(`/web/lifelogs/${id}/neighbors`)).json();
		const idsOf = ({ previous, next }: Record<string, { id: string } | null>) => [
			...[previous?.id ?? null, next?.id ?? null],
		];
		expect(idsOf(await of('before'))).toEqual([null, 'a']);
		expect(idsOf(await of('a'))).toEqual(['before', 'late']);
		expect(idsOf(await of('late'))).toEqual(['a', null]);
		expect((await of('before')).next.title).toBe('Plans');
		expect((await get('/web/lifelogs/unknown/neighbors')).status).toBe(404);
	});

	test('an unknown address is answered 404, and an invalid day or query 400', async () => {
		const statusOf = async (path: string) => (await get(path)).status;
		expect(await statusOf('/web/lifelogs/unknown/audio-map')).toBe(404);
		expect(await statusOf('/web/audio/unknown')).toBe(404);
		expect(await statusOf('/web/audio/before')).toBe(404);
		expect((await get('/web/audio/unknown')).json()).toEqual({ error: 'Lifelog not found' });
		expect((await get('/assets/unknown')).json()).toEqual({
			error: 'There is no endpoint GET /assets/unknown',
		});
		expect((await get('/web/lifelogs/before/audio-map')).json()).toEqual({ spans: [], files: [] });
		for (const day of ['today', '2026-02-30', '2026-3-1', '%00', '2026-03-01T00:00:00Z']) {
			expect([day, await statusOf(`/web/days/${day}`)]).toEqual([day, 400]);
		}
		for (const query of ['q=', 'q=a&from=soon', 'q=a&offset=-1', 'q=a&isStarred=maybe']) {
			expect([query, await statusOf(`/web/search?${query}`)]).toEqual([query, 400]);
		}
	});

	test('the status has the counts, the missing days and the missing audio', async () => {
		expect((await get('/web/status')).json()).toMatchObject({
			// Days of the time zone, but missing ones of the archive, which has a file for each in UTC.
			...{ lifelogs: 3, chats: 0, audioFiles: 1, days: 3 },
			...{ firstDay: '2026-02-27', lastDay: '2026-03-02', missingDays: ['2026-02-28'] },
			...{ leftOut: [], leftOutCount: 0, index: { state: 'ready' }, search: 'full text' },
			// Of "a" the second half, of the others all; newest first.
			audioGaps: [
				{ day: '2026-03-02', missingMs: 600_000 },
				{ day: '2026-03-01', missingMs: 300_020 },
				{ day: '2026-02-27', missingMs: 600_000 },
			],
			audioGapsCount: 3,
		});
	});

	test('while the index is being built, the status has the progress', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs: LIFELOGS });
		const free = join(temporaryFolder(), 'free');
		const [port] = (await freePorts(1)).map(String);
		const { ready } = spawnLifelogServer(folder, ['--port', port], {
			...{ LIFELOG_SERVER_KEY: serverKey, TEST_HELD: '/2026/03/01/' },
			TEST_FREE: free,
			NODE_OPTIONS: `--import=${pathToFileURL('test/support/heldDisk.mts').href}`,
		});
		const headers = { 'x-api-key': serverKey };
		const status = async () =>
			(await send(`http://127.0.0.1:${port}`, '/web/status', { headers })).json();
		await until(async () => (await status().catch(() => undefined))?.index?.done === 1);
		expect(await status()).toEqual({ index: { state: 'indexing', done: 1, total: 2 } });
		const refused = await send(`http://127.0.0.1:${port}`, '/web/days', { headers });
		const sentence = 'The index of the server is being built: try again in 10 seconds';
		expect([refused.status, refused.headers['retry-after']]).toEqual([503, '10']);
		expect(refused.json()).toEqual({
			error: expect.stringMatching(new RegExp(`^${sentence} \\(request [0-9a-f]{8}\\)$`)),
		});
		writeFileSync(free, '');
		const { close, log } = await ready;
		closing.push(close);
		expect(log).toEqual([
			expect.stringMatching(
				new RegExp(`^Request [0-9a-f]{8}: GET /web/days 503 failed: ${sentence}$`),
			),
		]);
		expect(await status()).toMatchObject({ index: { state: 'ready' }, lifelogs: 3 });
	});

	test('the status says why files are left out, also after a restart', async () => {
		const [name] = readdirSync(join(server.folder, 'days')).filter((day) => day.includes('02-27'));
		const { lifelogs } = JSON.parse(readFileSync(join(server.folder, 'days', name), 'utf8'));
		const [path] = lifelogs.before.files.map((file: { path: string }) => file.path);
		await server.close();
		writeFileSync(join(server.folder, path), 'broken');
		rmSync(join(server.folder, '.lifelog-index.sqlite'));
		for (let start = 1; start <= 2; start += 1) {
			const again = await starts([], server.folder);
			const status = (await send(again.url, '/web/status', { headers: { cookie } })).json();
			expect(status.leftOut).toEqual([
				{ day: '2026-02-27', path, reason: expect.stringMatching(/\w/) },
			]);
			await again.close();
		}
	});

	test('the calendar has the right days when clocks change', async () => {
		// Clocks of Berlin go forward at 01:00 UTC on 29 March 2026.
		const folder = temporaryFolder();
		const at = ['2026-03-28T22:59:59Z', '2026-03-28T23:00:00Z', '2026-03-29T21:59:59Z'];
		const lifelogs = [...at, '2026-03-29T22:00:00Z'].map((time, nth) => lifelogOf(`l${nth}`, time));
		await writeArchive(folder, { lifelogs });
		const own = await starts([], folder);
		const answer = await send(own.url, '/web/days', { headers: { cookie: await signedIn(own) } });
		expect(
			answer
				.json()
				.days.map(({ day, lifelogs }: { day: string; lifelogs: number }) => [day, lifelogs]),
		).toEqual([
			['2026-03-30', 1],
			['2026-03-29', 2],
			['2026-03-28', 1],
		]);
	});
});

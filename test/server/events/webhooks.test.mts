// Webhooks by the API: who may, where to, what is answered, and what is never told.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Access } from '../../../server/http/auth/access.mts';
import { readAccessFile } from '../../../server/http/auth/accessFile.mts';
import { serverKey } from '../../support/lifelogServer.mts';
import { until } from '../../support/soon.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { listed, register, say, send, startReceiver, type Receiver } from './receiver.mts';
import { REFUSED } from '../../support/messages.mts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

async function starts(
	folder: string,
	args = ['--allow-changes'],
	env?: Record<string, string>,
): Promise<SpawnedServer> {
	const server = await startLifelogServer(folder, ['--webhook-pauses', '0.1', ...args], {
		...{ LIFELOG_SERVER_KEY: serverKey, ...env },
	});
	closing.push(server.close);
	return server;
}

async function receives(): Promise<Receiver> {
	const receiver = await startReceiver();
	closing.push(receiver.close);
	return receiver;
}

const json = async (response: Promise<Response>) => {
	const answer = await response;
	return { status: answer.status, ...(await answer.json()) };
};

const ALL = [
	'lifelog.created',
	'lifelog.updated',
	'lifelog.deleted',
	'recording.completed',
	'recording.failed',
];

test('a webhook is created, tested at once, listed, tested again and deleted', async () => {
	const [server, receiver] = [await starts(temporaryFolder(), []), await receives()];
	const description = 'A workflow';
	const created = await register(server, receiver, { description });
	expect(created).toEqual({
		status: 201,
		reached: { status: 204 },
		webhook: {
			...{ id: expect.stringMatching(/^wh_\w+$/), url: receiver.hook, types: ALL, description },
			...{ status: 'active', reason: null, createdAt: expect.any(String), waiting: 0 },
			lastDelivery: { at: expect.any(String), status: 204, error: null },
			secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
		},
	});
	const { secret, ...shown } = created.webhook;
	expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
	expect(receiver.tests.map(({ data }) => data)).toEqual([{ id: shown.id }]);
	const list = await ask(server, '/v1/webhooks');
	const text = await list.text();
	expect(JSON.parse(text)).toEqual({ data: { webhooks: [shown] } });
	expect(text).not.toContain(secret);
	const path = `/v1/webhooks/${shown.id}`;
	const tested = await json(send(server, 'POST', `${path}/test`));
	expect(tested).toMatchObject({ status: 200, data: { reached: { status: 204 } } });
	expect(receiver.tests[1].isSigned).toBe(true);
	expect(await json(ask(server, `${path}/deliveries`))).toMatchObject({
		data: {
			deliveries: receiver.tests.toReversed().map(({ id, data }) => ({
				...{ id, data, type: 'webhook.test', state: 'delivered', attempts: 1, status: 204 },
			})),
		},
	});
	expect(await listed(server)).toEqual([]);
	expect((await json(send(server, 'DELETE', path))).data).toEqual({ success: true });
	for (const [method, at] of [
		['DELETE', path],
		['POST', `${path}/test`],
		['GET', `${path}/deliveries`],
	]) {
		expect(await json(send(server, method, at))).toEqual({
			status: 404,
			error: 'Webhook not found',
		});
	}
});

test('the same URL again has a new secret, and other types', async () => {
	const [server, receiver] = [await starts(temporaryFolder()), await receives()];
	const first = await register(server, receiver);
	const second = await register(server, receiver, {
		types: ['lifelog.created'],
		description: null,
	});
	expect([second.status, second.webhook.id]).toEqual([200, first.webhook.id]);
	expect(second.webhook.secret).not.toBe(first.webhook.secret);
	expect(second.webhook.types).toEqual(['lifelog.created']);
	await say(server, 'Signed with the second one.');
	await until(() => receiver.received.length > 0);
	expect(receiver.received[0].isSigned).toBe(true);
});

test.each([
	['a receiver that refuses', { status: 401 }],
	['a redirect, which is not followed', { status: 302 }],
])('a test reaches %s', async (_name, reached) => {
	const [server, receiver, other] = [
		await starts(temporaryFolder()),
		await receives(),
		await receives(),
	];
	receiver.answer = (_received, response) => {
		response.writeHead(reached.status, { location: other.hook }).end();
	};
	expect(await register(server, receiver)).toMatchObject({ status: 201, reached });
	expect(other.tests).toEqual([]);
});

test('says why nothing answers, without the address', async () => {
	const [server, receiver] = [await starts(temporaryFolder()), await receives()];
	await receiver.close();
	expect(await register(server, receiver)).toMatchObject({
		...{ status: 201, reached: { error: REFUSED } },
	});
	const nowhere = { hook: 'https://nowhere.invalid/hook' };
	expect((await register(server, nowhere)).reached.error).toMatch(/^the name of the host/);
	expect((await register(server, { hook: 'http://127.0.0.1:25/' })).reached).toEqual({
		error: "its port isn't one for HTTP",
	});
});

describe('refused are', () => {
	let server: SpawnedServer;
	beforeAll(async () => {
		server = await startLifelogServer(temporaryFolder());
	});
	afterAll(() => server.close());

	test.each([
		['link-local', 'http://169.254.169.254/latest/meta-data'],
		['link-local by https', 'https://169.254.1.1/'],
		['link-local as one number', 'http://2852039166/'],
		['link-local in octal', 'http://0251.0376.0251.0376/'],
		['link-local in IPv6', 'http://[fe80::1]/'],
		['link-local as IPv4 in IPv6', 'http://[::ffff:169.254.169.254]/'],
		['link-local as IPv4 in IPv6, by https', 'https://[::ffff:a9fe:a9fe]/'],
		['link-local by NAT64', 'https://[64:ff9b::a9fe:a9fe]/'],
		['metadata by IPv6', 'http://[fd00:ec2::254]/'],
		['metadata of Google by IPv6', 'http://[fd20:ce::254]/'],
		["Azure's own services", 'https://168.63.129.16/'],
		['link-local as translated IPv4', 'https://[::ffff:0:169.254.169.254]/'],
		['link-local by a local NAT64', 'https://[64:ff9b:1::a9fe:a9fe]/'],
		['metadata by NAT64', 'https://[64:ff9b::100.100.100.200]/'],
		['metadata of Alibaba', 'http://100.100.100.200/'],
		['http to a public address', 'http://203.0.113.7/hook'],
		['http to a public address in IPv6', 'http://[2001:db8::1]/hook'],
		['http to everything', 'http://0.0.0.0:5678/hook'],
		['a user name', 'https://anna@example.org/'],
		['a password', 'https://anna:secret@example.org/'],
		['another protocol', 'ftp://example.org/'],
		['a file', 'file:///etc/passwd'],
		['no address', 'n8n'],
		['nothing', ''],
	])('%s', async (_name, url) => {
		const answer = await json(send(server, 'POST', '/v1/webhooks', { url }));
		expect([answer.status, typeof answer.error]).toEqual([400, 'string']);
		expect(answer.error).not.toContain('secret');
		expect((await json(ask(server, '/v1/webhooks'))).data.webhooks).toEqual([]);
	});

	test.each([
		['unknown types', { types: ['lifelog.seen'] }],
		['tests as a type', { types: ['webhook.test'] }],
		['no types', { types: [] }],
		['a field that there is not', { headers: { authorization: 'x' } }],
		['a long description', { description: 'x'.repeat(201) }],
	])('%s', async (_name, more) => {
		const body = { url: 'http://127.0.0.1:1/', ...more };
		expect((await send(server, 'POST', '/v1/webhooks', body)).status).toBe(400);
	});

	test('no body', async () => {
		expect((await send(server, 'POST', '/v1/webhooks')).status).toBe(400);
	});
});

test('a name that leads elsewhere later is refused when it is connected to', async () => {
	const folder = temporaryFolder();
	const address = join(temporaryFolder(), 'address');
	const receiver = await receives();
	writeFileSync(address, '127.0.0.1');
	const server = await starts(folder, ['--allow-changes'], {
		TEST_ADDRESS: address,
		NODE_OPTIONS: `--import=${pathToFileURL('test/support/changingNames.mts').href}`,
	});
	const hook = receiver.hook.replace('127.0.0.1', 'receiver.changing.test');
	const { webhook, reached } = await register(server, { hook });
	expect(reached).toEqual({ status: 204 });
	const test = async (now: string) => {
		writeFileSync(address, now);
		// A connection that is open stays with the address that it was made to.
		receiver.server.closeAllConnections();
		const path = `/v1/webhooks/${webhook.id}/test`;
		return (await json(send(server, 'POST', path))).data.reached;
	};
	for (const linkLocal of ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1']) {
		expect((await test(linkLocal)).error).toMatch(/^the address is link-local/);
	}
	expect((await test('203.0.113.7')).error).toMatch(/^HTTP is only for a private network/);
	expect(await test('127.0.0.1')).toEqual({ status: 204 });
	expect(receiver.tests).toHaveLength(2);
	// Also in the first place.
	writeFileSync(address, '169.254.169.254');
	const url = 'https://metadata.changing.test/';
	expect((await send(server, 'POST', '/v1/webhooks', { url })).status).toBe(400);
});

test('a key that can only read lists events, and no webhooks', async () => {
	const folder = temporaryFolder();
	const index = join(folder, '.lifelog-index.sqlite');
	const file = readAccessFile(Access.fileOf(index));
	const { key } = new Access(index, file, undefined, 'any').makeKey('Agent', true);
	const [server, receiver] = [await starts(folder, []), await receives()];
	const { webhook } = await register(server, receiver);
	const reader = { url: server.url, apiKey: key };
	expect((await ask(reader, '/v1/events')).status).toBe(200);
	for (const [method, at] of [
		['GET', '/v1/webhooks'],
		['POST', '/v1/webhooks'],
		['DELETE', `/v1/webhooks/${webhook.id}`],
		['POST', `/v1/webhooks/${webhook.id}/test`],
		['GET', `/v1/webhooks/${webhook.id}/deliveries`],
	]) {
		const { status, error } = await json(send(reader, method, at));
		expect([method, at, status]).toEqual([method, at, 403]);
		expect(error).toMatch(/^This key can only read/);
	}
	expect((await fetch(`${server.url}/v1/events`)).status).toBe(401);
});

test('events are listed page by page', async () => {
	const server = await starts(temporaryFolder());
	const ids: string[] = [];
	for (const text of ['One.', 'Two.', 'Three.']) ids.push(await say(server, text));
	// For a moment, the next change may become part of them.
	expect(await listed(server)).toEqual([]);
	await until(async () => (await listed(server)).length === 3);
	const seen: string[] = [];
	let after = 0;
	for (;;) {
		const page = await json(ask(server, `/v1/events?limit=2&after=${after}`));
		after = page.meta.events.after;
		if (page.meta.events.count === 0) break;
		seen.push(...page.data.events.map(({ data }: { data: { id: string } }) => data.id));
	}
	expect(seen).toEqual(ids);
	expect((await ask(server, '/v1/events?after=99')).status).toBe(400);
	const oldest = await json(ask(server, '/v1/events?limit=1'));
	expect(oldest.data.events[0]).toEqual({
		...{ id: expect.stringMatching(/^evt_\w+$/), type: 'lifelog.created' },
		timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
		data: expect.objectContaining({ id: ids[0], source: 'api' }),
	});
});

test('with --no-webhooks there are none', async () => {
	const folder = temporaryFolder();
	const server = await starts(folder, ['--allow-changes', '--no-webhooks']);
	await say(server, 'Told to nobody.');
	for (const path of ['/v1/webhooks', '/v1/events']) {
		const { status, error } = await json(ask(server, path));
		expect([path, status, typeof error]).toEqual([path, 404, 'string']);
	}
});

describe('a lifelog is saved', () => {
	test('while the events are locked, and told once they are not', async () => {
		const folder = temporaryFolder();
		const path = join(folder, '.lifelog-index.sqlite.events');
		const receiver = await receives();
		const first = await startLifelogServer(folder, ['--allow-changes']);
		await register(first, receiver);
		await first.close();
		const other = new DatabaseSync(path);
		other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
		const server = await starts(folder);
		const id = await say(server, 'Saved all the same.');
		expect(id).toMatch(/^made-/);
		expect((await ask(server, `/v1/lifelogs/${id}`)).status).toBe(200);
		const refused = await ask(server, '/v1/webhooks');
		expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
		expect(receiver.received).toEqual([]);
		other.close();
		await until(() => receiver.received.length > 0);
		expect(receiver.received[0].data.id).toBe(id);
		const told = server.log.filter((line) => line.includes(path));
		expect(told.map((line) => line.replace(path, '…')).sort()).toEqual([
			"Deliveries wait: The events … can't be opened (database is locked)",
			"Events wait: The events … can't be opened (database is locked)",
		]);
	});

	test('if the file of the events is another one', async () => {
		const folder = temporaryFolder();
		const path = join(folder, '.lifelog-index.sqlite.events');
		writeFileSync(path, 'Not a database, but long enough to be taken for one. '.repeat(100));
		const server = await starts(folder);
		expect(await say(server, 'Saved.')).toMatch(/^made-/);
		expect((await ask(server, '/v1/events')).status).toBe(503);
		expect(readFileSync(path, 'utf8')).toMatch(/^Not a database/);
	});
});

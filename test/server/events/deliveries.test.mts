// How events are delivered: the schedule, order, answers of every kind, and pauses, by a clock of the test.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { join } from 'node:path';
import { Webhook as Verifier } from 'standardwebhooks';
import { Events } from '../../../server/events/events.mts';
import type { LifelogStates } from '../../../server/index/schema.mts';
import { until } from '../../support/soon.mts';
import { temporaryFolder } from '../sources.mts';
import { isSigned, startReceiver, type Received, type Receiver } from './receiver.mts';

const HOUR_S = 3600;
const NOW = Date.parse('2026-11-01T12:00:00Z');

let nowMs: number;
let receiver: Receiver;
let events: Events;
let path: string;
const log: string[] = [];
const lifelogs = new Map<string, { version: number; isDeleted: boolean }>();

/** What is served: lifelogs with a version. */
const served: LifelogStates = {
	lifelogStates: (afterId, limit) =>
		[...lifelogs.keys()]
			.filter((id) => id > afterId)
			.sort()
			.slice(0, limit)
			.map((id) => served.lifelogState(id)!),
	lifelogState: (id) => {
		const { version, isDeleted } = lifelogs.get(id)!;
		return { id, hash: isDeleted ? null : `version ${version}` };
	},
	lifelogHead: (id) => {
		const { version } = lifelogs.get(id)!;
		return { startTime: iso(nowMs), updatedAt: iso(NOW + version) };
	},
	deletedStart: () => iso(NOW),
};
const iso = (ms: number) => new Date(ms).toISOString();

async function open(pauses?: number[]): Promise<void> {
	const warn = (line: string) => log.push(line);
	events = new Events({ path, pauses, warn, now: () => nowMs });
	await events.births.compareAll(served);
	events.begin();
}

async function close(): Promise<void> {
	await events.close();
	events.closeFile();
}

beforeEach(async () => {
	nowMs = NOW;
	log.length = 0;
	lifelogs.clear();
	path = join(temporaryFolder(), 'events');
	receiver = await startReceiver();
	await open();
});
afterEach(async () => {
	await close();
	await receiver.close();
});

async function register(more: object = {}): Promise<string> {
	const { webhook } = await events.create({ url: receiver.hook, ...more });
	receiver.secret = webhook.secret;
	return webhook.id;
}

/** Changes a lifelog, or makes it. */
async function change(id: string, isDeleted = false): Promise<void> {
	const version = (lifelogs.get(id)?.version ?? 0) + 1;
	lifelogs.set(id, { version, isDeleted });
	await events.births.compare(served, [id]);
}

/** Lets time pass, and has what is due be sent. */
function pass(seconds: number): void {
	nowMs += seconds * 1000;
	// As the timer does, which doesn't know this clock.
	events.wake();
}

/** Waits until so much has come, and all attempts have ended. */
async function arrived(count: number): Promise<Received[]> {
	await until(() => receiver.received.length >= count && !events.isSending);
	return receiver.received;
}

const webhook = () => events.list()[0];
const deliveries = () =>
	events.deliveries(webhook().id, 100).filter(({ type }) => type !== 'webhook.test');

test('ten attempts are made over 75 hours, with jitter', async () => {
	await register();
	receiver.answer = () => 500;
	await change('a');
	pass(2);
	await arrived(1);
	const pauses: number[] = [];
	for (let count = 2; count <= 10; count += 1) {
		const [{ nextAttemptAt }] = deliveries();
		const pauseMs = Date.parse(nextAttemptAt!) - nowMs;
		pauses.push(pauseMs / 1000);
		pass(pauseMs / 1000 - 1);
		expect(receiver.received).toHaveLength(count - 1);
		pass(1);
		await arrived(count);
	}
	const planned = [5, 300, 1800, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_S)];
	for (const [nth, pause] of pauses.entries()) {
		expect(Math.abs(pause / planned[nth] - 1)).toBeLessThanOrEqual(0.1);
	}
	expect(new Set(pauses.map((pause, nth) => pause / planned[nth])).size).toBe(9);
	expect(deliveries()).toMatchObject([
		{ type: 'lifelog.created', state: 'failed', attempts: 10, status: 500, nextAttemptAt: null },
	]);
	pass(1000 * HOUR_S);
	expect(receiver.received).toHaveLength(10);
	const [first] = receiver.received;
	for (const { id, body, isSigned: isRight } of receiver.received) {
		expect([id, body, isRight]).toEqual([first.id, first.body, true]);
	}
});

test('events of a lifelog keep their order, and others do not wait for them', async () => {
	await register();
	receiver.answer = ({ data }) => (data.id === 'a' ? 500 : 204);
	await change('a');
	pass(3);
	await arrived(1);
	await change('a');
	await change('b');
	pass(3);
	await arrived(2);
	pass(3);
	await arrived(3);
	// The first one of a, twice; its second one waits.
	const [first, second, third] = receiver.received.map(({ type, data }) => `${type} ${data.id}`);
	expect([first, [second, third].sort()]).toEqual([
		'lifelog.created a',
		['lifelog.created a', 'lifelog.created b'],
	]);
	receiver.answer = () => 204;
	pass(400);
	await arrived(5);
	expect(receiver.received.slice(3).map(({ type, data }) => `${type} ${data.id}`)).toEqual([
		'lifelog.created a',
		'lifelog.updated a',
	]);
});

test('an update of which no attempt was begun is replaced by the next, and by a delete', async () => {
	await register();
	receiver.answer = () => 500;
	await change('a');
	pass(2);
	await arrived(1);
	for (let nth = 0; nth < 3; nth += 1) {
		await change('a');
		nowMs += 2_500;
	}
	// One that was begun stays, and its changes follow it.
	expect(deliveries().map(({ type, attempts }) => [type, attempts > 0])).toEqual([
		['lifelog.updated', false],
		['lifelog.created', true],
	]);
	expect(deliveries()[0].data).toMatchObject({ updatedAt: iso(NOW + 4) });
	await change('a', true);
	expect(deliveries().map(({ type }) => type)).toEqual(['lifelog.deleted', 'lifelog.created']);
	receiver.answer = () => 204;
	pass(10);
	await arrived(3);
	expect(receiver.received.map(({ type }) => type)).toEqual([
		...['lifelog.created', 'lifelog.created', 'lifelog.deleted'],
	]);
	expect(events.after(0, 100).events.map(({ type }) => type)).toEqual([
		...['lifelog.created', 'lifelog.deleted'],
	]);
});

test('a created lifelog that is deleted before anybody was told is only told as deleted', async () => {
	await register();
	receiver.answer = () => 503;
	// Too many at once for an attempt of each.
	for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await change(id);
	receiver.answer = () => {};
	pass(2);
	await until(() => receiver.received.length === 5);
	await change('f', true);
	expect(events.after(0, 100).events.map(({ data }) => data.id)).not.toContain('f');
	pass(3);
	expect(
		events
			.after(0, 100)
			.events.filter(({ data }) => data.id === 'f')
			.map(({ type }) => type),
	).toEqual(['lifelog.deleted']);
});

test('Retry-After is respected, for all that goes to the webhook', async () => {
	await register();
	receiver.answer = (_received, response) => {
		response.writeHead(429, { 'retry-after': '120' }).end();
	};
	await change('a');
	pass(2);
	await arrived(1);
	await change('b');
	receiver.answer = () => 204;
	pass(110);
	expect(receiver.received).toHaveLength(1);
	pass(10);
	await arrived(3);
});

test('410 pauses a webhook; created again, it gets what waits, signed with the new secret', async () => {
	const id = await register();
	receiver.answer = () => 410;
	await change('a');
	pass(2);
	await arrived(1);
	expect(webhook()).toMatchObject({
		...{ id, status: 'paused', reason: 'the receiver said that it is gone (410)', waiting: 1 },
	});
	expect(log).toEqual([expect.stringMatching(/^The webhook to 127\.0\.0\.1:\d+ is paused: /)]);
	expect(log[0]).not.toContain('/webhook');
	await change('b');
	pass(HOUR_S);
	expect(receiver.received).toHaveLength(1);
	receiver.answer = () => 204;
	await register();
	await arrived(3);
	expect(webhook()).toMatchObject({ id, status: 'active', reason: null, waiting: 0 });
	expect(receiver.received.slice(1).every(({ isSigned: isRight }) => isRight)).toBe(true);
});

test('five days without a success pause a webhook, and a test that arrives resumes it', async () => {
	await register();
	receiver.answer = () => 500;
	await change('a');
	let count = 0;
	for (let hours = 0; hours < 5 * 24; hours += 6) {
		expect(webhook().status).toBe('active');
		await change(`at ${hours}`);
		pass(6 * HOUR_S);
		await until(() => receiver.received.length > count && !events.isSending);
		count = receiver.received.length;
	}
	await change('late');
	pass(6 * HOUR_S);
	await arrived(count + 1);
	expect(webhook()).toMatchObject({ status: 'paused', reason: 'nothing arrived for five days' });
	expect(await events.test(webhook().id)).toMatchObject({
		...{ reached: { status: 500 }, webhook: { status: 'paused' } },
	});
	receiver.answer = () => 204;
	const { waiting } = webhook();
	const before = receiver.received.length;
	expect(await events.test(webhook().id)).toMatchObject({ webhook: { status: 'active' } });
	await arrived(before + waiting);
	expect(webhook().waiting).toBe(0);
});

test('a success begins the five days anew', async () => {
	await register();
	for (let days = 0; days < 8; days += 1) {
		receiver.answer = () => (days === 4 ? 204 : 500);
		await change(`day ${days}`);
		const before = receiver.received.length;
		pass(24 * HOUR_S);
		await until(() => receiver.received.length > before && !events.isSending);
		expect([days, webhook().status]).toEqual([days, 'active']);
	}
});

test('what fails first after quiet days pauses no webhook', async () => {
	receiver.answer = () => 500;
	// Its own test fails, as at the registration by n8n.
	await register();
	pass(6 * 24 * HOUR_S);
	await change('a');
	await close();
	await open(Array(9).fill(1000));
	for (let attempts = 1; attempts <= 10; attempts += 1) {
		pass(3);
		await arrived(attempts);
		await until(() => !events.isSending);
	}
	expect([webhook().status, deliveries()[0].state]).toEqual(['active', 'failed']);
	pass(6 * 24 * HOUR_S);
	await change('b');
	pass(3);
	await arrived(11);
	await until(() => !events.isSending);
	expect(webhook()).toMatchObject({ status: 'active', waiting: 1 });
});

test('an attempt that ends after its webhook was removed says nothing of another delivery', async () => {
	let answer: (() => void) | undefined;
	const removed = await register();
	receiver.answer = (_received, response) => {
		answer = () => response.writeHead(204).end();
	};
	await change('a');
	pass(2);
	await until(() => answer !== undefined);
	events.remove(removed);
	receiver.answer = () => 204;
	await register();
	await change('b');
	answer!();
	await until(() => !events.isSending);
	expect(deliveries()).toMatchObject([{ state: 'waiting', attempts: 0 }]);
	pass(2);
	await arrived(2);
});

test('a webhook that is removed during its first test is unknown afterwards', async () => {
	receiver.answer = (_received, response) => {
		events.remove(events.list()[0].id);
		response.writeHead(204).end();
	};
	await expect(register()).rejects.toThrow('Webhook not found');
});

test('what waits is tried at once by the next start, which takes no attempt of the schedule away', async () => {
	await register();
	receiver.answer = () => 500;
	await change('a');
	pass(2);
	await arrived(1);
	for (let start = 0; start < 15; start += 1) {
		await close();
		await open();
		await arrived(start + 2);
	}
	expect(deliveries()).toMatchObject([{ state: 'waiting', attempts: 16 }]);
	await close();
	receiver.answer = () => 204;
	await open();
	await arrived(17);
	expect(deliveries()).toMatchObject([{ state: 'delivered', attempts: 17 }]);
	expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
});

test('an attempt whose answer was lost is made again with the same ID', async () => {
	await register();
	receiver.answer = () => {};
	await change('a');
	pass(2);
	await until(() => receiver.received.length === 1);
	await change('a');
	await close();
	receiver.answer = () => 204;
	await open();
	await arrived(2);
	pass(3);
	await arrived(3);
	const [lost, again, update] = receiver.received;
	expect([again.id, again.body]).toEqual([lost.id, lost.body]);
	expect(update.type).toBe('lifelog.updated');
});

describe('a receiver', () => {
	const gigabyte = gzipSync(Buffer.alloc(2 ** 26));
	test.each<[string, Receiver['answer'], object]>([
		[
			'that closes the connection has no answer',
			(_received, response) => void response.destroy(),
			{ state: 'waiting', error: 'the connection was closed before an answer came' },
		],
		[
			'that redirects is not followed',
			(_received, response) => void response.writeHead(301, { location: '/elsewhere' }).end(),
			{ state: 'waiting', status: 301 },
		],
		[
			'that sends without end is cut',
			(_received, response) => {
				response.writeHead(200);
				const more = () => {
					while (!response.destroyed && response.write(Buffer.alloc(65_536)));
				};
				response.on('drain', more);
				more();
			},
			{ state: 'delivered', status: 200 },
		],
		[
			'that sends a bomb is cut',
			(_received, response) =>
				void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gigabyte),
			{ state: 'delivered', status: 200 },
		],
		[
			'that sends headers without end has no answer',
			(_received, response) => {
				const socket = response.socket!;
				socket.write('HTTP/1.1 200 OK\r\n');
				const more = () => {
					while (!socket.destroyed && socket.write(`x: ${'y'.repeat(9999)}\r\n`));
				};
				socket.on('drain', more).on('error', () => {});
				more();
			},
			{ state: 'waiting', error: 'the connection failed (UND_ERR_HEADERS_OVERFLOW)' },
		],
		[
			'that speaks something else has no answer',
			(_received, response) => void response.socket!.end('220 mail.example.org ESMTP\r\n'),
			{ state: 'waiting', error: 'the connection failed (HTTPParserError)' },
		],
	])('%s', async (_name, answer, expected) => {
		await register();
		receiver.answer = answer;
		await change('a');
		const before = process.memoryUsage().rss;
		pass(2);
		await arrived(1);
		await until(
			() => deliveries()[0].state !== 'waiting' || deliveries()[0].nextAttemptAt !== null,
		);
		expect(deliveries()).toMatchObject([expected]);
		expect(process.memoryUsage().rss - before).toBeLessThan(60 * 2 ** 20);
	});

	test('that never answers, or never ends its answer, is left after 20 seconds', async () => {
		await register();
		receiver.answer = ({ data }, response) => {
			if (data.id === 'silent') return;
			response.writeHead(200);
			const dripping = setInterval(() => response.write('.'), 500);
			response.on('close', () => clearInterval(dripping));
		};
		await change('dripping');
		await change('silent');
		const begun = performance.now();
		pass(2);
		await arrived(2);
		expect(performance.now() - begun).toBeGreaterThan(19_000);
		expect(deliveries()).toMatchObject([
			{ state: 'waiting', error: 'no answer came within 20 seconds' },
			{ state: 'delivered', status: 200 },
		]);
	});
});

test('events and deliveries are kept for 30 days', async () => {
	await register();
	await change('old');
	pass(3);
	await arrived(1);
	pass(29 * 24 * HOUR_S);
	await change('new');
	pass(3);
	await arrived(2);
	await close();
	nowMs += 2 * 24 * HOUR_S * 1000;
	await open();
	expect(events.after(0, 100).events.map(({ data }) => data.id)).toEqual(['new']);
	expect(deliveries().map(({ data }) => data.id)).toEqual(['new']);
});

describe('signatures', () => {
	test('are those of the specification', () => {
		const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
		const [id, body] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', '{"test": 2432232314}'];
		const wanted = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
		expect(new Verifier(secret).sign(id, new Date(1614265330_000), body)).toBe(wanted);
		const headers = {
			...{ 'webhook-id': id, 'webhook-timestamp': '1614265330' },
			'webhook-signature': `v1,AAAA v1a,x ${wanted}`,
		};
		expect(isSigned(secret, headers, body)).toBe(true);
		expect(isSigned(secret, headers, `${body} `)).toBe(false);
	});

	test('are right for the library, for another implementation, and for nothing else', async () => {
		await register();
		await change('a');
		pass(2);
		const [{ body, headers }] = await arrived(1);
		const sent = headers as Record<string, string>;
		expect(new Verifier(receiver.secret).verify(body, sent)).toEqual(JSON.parse(body));
		expect(isSigned(receiver.secret, headers, body)).toBe(true);
		expect(isSigned(`whsec_${Buffer.alloc(32).toString('base64')}`, headers, body)).toBe(false);
		const moved = { ...headers, 'webhook-timestamp': String(Date.now()) };
		expect(isSigned(receiver.secret, moved, body)).toBe(false);
	});

	test('are made with a secret that no answer and no line of the log has', async () => {
		await register();
		receiver.answer = () => 410;
		await change('a');
		pass(2);
		await arrived(1);
		const said = JSON.stringify([events.list(), deliveries(), events.after(0, 9), log]);
		expect(said).not.toContain(receiver.secret.slice(6));
		events.remove(webhook().id);
		await close();
		expect(readFileSync(path, 'latin1')).not.toContain(receiver.secret.slice(6));
		await open();
	});
});

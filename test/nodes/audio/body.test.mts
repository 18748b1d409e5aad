import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { incomingBody } from '../../../nodes/shared/transport/body.ts';

const kilobyte = Buffer.alloc(1024, 'x');

/** A body of `parts` kilobytes; `end` says what comes after them. */
function sourceOf(parts: number, end?: 'stall' | 'error') {
	const read: number[] = [];
	const source = Readable.from(
		(async function* () {
			for (let part = 0; part < parts; part++) {
				read.push(part);
				yield kilobyte;
			}
			if (end === 'stall') await sleep(60_000, undefined, { ref: false });
			if (end === 'error') throw new Error('aborted');
		})(),
		{ objectMode: false, highWaterMark: 1 },
	);
	return { source, read };
}

const bodies: Array<ReturnType<typeof incomingBody>> = [];
afterEach(() => bodies.splice(0).forEach((body) => body.close()));

function guarded(
	source: Readable,
	{ stallMs = 5000, signal = new AbortController().signal } = {},
): ReturnType<typeof incomingBody> {
	const body = incomingBody(source, stallMs, signal);
	bodies.push(body);
	return body;
}

test('is streamed completely, with the bytes that were peeked at', async () => {
	const body = guarded(sourceOf(5).source);
	expect((await body.peek(1500)).length).toBe(2048);
	expect((await body.peek(4)).length).toBeGreaterThan(3);
	expect((await buffer(body.stream())).equals(Buffer.concat(Array(5).fill(kilobyte)))).toBe(true);
	expect(body.received).toBe(5 * 1024);
	expect(body.brokenBy).toBeUndefined();
});

test('is read no faster than its stream', async () => {
	const { source, read } = sourceOf(1000);
	const body = guarded(source);
	const stream = body.stream();
	await stream[Symbol.asyncIterator]().next();
	await sleep(50);
	expect(read.length).toBeLessThan(8);
	body.close();
});

test('that is empty has nothing to peek at', async () => {
	const body = guarded(sourceOf(0).source);
	expect(await body.peek(4)).toHaveLength(0);
});

test.each(['end', 'destroy'] as const)(
	'that is shorter than declared is broken, whether its connection ends or breaks: %s',
	async (way) => {
		const server = createServer((socket) => {
			socket.on('error', () => {});
			socket.once('data', () => {
				const head = 'HTTP/1.1 200 OK\r\ncontent-length: 3073\r\n\r\n';
				socket.write(head + kilobyte.toString().repeat(3), () => socket[way]());
			});
		});
		await once(server.listen(0, '127.0.0.1'), 'listening');
		const { port } = server.address() as AddressInfo;
		const [source] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [Readable];
		const body = guarded(source);
		await expect(buffer(body.stream())).rejects.toThrow('The body was closed');
		expect(body.brokenBy).toBe('ERR_BAD_RESPONSE');
		server.close();
	},
);

test('passes each of its parts to a listener', async () => {
	const body = guarded(sourceOf(5).source);
	const shown: Buffer[] = [await body.peek(1500)];
	body.onPart = (part) => shown.push(part);
	const read = await buffer(body.stream());
	expect(Buffer.concat(shown).equals(read)).toBe(true);
	expect(shown).toHaveLength(4);
});

test('whose source fails is broken', async () => {
	const body = guarded(sourceOf(3, 'error').source);
	await expect(buffer(body.stream())).rejects.toThrow('The body was closed');
	expect(body.brokenBy).toBe('ERR_BAD_RESPONSE');
});

test('that stalls is broken, even if its source cannot be ended', async () => {
	const { source } = sourceOf(2, 'stall');
	const body = guarded(source, { stallMs: 100 });
	await expect(buffer(body.stream())).rejects.toThrow('The body was closed');
	expect(body.brokenBy).toBe('ETIMEDOUT');
	expect(source.destroyed).toBe(true);
});

test('is broken when its request is ended', async () => {
	const end = new AbortController();
	const source = new PassThrough();
	source.write(kilobyte);
	const read = buffer(guarded(source, { stallMs: 60_000, signal: end.signal }).stream());
	setTimeout(() => end.abort(), 50);
	await expect(read).rejects.toThrow('The body was closed');
});

test('is out of time when its request is ended, even if the client interrupts it first', async () => {
	const end = new AbortController();
	const source = new PassThrough();
	end.signal.addEventListener('abort', () => source.emit('error', new Error('canceled')));
	const body = guarded(source, { stallMs: 60_000, signal: end.signal });
	const read = buffer(body.stream());
	setTimeout(() => end.abort(), 20);
	await expect(read).rejects.toThrow('The body was closed');
	expect(body.brokenBy).toBe('ETIMEDOUT');
});

test('fails if it is too slow, even if it never pauses', async () => {
	async function* drops() {
		for (;;) {
			await sleep(20);
			yield Buffer.from('x');
		}
	}
	const body = guarded(Readable.from(drops(), { objectMode: false }), { stallMs: 300 });
	await expect(buffer(body.stream())).rejects.toThrow('The body was closed');
	expect(body.brokenBy).toBe('ETIMEDOUT');
});

test("doesn't count as stalled while its reader is slow", async () => {
	const body = guarded(sourceOf(4).source, { stallMs: 60 });
	let size = 0;
	for await (const chunk of body.stream()) {
		size += (chunk as Buffer).length;
		await sleep(150);
	}
	expect(size).toBe(4096);
});

test('that is closed early ends its source without an error', async () => {
	const { source } = sourceOf(9);
	const body = guarded(source);
	await body.peek(1);
	body.close();
	body.close();
	expect(source.destroyed).toBe(true);
	await sleep(20);
});

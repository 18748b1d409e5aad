import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

// In a process of its own, whose memory holds nothing else.

/** Runs code with `rateLimiterFor` and `block(key, ms)`. Returns what it writes, parsed. */
function inNode(code: string): Record<string, number> {
	const module = JSON.stringify(resolve('dist/nodes/shared/transport/rateLimiter.js'));
	const script = `
		const { setTimeout: sleep } = require('node:timers/promises');
		const { rateLimiterFor, Ticket } = require(${module});
		const block = (key, ms) =>
			rateLimiterFor(key).run(new Ticket({ maxWaitMs: 0 }), async () => ms, (ms) => ms).catch(() => {});
		(async () => { console.log(JSON.stringify(await (async () => { ${code} })())); })();
	`;
	const output = execFileSync(process.execPath, ['--expose-gc', '--eval', script], {
		encoding: 'utf8',
		timeout: 500_000,
	});
	return JSON.parse(output) as Record<string, number>;
}

test('rate limiters that no longer block use no memory', () => {
	const { grownMB } = inNode(`
		const heap = async () => {
			await sleep(100);
			await block('of another user', 1);
			gc();
			return process.memoryUsage().heapUsed;
		};
		const use = async (count) => {
			for (let n = 0; n < count; n++) await block('https://api.example.com key-of-user-' + n, 1);
		};
		await use(1_000);
		const before = await heap();
		await use(100_000);
		return { grownMB: (await heap() - before) / 2 ** 20 };
	`);
	expect(grownMB).toBeLessThan(2);
});

test("a rate limiter that blocks doesn't contain the key or keep the process running", () => {
	const found = inNode(`
		const { randomBytes } = require('node:crypto');
		const newKey = () => Buffer.from('sk-' + randomBytes(16).toString('hex')).toString();
		const kept = [newKey()];
		await (() => block('https://api.example.com ' + newKey(), 3_600_000))();
		await sleep(10);
		gc();
		const parts = [];
		for await (const part of require('node:v8').getHeapSnapshot()) parts.push(part);
		const keys = Buffer.concat(parts).toString().match(/sk-[0-9a-f]{32}/g);
		return { keys: new Set(keys).size, kept: keys.filter((key) => key === kept[0]).length };
	`);
	expect(found.kept).toBeGreaterThan(0);
	expect(found.keys).toBe(1);
});

import { pause } from '../../nodes/shared/transport/concurrency.ts';
import {
	RateLimiter,
	rateLimiterFor,
	Ticket,
	WaitTooLong,
} from '../../nodes/shared/transport/rateLimiter.ts';
import { retryAfterMs } from '../../lifelog/retryAfter.ts';

describe('retryAfterMs', () => {
	const date = 'Tue, 03 Mar 2026 10:00:00 GMT';

	test.each([
		['the body, as the service writes it', { retryAfter: '60' }, {}, 60_000],
		['the body, as a number', { retryAfter: 7 }, {}, 7_000],
		['the body before the header', { retryAfter: '5' }, { 'retry-after': '9' }, 5_000],
		['the header in seconds', {}, { 'retry-after': '9' }, 9_000],
		[
			'the header as a date, by the service’s clock',
			'',
			{ 'retry-after': 'Tue, 03 Mar 2026 10:00:30 GMT', date },
			30_000,
		],
		[
			'a date that has passed',
			'',
			{ 'retry-after': 'Tue, 03 Mar 2026 09:00:00 GMT', date },
			60_000,
		],
		['nothing', undefined, {}, 60_000],
		['a page of HTML', '<html>', {}, 60_000],
		['a negative number', { retryAfter: '-5' }, {}, 60_000],
		[
			'a number in the header, whatever is in the body',
			{ retryAfter: {} },
			{ 'retry-after': '3' },
			3_000,
		],
		['words', { retryAfter: 'soon' }, {}, 60_000],
		['a blank', { retryAfter: ' ' }, {}, 60_000],
		['zero, which would be a hot loop', { retryAfter: '0' }, {}, 1_000],
		['ten hours', { retryAfter: '36000' }, {}, 36_000_000],
	])('%s', (_name, body, headers, ms) => {
		expect(retryAfterMs(body, headers)).toBe(ms);
	});
});

describe('the rate limiter', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	/** A service that answers after 100 ms: refuses while `refuses` says how long to wait, in ms. */
	const LATENCY_MS = 100;
	let refuses: (nth: number) => number | undefined;
	let sent: Array<{ name: string; at: number }>;
	let inFlight: number;
	let maxInFlight: number;

	beforeEach(() => {
		refuses = () => undefined;
		sent = [];
		inFlight = maxInFlight = 0;
	});

	const service = (name: string) => async (_heldMs: number, onPassed: () => void) => {
		sent.push({ name, at: performance.now() });
		const nth = sent.length;
		maxInFlight = Math.max(maxInFlight, ++inFlight);
		await pause(LATENCY_MS);
		inFlight--;
		const waitMs = refuses(nth);
		if (waitMs === undefined) onPassed();
		return { name, waitMs };
	};

	async function run(
		limiter: RateLimiter,
		name = 'one',
		budget: Ticket['budget'] = { maxWaitMs: 300_000 },
	) {
		return await limiter.run(new Ticket(budget), service(name), ({ waitMs }) => waitMs);
	}

	/** Lets time pass, up to an hour, until all is done. */
	async function ended<T>(running: Array<Promise<T>>): Promise<T[]> {
		const all = Promise.all(running);
		all.catch(() => {});
		await jest.advanceTimersByTimeAsync(3_600_000);
		return await all;
	}

	/** Blocks the limiter for so long. */
	async function block(limiter: RateLimiter, waitMs: number): Promise<void> {
		const refused = limiter.run(
			new Ticket({ maxWaitMs: 0 }),
			async () => waitMs,
			(ms) => ms,
		);
		await expect(refused).rejects.toThrow(WaitTooLong);
	}

	const names = () => sent.map(({ name }) => name);
	const tooLong = async (running: Promise<unknown>) => {
		const error: unknown = await running.catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(WaitTooLong);
		return (error as WaitTooLong).wait;
	};

	test('delays nothing before the first refusal', async () => {
		const limiter = new RateLimiter();
		await ended(Array.from({ length: 20 }, async (_, nth) => await run(limiter, `${nth}`)));
		expect(maxInFlight).toBe(20);
		expect(names()).toEqual(Array.from({ length: 20 }, (_, nth) => `${nth}`));
	});

	test('is the same for the same key, and another one for another key', async () => {
		expect(rateLimiterFor('idle')).toBe(rateLimiterFor('idle'));
		await block(rateLimiterFor('blocked'), 10_000);
		expect(rateLimiterFor('blocked').isIdle).toBe(false);
		expect(rateLimiterFor('blocked')).toBe(rateLimiterFor('blocked'));
		expect(rateLimiterFor('other').isIdle).toBe(true);
		await jest.advanceTimersByTimeAsync(10_000);
		expect(rateLimiterFor('blocked').isIdle).toBe(true);
	});

	test('blocks all requests until the time of a refusal, then continues in order', async () => {
		const limiter = new RateLimiter();
		await block(limiter, 60_000);
		const began = performance.now();
		await ended(['a', 'b', 'c', 'd', 'e'].map(async (name) => await run(limiter, name)));
		expect(names()).toEqual(['a', 'b', 'c', 'd', 'e']);
		expect(sent.map(({ at }) => Math.round(at - began))).toEqual([
			...[60_000, 60_100, 60_100, 60_200, 60_200],
		]);
	});

	test('sends only one request first after a block, so that another refusal costs one request', async () => {
		const limiter = new RateLimiter();
		await block(limiter, 60_000);
		refuses = (nth) => (nth === 1 ? 60_000 : undefined);
		await ended(['a', 'b', 'c'].map(async (name) => await run(limiter, name)));
		expect(names()).toEqual(['a', 'a', 'b', 'c']);
		expect(sent[1].at - sent[0].at).toBeGreaterThanOrEqual(60_000);
	});

	test('keeps the place of a request that is refused', async () => {
		const limiter = new RateLimiter();
		refuses = (nth) => (nth <= 3 ? 5_000 : undefined);
		await ended(['a', 'b', 'c', 'd'].map(async (name) => await run(limiter, name)));
		expect(names()).toEqual(['a', 'b', 'c', 'd', 'a', 'b', 'c']);
	});

	test('keeps the place of a request that is retried', async () => {
		const limiter = new RateLimiter();
		const retried = new Ticket({ maxWaitMs: 300_000 });
		const attempt = async () => await limiter.run(retried, service('a'), ({ waitMs }) => waitMs);
		await ended([attempt()]);
		await block(limiter, 5_000);
		await ended([run(limiter, 'b'), run(limiter, 'c'), attempt()]);
		expect(names()).toEqual(['a', 'a', 'b', 'c']);
	});

	test('adds up the waits of a request that is retried', async () => {
		const limiter = new RateLimiter();
		const retried = new Ticket({ maxWaitMs: 3_000 });
		const attempt = async () => await limiter.run(retried, service('a'), ({ waitMs }) => waitMs);
		refuses = (nth) => (nth % 2 === 0 ? undefined : 2_000);
		await ended([attempt()]);
		const wait = await tooLong(ended([attempt()]));
		expect(wait).toMatchObject({ ms: 2_000, waitedMs: 2_000 });
	});

	test('counts the blocked time of a later refusal, not its own time', async () => {
		const limiter = new RateLimiter();
		refuses = (nth) => [2_000, 9_000][nth - 1];
		const budget = { maxWaitMs: 3_000 };
		await ended([run(limiter, 'a', budget), run(limiter, 'b', budget)]);
		expect(names()).toEqual(['a', 'b', 'a', 'b']);
	});

	test('blocks once if several requests are refused together', async () => {
		const limiter = new RateLimiter();
		refuses = (nth) => (nth <= 5 ? 60_000 + nth : undefined);
		const budget = { maxWaitMs: 60_005 };
		const running = Array.from({ length: 5 }, async () => await run(limiter, 'x', budget));
		await ended(running);
		expect(sent).toHaveLength(10);
		expect(Math.round(sent[5].at - sent[0].at)).toBe(60_000 + LATENCY_MS + 1);
	});

	test('releases the place when a request has passed, even if its body takes longer', async () => {
		const limiter = new RateLimiter();
		await block(limiter, 1_000);
		const long = limiter.run(
			new Ticket({ maxWaitMs: 2_000 }),
			async (_heldMs, onPassed) => {
				onPassed();
				await pause(120_000);
				return undefined;
			},
			() => undefined,
		);
		const began = performance.now();
		await ended([long, run(limiter)]);
		expect(sent[0].at - began).toBeLessThan(2_000);
	});

	test('continues if a request fails, or is canceled in the queue', async () => {
		const limiter = new RateLimiter();
		await block(limiter, 1_000);
		const fail = async () => {
			throw new Error('broken');
		};
		const failing = limiter.run(new Ticket({ maxWaitMs: 5_000 }), fail, () => undefined);
		failing.catch(() => {});
		const cancel = new AbortController();
		const cancelled = run(limiter, 'x', { maxWaitMs: 5_000, signal: cancel.signal });
		cancelled.catch(() => {});
		const last = run(limiter, 'last');
		cancel.abort(new Error('cancelled'));
		await expect(cancelled).rejects.toThrow('cancelled');
		await ended([last]);
		await expect(failing).rejects.toThrow('broken');
		expect(names()).toEqual(['last']);
	});

	test('refuses a wait longer than allowed at once', async () => {
		const limiter = new RateLimiter();
		await block(limiter, 20_000);
		expect(await tooLong(run(limiter, 'x', { maxWaitMs: 19_000 }))).toMatchObject({ ms: 20_000 });
		expect(await tooLong(run(limiter, 'x', { maxWaitMs: 0 }))).toMatchObject({ waitedMs: 0 });
		expect(sent).toEqual([]);
	});

	test('refuses a wait beyond the end of a poll at once', async () => {
		const limiter = new RateLimiter();
		await block(limiter, 20_000);
		const budget = { maxWaitMs: 300_000, waitUntil: performance.now() + 19_000 };
		await tooLong(run(limiter, 'x', budget));
		expect(sent).toEqual([]);
	});

	test('reports the requested wait, the previous wait and the response if a wait is too long', async () => {
		const limiter = new RateLimiter();
		refuses = (nth) => (nth === 1 ? 2_000 : 7_000);
		const running = tooLong(run(limiter, 'x', { maxWaitMs: 5_000 }));
		await ended([running]);
		expect(await running).toEqual({
			ms: 7_000,
			waitedMs: 2_000,
			refusal: { name: 'x', waitMs: 7_000 },
		});
	});

	test('waits after each refusal, up to the maximum wait', async () => {
		const limiter = new RateLimiter();
		refuses = (nth) => (nth <= 3 ? 60_000 : undefined);
		await ended([run(limiter, 'x', { maxWaitMs: 180_000 })]);
		expect(sent).toHaveLength(4);
		refuses = (nth) => (nth <= 8 ? 60_000 : undefined);
		const running = tooLong(run(limiter, 'x', { maxWaitMs: 180_000 }));
		await ended([running]);
		expect(await running).toMatchObject({ waitedMs: 180_000 });
	});

	test('if no request passes, all requests give up together', async () => {
		const limiter = new RateLimiter();
		refuses = () => 60_000;
		const began = performance.now();
		const ends: number[] = [];
		const running = Array.from({ length: 10 }, async () => {
			await tooLong(run(limiter, 'x', { maxWaitMs: 300_000 }));
			ends.push(performance.now() - began);
		});
		await ended(running);
		expect(Math.max(...ends)).toBeLessThan(310_000);
	});

	test('a wait starts again when requests ahead pass', async () => {
		const limiter = new RateLimiter();
		let window = performance.now();
		let used = 0;
		const LET_IN = 2;
		const send = async (_heldMs: number, onPassed: () => void) => {
			if (performance.now() - window >= 3_000) [window, used] = [performance.now(), 0];
			const waitMs = ++used > LET_IN ? window + 3_000 - performance.now() : undefined;
			await pause(10);
			if (waitMs === undefined) onPassed();
			return waitMs;
		};
		const running = Array.from(
			{ length: 9 },
			async () => await limiter.run(new Ticket({ maxWaitMs: 3_000 }), send, (waitMs) => waitMs),
		);
		await expect(ended(running)).resolves.toHaveLength(9);
	});

	test.each([-2, -0.1, 0.1, 400])('a clock set by %p days changes nothing', async (days) => {
		const limiter = new RateLimiter();
		await block(limiter, 60_000);
		const began = performance.now();
		jest.setSystemTime(Date.now() + days * 24 * 60 * 60_000);
		await ended([run(limiter, 'x', { maxWaitMs: 60_000 })]);
		expect(Math.round(sent[0].at - began)).toBe(60_000);
	});

	test('never blocks for longer than an hour', async () => {
		const limiter = new RateLimiter();
		await block(limiter, 36_000_000);
		const { ms } = await tooLong(run(limiter, 'x', { maxWaitMs: 1_000 }));
		expect(ms).toBeLessThanOrEqual(3_600_000);
	});

	test('polls and the editor have priority, whatever came first', async () => {
		const limiter = new RateLimiter();
		await block(limiter, 60_000);
		const others = Array.from({ length: 20 }, async () => await run(limiter, 'other'));
		const poll = async () => {
			for (let nth = 1; nth <= 3; nth++) {
				await run(limiter, 'poll', { maxWaitMs: 120_000, hasPriority: true });
			}
		};
		const began = performance.now();
		await ended<unknown>([...others, poll(), poll()]);
		expect(names().slice(0, 2)).toEqual(['poll', 'poll']);
		// Each further one waits for nothing but what is under way.
		const last = sent.findLast(({ name }) => name === 'poll')!;
		expect(last.at - began).toBeLessThanOrEqual(60_000 + 5 * LATENCY_MS);
	});
});

describe('pause', () => {
	test('ends at once when the signal fires', async () => {
		const cancel = new AbortController();
		const paused = pause(60_000, cancel.signal);
		const began = Date.now();
		cancel.abort(new Error('cancelled'));
		await expect(paused).rejects.toThrow('cancelled');
		expect(Date.now() - began).toBeLessThan(1_000);
	});

	test('does not begin when the signal has fired', async () => {
		await expect(pause(60_000, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow(
			'cancelled',
		);
	});
});

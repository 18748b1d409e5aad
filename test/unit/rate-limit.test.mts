import {
	pause,
	retryAfterMs,
	shutGate,
	waitForGate,
	WaitTooLong,
} from '../../nodes/shared/rate-limit.ts';

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
		['words', { retryAfter: 'soon' }, {}, 60_000],
		['a blank', { retryAfter: ' ' }, {}, 60_000],
		['zero, which would be a hot loop', { retryAfter: '0' }, {}, 1_000],
		['ten hours', { retryAfter: '36000' }, {}, 36_000_000],
	])('%s', (_name, body, headers, ms) => {
		expect(retryAfterMs(body, headers)).toBe(ms);
	});
});

describe('the gate', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	/** Waits as a request does; tells how long the limit has asked for, and how long it took. */
	async function pass(
		key: string,
		allowedMs: number,
		{ goesFirst = false, waited = { ms: 0, until: 0 } } = {},
	) {
		const began = performance.now();
		await waitForGate(key, { allowedMs, waited, goesFirst });
		return { limitMs: waited.ms, ms: performance.now() - began };
	}

	/** Lets time pass, up to an hour, until all is done. */
	async function timesOf<T>(passing: Array<Promise<T>>): Promise<T[]> {
		const all = Promise.all(passing);
		all.catch(() => {});
		await jest.advanceTimersByTimeAsync(3_600_000);
		return await all;
	}

	test('is open for a key that was not shut out', async () => {
		shutGate('shut', 10_000);
		expect(await pass('open', 0)).toEqual({ limitMs: 0, ms: 0 });
	});

	test('makes the requests behind it wait, and resume one after another', async () => {
		shutGate('queue', 60_000);
		const times = await timesOf([1, 2, 3].map(async () => await pass('queue', 300_000)));
		expect(times.map(({ ms }) => ms)).toEqual([61_000, 61_050, 61_100]);
	});

	test('refuses at once a wait longer than allowed', async () => {
		shutGate('long', 20_000);
		await expect(pass('long', 10_000)).rejects.toThrow(WaitTooLong);
		shutGate('short', 200);
		await expect(pass('short', 0)).rejects.toThrow(WaitTooLong);
	});

	test('waits on when it is shut again meanwhile, and counts all of the wait', async () => {
		shutGate('again', 60_000);
		const waiting = pass('again', 300_000, { goesFirst: true });
		await jest.advanceTimersByTimeAsync(40_000);
		shutGate('again', 60_000);
		expect(await timesOf([waiting])).toEqual([{ limitMs: 100_000, ms: 100_000 }]);
	});

	test('does not count what the package adds: a wait of what is allowed never fails', async () => {
		shutGate('exact', 60_000);
		const times = await timesOf(
			Array.from({ length: 100 }, async () => await pass('exact', 60_000)),
		);
		expect(times.every(({ limitMs }) => limitMs === 60_000)).toBe(true);

		const waited = { ms: 0, until: 0 };
		for (const closing of [1, 2, 3]) {
			shutGate('thrice', 60_000);
			const [{ limitMs }] = await timesOf([pass('thrice', 180_000, { waited })]);
			expect(limitMs).toBe(60_000 * closing);
		}
	});

	test('is not shut for longer by a request that was refused together with the first', async () => {
		shutGate('burst', 60_000);
		const waiting = pass('burst', 60_000, { goesFirst: true });
		await jest.advanceTimersByTimeAsync(900);
		shutGate('burst', 60_000);
		expect((await timesOf([waiting]))[0].limitMs).toBe(60_900);
	});

	test('says of one shut again for too long what is asked, and what was waited', async () => {
		shutGate('blame', 2_000);
		const waited = { ms: 0, until: 0 };
		const waiting = pass('blame', 5_000, { waited, goesFirst: true }).catch(
			(error: unknown) => error,
		);
		await jest.advanceTimersByTimeAsync(1_000);
		shutGate('blame', 7_000);
		const [error] = await timesOf([waiting]);
		expect(error).toBeInstanceOf(WaitTooLong);
		expect((error as WaitTooLong).waitMs).toBe(6_000);
		expect(waited.ms).toBe(2_000);
	});

	test('counts the wait of requests that wait together once', async () => {
		shutGate('together', 60_000);
		const waited = { ms: 0, until: 0 };
		await timesOf(
			Array.from({ length: 4 }, async () => await pass('together', 70_000, { waited })),
		);
		expect(waited.ms).toBe(60_000);
	});

	test.each([-2, -0.1, 0.1, 400])('a clock set by %p days changes nothing', async (days) => {
		const key = `clock ${days}`;
		shutGate(key, 60_000);
		jest.setSystemTime(Date.now() + days * 24 * 60 * 60_000);
		const [{ ms, limitMs }] = await timesOf([pass(key, 60_000, { goesFirst: true })]);
		expect([ms, limitMs]).toEqual([60_000, 60_000]);
		expect((await pass(key, 0)).ms).toBe(0);
	});

	test('lets those go first that shall, whoever came first, one request after another', async () => {
		const order: string[] = [];
		shutGate('first', 60_000);
		const others = Array.from({ length: 20 }, async () => {
			await pass('first', 300_000);
			order.push('other');
		});
		const poll = async () => {
			for (let nth = 1; nth <= 8; nth++) {
				await pass('first', 120_000, { goesFirst: true });
				order.push('poll');
				await pause(500);
			}
		};
		await timesOf([...others, poll(), poll()]);
		expect(order.slice(0, 16).every((one) => one === 'poll')).toBe(true);
		expect(order).toHaveLength(36);
	});

	test('holds the others up for a twelfth of the wait at most', async () => {
		shutGate('hold', 60_000);
		const other = pass('hold', 60_000);
		let isOver = false;
		const polls = async () => {
			while (!isOver) {
				await pass('hold', 120_000, { goesFirst: true });
				await pause(100);
			}
		};
		void other.then(() => (isOver = true));
		const [{ ms, limitMs }] = await timesOf([other, polls() as Promise<never>]);
		expect(ms).toBeGreaterThan(64_900);
		expect(ms).toBeLessThanOrEqual(65_100);
		expect(limitMs).toBe(60_000);
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

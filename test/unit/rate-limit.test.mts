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
	test('is open for a key that was not shut out', async () => {
		shutGate('shut', 10_000);
		expect(await waitForGate('open', 0)).toBe(0);
	});

	test('makes the requests behind it wait, and resume one after another', async () => {
		shutGate('queue', 300);
		const began = Date.now();
		const resumed = await Promise.all(
			[1, 2, 3].map(async () => {
				await waitForGate('queue', 5_000);
				return Date.now() - began;
			}),
		);
		expect(Math.min(...resumed)).toBeGreaterThanOrEqual(295);
		const [first, second, third] = resumed.sort((a, b) => a - b);
		expect(second - first).toBeGreaterThan(20);
		expect(third - second).toBeGreaterThan(20);
	});

	test('refuses at once a wait longer than allowed', async () => {
		shutGate('long', 20_000);
		const began = Date.now();
		await expect(waitForGate('long', 10_000)).rejects.toThrow(WaitTooLong);
		expect(Date.now() - began).toBeLessThan(1_000);
	});

	test('waits on when it is shut again meanwhile, and counts all of the wait', async () => {
		shutGate('again', 200);
		const waiting = waitForGate('again', 5_000);
		shutGate('again', 500);
		expect(await waiting).toBeGreaterThanOrEqual(490);
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

// What time it is, by three clocks of which any may be wrong.
import { type Clock, compareClocks, type Time } from '../../nodes/LifelogTrigger/clock.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const BEGIN = Date.UTC(2026, 2, 20, 12);
const realNow = Date.now;
const realPerformance = globalThis.performance;

/** What time it really is; how far each clock is ahead of it; when the process started, and how long
 * the machine has slept since. */
let now: number;
let ahead: { service?: number; own: number };
let started: number;
let slept: number;
let known: Clock | undefined;

beforeEach(() => {
	[now, started, slept, known] = [BEGIN, BEGIN - HOUR, 0, undefined];
	ahead = { service: 0, own: 0 };
	Date.now = () => now + ahead.own;
	const steady = {
		now: () => now - started - slept,
		get timeOrigin() {
			return started;
		},
	};
	globalThis.performance = steady as Performance;
	compare();
});

afterEach(() => {
	Date.now = realNow;
	globalThis.performance = realPerformance;
});

/** Lets time pass and compares. @returns By how much the times that count are wrong. */
function compare(passed = 0): { now: number; else?: number } {
	now += passed;
	const time: Time = compareClocks(
		known,
		ahead.service === undefined ? undefined : now + ahead.service,
	);
	known = JSON.parse(JSON.stringify(time.clock)) as Clock;
	const other = time.else === undefined ? {} : { else: time.else - now };
	return { now: time.now - now, ...other };
}

/** Compares every six hours. @returns What came last. */
function compareFor(ms: number): { now: number; else?: number } {
	for (let passed = 0; passed < ms - 6 * HOUR; passed += 6 * HOUR) compare(6 * HOUR);
	return compare(6 * HOUR);
}

const restart = () => {
	started = now;
};

test('n8n’s clock may be wrong from the beginning, and go wrong for good', () => {
	ahead.own = 3 * DAY;
	expect(compare(HOUR)).toEqual({ now: 0 });
	expect(compareFor(10 * DAY)).toEqual({ now: 0 });
});

test.each([-8 * DAY, -DAY, -2 * HOUR])(
	'a service that is %i ms behind is outvoted, for good',
	(service) => {
		ahead.service = service;
		expect(compare(HOUR)).toEqual({ now: 0 });
		expect(compareFor(10 * DAY)).toEqual({ now: 0 });
		ahead.service = 0;
		expect(compare(HOUR)).toEqual({ now: 0 });
	},
);

test.each([8 * DAY, DAY, 2 * HOUR])(
	'a service that is %i ms ahead never counts alone',
	(service) => {
		ahead.service = service;
		expect(compare(HOUR)).toEqual({ now: 0, else: service });
		expect(compareFor(10 * DAY)).toEqual({ now: 0, else: service });
		ahead.service = 0;
		expect(compare(HOUR)).toEqual({ now: 0 });
	},
);

test('a machine that slept with all its clocks counts the service’s time', () => {
	[ahead.own, slept] = [-9 * HOUR, 9 * HOUR];
	expect(compare(9 * HOUR)).toEqual({ now: -9 * HOUR, else: 0 });
	expect(compareFor(10 * DAY)).toEqual({ now: -9 * HOUR, else: 0 });
});

test('a machine that slept knows the time at once where its clock is set right', () => {
	slept = 9 * HOUR;
	expect(compare(9 * HOUR)).toEqual({ now: 0 });
});

test('a service that was wrong at the beginning, and then is not, is believed after two days', () => {
	known = undefined;
	ahead.service = -8 * DAY;
	compare();
	ahead.service = 0;
	expect(compare(HOUR)).toEqual({ now: 0, else: -8 * DAY });
	expect(compareFor(3 * DAY)).toEqual({ now: 0 });
});

describe('while both are wrong', () => {
	beforeEach(() => {
		compare(HOUR);
		ahead = { service: DAY, own: 8 * DAY };
		expect(compare(HOUR)).toEqual({ now: DAY, else: 0 });
	});

	test('that is doubted for as long as it lasts, not for as long as n8n’s clock says', () => {
		ahead.own = -3 * DAY;
		expect(compare(HOUR)).toEqual({ now: DAY, else: 0 });
		ahead = { service: 0, own: 0 };
		expect(compare(HOUR)).toEqual({ now: 0 });
	});

	test('what lasts for two days is believed', () => {
		expect(compareFor(DAY)).toEqual({ now: DAY, else: 0 });
		expect(compareFor(2 * DAY)).toEqual({ now: DAY });
	});

	test('a restart adds a day to that at most', () => {
		restart();
		ahead.own = 0;
		expect(compare(HOUR)).toEqual({ now: DAY, else: 0 });
		restart();
		ahead.own = 30 * DAY;
		expect(compare(HOUR)).toEqual({ now: DAY, else: 30 * DAY });
	});
});

describe('after a restart, with no steady clock', () => {
	test('the service is doubted for two days, and then believed', () => {
		restart();
		ahead.service = 5 * DAY;
		expect(compare(HOUR)).toEqual({ now: 5 * DAY, else: 0 });
		expect(compareFor(DAY)).toEqual({ now: 5 * DAY, else: 0 });
		expect(compareFor(2 * DAY)).toEqual({ now: 5 * DAY });
	});

	test('what n8n’s clock says counts as well', () => {
		restart();
		ahead.own = 5 * DAY;
		expect(compare(HOUR)).toEqual({ now: 0, else: 5 * DAY });
	});
});

describe('where the service shows no time', () => {
	test('for once, n8n’s clock goes on from what it showed, and what it shows then is no more believed than before', () => {
		delete ahead.service;
		expect(compare(HOUR)).toEqual({ now: 0 });
		ahead.service = DAY;
		expect(compare(HOUR)).toEqual({ now: 0, else: DAY });
	});

	test('ever, n8n’s clock is doubted for two days', () => {
		known = undefined;
		delete ahead.service;
		compare();
		ahead.own = 3 * DAY;
		expect(compare(HOUR)).toEqual({ now: 3 * DAY, else: 0 });
		expect(compareFor(DAY)).toEqual({ now: 3 * DAY, else: 0 });
		expect(compareFor(2 * DAY)).toEqual({ now: 3 * DAY });
	});

	describe('before, what it shows then', () => {
		beforeEach(() => {
			known = undefined;
			delete ahead.service;
			compare();
		});

		test('is believed at once where n8n’s clock, or the steady one, agrees', () => {
			ahead.service = 0;
			expect(compare(HOUR)).toEqual({ now: 0 });
			ahead.own = 5 * DAY;
			expect(compare(HOUR)).toEqual({ now: 0 });
		});

		test.each([DAY, -2 * DAY, 366 * DAY])(
			'is doubted for two days where it is %i ms ahead of both',
			(service) => {
				ahead.service = service;
				expect(compare(HOUR)).toEqual({ now: service, else: 0 });
				expect(compareFor(DAY)).toEqual({ now: service, else: 0 });
				expect(compareFor(2 * DAY)).toEqual({ now: service });
			},
		);

		test('is right where n8n’s clock was wrong from the beginning', () => {
			known = undefined;
			ahead.own = -3 * DAY;
			compare();
			ahead.service = 0;
			expect(compare(HOUR)).toEqual({ now: 0, else: -3 * DAY });
			expect(compareFor(3 * DAY)).toEqual({ now: 0 });
		});
	});
});

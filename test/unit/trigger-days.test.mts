import {
	align,
	daysToRead,
	forget,
	isDueAgain,
	lookback,
	passedOver,
	troubled,
} from '../../nodes/LifelogTrigger/days.ts';
import { type KnownDay, newState, type State } from '../../nodes/LifelogTrigger/state.ts';

const watch = { kind: 'lifelogs' as const, credential: '1', prompt: '' };
const HOUR = 3_600_000;
const at = (time: string) => Date.parse(`2026-03-${time}Z`);
const pollAt = (now: number, lookbackDays: number) => {
	const clock = { now, own: now, steady: 0, process: 0 };
	return { now, clock, began: now - 5_000, lookbackDays };
};
const reach = (time: string, lookbackDays = 5) => pollAt(at(time), lookbackDays);
const march = (...days: number[]) => days.map((day) => `2026-03-${String(day).padStart(2, '0')}`);

/** A state of the days given, each with the count of the poll that read it, or more. */
function state(days: Record<number, number | KnownDay>, from = 6, polls = 20): State {
	const known = { ...newState(watch, at('06T12:00'), march(from)[0]), polls };
	for (const [day, read] of Object.entries(days)) {
		known.days.set(march(Number(day))[0], typeof read === 'number' ? { read } : read);
	}
	return known;
}

const allRead = (read = 20) => state({ 6: read, 7: read, 8: read, 9: read, 10: read });
const entry = (day: number, pending?: boolean) => ({
	day: march(day)[0],
	at: 1,
	starred: false,
	flips: 0,
	...(pending && { pending }),
});
const toRead = (known: State, now: ReturnType<typeof reach> & { else?: number }) =>
	daysToRead(align(known, now), now);

test('the look-back counts today, by UTC', () => {
	expect(lookback(reach('10T00:00', 3))).toEqual(march(8, 9, 10));
	expect(lookback(reach('10T23:59:59.999', 3))).toEqual(march(8, 9, 10));
});

describe('the days a poll reads', () => {
	test('all of the look-back when nothing was read, the newest first', () => {
		expect(toRead(state({}), reach('10T12:00'))).toEqual(march(10, 9, 8, 7, 6));
	});

	test('yesterday, today, and the other day whose last read is longest ago', () => {
		const known = state({ 6: 19, 7: 17, 8: 18, 9: 20, 10: 20 });
		expect(toRead(known, reach('10T12:00'))).toEqual(march(10, 9, 7));
	});

	test('what is due, the one not read for longest first', () => {
		const known = state({ 6: 19, 7: 17, 8: { read: 15, due: true }, 9: 18, 10: 20 });
		expect(toRead(known, reach('10T12:00'))).toEqual(march(8, 9, 10, 7));
	});

	test('no further day where the look-back is yesterday and today', () => {
		expect(toRead(state({ 9: 20, 10: 20 }, 9), reach('10T12:01', 2))).toEqual(march(10, 9));
	});

	test('after a time away all since the last day known, whatever the look-back', () => {
		const days = toRead(allRead(), reach('20T12:00', 2));
		expect(days.sort()).toEqual(march(11, 12, 13, 14, 15, 16, 17, 18, 19, 20));
		expect(toRead(allRead(), pollAt(Date.parse('2026-05-20'), 2))).toHaveLength(31);
	});

	test('days with something pending, even past the look-back', () => {
		const known = state({ 1: 2, 6: 19, 7: 18, 8: 17, 9: 20, 10: 20 });
		known.entries.set('a', entry(1, true));
		known.entries.set('b', entry(8, true));
		known.entries.set('c', entry(6));
		expect(toRead(known, reach('10T12:00'))).toEqual(march(1, 8, 10, 9, 7));
	});

	test('one that failed behind all others, and only when it may be tried again', () => {
		const now = reach('10T12:00');
		const trouble = { times: 3, poll: 19, at: now.now, since: now.now };
		const known = state({ 6: 20, 7: 19, 8: 20, 9: 20, 10: { read: 3, due: true, trouble } });
		expect(toRead(known, now)).toEqual(march(9, 7));
		expect(toRead({ ...known, polls: 22 }, now)).toEqual(march(9, 7, 10));
	});

	test('one of which an entry failed as ever', () => {
		const now = reach('10T12:00');
		const trouble = { times: 3, poll: 19, at: now.now, since: now.now };
		const known = state({ 6: 20, 7: 19, 8: 20, 9: 20, 10: { read: 20, due: true, trouble } });
		expect(toRead(known, now)).toEqual(march(10, 9, 7));
	});

	test('while the clocks disagree the look-back of the earlier, and the newest days of the later', () => {
		const now = { ...reach('20T12:00'), else: at('10T12:00') };
		const known = state({ 6: 19, 7: 17, 8: 18, 9: 20, 10: 20 });
		expect(toRead(known, now)).toEqual(march(20, 19, 10, 9, 7));
	});

	test('every older day once in as many polls as there are', () => {
		const now = reach('10T12:00', 7);
		const known = align({ ...allRead(), from: march(4)[0] }, now);
		for (const day of march(4, 5)) known.days.set(day, { read: 20 });
		const rotated: string[] = [];
		for (let polls = 21; polls < 31; polls++) {
			const days = daysToRead(known, now);
			expect(days).toHaveLength(3);
			rotated.push(days[2]);
			known.polls = polls;
			for (const day of days) known.days.set(day, { read: polls });
		}
		expect(rotated).toEqual([...march(4, 5, 6, 7, 8), ...march(4, 5, 6, 7, 8)]);
	});
});

test('what failed is tried again less and less often, at the latest after some hours', () => {
	const now = reach('10T12:00');
	const known = state({}, 6, 0);
	let trouble: ReturnType<typeof troubled> | undefined;
	const tries: number[] = [];
	for (; known.polls < 200; known.polls++) {
		if (!isDueAgain(trouble, known, now)) continue;
		tries.push(known.polls);
		trouble = troubled(trouble, known, now);
	}
	expect(tries).toEqual([0, 1, 3, 7, 15, 31, 63, 95, 127, 159, 191]);
	expect(isDueAgain(trouble, known, { ...now, now: now.now + 6 * HOUR })).toBe(true);
	// Noted by a clock that was wrong.
	expect(isDueAgain(trouble, known, { ...now, now: now.now - HOUR })).toBe(true);
});

test('days are passed over only more than 31 days after the last poll', () => {
	const clock = { now: at('10T12:00'), own: 0, steady: 0, process: 0 };
	const known = { ...allRead(), clock };
	expect(passedOver(known, pollAt(at('10T12:00') + 31 * 24 * HOUR, 2))).toBeUndefined();
	const late = pollAt(at('10T12:00') + 33 * 24 * HOUR, 2);
	expect(passedOver(known, late)).toEqual(['2026-03-11', '2026-03-12']);
	expect(passedOver(allRead(), late)).toBeUndefined();
});

describe('a state brought up to a poll', () => {
	test('days that a larger look-back adds count from now on', () => {
		const now = reach('10T12:00', 7);
		const aligned = align(allRead(), now);
		expect(aligned.from).toBe(march(4)[0]);
		for (const day of march(4, 5)) {
			expect(aligned.days.get(day)).toEqual({ read: 0, since: now.began, due: true });
		}
		expect(aligned.days.get(march(6)[0])).toEqual({ read: 20 });
	});

	test('but not while the clocks disagree, as it may be the clock', () => {
		const aligned = align(allRead(), { ...reach('09T12:00'), else: at('10T12:00') });
		expect(aligned.from).toBe(march(6)[0]);
		expect(aligned.days.has(march(5)[0])).toBe(false);
	});

	test('days that come with time are no added ones', () => {
		const aligned = align(allRead(), reach('12T12:00'));
		expect(aligned.days.get(march(12)[0])).toEqual({ read: 0, due: true });
	});

	test('what n8n’s clock said is set right once the service’s is known', () => {
		const known = { ...newState(watch, at('10T15:00'), march(8)[0]), isOwnClock: true };
		const ahead = { ...reach('10T12:01'), aheadMs: -3 * HOUR };
		const { since, from, isOwnClock } = align(known, ahead);
		expect([since, from, isOwnClock]).toEqual([at('10T12:00'), march(6)[0], undefined]);
		expect(align(known, reach('10T15:01', 3)).since).toBe(at('10T15:00'));
	});

	test('but nothing is lost by a service that is ahead of it, nor is what was read forgotten', () => {
		const known = {
			...state({ 9: { read: 20, due: true }, 10: 0 }),
			since: at('10T12:00'),
			isOwnClock: true,
		};
		const disagreeing = { ...reach('11T12:01'), else: at('10T12:01'), aheadMs: 24 * HOUR };
		const { since, days } = align(known, disagreeing);
		expect(since).toBe(at('10T12:00'));
		expect(days.get(march(9)[0])).toEqual({ read: 20, due: true });
		const behind = { ...reach('09T12:01'), else: at('10T12:01'), aheadMs: -24 * HOUR };
		expect(align(known, behind).since).toBe(at('09T12:00'));
	});

	test('and then every day since is due, however long the service showed no time', () => {
		const known = { ...newState(watch, at('10T12:00'), march(8)[0]), isOwnClock: true };
		const { from, days } = align(known, { ...reach('16T12:00', 3), aheadMs: 0 });
		expect([from, days.get(march(11)[0])]).toEqual([march(8)[0], { read: 0, due: true }]);
	});
});

describe('days that have left the look-back', () => {
	const now = reach('11T12:00');

	test('stay until every day of the look-back has been read once more, and for two days', () => {
		const known = state({ 6: 19, 7: 20, 8: 20, 9: 20, 10: 20, 11: 20 });
		known.entries.set('a', entry(6));
		const left = forget(known, now);
		expect(left.days.get(march(6)[0])).toEqual({ read: 19, left: 20, leftAt: now.now });
		expect(forget(left, { ...now, now: at('13T11:59') }).entries.size).toBe(1);
		for (const day of march(12, 13)) left.days.set(day, { read: 20 });
		const gone = forget(left, reach('13T12:00', 7));
		expect([...gone.days.keys()]).toEqual(march(7, 8, 9, 10, 11, 12, 13));
		expect(gone.entries.size).toBe(0);
		expect(gone.from).toBe(march(7)[0]);
		left.days.set(march(9)[0], { read: 19 });
		expect(forget(left, reach('13T12:00')).entries.size).toBe(1);
	});

	test('stay as long as something on them is pending', () => {
		const known = state({
			6: { read: 1, left: 1, leftAt: 1 },
			7: 20,
			8: 20,
			9: 20,
			10: 20,
			11: 20,
		});
		known.entries.set('a', entry(6, true));
		expect(forget(known, reach('11T12:00')).days.get(march(6)[0])).toEqual({ read: 1 });
	});

	test('come back with the clock, and days of a time to come go', () => {
		const known = state({ 6: { read: 1, left: 1, leftAt: at('30T00:00') }, 7: 20, 25: 3 });
		const kept = forget(known, reach('10T12:00'));
		expect(kept.days.get(march(6)[0])).toEqual({ read: 1 });
		expect(kept.days.has(march(25)[0])).toBe(false);
	});
});

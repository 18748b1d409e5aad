import {
	align,
	daysToRead,
	forget,
	lastDayRead,
	lookback,
	tickOf,
} from '../../nodes/LifelogTrigger/days.ts';
import { newState, type State } from '../../nodes/LifelogTrigger/state.ts';

const watch = { kind: 'lifelogs' as const, credential: '1', prompt: '' };
const at = (time: string) => Date.parse(`2026-03-${time}Z`);
const reach = (time: string, lookbackDays = 5) => ({ now: at(time), lookbackDays });
const march = (...days: number[]) => days.map((day) => `2026-03-${String(day).padStart(2, '0')}`);

/** A state of the days given, each with the time it was read. */
function state(days: Record<number, string | number>, from = 6): State {
	const known = newState(watch, at('06T12:00'), march(from)[0]);
	for (const [day, read] of Object.entries(days)) {
		const time = typeof read === 'number' ? read : at(read);
		known.days.set(march(Number(day))[0], { read: time });
	}
	return known;
}

const allRead = (time: string) => state({ 6: time, 7: time, 8: time, 9: time, 10: time });
const entry = (day: number, pending?: number) => ({
	day: march(day)[0],
	at: 1,
	starred: false,
	flips: 0,
	...(pending !== undefined && { pending }),
});

test('the look-back counts today, by UTC', () => {
	expect(lookback(reach('10T00:00', 3))).toEqual(march(8, 9, 10));
	expect(lookback(reach('10T23:59:59.999', 3))).toEqual(march(8, 9, 10));
});

describe('the days a poll reads', () => {
	test('all of the look-back when nothing was read', () => {
		expect(daysToRead(state({}), reach('10T12:00'))).toEqual(march(6, 7, 8, 9, 10));
	});

	test('yesterday, today, and the other day whose last read is longest ago', () => {
		const known = state({
			6: '10T11:02',
			7: '10T11:00',
			8: '10T11:01',
			9: '10T12:00',
			10: '10T12:00',
		});
		expect(daysToRead(known, reach('10T12:00'))).toEqual(march(9, 10, 7));
	});

	test('at the first poll of a day also the day before yesterday', () => {
		expect(daysToRead(allRead('10T23:59'), reach('11T00:01'))).toEqual(march(9, 10, 11, 7));
	});

	test('no further day where the look-back is yesterday and today', () => {
		expect(daysToRead(allRead('10T12:00'), reach('10T12:01', 2))).toEqual(march(9, 10));
	});

	test('after a time away all since the last poll, from the day before it', () => {
		const known = state({
			4: '08T12:00',
			5: '08T12:00',
			6: '08T12:00',
			7: '08T12:00',
			8: '08T12:00',
		});
		expect(daysToRead(known, reach('10T12:00', 7))).toEqual([...march(7, 8, 9, 10), ...march(4)]);
		expect(daysToRead(known, reach('30T12:00'))).toEqual(march(26, 27, 28, 29, 30));
	});

	test('what has not been read yet, before any other older day', () => {
		const known = state({ 7: '10T11:00', 8: '10T10:00', 9: '10T12:00', 10: '10T12:00' });
		expect(daysToRead(known, reach('10T12:00'))).toEqual(march(6, 9, 10, 8));
	});

	test('days with something pending, even past the look-back', () => {
		const known = state({
			1: '05T12:00',
			6: '10T11:00',
			7: '10T10:00',
			8: '10T09:00',
			9: '10T12:00',
			10: '10T12:00',
		});
		known.entries.set('a', entry(1, 0));
		known.entries.set('b', entry(8, 3));
		known.entries.set('c', entry(6));
		expect(daysToRead(known, reach('10T12:00'))).toEqual(march(1, 8, 9, 10, 7));
	});

	test('every older day once in as many polls as there are, while the clock stands still', () => {
		const now = reach('10T12:00', 7);
		let known = allRead('10T12:00');
		for (const day of march(4, 5)) known.days.set(day, { read: at('10T12:00') });
		const rotated: string[] = [];
		for (let polls = 0; polls < 10; polls++) {
			const days = daysToRead(known, now);
			expect(days).toHaveLength(3);
			rotated.push(days[2]);
			const tick = tickOf(known, now);
			known = { ...known, days: new Map(known.days) };
			days.forEach((day, index) => known.days.set(day, { read: tick + index }));
		}
		expect(rotated).toEqual([...march(4, 5, 6, 7, 8), ...march(4, 5, 6, 7, 8)]);
	});

	test('the day of the last read is due whatever the time is', () => {
		expect(lastDayRead(state({}))).toBeUndefined();
		const known = allRead('10T23:00');
		expect(lastDayRead(known)).toBe(march(10)[0]);
		for (const time of ['10T23:01', '11T00:00', '12T12:00', '14T12:00']) {
			expect(daysToRead(known, reach(time))).toContain(march(10)[0]);
		}
	});
});

describe('a state brought up to a poll', () => {
	test('days that a larger look-back adds count from now on, read before or not', () => {
		const now = reach('10T12:00', 7);
		const known = state({ 5: '09T12:00', 6: '10T11:00' });
		known.entries.set('a', entry(5));
		const aligned = align(known, now);
		expect(aligned.from).toBe(march(4)[0]);
		expect([...aligned.days]).toEqual([
			[march(5)[0], { read: 0, since: now.now }],
			[march(6)[0], { read: at('10T11:00') }],
			[march(4)[0], { read: 0, since: now.now }],
		]);
		expect(aligned.entries).toEqual(known.entries);
		expect(known.days.get(march(5)[0])?.read).toBe(at('09T12:00'));
	});

	test('days that come with time are no added ones', () => {
		const aligned = align(allRead('10T12:00'), reach('12T12:00'));
		expect(aligned.from).toBe(march(8)[0]);
		expect([...aligned.days.values()].some(({ since }) => since !== undefined)).toBe(false);
	});

	test('what n8n’s clock said is set right once the service’s is known', () => {
		const known = { ...newState(watch, at('10T15:00'), march(8)[0]), isOwnClock: true };
		const ahead = { ...reach('10T12:01'), aheadMs: -3 * 3_600_000 };
		expect(align(known, ahead)).toEqual(newState(watch, at('10T12:00'), march(6)[0]));
		expect(align(known, reach('10T15:01', 3))).toEqual(
			newState(watch, at('10T15:00'), march(8)[0]),
		);
	});
});

describe('days that have left the look-back', () => {
	const now = reach('11T12:00');

	test('stay until every day of the look-back has been read once more, and for an hour', () => {
		const known = state({
			6: '10T11:00',
			7: '11T12:00',
			8: '11T12:00',
			9: '11T12:00',
			10: '11T12:00',
			11: '11T12:00',
		});
		known.entries.set('a', entry(6));
		const left = forget(known, now, now.now);
		expect(left.days.get(march(6)[0])).toEqual({ read: at('10T11:00'), left: now.now });
		expect(forget(left, now, at('11T12:59')).entries.size).toBe(1);
		const gone = forget(left, now, at('11T13:00'));
		expect([...gone.days.keys()]).toEqual(march(7, 8, 9, 10, 11));
		expect(gone.entries.size).toBe(0);

		left.days.set(march(8)[0], { read: at('11T11:59') });
		expect(forget(left, now, at('11T13:00')).entries.size).toBe(1);
	});

	test('stay as long as something on them is pending', () => {
		const known = state({
			6: '10T11:00',
			7: '20T12:00',
			8: '20T12:00',
			9: '20T12:00',
			10: '20T12:00',
			11: '20T12:00',
		});
		known.days.set(march(6)[0], { read: 1, left: 1 });
		known.entries.set('a', entry(6, 0));
		expect(forget(known, now, at('20T13:00')).days.get(march(6)[0])).toEqual({ read: 1 });
	});
});

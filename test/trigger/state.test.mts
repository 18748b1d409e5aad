// What the trigger keeps from poll to poll: saved, brought up to a poll, merged and pruned.
import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { lookback, sinceOf } from '../../nodes/LifelogTrigger/engine/days.ts';
import { isRetryDue, retried } from '../../nodes/LifelogTrigger/engine/retry.ts';
import { loadState, saveState } from '../../nodes/LifelogTrigger/engine/saved.ts';
import { advanceWindow, merge, newState } from '../../nodes/LifelogTrigger/engine/state.ts';
import type {
	KnownDay,
	Outcome,
	PollWindow,
	State,
} from '../../nodes/LifelogTrigger/engine/types.ts';
import { daysToRead } from '../../nodes/LifelogTrigger/lifelogs/list.ts';
import { utcDay } from '../../lifelog/times.ts';

const WATCH = { kind: 'lifelogs' as const, credential: 'Xy12', prompt: '' };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (time: string) => Date.parse(`2026-03-${time}Z`);
const NOW = at('10T12:00');
const windowAt = (now: number, lookbackDays = 5): PollWindow => ({
	now,
	began: now - 5_000,
	lookbackDays,
});
const march = (...days: number[]) => days.map((day) => `2026-03-${String(day).padStart(2, '0')}`);
const entry = (day: string, more = {}) => ({ day, at: 1, starred: false, starToggles: 0, ...more });

describe('a saved state', () => {
	function full(days: number, perDay: number): State {
		const state = newState(WATCH, windowAt(NOW, 31));
		for (let ago = 0; ago < days; ago++) {
			const day = utcDay(NOW, -ago);
			state.days.set(day, { read: ago });
			for (let index = 0; index < perDay; index++) {
				state.entries.set(randomUUID(), entry(day, { at: NOW - index }));
			}
		}
		return state;
	}

	/** One day and entry of every kind, so that every field occurs. */
	function complete(): State {
		const state = full(3, 2);
		const day = utcDay(NOW);
		const retry = { times: 4, poll: 8, at: 6, since: 2 };
		const quiet = { size: 3, since: 4 };
		Object.assign(state, {
			polls: 12,
			polledAt: NOW,
			pageLimit: { size: 10, since: 4 },
		});
		state.days.set('2026-01-01', { read: 0, due: true, since: 7 });
		state.days.set('2026-01-02', { read: 3, left: 9, cursor: 'here', parts: 2, retry });
		for (const [id, more] of Object.entries({
			held: { at: undefined, pending: true, quiet },
			failing: { pending: true, incomplete: true, retry },
			starred: { starred: true, starToggles: 3 },
			unreadable: { at: 0 },
		})) {
			state.entries.set(id, entry(day, more));
		}
		state.entries.set('__proto__', entry(day));
		return state;
	}

	test('is plain JSON, and is loaded completely', () => {
		const state = complete();
		const day = utcDay(NOW);
		const saved = saveState(state);
		expect(JSON.parse(JSON.stringify(saved))).toEqual(saved);
		expect(loadState(saved, WATCH)).toEqual({ version: 3, ...state });
		const { days } = saved as { days: Record<string, { entries: object }> };
		expect(days[day].entries).toMatchObject({ starred: { at: 1, starred: true, starToggles: 3 } });
		expect(days[day].entries).toMatchObject({ unreadable: 0 });
	});

	test('with any field damaged is refused or harmless', () => {
		const saved = JSON.stringify(saveState(complete()));
		const paths = pathsIn(JSON.parse(saved));
		const fields = new Set(paths.map((path) => path.at(-1)));
		expect([...fields]).toEqual(
			expect.arrayContaining([
				...['version', 'kind', 'credential', 'prompt', 'since', 'from', 'polls', 'polledAt'],
				...['pageLimit', 'size', 'days', 'read', 'due', 'left', 'cursor', 'parts', 'retry'],
				...['times', 'poll', 'at', 'entries', 'pending', 'incomplete', 'quiet', 'starToggles'],
			]),
		);
		const spoilt = [
			null,
			undefined,
			-1,
			1.5,
			9e15,
			1e300,
			NaN,
			true,
			'',
			'x',
			[],
			{},
			[1],
			{ a: 1 },
		];
		let refused = 0;
		for (const path of paths) {
			for (const value of spoilt) {
				const state = loadState(withValue(JSON.parse(saved), path, value), WATCH);
				if (state) expect(() => pollOnce(state)).not.toThrow();
				else refused++;
			}
		}
		expect(refused).toBeGreaterThan(paths.length * 6);
	});

	/** The paths of all values in an object, those of objects too. */
	function pathsIn(value: object): string[][] {
		return Object.entries(value).flatMap(([key, inner]) => [
			[key],
			...(inner instanceof Object ? pathsIn(inner).map((path) => [key, ...path]) : []),
		]);
	}

	function withValue(object: IDataObject, [key, ...rest]: string[], value: unknown): IDataObject {
		const inner = object[key] as IDataObject;
		return {
			...object,
			[key]: (rest.length > 0 ? withValue(inner, rest, value) : value) as IDataObject,
		};
	}

	/** What a poll does with a state, without its requests. The state that it saves must be usable. */
	function pollOnce(known: State): void {
		const window = windowAt(NOW + HOUR);
		const days = new Map(toRead(known, window).map((day) => [day, { read: known.polls + 1 }]));
		const outcomes = [...known.entries].map(([id, each]) => ({ id, entry: each }));
		for (const day of days.keys()) sinceOf(known, day);
		utcDay(known.polledAt ?? 0, 1);
		const { state } = merge(known, { days, outcomes }, window);
		if (!loadState(JSON.parse(JSON.stringify(saveState(state))), WATCH))
			throw new Error('unusable');
	}

	test('of 31 days with 50 lifelogs with long IDs, and the ten days before, is below 150 kB', () => {
		expect(JSON.stringify(saveState(full(41, 50))).length).toBeLessThan(150_000);
	});

	test.each<[string, (saved: Record<string, unknown>) => unknown]>([
		['nothing', () => undefined],
		['a text', () => 'state'],
		['a list', () => []],
		['another version', (saved) => ({ ...saved, version: 2 })],
		['no version', (saved) => ({ ...saved, version: undefined })],
		['another kind', (saved) => ({ ...saved, kind: 'chats' })],
		['another credential', (saved) => ({ ...saved, credential: 'Zz99' })],
		['a time that is none', (saved) => ({ ...saved, since: '2026-03-10' })],
		['a day that is none', (saved) => ({ ...saved, from: '2026-13-40' })],
		['a poll that is none', (saved) => ({ ...saved, polledAt: { now: 1 } })],
		['no days', (saved) => ({ ...saved, days: null })],
		['a day without its entries', (saved) => ({ ...saved, days: { '2026-03-10': { read: 1 } } })],
		[
			'a read that is none',
			(saved) => ({ ...saved, days: { '2026-03-10': { read: -1, entries: {} } } }),
		],
		[
			'an entry that is none',
			(saved) => ({ ...saved, days: { '2026-03-10': { read: 1, entries: { a: 'x' } } } }),
		],
		[
			'an entry with a retry that is none',
			(saved) => ({ ...saved, days: { '2026-03-10': { read: 1, entries: { a: { retry: 1 } } } } }),
		],
	])('(%s) is refused', (_, spoil) => {
		const saved = saveState(full(1, 1));
		expect(loadState(saved, WATCH)).toBeDefined();
		expect(loadState(spoil({ ...saved }), WATCH)).toBeUndefined();
	});
});

/** A state of the days given, each with the count of the poll that read it, or more. */
function state(days: Record<number, number | KnownDay>, polls = 20): State {
	const known = newState(WATCH, windowAt(NOW));
	Object.assign(known, { polls, polledAt: NOW - HOUR });
	for (const [day, read] of Object.entries(days)) {
		known.days.set(march(Number(day))[0], typeof read === 'number' ? { read } : read);
	}
	return known;
}
const allRead = (read = 20) => state({ 6: read, 7: read, 8: read, 9: read, 10: read });
const toRead = (known: State, window = windowAt(NOW)) =>
	daysToRead(advanceWindow(known, window), window);

test('the look-back counts today, by UTC', () => {
	expect(lookback(windowAt(at('10T00:00'), 3))).toEqual(march(8, 9, 10));
	expect(lookback(windowAt(at('10T23:59:59.999'), 3))).toEqual(march(8, 9, 10));
});

describe('the days a poll reads', () => {
	test('are all days of the look-back if nothing was read, the newest first', () => {
		expect(toRead(state({}))).toEqual(march(10, 9, 8, 7, 6));
	});

	test("are yesterday, today, and the day that wasn't read for the longest time", () => {
		expect(toRead(state({ 6: 19, 7: 17, 8: 18, 9: 20, 10: 20 }))).toEqual(march(10, 9, 7));
	});

	test('include an older day for each whole hour since the last poll, at least one', () => {
		const daysAfter = (minutes: number) => {
			const now = NOW - HOUR + minutes * 60_000;
			return toRead(state({ 6: 18, 7: 16, 8: 17, 9: 20, 10: 20 }), windowAt(now));
		};
		expect(daysAfter(-90)).toEqual(march(10, 9, 7));
		expect(daysAfter(119)).toEqual(march(10, 9, 7));
		expect(daysAfter(120)).toEqual(march(10, 9, 7, 8));
		expect(daysAfter(600)).toEqual(march(10, 9, 7, 8, 6));
	});

	test("include the due days, the one that wasn't read for the longest time first", () => {
		const known = state({ 6: 19, 7: 17, 8: { read: 15, due: true }, 9: 18, 10: 20 });
		expect(toRead(known)).toEqual(march(8, 9, 10, 7));
	});

	test('include all days since the last known day after an absence, whatever the look-back', () => {
		const days = toRead(allRead(), windowAt(at('20T12:00'), 2));
		expect(days.sort()).toEqual(march(11, 12, 13, 14, 15, 16, 17, 18, 19, 20));
		expect(toRead(allRead(), windowAt(Date.parse('2026-05-20'), 2))).toHaveLength(31);
	});

	test('include days with pending entries, even after the look-back', () => {
		const known = state({ 1: 2, 6: 19, 7: 18, 8: 17, 9: 20, 10: 20 });
		known.entries.set('a', entry(march(1)[0], { pending: true }));
		known.entries.set('b', entry(march(8)[0], { pending: true }));
		known.entries.set('c', entry(march(6)[0]));
		expect(toRead(known)).toEqual(march(1, 8, 10, 9, 7));
	});

	test('include a failed day last, and only when a retry is due', () => {
		const retry = { times: 3, poll: 19, at: NOW, since: NOW };
		const known = state({ 6: 20, 7: 19, 8: 20, 9: 20, 10: { read: 3, due: true, retry } });
		expect(toRead(known)).toEqual(march(9, 7));
		expect(toRead({ ...known, polls: 22 })).toEqual(march(9, 7, 10));
	});

	test('include a day with a failed entry as usual', () => {
		const retry = { times: 3, poll: 19, at: NOW, since: NOW };
		const known = state({ 6: 20, 7: 19, 8: 20, 9: 20, 10: { read: 20, due: true, retry } });
		expect(toRead(known)).toEqual(march(10, 9, 7));
	});

	test('include every older day once in as many polls as there are older days', () => {
		const known = allRead();
		const rotated: string[] = [];
		for (let polls = 21; polls < 27; polls++) {
			const days = toRead(known);
			expect(days).toHaveLength(3);
			rotated.push(days[2]);
			known.polls = polls;
			for (const day of days) known.days.set(day, { read: polls });
		}
		expect(rotated).toEqual(march(6, 7, 8, 6, 7, 8));
	});
});

test('a failure is retried less and less often, but after six hours at the latest', () => {
	let retry: ReturnType<typeof retried> | undefined;
	const tries: number[] = [];
	for (let polls = 0; polls < 200; polls++) {
		if (!isRetryDue(retry, polls, NOW)) continue;
		tries.push(polls);
		retry = retried(retry, state({}, polls), NOW);
	}
	expect(tries).toEqual([0, 1, 3, 7, 15, 31, 63, 95, 127, 159, 191]);
	expect(isRetryDue(retry, 200, NOW)).toBe(false);
	expect(isRetryDue(retry, 200, NOW + 6 * HOUR)).toBe(true);
});

test('a failure by a clock that is behind counts from the previous poll', () => {
	const known = { ...state({}), polledAt: NOW };
	const first = retried(undefined, known, NOW - 8 * DAY);
	expect(first).toEqual({ times: 1, poll: 21, at: NOW - 8 * DAY, since: NOW });
	expect(retried({ ...first, since: NOW + DAY }, known, NOW + HOUR).since).toBe(NOW + HOUR);
});

describe('a state that is advanced to a poll', () => {
	test('counts the days of a larger look-back from now on', () => {
		const window = windowAt(NOW, 7);
		const next = advanceWindow(allRead(), window);
		expect(next.from).toBe(march(4)[0]);
		for (const day of march(4, 5)) {
			expect(next.days.get(day)).toEqual({ read: 0, since: window.began, due: true });
		}
		expect(next.days.get(march(6)[0])).toEqual({ read: 20 });
	});

	test('makes nothing new on the days that a clock that is behind adds', () => {
		const next = advanceWindow(allRead(), windowAt(NOW - 8 * DAY));
		expect(next.days.get(march(1)[0])).toMatchObject({ since: NOW - HOUR });
	});

	test("doesn't count new days as days of a larger look-back", () => {
		const next = advanceWindow(allRead(), windowAt(at('12T12:00')));
		expect(next.days.get(march(12)[0])).toEqual({ read: 0, due: true });
	});
});

describe('a merged state', () => {
	const found = (outcomes: Outcome[] = []) => ({ days: new Map(), outcomes });
	const emits = (id: string, start: number): Outcome => ({
		id,
		entry: entry(march(9)[0]),
		event: { start, item: { json: { id } } },
	});
	/** The days that are left, ten and more days after the look-back was read. */
	const kept = (known: State, now: number) => [
		...merge(known, found(), windowAt(now)).state.days.keys(),
	];

	test('returns items by start, then by ID, and leaves the old state unchanged', () => {
		const before = allRead();
		const outcomes = [emits('b', 5), emits('a', 5), emits('z', 0)];
		const { state: after, items } = merge(before, found(outcomes), windowAt(NOW));
		expect(items.map(({ json }) => json.id)).toEqual(['z', 'a', 'b']);
		expect(after.entries.size).toBe(3);
		expect([before.entries.size, before.polls]).toEqual([0, 20]);
	});

	test('counts a day outside the look-back that was never read from now on', () => {
		const moved = { id: 'a', entry: entry('2026-02-01') };
		const window = windowAt(NOW);
		expect(merge(allRead(), found([moved]), window).state.days.get('2026-02-01')).toMatchObject({
			read: 0,
			since: window.began,
		});
	});

	/** A state whose days left the look-back at poll 5, the others by both clocks read at poll 20. */
	const aged = (now: number, sincePoll = HOUR) => {
		const known = state({ 1: { read: 4, left: 5 } });
		for (const clock of [now, now - sincePoll]) {
			for (const day of lookback(windowAt(clock))) known.days.set(day, { read: 20 });
		}
		return Object.assign(known, {
			from: march(1)[0],
			polledAt: now - sincePoll,
		});
	};

	test('is pruned of days ten days after they left the look-back', () => {
		expect(kept(aged(at('15T12:00')), at('15T12:00'))).toContain(march(1)[0]);
		const { state: after } = merge(aged(at('16T12:00')), found(), windowAt(at('16T12:00')));
		expect(after.days.has(march(1)[0])).toBe(false);
		expect(after.from).toBe(march(2)[0]);
	});

	test("isn't pruned before every day of the look-back was read since", () => {
		const known = aged(at('20T12:00'));
		known.days.set(march(18)[0], { read: 4 });
		expect(kept(known, at('20T12:00'))).toContain(march(1)[0]);
	});

	test('is pruned only if the clocks of this poll and the previous one agree', () => {
		const now = at('20T12:00');
		expect(kept(aged(now), now)).not.toContain(march(1)[0]);
		expect(kept(aged(now, 10 * DAY), now)).toContain(march(1)[0]);
		const byClockAhead = aged(at('10T12:00'), -10 * DAY);
		expect(kept(byClockAhead, at('10T12:00'))).toContain(march(1)[0]);
		const isOver = merge(aged(now, -10 * DAY), found(), windowAt(now)).state;
		expect(kept(isOver, now)).not.toContain(march(1)[0]);
	});

	test('is also pruned with a poll every two weeks', () => {
		let known = newState(WATCH, windowAt(NOW));
		for (let polls = 0; polls < 9; polls++) {
			const window = windowAt(NOW + polls * 14 * DAY);
			const days = new Map(toRead(known, window).map((day) => [day, { read: polls + 1 }]));
			known = merge(known, { days, outcomes: [] }, window).state;
		}
		expect(known.days.size).toBeLessThan(60);
	});

	test("isn't pruned of days with pending entries, but of empty days in the future", () => {
		const now = at('20T12:00');
		const known = aged(now);
		known.entries.set('a', entry(march(1)[0], { pending: true }));
		known.days.set(march(28)[0], { read: 3 });
		expect(kept(known, now)).toContain(march(1)[0]);
		expect(kept(known, now)).not.toContain(march(28)[0]);
	});
});

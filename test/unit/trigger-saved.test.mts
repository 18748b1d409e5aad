import { randomUUID } from 'node:crypto';
import { loadState, saveState } from '../../nodes/LifelogTrigger/saved.ts';
import { newState } from '../../nodes/LifelogTrigger/state.ts';
import { dayOf } from '../../nodes/LifelogTrigger/days.ts';

const NOW = Date.parse('2026-03-10T12:00Z');
const DAY_MS = 24 * 60 * 60_000;

function full(days: number, perDay: number) {
	const state = newState({ kind: 'lifelogs', credential: 'Xy12', prompt: '' }, NOW, '2026-02-08');
	for (let ago = 0; ago < days; ago++) {
		const day = dayOf(NOW - ago * DAY_MS);
		state.days.set(day, { read: NOW + ago });
		for (let index = 0; index < perDay; index++) {
			state.entries.set(randomUUID(), { day, at: NOW - index, starred: false, flips: 0 });
		}
	}
	return state;
}

test('what is saved is plain JSON and read back whole', () => {
	const state = full(3, 2);
	state.pageLimit = 10;
	state.limitedAt = 4;
	state.isOwnClock = true;
	state.polls = 12;
	state.cursor = 'next';
	state.clock = { now: NOW, own: NOW + 5, steady: 3, process: 9 };
	state.days.set('2026-01-01', { read: 0, since: 7 });
	state.days.set('2026-01-02', { read: 3, left: 9, leftAt: 7 });
	const trouble = { times: 4, poll: 8, at: 6, since: 2 };
	const quiet = { size: 3, since: 4 };
	state.days.set('2026-01-03', { read: 3, due: true, cursor: 'here', trouble });
	state.entries.set('held', { day: '2026-01-01', starred: true, flips: 0, pending: true });
	state.entries.set('quiet', { day: '2026-01-01', starred: false, flips: 0, pending: true, quiet });
	state.entries.set('both', {
		day: '2026-01-01',
		starred: false,
		flips: 0,
		pending: true,
		quiet,
		trouble,
	});
	state.entries.set('failing', {
		day: '2026-01-01',
		at: 5,
		starred: false,
		flips: 0,
		pending: true,
		incomplete: true,
		trouble,
	});
	state.entries.set('starred', { day: '2026-01-02', at: 5, starred: true, flips: 3 });
	state.entries.set('__proto__', { day: '2026-01-02', at: 5, starred: false, flips: 0 });
	const saved = saveState(state);
	expect(JSON.parse(JSON.stringify(saved))).toEqual(saved);
	expect(loadState(saved)).toEqual(state);
	expect(loadState(JSON.parse(JSON.stringify(saved)))).toEqual(state);
});

test('31 days of 50 entries with long IDs stay under 120 KB', () => {
	expect(JSON.stringify(saveState(full(31, 50))).length).toBeLessThan(120_000);
});

test.each<[string, (saved: Record<string, unknown>) => unknown]>([
	['nothing', () => undefined],
	['a text', () => 'state'],
	['a list', () => []],
	['another version', (saved) => ({ ...saved, version: 1 })],
	['no version', (saved) => ({ ...saved, version: undefined })],
	['another kind', (saved) => ({ ...saved, kind: 'audio' })],
	['a time that is none', (saved) => ({ ...saved, since: '2026-03-10' })],
	['a day that is none', (saved) => ({ ...saved, from: '2026-13-40' })],
	['a clock that is none', (saved) => ({ ...saved, clock: { now: 1 } })],
	['no days', (saved) => ({ ...saved, days: null })],
	['a day without its entries', (saved) => ({ ...saved, days: { '2026-03-10': { read: 1 } } })],
	['a read that is none', (saved) => ({ ...saved, days: { '2026-03-10': { read: -1, ids: {} } } })],
	[
		'an entry that is none',
		(saved) => ({ ...saved, days: { '2026-03-10': { read: 1, ids: { a: 'x' } } } }),
	],
	[
		'an entry cut short',
		(saved) => ({ ...saved, days: { '2026-03-10': { read: 1, ids: { a: [1, 0] } } } }),
	],
])('%s is no state', (_, spoil) => {
	expect(loadState(spoil({ ...saveState(full(1, 1)) }))).toBeUndefined();
});

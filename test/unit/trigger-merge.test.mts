import { merge, type Outcome } from '../../nodes/LifelogTrigger/merge.ts';
import { newState, type Entry, type State } from '../../nodes/LifelogTrigger/state.ts';

const NOW = Date.parse('2026-03-10T12:00Z');
const reach = { now: NOW, lookbackDays: 3 };
const DAY = '2026-03-09';

const entry = (at?: number, extra: Partial<Entry> = {}): Entry => ({
	day: DAY,
	...(at !== undefined && { at }),
	starred: false,
	flips: 0,
	...extra,
});
function state(entries: Record<string, Entry> = {}): State {
	const known = newState({ kind: 'lifelogs', credential: '1', prompt: '' }, 1000, '2026-03-08');
	known.days.set(DAY, { read: NOW - 1 });
	for (const [id, one] of Object.entries(entries)) known.entries.set(id, one);
	return known;
}
const emits = (id: string, at: number, start = 1): Outcome => ({
	id,
	version: { at, starred: false },
	entry: entry(at),
	event: { start, item: { json: { id, at } } },
});
const run = (before: State, current: State, ...outcomes: Outcome[]) => {
	const merged = merge(before, current, { read: [DAY], outcomes }, reach);
	return { ...merged, ids: merged.items.map(({ json }) => json.id) };
};

test('items come by start, then by ID; the state passed stays as it is', () => {
	const before = state();
	const { ids, state: after } = run(before, before, emits('b', 5), emits('a', 5), emits('z', 5, 0));
	expect(ids).toEqual(['z', 'a', 'b']);
	expect(after.entries.get('a')).toEqual(entry(5));
	expect(before.entries.size).toBe(0);
});

test('reads are later than any before, even where the clock runs back', () => {
	const before = state();
	before.days.set(DAY, { read: NOW + 5000 });
	expect(run(before, before).state.days.get(DAY)?.read).toBe(NOW + 5001);
});

describe('what another poll did meanwhile', () => {
	test('to an entry is not repeated', () => {
		for (const before of [state(), state({ a: entry(undefined, { pending: 0 }) })]) {
			const { ids, state: after } = run(before, state({ a: entry(5) }), emits('a', 5));
			expect(ids).toEqual([]);
			expect(after.entries.get('a')).toEqual(entry(5));
		}
	});

	test('before an even later change leaves that to the next poll', () => {
		const { ids, state: after } = run(state(), state({ a: entry(5) }), emits('a', 7));
		expect(ids).toEqual([]);
		expect(after.entries.get('a')).toEqual(entry(5, { pending: 0 }));
	});

	test('in holding an entry back does not matter', () => {
		const current = state({ a: entry(undefined, { pending: 0 }) });
		expect(run(state(), current, emits('a', 5)).ids).toEqual(['a']);
	});

	test('in dropping an entry that was held is not undone', () => {
		const before = state({ a: entry(undefined, { pending: 0 }) });
		const { ids, state: after } = run(before, state(), emits('a', 5));
		expect(ids).toEqual([]);
		expect(after.entries.size).toBe(0);
	});

	test('to other entries stays', () => {
		const { ids, state: after } = run(state(), state({ b: entry(5) }), emits('a', 5));
		expect(ids).toEqual(['a']);
		expect(after.entries.get('b')).toEqual(entry(5));
	});
});

test('a day outside the look-back that was never read counts from now on', () => {
	const moved = { id: 'a', entry: { ...entry(5), day: '2026-02-01' } };
	expect(run(state(), state(), moved).state.days.get('2026-02-01')).toMatchObject({
		read: 0,
		since: NOW,
	});
});

test('what is recorded on a day outside the look-back stays known for a while', () => {
	const before = state();
	before.days.set('2026-03-01', { read: 5, left: 5 });
	const moved = { id: 'a', entry: { ...entry(5), day: '2026-03-01' } };
	expect(run(before, before).state.days.has('2026-03-01')).toBe(true);
	before.days.set('2026-03-08', { read: NOW - 1 }).set('2026-03-10', { read: NOW - 1 });
	expect(run(before, before).state.days.has('2026-03-01')).toBe(false);
	expect(run(before, before, moved).state.entries.has('a')).toBe(true);
});

import {
	type DayRead,
	type Findings,
	merge,
	type Outcome,
} from '../../nodes/LifelogTrigger/merge.ts';
import { type KnownEntry, newState, type State } from '../../nodes/LifelogTrigger/state.ts';

const NOW = Date.parse('2026-03-10T12:00Z');
const clock = { now: NOW, own: NOW, steady: 0, process: 0 };
const reach = { now: NOW, clock, began: NOW, lookbackDays: 3 };
const DAY = '2026-03-09';

const entry = (at?: number, extra: Partial<KnownEntry> = {}): KnownEntry => ({
	day: DAY,
	...(at !== undefined && { at }),
	starred: false,
	flips: 0,
	...extra,
});
function state(entries: Record<string, KnownEntry> = {}): State {
	const known = newState({ kind: 'lifelogs', credential: '1', prompt: '' }, 1000, '2026-03-08');
	known.days.set(DAY, { read: 1 });
	known.polls = 1;
	for (const [id, one] of Object.entries(entries)) known.entries.set(id, one);
	return known;
}
const emits = (id: string, at: number, start = 1): Outcome => ({
	id,
	version: { at, starred: false },
	entry: entry(at),
	event: { start, item: { json: { id, at } } },
});
const READ = { isComplete: true, failed: false };
const findings = (outcomes: Outcome[] = [], read: DayRead = READ): Findings => ({
	days: new Map([[DAY, read]]),
	outcomes,
	failures: [],
	isInVain: false,
});
const run = (before: State, current: State, ...outcomes: Outcome[]) => {
	const merged = merge(before, current, findings(outcomes), reach);
	return { ...merged, ids: merged.items.map(({ json }) => json.id) };
};

test('items come by start, then by ID; the state passed stays as it is', () => {
	const before = state();
	const { ids, state: after } = run(before, before, emits('b', 5), emits('a', 5), emits('z', 5, 0));
	expect(ids).toEqual(['z', 'a', 'b']);
	expect(after.entries.get('a')).toEqual(entry(5));
	expect(before.entries.size).toBe(0);
});

test('reads are counted, and a day is due until it was over for a day', () => {
	const before = state();
	const after = (now: number) => merge(before, before, findings(), { ...reach, now }).state;
	expect(after(NOW).polls).toBe(2);
	expect(after(NOW).days.get(DAY)).toMatchObject({ read: 2, due: true });
	expect(after(NOW + 86_400_000).days.get(DAY)).toEqual({ read: 2 });
});

test('a day that failed stays due, and how often is counted', () => {
	const before = state();
	const failed = { isComplete: false, failed: true };
	const { state: after } = merge(before, before, findings([], failed), reach);
	const trouble = { times: 1, poll: 2, at: NOW, since: NOW };
	expect(after.days.get(DAY)).toEqual({ read: 1, trouble });
});

describe('what another poll did meanwhile', () => {
	test('to an entry is not repeated', () => {
		for (const before of [state(), state({ a: entry(undefined, { pending: true }) })]) {
			const { ids, state: after } = run(before, state({ a: entry(5) }), emits('a', 5));
			expect(ids).toEqual([]);
			expect(after.entries.get('a')).toEqual(entry(5));
		}
	});

	test('before an even later change leaves that to the next poll', () => {
		const { ids, state: after } = run(state(), state({ a: entry(5) }), emits('a', 7));
		expect(ids).toEqual([]);
		expect(after.entries.get('a')).toEqual(entry(5, { pending: true }));
	});

	test('in holding an entry back does not matter', () => {
		const current = state({ a: entry(undefined, { pending: true }) });
		expect(run(state(), current, emits('a', 5)).ids).toEqual(['a']);
	});

	test('in dropping an entry that was held is not undone', () => {
		const before = state({ a: entry(undefined, { pending: true }) });
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
	const gone = { read: 1, left: 1, leftAt: NOW - 3 * 86_400_000 };
	before.days.set('2026-03-01', gone);
	const moved = { id: 'a', entry: { ...entry(5), day: '2026-03-01' } };
	expect(run(before, before).state.days.has('2026-03-01')).toBe(true);
	for (const day of ['2026-03-08', '2026-03-10']) before.days.set(day, { read: 1 });
	expect(run(before, before).state.days.has('2026-03-01')).toBe(false);
	expect(run(before, before, moved).state.entries.has('a')).toBe(true);
});

// What becomes of a lifelog, by what was known, what was seen and what is asked for.
import { recordOf } from '../../nodes/LifelogTrigger/engine/records.ts';
import { newState } from '../../nodes/LifelogTrigger/engine/state.ts';
import type { KnownEntry, Poll } from '../../nodes/LifelogTrigger/engine/types.ts';
import { readChats } from '../../nodes/LifelogTrigger/chats/read.ts';
import {
	changeType,
	decide,
	decideLifelogs,
	type Seen,
} from '../../nodes/LifelogTrigger/lifelogs/decide.ts';
import { eventKey } from '../../nodes/LifelogTrigger/lifelogs/item.ts';
import type { ListedLifelog } from '../../nodes/LifelogTrigger/lifelogs/list.ts';
import { readLifelogs } from '../../nodes/LifelogTrigger/lifelogs/read.ts';
import type { Settings } from '../../nodes/LifelogTrigger/parameters.ts';

const HOUR = 3_600_000;
const at = (time: string) => Date.parse(`2026-03-${time}Z`);
const NOW = at('10T12:00');
const ALL = { changes: ['created', 'updated'], settleMs: 0 } as unknown as Settings;
const entry = (more: Partial<KnownEntry> = {}): KnownEntry => ({
	day: '2026-03-09',
	at: at('09T12:00'),
	starred: false,
	starToggles: 0,
	...more,
});
const seen = (time: string, starred = false) => ({ version: { at: at(time), starred } });
const failed = (hours: number, times: number, isListed = true): Seen => ({
	...(isListed && { listed: seen('10T01:00').version }),
	retry: { times, poll: 1, at: NOW, since: NOW - hours * HOUR },
});
const unknown = entry({ at: undefined });
const incomplete = entry({ at: at('10T01:00'), incomplete: true, pending: true });
const changed = { ...incomplete, at: at('09T12:00') };
const since = NOW - 31 * 24 * HOUR;
const triedAnHourAgo = { ...incomplete, retry: { times: 8, poll: 1, at: since + HOUR, since } };

test.each<[string, KnownEntry, Seen, Partial<Settings>, string]>([
	['as it was', entry(), seen('09T12:00'), {}, 'skip'],
	['as it was before', entry(), seen('09T11:00'), {}, 'skip'],
	['a later update', entry(), seen('09T12:00:00.001'), {}, 'emit'],
	['a star', entry(), seen('09T12:00', true), {}, 'emit'],
	['an unknown one', unknown, seen('09T12:00'), {}, 'emit'],
	['one that still changes', entry(), seen('10T11:59'), { settleMs: HOUR }, 'wait'],
	['one that has settled', entry(), seen('10T11:00'), { settleMs: HOUR }, 'emit'],
	[
		'an update, if only new ones are wanted',
		entry(),
		seen('10T01:00'),
		{ changes: ['created'] },
		'skip',
	],
	[
		'a new one, if only updates are wanted',
		unknown,
		seen('10T01:00'),
		{ changes: ['updated'] },
		'skip',
	],
	['another star than is wanted', entry(), seen('10T01:00'), { isStarred: true }, 'skip'],
	['one that came incomplete', incomplete, seen('09T12:00'), { changes: ['created'] }, 'emit'],
	['one that failed once', entry(), failed(0, 1), {}, 'retry'],
	['one that fails for less than a day', entry(), failed(23, 9), {}, 'retry'],
	['one that failed twice in a day', entry(), failed(25, 2), {}, 'retry'],
	['one that fails for a day', entry(), failed(24, 3), {}, 'emit'],
	['one that fails for a day and is in no list', entry(), failed(24, 3, false), {}, 'retry'],
	['one that came incomplete and fails on', incomplete, failed(48, 9), {}, 'retry'],
	['one that came incomplete and changed', changed, failed(48, 9), {}, 'emit'],
	[
		'one that came incomplete and changed, if only new ones are wanted',
		changed,
		failed(48, 9),
		{ changes: ['created'] },
		'retry',
	],
	['one that came incomplete a month ago', incomplete, failed(31 * 24, 99), {}, 'skip'],
	['one that fails for a month and is in no list', entry(), failed(31 * 24, 99, false), {}, 'skip'],
	['one that fails for a month, by a clock ahead', triedAnHourAgo, failed(31 * 24, 9), {}, 'retry'],
])('%s', (_, known, what, settings, expected) => {
	expect(decide(known, what, { ...ALL, ...settings }, NOW).type).toBe(expected);
});

test('a lifelog that fails for a day is emitted as incomplete, and is completed later', () => {
	const what = failed(24, 3) as Extract<Seen, { retry: unknown }>;
	const decision = decide(entry(), what, ALL, NOW);
	expect(decision).toMatchObject({ type: 'emit', isIncomplete: true });
	const record = recordOf(entry(), decision, what.retry);
	expect(record).toMatchObject({ at: at('10T01:00'), pending: true, incomplete: true });
	expect(eventKey('x', record)).toBe('x:2026-03-10T01:00:00.000Z:incomplete');
});

test('a postponed or failed lifelog keeps its reported version, and an emitted one is cleared', () => {
	const known = entry({ pending: true });
	expect(recordOf(known, { type: 'wait' })).toEqual(known);
	const retry = { times: 1, poll: 1, at: 1, since: 1 };
	expect(recordOf(known, { type: 'retry' }, retry)).toEqual({ ...known, retry });
	const { version } = seen('10T01:00');
	expect(recordOf(known, { type: 'emit', version })).toEqual(entry({ at: at('10T01:00') }));
});

test('a version that differs only in milliseconds is recorded, not emitted', () => {
	const [version, listed] = [seen('09T12:00').version, seen('09T12:00:00.777').version];
	expect(decide(entry(), { version, listed }, ALL, NOW)).toEqual({ type: 'skip', version: listed });
});

describe('keys', () => {
	const emit = (base: KnownEntry, time: string, starred: boolean) => {
		const record = recordOf(base, { type: 'emit', version: { at: at(time), starred } });
		return { record, key: eventKey('x', record) };
	};

	test('name the version, and the star if only that changed', () => {
		const version = 'x:2026-03-11T12:00:00.000Z';
		const created = emit(unknown, '11T12:00', true);
		expect(created.key).toBe(version);
		expect([changeType(unknown), changeType(created.record)]).toEqual(['created', 'updated']);
		const unstarred = emit(created.record, '11T12:00', false);
		expect(unstarred.key).toBe(`${version}:unstarred`);
		const again = emit(emit(unstarred.record, '11T12:00', true).record, '11T12:00', false);
		expect(again.key).toBe(`${version}:unstarred:2`);
		const updated = emit(again.record, '11T12:00:00.001', true);
		expect(updated.key).toBe('x:2026-03-11T12:00:00.001Z');
	});

	test('never go back to an earlier version', () => {
		const { record, key } = emit(entry(), '08T12:00', true);
		expect(record.at).toBe(entry().at);
		expect(key).toBe('x:2026-03-09T12:00:00.000Z:starred');
	});
});

// Without an offset a time is slow to read: a poll with thousands of new lifelogs would block n8n.
test('the start of a new lifelog is read twice at most, however many are new', async () => {
	const count = 1000;
	let reads = 0;
	const listed = (id: string): ListedLifelog => {
		const lifelog = {
			id,
			get startTime() {
				reads += 1;
				return `2026-03-10 11:${String(reads % 60).padStart(2, '0')}:00`;
			},
		};
		return { lifelog: lifelog as never, day: '2026-03-10', ...seen('10T11:00').version };
	};
	const ids = Array.from({ length: count }, (_, index) => `lifelog-${index}`);
	const poll = pollWithoutTime('lifelogs');
	const entries = new Map(ids.map((id) => [id, listed(id)]));
	const { unread } = decideLifelogs(poll, { days: new Map(), entries });
	expect(await readLifelogs(poll, unread)).toHaveLength(count);
	expect(reads).toBeGreaterThanOrEqual(count);
	expect(reads).toBeLessThanOrEqual(2 * count);
});

test('a chat of yesterday that waits for its answer is read in each poll, an older one less often', async () => {
	const retry = { times: 9, poll: 0, at: NOW, since: NOW };
	const waiting = (day: string) => ({ ...entry({ day, pending: true }), retry });
	const unread = ['10', '09', '08'].map((day): Parameters<typeof readChats>[1][number] => [
		day,
		waiting(`2026-03-${day}`),
	]);
	const read = await readChats(pollWithoutTime('chats'), unread);
	expect(read.map(({ id }) => id)).toEqual(['10', '09']);
});

/** A poll whose time is over, so that nothing is requested. */
function pollWithoutTime(kind: 'lifelogs' | 'chats'): Poll {
	const window = { now: NOW, began: NOW, lookbackDays: 7 };
	const watch = { kind, credential: 'Xy12', prompt: '' } as const;
	const state = newState(watch, { ...window, began: at('10T10:00') });
	return {
		api: {},
		known: state,
		settings: ALL,
		failures: [],
		current: () => ({ state, window }),
		isWithin: () => false,
	} as unknown as Poll;
}

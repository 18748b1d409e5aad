import type { Lifelog } from '../../nodes/shared/api-types.ts';
import {
	changeType,
	compare,
	eventKey,
	recordOf,
	type Sighting,
} from '../../nodes/LifelogTrigger/compare.ts';
import { type KnownEntry, newState } from '../../nodes/LifelogTrigger/state.ts';

const at = (time: string) => Date.parse(`2026-03-${time}Z`);
const FIRST_POLL = at('10T12:00');
const state = newState({ kind: 'lifelogs', credential: '1', prompt: '' }, FIRST_POLL, '2026-03-04');
state.days.set('2026-03-09', { read: 1 });
state.days.set('2026-03-04', { read: 0, since: at('11T12:00') });
const known: KnownEntry = { day: '2026-03-09', at: at('09T12:00'), starred: false, flips: 0 };
state.entries.set('known', known);
state.entries.set('held', { day: '2026-03-09', starred: false, flips: 0, pending: true });

const seen = (
	id: string,
	day: number,
	updatedAt: string,
	extra: Partial<Sighting> = {},
): Sighting => {
	const date = `2026-03-${String(day).padStart(2, '0')}`;
	const start = Date.parse(date);
	const lifelog = { id } as Lifelog;
	return { id, day: date, lifelog, at: at(updatedAt), starred: false, start, ...extra };
};
const verdict = (one: Sighting, isFirst = false) => {
	const { base, isChanged } = compare(state, one, isFirst);
	return isChanged ? changeType(base) : 'same';
};

test.each<[string, Sighting, string]>([
	['a known entry as it was', seen('known', 9, '09T12:00'), 'same'],
	['a known entry shown as it was before', seen('known', 9, '09T11:00'), 'same'],
	['a known entry with a later update', seen('known', 9, '09T12:00:00.001'), 'updated'],
	['a known entry with a star', seen('known', 9, '09T12:00', { starred: true }), 'updated'],
	['a known entry on another day', seen('known', 5, '09T12:00'), 'same'],
	['a known entry on another day, updated', seen('known', 5, '11T12:00'), 'updated'],
	['one held back since it was created', seen('held', 9, '12T12:00'), 'created'],
	['an unknown one on a day read before, however old', seen('a', 9, '09T01:00'), 'created'],
	['an unknown one on a day after the first poll’s', seen('a', 12, '09T01:00'), 'created'],
	[
		'an unknown one, unchanged since the first poll, on a day not read',
		seen('a', 8, '10T12:00'),
		'same',
	],
	['an unknown one changed since, on a day not read', seen('a', 8, '10T12:01'), 'updated'],
	[
		'an unknown one begun since, on a day not read',
		seen('a', 10, '10T12:02', { start: at('10T12:01') }),
		'created',
	],
	[
		'an unknown one on an added day, unchanged since it was added',
		seen('a', 4, '11T12:00'),
		'same',
	],
	['an unknown one on an added day, changed since', seen('a', 4, '11T12:01'), 'updated'],
])('%s', (_, one, expected) => {
	expect(verdict(one)).toBe(expected);
	if (!one.id.startsWith('a')) return;
	expect(verdict(one, true)).toBe('same');
});

test('an entry is filed under the day where it was seen', () => {
	expect(compare(state, seen('known', 5, '09T12:00'), false).base).toEqual({
		...known,
		day: '2026-03-05',
	});
});

describe('keys', () => {
	const key = (base: KnownEntry, time: string, starred: boolean) => {
		const entry = recordOf(base, { at: at(time), starred });
		return { entry, key: eventKey('x', entry) };
	};

	test('name the version, and the star where only that changed', () => {
		const version = 'x:2026-03-11T12:00:00.000Z';
		const created = key({ day: '2026-03-09', starred: false, flips: 0 }, '11T12:00', true);
		expect(created.key).toBe(version);
		const unstarred = key(created.entry, '11T12:00', false);
		expect(unstarred.key).toBe(`${version}:unstarred`);
		const again = key(key(unstarred.entry, '11T12:00', true).entry, '11T12:00', false);
		expect(again.key).toBe(`${version}:unstarred:2`);
		const updated = key(again.entry, '11T12:00:00.001', true);
		expect(updated.key).toBe('x:2026-03-11T12:00:00.001Z');
	});

	test('tell what is incomplete from what is whole', () => {
		const entry = { ...known, flips: 1, starred: true };
		const whole = eventKey('x', entry);
		expect(eventKey('x', { ...entry, incomplete: true })).toBe(`${whole}:incomplete`);
	});

	test('never go back to an earlier version', () => {
		const { entry, key: starred } = key(known, '08T12:00', true);
		expect(entry.at).toBe(known.at);
		expect(starred).toBe('x:2026-03-09T12:00:00.000Z:starred');
	});
});

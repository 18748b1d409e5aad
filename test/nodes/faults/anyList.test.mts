import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { type Entry, RANGES, type Service, SORTS } from '../../support/anyService.mts';
import { useListLab } from '../../support/listLab.mts';
import { seedOr, size } from '../../support/size.mts';
import { within } from '../../support/workflow.mts';

// The specification says neither what a range means nor what a list is sorted by (section 4.2).
// Whatever a service does: Return All gives what it lists page after page, and asks for no more.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A night in which Berlin turns its clocks back, and one in which it turns them forward. */
const NIGHTS = [Date.parse('2026-10-24T22:00:00Z'), Date.parse('2026-03-28T22:00:00Z')];

/** Bursts of entries, as a life has them: some long, some at the same time, some listed late. */
const entriesOf = fc
	.record({
		bursts: fc.array(
			fc.record({
				night: fc.constantFrom(...NIGHTS),
				offset: fc.integer({ min: -3 * DAY, max: 3 * DAY }),
				every: fc.constantFrom(500, 20_000, 3 * MINUTE, 20 * MINUTE),
				count: fc.integer({ min: 1, max: 150 }),
				isWhole: fc.boolean(),
			}),
			{ minLength: 1, maxLength: 5 },
		),
		odds: fc.array(
			fc.record({
				nth: fc.nat(399),
				lasts: fc.constantFrom(0, 1000, 90 * MINUTE, 14 * HOUR, 3 * DAY),
				late: fc.constantFrom(0, 5 * MINUTE, 2 * DAY),
				isTied: fc.boolean(),
			}),
			{ maxLength: 20 },
		),
		updates: fc.constantFrom('with the end', 'all at once', 'every third later'),
	})
	.map(({ bursts, odds, updates }) => {
		const entries = bursts.flatMap(({ night, offset, every, count, isWhole }, burst) =>
			Array.from({ length: count }, (_, nth): Entry => {
				const exact = night + offset + nth * every;
				const begin = isWhole ? Math.floor(exact / 1000) * 1000 : exact;
				const end = begin + Math.max(every * 0.8, 300);
				return {
					id: `${String((nth * 7919) % 997).padStart(3, '0')}-${burst}-${nth}`,
					begin,
					end,
					updated: end + 60_000,
					created: end + 1000 + nth,
				};
			}),
		);
		for (const { nth, lasts, late, isTied } of odds) {
			const entry = entries[nth % entries.length];
			if (isTied) entry.begin = entries[(nth + 1) % entries.length].begin;
			entry.end = entry.begin + lasts;
			entry.created = Math.max(entry.end, entry.created) + late;
			entry.updated = entry.created;
		}
		entries.forEach((entry, nth) => {
			if (updates === 'all at once') entry.updated = NIGHTS[0] + 9 * DAY;
			if (updates === 'every third later' && nth % 3 === 0) entry.updated += 8 * DAY;
		});
		return entries;
	});

const inBursts = ({ id }: Entry) => Number(id.split('-')[2]) % 60 < 20;
const oneInSeven = ({ id }: Entry) => Number(id.split('-')[2]) % 7 === 0;

const serviceOf = fc.record<Service>({
	entries: entriesOf,
	range: fc.constantFrom(...RANGES, 'begins', 'begins', 'reaches', 'reaches'),
	edges: fc.constantFrom('both', 'start', 'none'),
	openRange: fc.option(fc.constantFrom(6 * HOUR, 2 * DAY), { nil: undefined, freq: 3 }),
	sort: fc.oneof(fc.constant('begin' as const), fc.constantFrom(...SORTS)),
	turnsTies: fc.boolean(),
	cursor: fc.constantFrom('position', 'offset'),
	isBound: fc.boolean(),
	maxPageSize: fc.constantFrom(10, 25),
	isKept: fc.option(fc.constantFrom(inBursts, oneInSeven), { nil: undefined, freq: 3 }),
	hour: fc.constantFrom('first', 'second'),
	offsets: fc.boolean(),
	isFirst: fc.option(fc.constantFrom(inBursts, oneInSeven), { nil: undefined, freq: 1 }),
	isTimeless: fc.option(
		fc.constantFrom(oneInSeven, () => true),
		{ nil: undefined, freq: 1 },
	),
});

const rangeOf = fc
	.record({
		night: fc.constantFrom(...NIGHTS),
		from: fc.integer({ min: -3 * DAY, max: 3 * HOUR }),
		lasts: fc.integer({ min: HOUR, max: 5 * DAY }),
		kind: fc.constantFrom('all', 'all', 'start', 'start', 'end', 'end', 'both', 'both', 'date'),
	})
	.map(({ night, from, lasts, kind }): IDataObject => {
		const start = new Date(night + from).toISOString();
		const end = new Date(night + from + lasts).toISOString();
		if (kind === 'date') return { date: start.slice(0, 10) };
		return {
			...(kind !== 'all' && kind !== 'end' && { start }),
			...(kind !== 'all' && kind !== 'start' && { end }),
		};
	});

const asked = fc.record({
	filters: rangeOf,
	direction: fc.constantFrom('asc', 'desc'),
	timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
});

/** What happens to entries while they are listed, before the nth request is answered. */
const eventsOf = fc.array(
	fc.record({
		nth: fc.integer({ min: 2, max: 45 }),
		which: fc.nat(999),
		what: fc.constantFrom('comes late', 'comes now', 'goes', 'is updated', 'is updated', 'moves'),
	}),
	{ minLength: 1, maxLength: 25 },
);

const runs = { numRuns: size(8, 30), seed: seedOr(19) };
const lists = useListLab();

test.each([
	['lifelog', 'lifelogs'],
	['lifelogChat', 'chats'],
] as const)(
	'%s: returns the list of any service, in its order, with the fewest requests',
	async (node, name) => {
		await fc.assert(
			fc.asyncProperty(serviceOf, asked, async (is, { direction, timezone }) => {
				lists.service.is = is;
				const options = { direction, timezone };
				const own = await lists.listed(name, options);
				const all = await lists.read(node, { returnAll: true, options });
				expect(all.ids).toEqual(own.ids);
				expect(all.requests).toHaveLength(own.requests.length);
			}),
			runs,
		);
	},
	900_000,
);

test('lifelogs: a limit above their number returns the same as Return All, whatever a range means', async () => {
	await fc.assert(
		fc.asyncProperty(serviceOf, asked, async (is, { filters, direction, timezone }) => {
			lists.service.is = is;
			const options = { direction, timezone };
			const limited = await lists.read('lifelog', {
				limit: 1_000_000,
				...within(filters),
				options,
			});
			const all = await lists.read('lifelog', { returnAll: true, ...within(filters), options });
			expect(all.ids).toEqual(limited.ids);
			expect(all.requests).toHaveLength(limited.requests.length);
		}),
		runs,
	);
});

test.each(['lifelog', 'lifelogChat'] as const)(
	'%s: unchanged entries are listed once and in order while others are added, deleted, changed and moved',
	async (node) => {
		await fc.assert(
			fc.asyncProperty(
				serviceOf,
				asked,
				eventsOf,
				async (made, { direction, timezone }, events) => {
					// With a number of entries passed over, page after page loses what moves up.
					const sort = made.sort === 'none' ? 'begin' : made.sort;
					const cursor = 'position';
					const is = { ...made, sort, cursor, isFirst: undefined } as Service;
					is.entries = [...made.entries];
					lists.service.is = is;
					const options = { direction, timezone };
					const before = await lists.read(node, { returnAll: true, options });

					const touched = new Map<string, string>();
					const known = new Set(before.ids);
					const newest = Math.max(...is.entries.flatMap(({ end, updated }) => [end, updated]));
					is.before = (nth) => {
						for (const [index, event] of events.entries()) {
							if (event.nth !== nth) continue;
							const at = event.which % Math.max(is.entries.length, 1);
							const old = is.entries[at] as Entry | undefined;
							// What happens later has a later time, as it has of one clock.
							const now = newest + (nth * events.length + index) * MINUTE;
							if (event.what.startsWith('comes') || !old) {
								const begin = event.what === 'comes now' || !old ? now : old.begin;
								const id = `new-${index}`;
								known.add(id);
								touched.set(id, event.what);
								const times = { begin, end: begin + MINUTE, updated: now, created: now };
								is.entries.push({ id, ...times });
								continue;
							}
							const earlier = touched.get(old.id);
							const isOnlyUpdated = event.what === 'is updated' && earlier === undefined;
							touched.set(old.id, isOnlyUpdated ? event.what : 'is not itself');
							if (event.what === 'goes') is.entries.splice(at, 1);
							if (event.what === 'is updated') is.entries[at] = { ...old, updated: now };
							if (event.what === 'moves') {
								const begin = old.begin + (event.which % 2 ? -5 : 5) * HOUR;
								is.entries[at] = { ...old, begin, end: begin + MINUTE, updated: now };
							}
						}
					};
					const { ids } = await lists.read(node, { returnAll: true, options });
					expect(new Set(ids).size).toBe(ids.length);
					expect(ids.filter((id) => !known.has(id))).toEqual([]);
					const steady = before.ids.filter((id) => !touched.has(id));
					expect(ids.filter((id) => !touched.has(id))).toEqual(steady);
					// What moves to where page after page reads last is read by it, too.
					if (direction === 'asc' || sort !== 'updated') {
						const updated = before.ids.filter((id) => touched.get(id) === 'is updated');
						expect(ids).toEqual(expect.arrayContaining(updated));
					}
				},
			),
			runs,
		);
	},
	900_000,
);

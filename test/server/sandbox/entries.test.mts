import { Entries } from '../../../server/sandbox/entries.mts';

test('a slice skips the given number of matching entries', () => {
	const entries = new Entries<{ id: string }>(({ id }) => ({ time: '', id }));
	for (const id of 'abcdef') entries.put({ id });
	const ids = (direction: 'asc' | 'desc', skip?: number, after?: string) =>
		entries
			.slice(
				{
					direction,
					skip,
					limit: 2,
					after: after === undefined ? undefined : { time: '', id: after },
				},
				({ id }) => id !== 'b',
			)
			.map(({ id }) => id)
			.join('');
	expect(ids('asc')).toBe('ac');
	expect(ids('asc', 1)).toBe('cd');
	expect(ids('desc', 3)).toBe('ca');
	expect(ids('asc', 1, 'a')).toBe('de');
	expect(ids('asc', 9)).toBe('');
});

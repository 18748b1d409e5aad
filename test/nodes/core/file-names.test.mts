// Names of files that people read, wherever the files go.
import type { Api } from '../../../nodes/shared/auth/connection.ts';
import { readableName } from '../../../lifelog/names.ts';
import { nameInRun } from '../../../nodes/shared/parameters/fileNames.ts';

const START = Date.parse('2026-11-22T19:47:00Z');
const apiOf = () => ({ run: {} }) as unknown as Api;
const nameOf = (title: unknown) => readableName(START, 'Europe/Berlin', title);

test.each<[unknown, string]>([
	['Mum calls', '2026-11-22 20.47 Mum calls'],
	['A/B test: "50%" <done>?', '2026-11-22 20.47 A B test 50 done'],
	['Lunch...  ', '2026-11-22 20.47 Lunch'],
	['a\u202Egnp.exe\n', '2026-11-22 20.47 agnp.exe'],
	['../../etc', '2026-11-22 20.47 .. .. etc'],
	['', '2026-11-22 20.47'],
	[null, '2026-11-22 20.47'],
	['Café', '2026-11-22 20.47 Café'],
])('%j', (title, name) => {
	expect(nameOf(title)).toBe(name);
});

test('a long title is shortened between words', () => {
	const name = nameOf('word '.repeat(100));
	expect(name.length).toBeLessThanOrEqual(100);
	expect(name).toMatch(/ word$/);
});

test('no two files of a run have the same name, in upper or lower case', () => {
	const api = apiOf();
	const names = ['Walk', 'walk', 'Walk'].map((title) =>
		nameInRun(api, (nth) => readableName(START, 'UTC', title, nth)),
	);
	expect(names).toEqual([
		'2026-11-22 19.47 Walk',
		'2026-11-22 19.47 walk-2',
		'2026-11-22 19.47 Walk-3',
	]);
});

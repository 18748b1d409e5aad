import { DatabaseSync } from 'node:sqlite';
import { IndexDatabase } from '../../../server/index/database.mts';
import { checkSearch, SearchIndex } from '../../../server/index/search.mts';
import { lifelogOf } from '../../support/invented.mts';

test('if there are too many matches, matches in titles and the newest ones are ranked', () => {
	const db = new IndexDatabase(new DatabaseSync(':memory:'));
	const index = new SearchIndex(db);
	const begin = Date.parse('2020-01-01T00:00:00Z');
	const put = (n: number, title: string, text: string) =>
		index.put({
			...lifelogOf(`n${n}`, new Date(begin + n * 600_000).toISOString(), { title }),
			contents: [{ type: 'paragraph', content: text }],
		});
	db.exec('BEGIN');
	put(0, 'The budget of the garden', 'It was long ago.');
	for (let n = 1; n < 16_000; n += 1) put(n, 'Talk', 'Something of a garden and its budget in it.');
	put(16_000, 'Talk', 'Garden, budget, garden, budget.');
	db.exec('COMMIT');
	expect(index.search('garden budget', {}, 3)).toEqual(['n16000', 'n0', 'n15999']);
	expect(index.search('garden budget', { before: '2020-01-01T01:00:00.000Z' }, 100)).toEqual([
		...['n0', 'n5', 'n4', 'n3', 'n2', 'n1'],
	]);
	expect(index.search('talk', { isStarred: true }, 3)).toEqual([]);
	db.close();
});

test.each([
	['Russian', 'мой новый чай', ['мой', 'НОВЫЙ', '"новый чай"']],
	['Greek', 'Ο δρόμος είναι καλός', ['δρόμος', 'δρομος', 'ΔΡΌΜΟΣ', 'καλός']],
	['Korean', '안녕하세요 오늘 회의', ['안녕하세요', '안녕', '오늘', '"오늘 회의"']],
	['Japanese', 'がんばって ください', ['がんばって', 'ください']],
	['Hindi', 'नमस्ते दुनिया', ['नमस्ते', 'दुनिया', '"नमस्ते दुनिया"']],
	['Arabic', 'مُحَمَّد يعمل', ['محمد', 'مُحَمَّد']],
	['Vietnamese', 'tiếng Việt', ['tiếng', 'viet']],
	['Turkish', 'İstanbul', ['istanbul', 'İSTANBUL']],
	['French, its accents apart', 'e\u0301te\u0301', ['\u00e9t\u00e9', 'ete']],
])('%s is found', (_language, content, searches) => {
	const db = new IndexDatabase(new DatabaseSync(':memory:'));
	const index = new SearchIndex(db);
	const contents = [{ type: 'paragraph', content }];
	index.put({ ...lifelogOf('said', '2026-03-01T08:00:00Z'), contents });
	index.put({ ...lifelogOf('titled', '2026-03-01T09:00:00Z', { title: content }), contents: [] });
	for (const search of searches) {
		expect([search, index.search(search, {}, 10)]).toEqual([search, ['titled', 'said']]);
	}
	db.close();
});

describe('the cost of a search', () => {
	const frequent = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
	let db: IndexDatabase;
	let index: SearchIndex;
	beforeAll(() => {
		db = new IndexDatabase(new DatabaseSync(':memory:'));
		index = new SearchIndex(db);
		const begin = Date.parse('2020-01-01T00:00:00Z');
		db.exec('BEGIN');
		for (let n = 0; n < 6_000; n += 1) {
			const rarer = n % 1_000 === 0 ? ' pomegranate' : '';
			const content = `${frequent.join(' ')}${rarer}${n % 2_000 === 0 ? ' ten nine' : ''}`;
			index.put({
				...lifelogOf(`n${n}`, new Date(begin + n * 600_000).toISOString(), { title: 'Talk' }),
				contents: [{ type: 'paragraph', content }],
			});
		}
		db.exec('COMMIT');
	});
	afterAll(() => db.close());

	/** The statements that a search has FTS5 carry out. */
	function expressionsOf(query: string): string[] {
		const all = jest.spyOn(db, 'all');
		const get = jest.spyOn(db, 'get');
		index.search(query, {}, 10);
		const calls = [...all.mock.calls, ...get.mock.calls].filter(([sql]) =>
			/bm25|group_array/.test(sql),
		);
		jest.restoreAllMocks();
		return calls.map(([, expression]) => String(expression));
	}
	const wordsOf = (expression: string) => expression.match(/[a-z]+(?=[ "])/g) ?? [];

	test('of very frequent words, eight are searched and four are ranked', () => {
		const expressions = expressionsOf(frequent.join(' '));
		expect(expressions.map((each) => wordsOf(each.replace('{title} : ', '')).length)).toEqual(
			expect.arrayContaining([4, 8]),
		);
		for (const each of expressions) expect(each).not.toMatch(/nine|ten/);
		expect(index.search(frequent.join(' '), {}, 3)).toEqual(['n5999', 'n5998', 'n5997']);
	});

	test('a phrase of very frequent words is searched by its first four, unless it has a rarer one', () => {
		for (const each of expressionsOf(`"${frequent.join(' ')}"`)) {
			expect(each).toContain('"one two three four"');
		}
		expect(index.search('"two one"', {}, 3)).toEqual([]);
		expect(index.search(`"${frequent.join(' ')} pomegranate"`, {}, 10)).toHaveLength(6);
		expect(index.search('pomegranate "ten nine"', {}, 10).sort()).toEqual(['n0', 'n2000', 'n4000']);
	});

	test('results are ranked by the rarer words, and contain the frequent ones, too', () => {
		expect(index.search('one pomegranate', {}, 10)).toHaveLength(6);
		const [ranking] = expressionsOf('one two pomegranate').filter((each) => !each.includes('one'));
		expect(ranking).toContain('pomegranate');
		expect(index.search('pomegranat OR one', {}, 10)).toHaveLength(10);
	});

	test.each([
		['a transcript', 'word '.repeat(2_200), 'search has 2,200 words, more than 32'],
		['a quoted one', `"${'word '.repeat(33)}"`, 'search has 33 words, more than 32'],
		['hyphens', 'a-b'.repeat(33), 'search has 34 words, more than 32'],
		['alternatives', Array(33).fill('word').join(' OR '), 'search has 33 words, more than 32'],
		['one word', 'x'.repeat(1_001), 'search has more than 1,000 characters'],
		['signs', '.'.repeat(100_000), 'search has more than 1,000 characters'],
	])('%s beyond the limits is refused with a clear message', (_what, search, message) => {
		expect(() => checkSearch(search)).toThrow(message);
		checkSearch('word '.repeat(32));
		checkSearch(Array(32).fill('word').join(' OR '));
	});

	test('similar words are searched only among the words of existing lifelogs', () => {
		const about = (title: string) => lifelogOf('new', '2026-03-01T08:00:00Z', { title });
		expect(index.search('watermelom', {}, 3)).toEqual([]);
		index.put(about('The watermelon'));
		expect(index.search('watermelom', {}, 3)).toEqual(['new']);
		index.put(about('The persimmon'));
		expect(index.search('watermelom', {}, 3)).toEqual([]);
		expect(db.all(`SELECT term FROM word WHERE term LIKE '%melon'`)).toEqual([]);
		expect(index.search('persimmom', {}, 3)).toEqual(['new']);
		index.delete('new');
		index.settle();
		expect(index.search('persimmom', {}, 3)).toEqual([]);
		expect(db.all(`SELECT term FROM word WHERE term LIKE 'persimm%'`)).toEqual([]);
		expect(db.all(`SELECT term FROM word WHERE term = 'pomegranate'`)).toHaveLength(1);
	});

	test('the first misspelled search after a start reads only the list of words', () => {
		const later = new SearchIndex(db);
		const all = jest.spyOn(db, 'all');
		const each = jest.spyOn(db, 'each');
		expect(later.search('pomegranare', {}, 10)).toHaveLength(6);
		const asked = [...all.mock.calls, ...each.mock.calls].map(([sql]) => sql);
		jest.restoreAllMocks();
		expect(asked.filter((sql) => sql.includes('document_word'))).toEqual([]);
		expect(asked).toContain('SELECT term FROM word');
	});
});

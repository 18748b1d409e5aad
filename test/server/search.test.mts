import { DatabaseSync } from 'node:sqlite';
import { SearchIndex } from '../../server/store/search.mts';
import { lifelogOf } from '../support/invented.mts';

test('of more matches than are ranked the ones in titles are, and the newest', () => {
	const db = new DatabaseSync(':memory:');
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
	const db = new DatabaseSync(':memory:');
	const index = new SearchIndex(db);
	const contents = [{ type: 'paragraph', content }];
	index.put({ ...lifelogOf('said', '2026-03-01T08:00:00Z'), contents });
	index.put({ ...lifelogOf('titled', '2026-03-01T09:00:00Z', { title: content }), contents: [] });
	for (const search of searches) {
		expect([search, index.search(search, {}, 10)]).toEqual([search, ['titled', 'said']]);
	}
	db.close();
});

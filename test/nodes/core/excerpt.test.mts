import fc from 'fast-check';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import { excerptOf, MAX_EXCERPT_LENGTH } from '../../../nodes/shared/content/excerpt.ts';

const said = (content: string, speakerName = 'Anna'): ContentNode => ({
	type: 'blockquote',
	content,
	speakerName,
});
const lifelog = (contents: ContentNode[], markdown?: string): Lifelog =>
	({ id: 'abc', title: 'A walk', contents, markdown }) as Lifelog;

const filler = (count: number) =>
	Array.from({ length: count }, (_, nth) => said(`Line ${nth} of a talk.`));
const talk = lifelog([
	...filler(40),
	said('The ferns go under the old pear tree.', 'Ben'),
	...filler(40),
]);

test('a short lifelog is returned completely, with speakers and without headings', () => {
	const contents = [
		{ type: 'heading1', content: 'A walk' },
		said('Here,\nboy!'),
		said('Good.', 'Ben'),
	];
	expect(excerptOf(lifelog(contents))).toBe('Anna: Here, boy! Ben: Good.');
});

test('of a long lifelog, the start is returned', () => {
	const excerpt = excerptOf(talk);
	expect(excerpt).toMatch(/^Anna: Line 0 of a talk\. Anna: Line 1 .*…$/);
	expect(excerpt.length).toBeLessThanOrEqual(MAX_EXCERPT_LENGTH);
	expect(excerpt.length).toBeGreaterThan(MAX_EXCERPT_LENGTH - 40);
});

test.each([
	'ferns',
	'FERN',
	'where do the ferns go?',
	'dahlias OR ferns',
	'a talk about the pear tree',
	'What did Ben say of a line?',
])('the excerpt shows the place of the query: %s', (query) => {
	const excerpt = excerptOf(talk, query);
	expect(excerpt).toContain('The ferns go under the old pear tree.');
	expect(excerpt).toMatch(/^….*…$/);
	expect(excerpt.length).toBeLessThanOrEqual(MAX_EXCERPT_LENGTH);
});

test('the excerpt begins at the start if the text contains no word of the query', () => {
	for (const query of ['elephants', 'OR', '?!', '', 'of', 'x'.repeat(20_000)]) {
		expect(excerptOf(talk, query)).toBe(excerptOf(talk));
	}
});

test("a word matches only from its start: ask isn't in basket", () => {
	const basket = lifelog([...filler(40), said('A basket.'), ...filler(20), said('Now ask.')]);
	expect(excerptOf(basket, 'ask')).toContain('Now ask.');
});

test.each(['AI', 'ai?', 'EU OR AI'])(
	'short words match if the query has no longer word: %s',
	(query) => {
		const said20 = [...filler(40), said('It is in the air.'), ...filler(20)];
		const short = lifelog([...said20, said('We ask the AI.'), ...filler(20)]);
		expect(excerptOf(short, query)).toContain('We ask the AI.');
	},
);

test('languages without blanks between words are searched, too', () => {
	const contents = [
		said('今日は天気がいいですね。'.repeat(60)),
		said('庭にシダを植えましょう。'),
		...filler(40),
	];
	expect(excerptOf(lifelog(contents), 'シダの庭')).toContain('庭にシダを植えましょう');
});

test("a letter whose lower case is longer doesn't move the excerpt", () => {
	const contents = [said('İ'.repeat(400)), said('The ferns.'), ...filler(30)];
	expect(excerptOf(lifelog(contents), 'ferns')).toContain('The ferns.');
});

test.each(['ankara', 'İSTANBUL', 'İstanbul'])(
	'a letter whose lower case is longer hides no words: %s',
	(query) => {
		const contents = [...filler(40), said('İyi. Ankara, İstanbul.'), ...filler(30)];
		expect(excerptOf(lifelog(contents), query)).toContain('Ankara, İstanbul.');
	},
);

test('without contents, the excerpt comes from the Markdown, without its marks', () => {
	const markdown = '# A walk\n\n## The dog\n\n> Anna: Here, boy!\n\n- Ben (9:04): Good.\n';
	expect(excerptOf(lifelog([], markdown))).toBe('Anna: Here, boy! Ben (9:04): Good.');
});

test('without a speaker, the excerpt shows the other text', () => {
	const contents = [
		{ type: 'heading1', content: 'A walk' },
		{ type: 'paragraph', content: 'Rain.' },
	];
	expect(excerptOf(lifelog(contents))).toBe('Rain.');
	expect(excerptOf({ id: 'abc' } as Lifelog)).toBe('');
});

test('an excerpt is never too long and never splits a character', () => {
	const text = fc.oneof(
		fc.string({ unit: 'binary', maxLength: 900 }),
		fc.string({ unit: 'grapheme', maxLength: 900 }),
		fc.constant('👩‍👩‍👧‍👦'.repeat(90)),
	);
	fc.assert(
		fc.property(
			fc.array(text, { maxLength: 4 }),
			fc.string({ unit: 'grapheme' }),
			(texts, query) => {
				const excerpt = excerptOf(lifelog(texts.map((each) => said(each))), query);
				expect(excerpt.length).toBeLessThanOrEqual(MAX_EXCERPT_LENGTH);
				expect(excerpt).not.toMatch(/\p{Surrogate}/u);
			},
		),
		{ seed: 20261121 },
	);
});

test('an excerpt of three hours takes linear time', () => {
	const long = lifelog(Array.from({ length: 12_000 }, () => said('的 the the the the the')));
	const before = process.cpuUsage();
	excerptOf(long, 'the 的 那 talk of the day');
	expect(process.cpuUsage(before).user / 1_000_000).toBeLessThan(5);
});

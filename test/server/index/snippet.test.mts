import fc from 'fast-check';
import { snippetOf, spokenLines } from '../../../server/index/snippet.mts';

const SEED = 33;
const filler = 'We spoke of other things. '.repeat(20);

/** What is marked in a snippet. */
function marked(text: string, search: string): string[] {
	const snippet = snippetOf(text, search);
	return snippet.words.map(([start, end]) => snippet.text.slice(start, end));
}

describe('a snippet', () => {
	test('of a short text is the whole text', () => {
		expect(snippetOf('A quince again.', 'quince')).toEqual({
			text: 'A quince again.',
			words: [[2, 8]],
		});
	});

	test('of an empty text is empty', () => {
		expect(snippetOf('', 'quince')).toEqual({ text: '', words: [] });
	});

	test('begins at the start of the text if no word matches', () => {
		const { text, words } = snippetOf(filler, 'quince');
		expect(filler.startsWith(text.slice(0, -1))).toBe(true);
		expect([text.at(-1), words]).toEqual(['…', []]);
	});

	test('is at the place with the most words of the search', () => {
		const text = `A quince. ${filler}Maurice came. ${filler}Then Maurice planted a quince. ${filler}`;
		expect(snippetOf(text, 'maurice quince').text).toContain('…Then Maurice planted a quince. We');
		expect(marked(text, 'maurice quince')).toEqual(['Maurice', 'quince']);
	});

	test('is at the rarest word if no place has all words', () => {
		const text = `${'A quince. '.repeat(30)}${filler}Maurice came.`;
		expect(marked(text, 'quince maurice')).toEqual(['Maurice']);
	});

	test('is at the first of several equal places', () => {
		expect(snippetOf(`A first quince. ${filler}A last quince.`, 'quince').text).toMatch(/^A first/);
	});

	test('begins at a line, or else at a sentence or a word', () => {
		expect(snippetOf(`${filler}\nAnna: The quince. ${filler}`, 'quince').text).toMatch(
			/^…Anna: The quince\./,
		);
		expect(snippetOf(`${filler}The quince. ${filler}`, 'quince').text).toMatch(/^…The quince\./);
		const words = 'word '.repeat(100);
		expect(snippetOf(`${words}quince ${words}`, 'quince').text).toMatch(/^…word .*quince.* word…$/);
	});
});

test.each([
	['Café de Flore', 'cafe flore', ['Café', 'Flore']],
	['Cafe\u0301 de Flore', 'café', ['Cafe\u0301']],
	['ΟΔΟΣ', 'οδός', ['ΟΔΟΣ']],
	['İstanbul', 'istanbul', ['İstanbul']],
	['gardens, gardener and guard', 'garden', ['gardens', 'gardener']],
	['a car and a carpet', 'car', ['car']],
	['the saffron harvest', 'safron', ['saffron']],
	['the saffron and the safron', 'safron', ['safron']],
	['red and a red car, a car', '"red car"', ['red', 'car']],
	["We don't, said Don", "don't", ['don', 't']],
	['what was it, a quince', 'what was the quince', ['quince']],
	['to be or not to be', '"to be"', ['to', 'be', 'to', 'be']],
	['quince OR pear', 'quince OR pear', ['quince', 'pear']],
	['aa aa aa', '"aa aa"', ['aa', 'aa', 'aa']],
	['quince quince', 'quince quin "quince"', ['quince', 'quince']],
	['שָׁלוֹם עולם', 'שלום', ['שָׁלוֹם']],
	['नमस्ते दुनिया', 'नमस्ते', ['नमस्ते']],
	['🦄 quince 🦄', 'quince', ['quince']],
	['nothing to see', '" ( * ^ NEAR -', []],
])('in %j a search for %s marks %j', (text, search, words) => {
	expect(marked(text, search)).toEqual(words);
});

test.each([
	['characters of two units', '🦄'.repeat(300)],
	['letters with marks', 'é\u0323'.repeat(300)],
	['letters from right to left', '\u05e9\u05c1'.repeat(300)],
	['a family', '👩‍👩‍👧‍👦'.repeat(100)],
])('splits no character in a text of %s', (_what, run) => {
	for (const lead of ['', 'a', 'ab']) {
		const { text } = snippetOf(`${lead}${run} quince ${run}`, 'quince');
		expect(text).toContain('quince');
		expect(text.length).toBeLessThanOrEqual(200);
		expect(text.isWellFormed()).toBe(true);
		expect(text).not.toMatch(/[\ufffd]|^…\p{M}/u);
		const whole = [...`${lead}${run} quince ${run}`.matchAll(/\P{M}\p{M}*/gu)].map(
			([each]) => each,
		);
		const last = [...text.slice(0, -1).matchAll(/\P{M}\p{M}*/gu)].at(-1)![0];
		expect(whole).toContain(last);
	}
});

test('of any text and search is well formed, has at most 200 characters, and marks words in order', () => {
	const part = fc.oneof(
		fc.string({ unit: 'binary', maxLength: 20 }),
		fc.constantFrom(
			'quince ',
			'Maurice ',
			'\ud83e',
			'\u202e',
			'\n',
			' ',
			'quin\u0301ce',
			'x'.repeat(150),
		),
	);
	const long = fc.array(part, { maxLength: 120 }).map((parts) => parts.join(''));
	const search = fc.oneof(fc.constantFrom('quince', 'maurice "quince quince" quin'), part);
	fc.assert(
		fc.property(long, search, (text, wanted) => {
			const snippet = snippetOf(text, wanted);
			expect(snippet.text.length).toBeLessThanOrEqual(200);
			expect(snippet.text.isWellFormed()).toBe(true);
			const inner = snippet.text.replace(/^…/, '').replace(/…$/, '');
			expect(text.toWellFormed()).toContain(inner);
			let at = 0;
			for (const [start, end] of snippet.words) {
				expect(start).toBeGreaterThanOrEqual(at);
				expect(end).toBeGreaterThan(start);
				at = end;
			}
			expect(at).toBeLessThanOrEqual(snippet.text.length);
		}),
		{ seed: SEED, numRuns: 500 },
	);
});

test('of a very long text takes little more time with the hardest searches than with one word', () => {
	const word = 'quince'.repeat(6);
	const many = `${word} `.repeat(60_000);
	const cpuOf = (search: string) => {
		const before = process.cpuUsage();
		snippetOf(many, search);
		return process.cpuUsage(before).user;
	};
	const beginnings = Array.from({ length: 29 }, (_, nth) => word.slice(0, nth + 4)).join(' ');
	const usual = Math.max(cpuOf(word), cpuOf(word));
	// A busy machine slows down one of them, seldom all three.
	const minCpuOf = (search: string) => Math.min(...[1, 2, 3].map(() => cpuOf(search)));
	expect(minCpuOf(beginnings)).toBeLessThan(15 * usual);
	expect(minCpuOf(`${word} `.repeat(26))).toBeLessThan(15 * usual);
	expect(minCpuOf(`"${`${word} `.repeat(26)}"`)).toBeLessThan(15 * usual);
});

test('what is spoken has one line for each utterance, with the speaker, without the title', () => {
	const said = (content: string, speakerName: string | null) => ({
		...{ type: 'blockquote', content, speakerName },
	});
	const contents = [
		{ type: 'heading1', content: 'The harvest' },
		{ type: 'heading2', content: 'In the\n garden', children: [said(' A  quince. ', 'Anna')] },
		said('Yes.', null),
		said(' ', 'Anna'),
	];
	const lines = spokenLines({ title: 'The harvest', contents });
	expect(lines.map(({ text }) => text)).toEqual(['In the garden', 'Anna: A quince.', 'Yes.']);
});

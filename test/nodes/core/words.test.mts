import fc from 'fast-check';
import { DateTime } from 'luxon';
import {
	described,
	redactApiKey,
	sanitizeForDisplay,
} from '../../../nodes/shared/errors/sanitize.ts';
import { plainLine } from '../../../lifelog/text.ts';

const KEY = 'sk-9f/3+a&"b<c>~?0123';
const DULL_KEY = 'sk-0123456789-abcdef';

const FORMS: Array<[string, (key: string) => string]> = [
	['as it is', (key) => key],
	['as part of a URL', encodeURIComponent],
	[
		'as part of a URL, in small letters',
		(key) => encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase()),
	],
];

describe.each([KEY, DULL_KEY])('the key %s', (key) => {
	test.each(FORMS)('is redacted %s', (_form, write) => {
		expect(redactApiKey(key, `The key "${write(key)}" is not known`)).toBe(
			'The key "[API key]" is not known',
		);
	});
});

test('a key is redacted wherever it occurs', () => {
	expect(redactApiKey(DULL_KEY, `${DULL_KEY}${DULL_KEY} ${DULL_KEY}`)).toBe(
		'[API key][API key] [API key]',
	);
});

test.each([
	['with its blanks', (key: string) => key],
	['with its blanks for a URL', encodeURIComponent],
	[
		'with what turns the direction in it',
		(key: string) => `${key.slice(0, 4)}\u202e${key.slice(4)}`,
	],
])('a key is redacted %s, even if the text becomes one line', (_form, write) => {
	const key = 'part one  of two';
	expect(sanitizeForDisplay(key, `Refused:\n${write(key)}.`, 1_000)).toBe('Refused: [API key].');
});

test.each(['', 'k', '1234567'])("a key as short as %p isn't redacted", (key) => {
	expect(redactApiKey(key, `Check that ${key} 1234567`)).toBe(`Check that ${key} 1234567`);
});

test('a text full of near matches of the key is searched quickly', () => {
	const text = `${DULL_KEY.slice(0, -1)}%`.repeat(3000);
	expect(redactApiKey(DULL_KEY, text)).toBe(text);
});

test.each([
	['line breaks', 'a\r\nINFO forged\u2028b', 'a INFO forged b'],
	['control characters', 'a\u0000\u001b[31mb\u0085c', 'a [31mb c'],
	['what turns the direction', 'a\u202etxt\u2066\u200fb', 'atxtb'],
	['halves of characters', 'a\ud83d b', 'a\ufffd b'],
	['nothing else', 'שלום 👩‍👧 ﬁn – “é”', 'שלום 👩‍👧 ﬁn – “é”'],
])('a plain line is without %s', (_what, text, line) => {
	expect(plainLine(text)).toBe(line);
});

test('a plain line keeps everything that can be seen', () => {
	const odd = fc.constantFrom(
		...' \n\t\u00a0\u2028\0\u007f\u0085\u200e\u202e\u2066\ud83d',
		'~',
		'!',
	);
	const unit = fc.oneof(
		fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 3 }),
		odd,
		fc.constant('é'),
	);
	const texts = fc.array(unit, { maxLength: 8 }).map((units) => units.join(''));
	const seen = (text: string) =>
		text.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[\s\p{Cc}\p{Bidi_Control}]/gu, '');
	const property = fc.property(texts, (text) => {
		const line = plainLine(text);
		expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Surrogate}]|[^\S ]|^ | {2}| $/u);
		expect(seen(line)).toBe(seen(text));
	});
	fc.assert(property, { numRuns: 2000, seed: 20261127 });
});

test.each([16_000, 16_378, 16_384, 20_000, 65_530, 70_000])(
	'a key after %p blanks is redacted completely',
	(blanks) => {
		expect(sanitizeForDisplay(DULL_KEY, `${' '.repeat(blanks)}${DULL_KEY}`, 300)).not.toContain(
			'sk-',
		);
	},
);

test('a shortened text ends with an ellipsis, and no character is split', () => {
	expect(sanitizeForDisplay('', 'ab😀cd', 3)).toBe('ab\ufffd…');
	expect(sanitizeForDisplay('', 'ab😀', 4)).toBe('ab😀');
});

test.each([
	[undefined, 'an empty value'],
	[null, 'an empty value'],
	[' ', 'an empty value'],
	[' soon ', '"soon"'],
	['ab '.repeat(40), `"${'ab '.repeat(17).slice(0, 50).trim()}…"`],
	[new Date(0), 'the date 1970-01-01T00:00:00.000Z'],
	[[1], 'a list'],
	[{ a: 1 }, 'an object'],
	[Object.create(null), 'an object'],
	[5, '"5"'],
	[false, '"false"'],
	[DateTime.invalid('no'), 'an invalid date'],
	[new Date(NaN), 'an invalid date'],
])('%p is described as %s', (value, words) => {
	expect(described(value)).toBe(words);
});

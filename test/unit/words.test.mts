import { DateTime } from 'luxon';
import { withoutKey } from '../../nodes/shared/key-mask.ts';
import { described, forPeople, plainLine } from '../../nodes/shared/words.ts';

const KEY = 'sk-9f/3+a&"b<c>~?0123';
const DULL_KEY = 'sk-0123456789-abcdef';

const percent = (key: string) =>
	[...key].map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const html = (key: string) =>
	key.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);

const FORMS: Array<[string, (key: string) => string]> = [
	['as it is', (key) => key],
	['as part of a URL', encodeURIComponent],
	['as part of a URL, in small letters', (key) => encodeURIComponent(key).toLowerCase()],
	['every character percent-encoded', percent],
	['in JSON', (key) => JSON.stringify(key).slice(1, -1)],
	['in JSON with slashes escaped', (key) => JSON.stringify(key).replaceAll('/', '\\/')],
	[
		'as code points of JSON',
		(key) => [...key].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join(''),
	],
	['in HTML', html],
	['as decimal references of HTML', (key) => [...key].map((c) => `&#${c.charCodeAt(0)};`).join('')],
	[
		'as hexadecimal references of HTML',
		(key) => [...key].map((c) => `&#x${c.charCodeAt(0).toString(16).toUpperCase()};`).join(''),
	],
	['as base64', (key) => Buffer.from(key).toString('base64')],
	['as base64 for URLs', (key) => Buffer.from(key).toString('base64url')],
	['as base64 behind one letter', (key) => Buffer.from(`u${key}`).toString('base64')],
	['as base64 of user and key', (key) => Buffer.from(`:${key}!`).toString('base64')],
	['as base64 behind two letters', (key) => Buffer.from(`me${key}`).toString('base64')],
	['as base64 within a text', (key) => Buffer.from(`user:${key}:more words`).toString('base64')],
	['as base64, percent-encoded', (key) => encodeURIComponent(Buffer.from(key).toString('base64'))],
];

describe.each([KEY, DULL_KEY])('the key %s', (key) => {
	test.each(FORMS)('is masked %s', (_form, write) => {
		const text = `The key "${write(key)}" is not known`;
		const masked = withoutKey(key, text);
		expect(masked).toContain('[API key]');
		const rest = masked.replace('[API key]', '').replace(/%3d|["&;=]|quot/gi, '');
		expect(rest.replace(/\s+/g, ' ')).toBe('The key is not known');
	});
});

test('a key is masked wherever it occurs', () => {
	expect(withoutKey(DULL_KEY, `${DULL_KEY}${DULL_KEY} ${percent(DULL_KEY)}`)).toBe(
		'[API key][API key] [API key]',
	);
});

test.each<[string, string, (key: string) => string]>([
	['over two lines', DULL_KEY, (key) => `${key.slice(0, 9)}\r\n  ${key.slice(9)}`],
	[
		'in base64 over lines as in mail',
		DULL_KEY,
		(key) =>
			Buffer.from(`${' '.repeat(50)}${key}`)
				.toString('base64')
				.replace(/.{76}/g, '$&\r\n'),
	],
	['with its blanks', 'part one  of two', (key) => key],
	['with its blanks for a URL', 'part one  of two', encodeURIComponent],
])('a key is masked %s, though the text becomes one line', (_form, key, write) => {
	const shown = forPeople(key, `Refused: ${write(key)}.`, 1_000);
	expect(shown).toMatch(/^Refused: (\w* )?\[API key\]\.$/);
});

test.each(['', 'k', '1234567'])('a key as short as %p is left alone', (key) => {
	expect(withoutKey(key, `Check that ${key} 1234567`)).toBe(`Check that ${key} 1234567`);
});

test('a text that nearly is the key, again and again, is soon looked through', () => {
	const text = `${DULL_KEY.slice(0, -1)}%`.repeat(3000);
	expect(withoutKey(DULL_KEY, text)).toBe(text);
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

test.each([16_000, 16_378, 16_384, 20_000, 65_530, 70_000])(
	'of a key behind %p blanks not even a part comes out',
	(blanks) => {
		expect(forPeople(DULL_KEY, `${' '.repeat(blanks)}${DULL_KEY}`, 300)).not.toContain('sk-');
	},
);

test('a text that is cut says so, and no character is cut in two', () => {
	expect(forPeople('', 'ab😀cd', 3)).toBe('ab\ufffd…');
	expect(forPeople('', 'ab😀', 4)).toBe('ab😀');
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

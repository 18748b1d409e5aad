// Names of files, whatever the title or the ID.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { entryPath, freeName, readableName, sameName } from '../../../lifelog/names.ts';

const START = Date.parse('2026-11-22T19:47:00Z');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const bytesOf = (name: string) => Buffer.byteLength(name);
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
/** macOS and Windows, each in its way, take these for one. */
const taken = (name: string) => [
	name.normalize('NFC').toLowerCase(),
	name.normalize('NFD').toUpperCase(),
];

const text = fc.oneof(
	fc.string({ unit: 'binary', maxLength: 400 }),
	fc.string({ unit: 'grapheme', maxLength: 300 }),
	fc.string({ unit: fc.constantFrom(...'日本語ไทย한é😀👨‍👩‍👧'), maxLength: 300 }),
	fc.string({ unit: fc.constantFrom(...'aA( )+&=@,;!\'$-_.~`%/\\:*?"<>|[]{}^#'), maxLength: 300 }),
);
/** Spellings that some file systems take for one name. */
const alike = fc.array(
	fc.constantFrom(
		'Café',
		'café',
		'Cafe\u0301',
		'CAFÉ',
		'STRASSE',
		'straße',
		'Walk',
		'walk',
		'walk-2',
		'ΣΑΣ',
		'σας',
	),
	{ maxLength: 12 },
);
const nth = fc.constantFrom(1, 2, 99, 12_345);

test('a name for people is safe everywhere, and has at most 255 bytes with counter and extension', () => {
	fc.assert(
		fc.property(text, nth, (title, count) => {
			const name = readableName(START, 'Europe/Berlin', title, count);
			expect(bytesOf(`${name}.json`)).toBeLessThanOrEqual(255);
			expect(name).toMatch(/^2026-11-22 20\.47/);
			expect(name).not.toMatch(/[^\P{ASCII}\w .-]|\p{Cc}|\p{Cs}/u);
			expect(name).not.toMatch(/[ .]$/);
			expect(name.endsWith(count === 1 ? '' : `-${count}`)).toBe(true);
		}),
		{ numRuns: 1000 },
	);
});

test.each(['日', 'ไ', '👨‍👩‍👧', 'é'])('a title of many %s is cut between them', (character) => {
	const name = readableName(START, 'UTC', character.repeat(79));
	expect(name).toMatch(new RegExp(`^2026-11-22 19\\.47 (${character})+$`, 'u'));
	expect(bytesOf(`${name}-999.json`)).toBeLessThanOrEqual(255 + '-999'.length);
});

test('an ID in a name is safe, has at most 255 bytes, and is the ID unless that is too long', () => {
	fc.assert(
		fc.property(text, nth, (id, count) => {
			const name = nameOf(entryPath('lifelogs', id, START, sha256, count));
			expect(bytesOf(`${name}.json`)).toBeLessThanOrEqual(255);
			const counter = count === 1 ? '' : `-${count}`;
			const [, shown] = new RegExp(
				`^2026-11-22_19h47m00s_((?:[\\w-]|%[0-9A-F]{2})*)${counter}$`,
			).exec(name)!;
			const whole = [...id.toWellFormed()]
				.map((each) =>
					/[\w-]/.test(each)
						? each
						: Buffer.from(each).toString('hex').toUpperCase().replace(/../g, '%$&'),
				)
				.join('');
			if (whole.length + counter.length <= 229) expect(shown).toBe(whole);
			else {
				expect(shown.slice(-16)).toBe(sha256(id).slice(0, 16));
				expect(shown.length).toBeLessThanOrEqual(196);
				expect(whole.startsWith(shown.slice(0, -16))).toBe(true);
				expect(() => decodeURIComponent(shown.slice(0, -16))).not.toThrow();
			}
		}),
		{ numRuns: 1000 },
	);
	const long = 'a'.repeat(230);
	expect(nameOf(entryPath('chats', long, START, sha256))).toBe(
		`2026-11-22_19h47m00s_${'a'.repeat(180)}${sha256(long).slice(0, 16)}`,
	);
});

test('no two names are one for a file system that ignores case or Unicode form', () => {
	fc.assert(
		fc.property(alike, (titles) => {
			const owners = new Map<string, string>();
			const names = titles.map((title, index) =>
				freeName(owners, String(index), (count) => readableName(START, 'UTC', title, count)),
			);
			for (const form of [0, 1]) {
				expect(new Set(names.map((name) => taken(name)[form])).size).toBe(titles.length);
			}
			expect(new Set(names.map(sameName)).size).toBe(titles.length);
		}),
	);
});

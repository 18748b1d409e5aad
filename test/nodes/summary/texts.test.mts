import fc from 'fast-check';
import { beginsOn, entryOf, summarize, summaryFields } from '../../../lifelog/summary/summary.ts';
import { oneLine, splitText } from '../../../lifelog/text.ts';
import { leadOf, wordingOf } from '../../../lifelog/summary/wording.ts';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import { EMOJI, lifelogOf, said } from '../../support/days.mts';

const NINE = '2026-03-01T09:00:00Z';
const day = { date: '2026-03-01', timezone: 'UTC' };
const of = (...lifelogs: Lifelog[]) =>
	summarize(
		lifelogs.map((lifelog) => entryOf(lifelog, 'UTC')),
		day,
	);
const entry = (more: object) => entryOf(lifelogOf('a', NINE, 'A walk', ['The dog'], more), 'UTC');

describe('an entry', () => {
	test('has the title, times, headings and speakers of its lifelog', () => {
		expect(entry({ isStarred: true })).toEqual({
			lifelog: {
				id: 'a',
				title: 'A walk',
				startTime: NINE,
				endTime: '2026-03-01T09:30:00.000Z',
			},
			title: 'A walk',
			startMs: Date.parse(NINE),
			durationMs: 1_800_000,
			isStarred: true,
			headings: ['The dog'],
			speakers: ['Anna', 'Sam'],
			wearers: ['Sam'],
			isWithheld: false,
		});
	});

	test.each([undefined, null, '', 'soon', '2026-03-01T08:00:00Z', 5])(
		'that ends at %p has no length',
		(endTime) => expect(entry({ endTime }).durationMs).toBeUndefined(),
	);

	test.each<[string, Array<string | null>, string[]]>([
		['by name where the day knows one', [null, 'Sam', 'Unknown'], ['Sam']],
		['as user where it knows none', [null, 'Unknown'], ['user']],
		['as user beside two names', ['Sam', null, 'Samuel'], ['Sam', 'user', 'Samuel']],
	])('has the wearer %s', (_how, names, speakers) => {
		const contents = names.map((speakerName) => ({
			type: 'blockquote',
			content: 'Yes.',
			speakerName,
			speakerIdentifier: 'user',
		}));
		const [first, ...others] = contents.map((node) => entry({ contents: [node] }));
		const day = { date: '2026-03-01', timezone: 'UTC' };
		expect(summarize([first, ...others], day).speakers.sort()).toEqual(speakers.sort());
	});

	test('over midnight has its full length', () => {
		const late = entry({ startTime: '2026-03-01T23:50:00Z', endTime: '2026-03-02T00:20:00Z' });
		expect(late.durationMs).toBe(1_800_000);
	});

	test.each([
		['2026-03-29T01:30:00+01:00', '2026-03-29T03:30:00+02:00', 1],
		['2026-10-25T01:30:00+02:00', '2026-10-25T03:30:00+01:00', 3],
		['2026-10-25T02:30:00+02:00', '2026-10-25T02:30:00+01:00', 1],
	])('from %s to %s takes %p h', (startTime, endTime, hours) => {
		expect(entry({ startTime, endTime }).durationMs).toBe(hours * 3_600_000);
	});

	test('without a title gets its first heading as title, or Untitled', () => {
		const contents = [{ type: 'heading1', content: ' In the\ngarden ' }];
		expect(entry({ title: null, contents }).title).toBe('In the garden');
		expect(entry({ title: '\n', contents: [] }).title).toBe('Untitled');
		expect(entry({ title: null, contents: [] }).lifelog.title).toBeNull();
	});

	test('has its headings from nodes of any type, at any depth', () => {
		let contents: ContentNode[] = [{ type: 'heading2', content: 'Deep down' }];
		for (let depth = 0; depth < 1000; depth++) {
			contents = [{ type: 'drawing', content: '## Not this', children: contents }];
		}
		expect(entry({ contents }).headings).toEqual(['Deep down']);
	});

	test('without contents has the headings of its Markdown', () => {
		const markdown = [
			...['# A walk', '## The dog', ' ##\tThe cat', '### Too low', '##No space', '    ## Code'],
			...['## C#', '> ## Said', '##', '## ', '## Last'],
		].join('\r\n');
		const { headings, speakers, isWithheld } = entry({ contents: [], markdown });
		expect(headings).toEqual(['The dog', 'The cat', 'C#', 'Last']);
		expect(speakers).toEqual([]);
		expect(isWithheld).toBe(true);
	});

	test.each([null, undefined, {}, [null], 'text'])(
		'has missing contents if they are %p',
		(contents) => {
			expect(entry({ contents, markdown: 3 })).toMatchObject({ isWithheld: true, headings: [] });
		},
	);

	test('names each speaker once, also the wearer, and no unknown speaker', () => {
		const contents = [
			...[said(null), said('Unknown'), said('Ben'), said(null, true), said('BEN'), said(' Anna ')],
			{ type: 'newKind', content: 'Hm', speakerName: 'Cleo' },
		];
		expect(entry({ contents }).speakers).toEqual(['Ben', 'user', 'Anna', 'Cleo']);
		expect(entry({ contents: [said(null)] }).speakers).toEqual([]);
	});
});

describe('a summary', () => {
	test('is sorted by time, with totals', () => {
		const summary = of(
			lifelogOf('c', '2026-03-01T11:00:00Z', 'C', [], { isStarred: true }),
			lifelogOf('z', NINE, 'Z', [], { startTime: 'unreadable' }),
			lifelogOf('b', NINE, 'B'),
			lifelogOf('a', '2026-03-01T10:00:00+01:00', 'A', ['x'], { contents: [said('Zoe')] }),
		);
		const fields = summaryFields(summary);
		expect(fields).toMatchObject({
			lifelogCount: 4,
			totalDurationMs: 3 * 1_800_000,
			starredCount: 1,
			speakers: ['Zoe', 'Anna'],
		});
		expect((fields.lifelogs as Array<{ id: string }>).map(({ id }) => id).join('')).toBe('abcz');
	});

	test('is the same whatever the order of the entries', () => {
		const lifelogs = ['a', 'b', 'c', 'd'].map((id) => lifelogOf(id, NINE, id));
		const property = fc.property(fc.shuffledSubarray(lifelogs, { minLength: 4 }), (shuffled) =>
			expect(of(...shuffled)).toEqual(of(...lifelogs)),
		);
		fc.assert(property);
	});

	test.each([
		[undefined, 0, 'There are no lifelogs on this day · UTC'],
		[true, 0, 'There are no starred lifelogs on this day · UTC'],
		[undefined, 1, '1 lifelog · 30 min in all · 1 starred · UTC'],
		[true, 2, '2 starred lifelogs · 1 h in all · UTC'],
		[false, 3, '3 unstarred lifelogs · 1 h 30 min in all · UTC'],
	])('of the filter %p and %p entries says so', (isStarred, count, totals) => {
		const entries = Array.from({ length: count }, () => entry({ isStarred: isStarred ?? true }));
		const { totals: said, title } = wordingOf(summarize(entries, { ...day, isStarred }));
		expect(said).toBe(totals);
		expect(title).toBe('Daily summary: Sunday, 1 March 2026');
	});

	test('shows times in the time zone', () => {
		const at = entry({ startTime: '2026-03-29T01:30:00Z', endTime: '2026-03-29T01:30:20Z' });
		expect(leadOf(at, { timezone: 'Europe/Berlin', language: 'en' })).toBe(
			'03:30 · under 1 min · ',
		);
		expect(leadOf(at, { timezone: 'Europe/Berlin', language: 'en' }, true)).toBe('03:30 · ');
		expect(
			leadOf(entry({ startTime: null, endTime: null }), { timezone: 'UTC', language: 'en' }),
		).toBe('');
	});
});

describe('a day', () => {
	const berlin = (time: unknown, date: string) => beginsOn(time, date, 'Europe/Berlin');

	test.each([
		['2026-03-29', '2026-03-28T23:00:00Z', '2026-03-29T21:59:59Z'],
		['2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z'],
	])('%s lasts from %s to %s if the clocks change', (date, first, last) => {
		const ms = (time: string, more: number) => new Date(Date.parse(time) + more).toISOString();
		expect([first, last].map((time) => berlin(time, date))).toEqual([true, true]);
		const beyond = [ms(first, -1), ms(last, 1000)];
		expect(beyond.map((time) => berlin(time, date))).toEqual([false, false]);
	});

	test('has lifelogs with a wrong date', () => {
		const at = '1970-01-01T10:00:00Z';
		expect(['1970-01-01', '2026-03-29'].map((date) => berlin(at, date))).toEqual([true, false]);
	});

	test("has lifelogs whose start has no offset, or can't be read", () => {
		expect(berlin('2026-03-29T23:30:00', '2026-03-29')).toBe(true);
		expect([null, 'soon', 7].map((time) => berlin(time, '2026-03-29'))).toEqual([true, true, true]);
	});
});

describe('a text', () => {
	test('becomes one line without invalid characters', () => {
		expect(oneLine(' a\r\n\u2028b\u0000\ud800 \u200f')).toBe('a b \ufffd');
		expect([null, 3, {}].map(oneLine)).toEqual(['', '', '']);
	});

	const graphemes = (text: string) =>
		[...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map((s) => s.segment);

	test('is split into parts that fit, and joined together are the text, without splitting a character', () => {
		const property = fc.property(
			fc.array(fc.constantFrom('&amp;', '&lt;', 'ab', ' ', EMOJI, '\u0301', '🇩', 'ش', '😀')),
			fc.integer({ min: 60, max: 90 }),
			(parts, max) => {
				const text = parts.join('');
				const cut = splitText(text, max, /&(?:amp|lt);/g);
				expect(cut.join('')).toBe(text);
				expect(cut.every((piece) => piece.length <= max && !/\p{Surrogate}/u.test(piece))).toBe(
					true,
				);
				expect(cut.some((piece) => /&\w*$|^\w*;/.test(piece))).toBe(false);
				if (graphemes(text).every((grapheme) => grapheme.length < 50)) {
					expect(cut.flatMap(graphemes)).toEqual(graphemes(text));
				}
			},
		);
		fc.assert(property, { numRuns: 1000, seed: 20260301 });
	});

	test('is split between words', () => {
		expect(splitText('one two three', 11)).toEqual(['one two ', 'three']);
		expect(splitText('x'.repeat(25), 11)).toEqual(['x'.repeat(11), 'x'.repeat(11), 'xxx']);
	});

	test('is split within a character only if the character is too long', () => {
		const cut = splitText(`e${'\u0301'.repeat(50)}`, 20);
		expect(cut.map(({ length }) => length)).toEqual([20, 20, 11]);
		expect(splitText('&amp;' + '\u0301'.repeat(40), 20, /&amp;/g).join('')).toHaveLength(45);
	});
});

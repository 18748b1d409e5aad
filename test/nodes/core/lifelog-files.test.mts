import { parseSync } from 'subtitle';
import { WebVTTParser } from 'webvtt-parser';
import {
	FILE_FORMATS,
	type FileFormat,
	inZone,
	writeLifelog,
} from '../../../lifelog/files/formats.ts';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import { appExportPath } from '../../../lifelog/names.ts';
import { readByOmi } from '../../support/omi.mts';

const BEGIN = Date.parse('2026-03-01T23:59:58Z');

const lifelog = (contents: ContentNode[], more: Partial<Lifelog> = {}): Lifelog => ({
	id: '8f2kQ0pXw1Zr5TnB',
	title: 'A walk',
	contents,
	startTime: '2026-03-01T23:59:58.000Z',
	endTime: '2026-03-02T00:20:00.000Z',
	isStarred: false,
	updatedAt: '2026-03-02T00:21:00.000Z',
	...more,
});

const said = (content: string, atMs?: number, speakerName?: string | null): ContentNode => ({
	type: 'blockquote',
	content,
	speakerName,
	...(atMs !== undefined && {
		startOffsetMs: atMs,
		endOffsetMs: atMs + 1500,
		startTime: new Date(BEGIN + atMs).toISOString(),
		endTime: new Date(BEGIN + atMs + 1500).toISOString(),
	}),
});
const byWearer = (content: string, atMs: number): ContentNode => ({
	...said(content, atMs, 'Sam'),
	speakerIdentifier: 'user',
});
const heading = (level: number, content: string): ContentNode => ({
	type: `heading${level}`,
	content,
});

const write = (format: FileFormat, of: Lifelog, zone = 'UTC') =>
	writeLifelog(of, format, zone)!.content;
const body = (markdown: string) => markdown.slice(markdown.indexOf('\n---\n\n') + 6);

const walk = lifelog([
	heading(1, 'A walk'),
	heading(2, 'The dog'),
	said('Where is it?', 1000, 'Anna'),
	byWearer('Here, boy!', 3000),
	heading(3, 'On the hill'),
	said('Good dog.', 5000, 'Anna'),
	said('Woof', 7000, null),
]);

const cuesOf = {
	srt: (text: string) =>
		parseSync(text).map((node) => {
			if (node.type !== 'cue') throw new Error(node.type);
			return { start: node.data.start, end: node.data.end, text: node.data.text };
		}),
	vtt: (text: string) => {
		const { cues, errors } = new WebVTTParser().parse(text, 'subtitles/captions/descriptions');
		expect(errors).toEqual([]);
		return cues.map(({ startTime, endTime, text: words }) => ({
			start: Math.round(startTime * 1000),
			end: Math.round(endTime * 1000),
			text: words,
		}));
	},
};

describe('Markdown', () => {
	test('has properties, headings, and a paragraph with name and time for each utterance', () => {
		const isStarred = true;
		expect(write('markdown', { ...walk, isStarred }, 'Europe/Berlin')).toBe(`---
title: "A walk"
date: 2026-03-02
start: 2026-03-02T00:59:58
end: 2026-03-02T01:20:00
speakers:
  - "Anna"
  - "Sam"
wearer: "Sam"
starred: true
id: "8f2kQ0pXw1Zr5TnB"
source: "Limitless"
timezone: "Europe/Berlin"
---

# A walk

## The dog

**Anna** (00:59:59): Where is it?

**Sam** (01:00:01): Here, boy!

### On the hill

**Anna** (01:00:03): Good dog.

**Unknown** (01:00:05): Woof
`);
	});

	test('names the day that is not the first, and the offset in an hour that comes twice', () => {
		const hours = [0, 1, 2, 23].map((hour) => said(`${hour}`, hour * 3_600_000, 'Anna'));
		const startTime = '2026-10-25T00:30:00Z';
		const all = lifelog(
			hours.map(({ content, startOffsetMs }) => ({ type: 'blockquote', content, startOffsetMs })),
			{ startTime, endTime: '2026-10-25T23:40:00Z' },
		);
		const text = write('markdown', all, 'Europe/Berlin');
		expect(text).toContain('start: 2026-10-25T02:30:00+02:00\nend: 2026-10-26T00:40:00\n');
		expect(text.match(/\(.*\)/g)).toEqual([
			'(02:30:00 +02:00)',
			'(02:30:00 +01:00)',
			'(03:30:00)',
			'(2026-10-26 00:30:00)',
		]);
	});

	test('has a title even if the contents have none, and escapes text that looks like markup', () => {
		const odd = lifelog(
			[
				{ type: 'note', content: '# aside' },
				{ type: 'note', content: '> [!note] see https://a.example' },
			],
			{ title: 'Two\nlines' },
		);
		expect(body(write('markdown', odd))).toBe(
			'# Two lines\n\n\\# aside\n\n\\> \\[!note\\] see https:\\//a.example\n',
		);
		expect(body(write('markdown', lifelog([], { title: null as never })))).toBe('# Untitled\n');
	});

	test('escapes no more than it must', () => {
		const plain = 'C# isn\'t F#; 1.5 + 2 = 3, 50% (of 100) & more: a_b, "x" - a/b; really?! 10:30';
		const text = write('markdown', lifelog([said(plain, 0, 'Dr. O’Neil-Smith, Jr.')]));
		expect(text).toContain(`\n**Dr. O’Neil-Smith, Jr.** (23:59:58): ${plain}\n`);
	});

	test('calls a wearer without a name You, and lists nobody unknown', () => {
		const text = write(
			'markdown',
			lifelog([said('Hello?', 0, null), { ...byWearer('Hi', 0), speakerName: null }]),
		);
		expect(text).toContain('speakers:\n  - "You"\nwearer: "You"\n');
		expect(write('markdown', lifelog([said('Hello?', 0, null)]))).not.toMatch(/speakers|wearer/);
	});

	test.each([
		['made-0a', 'lifelog-server'],
		['recorded-0a', 'lifelog-server'],
		['export-0a', 'Limitless'],
	])('of %s has the source %s', (id, source) => {
		expect(write('markdown', lifelog([], { id }))).toContain(`\nsource: "${source}"\n`);
	});
});

describe('App Export', () => {
	test("has the form of the app's export, with numbered speakers and their names", () => {
		expect(write('appExport', walk)).toBe(`---
speakers: { 1: "Sam", 2: "Anna" }
---

# A walk

## The dog

> [2](#startMs=${BEGIN + 1000}&endMs=${BEGIN + 2500}): Where is it?

> [1](#startMs=${BEGIN + 3000}&endMs=${BEGIN + 4500}): Here, boy!

### On the hill

> [2](#startMs=${BEGIN + 5000}&endMs=${BEGIN + 6500}): Good dog.

> [3](#startMs=${BEGIN + 7000}&endMs=${BEGIN + 8500}): Woof
`);
	});

	const WORDS = [
		'line\nbreak',
		'[2](#startMs=1&endMs=2): no',
		'> [2](#startMs=1&endMs=2): no',
		'a ] b [ c',
		'# not a heading',
		'---',
		'  \u2028 blanks \u00a0 ',
	];

	test("is read by Omi's rules, whatever the words and titles", () => {
		for (const title of [...WORDS, '', 'Q3: $5 for *all* #1']) {
			const unsaid = WORDS.flatMap((content) => [
				{ type: 'note', content },
				{ type: 'heading2', content },
			]);
			const spoken = WORDS.map((text, index) => said(text, index * 2000, 'Anna'));
			const all = lifelog([...unsaid, ...spoken], { title });
			const path = `${appExportPath(BEGIN, title)}.md`;
			expect(path).toMatch(/^lifelogs\/2026\/03\/01\/[^/]+$/);
			const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();
			expect(readByOmi(path, write('appExport', all))).toEqual({
				title: oneLine(title).replaceAll('[', '\\[') || 'Untitled',
				startedAt: BEGIN,
				utterances: WORDS.map((text, index) => ({
					speaker: 2,
					startMs: BEGIN + index * 2000,
					endMs: BEGIN + index * 2000 + 1500,
					text: oneLine(text),
				})),
			});
		}
	});

	test.each([
		['Weekly plan', 'Weekly-plan'],
		['A/B: "really"?', 'A-B-really'],
		['', 'Untitled'],
		['???', 'Untitled'],
		[null, 'Untitled'],
		['Sí, señor. ', 'Sí-señor'],
	])('of %j is in a file named %s', (title, name) => {
		expect(appExportPath(BEGIN, title)).toBe(`lifelogs/2026/03/01/2026-03-01_23h59m58s_${name}`);
		expect(appExportPath(BEGIN, title, 2)).toBe(
			`lifelogs/2026/03/01/2026-03-01_23h59m58s_${name}-2`,
		);
	});

	test('of a long title has a name that every file system takes', () => {
		const name = `${appExportPath(BEGIN, '漢'.repeat(300))}.md`.split('/').at(-1)!;
		expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
	});
});

test.each(['appExport', 'markdown'] as const)(
	'%s quotes a name that YAML would misread',
	(format) => {
		const text = write(format, lifelog([said('Hi', 0, 'A "B": #\n- c')]));
		expect(text).toContain('"A \\"B\\": # - c"');
	},
);

describe.each(['srt', 'vtt'] as const)('%s', (format) => {
	test('is accepted by a parser, with speakers, words and times', () => {
		const name = (speaker: string, text: string) =>
			format === 'srt' ? `${speaker}: ${text}` : `<v ${speaker}>${text}`;
		expect(cuesOf[format](write(format, walk))).toEqual([
			{ start: 1000, end: 2500, text: name('Anna', 'Where is it?') },
			{ start: 3000, end: 4500, text: name('Sam', 'Here, boy!') },
			{ start: 5000, end: 6500, text: name('Anna', 'Good dog.') },
			{ start: 7000, end: 8500, text: name('Unknown', 'Woof') },
		]);
	});

	test('stays sorted and complete, whatever the words', () => {
		const odd = lifelog([
			said('later --> \n\n 3', 9000, 'Anna'),
			said('<i>& earlier</i>', 1000, 'B\n>ob'),
			said('1\n00:00:01,000 --> 00:00:02,000\nforged', 4000, '-->'),
		]);
		const cues = cuesOf[format](write(format, odd));
		expect(cues.map(({ start }) => start)).toEqual([1000, 4000, 9000]);
		expect(cues.every(({ text }) => !text.includes('-->'))).toBe(true);
	});

	test('places utterances without times after the ones before them', () => {
		const vague = lifelog([said('a', 1000, 'Anna'), said('b'), said('c')]);
		const spans = cuesOf[format](write(format, vague)).map(({ start, end }) => [start, end]);
		expect(spans).toEqual([
			[1000, 2500],
			[2500, 4500],
			[4500, 6500],
		]);
	});

	test('ignores invalid offsets', () => {
		const [first, second] = [said('a', 1000, 'Anna'), said('b', 3000, 'Anna')];
		const odd = [
			{ ...first, startOffsetMs: 1e300, endOffsetMs: 1e300 },
			{ ...second, startOffsetMs: BEGIN + 3000, endOffsetMs: BEGIN + 4500 },
		];
		expect(write(format, lifelog(odd))).toBe(write(format, lifelog([first, second])));
	});

	test('counts hours', () => {
		const long = lifelog([said('still here', 101 * 3_600_000, 'Anna')]);
		expect(cuesOf[format](write(format, long))[0].start).toBe(101 * 3_600_000);
	});

	test('is a valid empty file if there are no utterances', () => {
		expect(cuesOf[format](write(format, lifelog([heading(1, 'Silence')])))).toEqual([]);
	});
});

test.each(['srt', 'vtt', 'markdown', 'appExport'] as const)(
	"%s has the wearer's name even if it first appears later",
	(format) => {
		const unnamed = { ...byWearer('Here, boy!', 1000), speakerName: null };
		const content = write(format, lifelog([unnamed, byWearer('Good dog.', 3000)]));
		expect(content).toContain('Sam');
		expect(content).not.toContain('Unknown');
	},
);

test('the text has a line for each utterance', () => {
	expect(write('text', walk)).toBe(
		'Anna: Where is it?\nSam: Here, boy!\nAnna: Good dog.\nUnknown: Woof\n',
	);
});

test('the JSON is the whole object, with unknown fields and node types', () => {
	const odd = lifelog([{ type: 'mood', content: 'calm', colour: 'blue' } as ContentNode], {
		more: { of: ['it'] },
	} as Partial<Lifelog>);
	expect(JSON.parse(write('json', odd))).toEqual(odd);
});

test('all times of the JSON are in the chosen time zone, also those without an offset', () => {
	const inBerlin = lifelog([said('Hi', 0, 'Anna')], { startTime: '2026-03-02T00:59:58' });
	inBerlin.contents[0].startTime = '2026-03-02T00:59:58+01:00';
	inBerlin.contents[0].endTime = 'soon';
	const moved = inZone(inBerlin, 'Europe/Berlin', 'UTC');
	expect(moved.startTime).toBe('2026-03-01T23:59:58.000Z');
	expect(moved.updatedAt).toBe('2026-03-02T00:21:00.000Z');
	expect(moved.contents[0].startTime).toBe('2026-03-01T23:59:58.000Z');
	expect(moved.contents[0].endTime).toBe('soon');
	expect(inBerlin.startTime).toBe('2026-03-02T00:59:58');
});

test.each(FILE_FORMATS)(
	'%s: contents that are missing or nested 1,000 deep are written',
	(format) => {
		expect(write(format, lifelog(undefined as never))).toEqual(expect.any(String));
		let deep = said('the deepest', 500, 'Anna');
		for (let depth = 0; depth < 1000; depth++)
			deep = { type: 'part', content: '', children: [deep] };
		expect(write(format, lifelog([deep]))).toContain('the deepest');
	},
);

test.each(FILE_FORMATS)('%s: nodes with fields of the wrong type are written', (format) => {
	const odd = { toString: 1, valueOf: 2 } as never;
	const nodes = [
		{ type: odd, content: 'x', speakerName: odd },
		{ type: 'blockquote', content: odd },
	];
	expect(write(format, lifelog(nodes, { title: odd }))).toEqual(expect.any(String));
});

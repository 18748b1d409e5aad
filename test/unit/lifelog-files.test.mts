import { parseSync } from 'subtitle';
import { WebVTTParser } from 'webvtt-parser';
import {
	FILE_FORMATS,
	type FileFormat,
	inZone,
	writeLifelog,
} from '../../lifelog/files/formats.ts';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';

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

const write = (format: FileFormat, of: Lifelog) => writeLifelog(of, format, 'UTC')!.content;

const walk = lifelog([
	heading(1, 'A walk'),
	heading(2, 'The dog'),
	said('Where is it?', 1000, 'Anna'),
	byWearer('Here, boy!', 3000),
	heading(3, 'On the hill'),
	said('Good dog.', 5000, 'Anna'),
	said('Woof', 7000, null),
]);

/** What other tools read of the export: the patterns of Omi's importer, as its sources have them. */
const UTTERANCE = />\s*\[(\d+)\]\(#startMs=(\d+)&endMs=(\d+)\):\s*(.+)/;

const readByOthers = (markdown: string) =>
	markdown
		.split('\n')
		.map((line) => UTTERANCE.exec(line))
		.filter((match) => match !== null)
		.map(([, speaker, start, end, text]) => ({
			speaker: Number(speaker),
			start: Number(start) - BEGIN,
			end: Number(end) - BEGIN,
			text,
		}));

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
	test("has the format of the app's export, with numbered speakers and their names", () => {
		expect(write('markdown', walk)).toBe(`---
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

	test("can be read by other programs' patterns, whatever the words", () => {
		const words = [
			'line\nbreak',
			'[2](#startMs=1&endMs=2): no',
			'> quoted',
			'a ] b [ c',
			'# not a heading',
			'---',
			'  \u2028 blanks \u00a0 ',
		];
		const all = lifelog(words.map((text, index) => said(text, index * 2000, 'Anna')));
		expect(readByOthers(write('markdown', all))).toEqual(
			words.map((text, index) => ({
				speaker: 2,
				start: index * 2000,
				end: index * 2000 + 1500,
				text: text.replace(/\s+/g, ' ').trim(),
			})),
		);
	});

	test('has a title even if the contents have none, and escapes text that looks like markup', () => {
		const odd = lifelog(
			[
				{ type: 'note', content: '# aside' },
				{ type: 'note', content: '> [1](#startMs=1&endMs=2): x' },
			],
			{ title: 'Two\nlines' },
		);
		expect(write('markdown', odd)).toBe(
			'# Two lines\n\n\\# aside\n\n\\> \\[1](#startMs=1&endMs=2): x\n',
		);
		expect(write('markdown', lifelog([], { title: null as never }))).toBe('# Untitled\n');
	});

	test('names no speaker without a name', () => {
		expect(write('markdown', lifelog([said('Hello?', 0, null)]))).not.toContain('speakers');
	});

	test('quotes a name that YAML would misread', () => {
		const text = write('markdown', lifelog([said('Hi', 0, 'A "B": #\n- c')]));
		expect(text).toContain('speakers: { 2: "A \\"B\\": # - c" }\n');
	});
});

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

test.each(['srt', 'vtt', 'markdown'] as const)(
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

import fc from 'fast-check';
import {
	contentNodes,
	secondLevelHeadings,
	transcriptText,
	utterances,
} from '../../../lifelog/contents.ts';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';

const lifelog = (contents: ContentNode[]): Lifelog => ({
	id: 'abc',
	title: 'A walk',
	contents,
	startTime: '2026-03-01T09:00:00Z',
	endTime: '2026-03-01T10:00:00Z',
	isStarred: false,
	updatedAt: '2026-03-01T10:00:00Z',
});

const said = (content: string, speakerName?: string | null, user = false): ContentNode => ({
	type: 'blockquote',
	content,
	speakerName,
	...(user && { speakerIdentifier: 'user' }),
});

const walk = lifelog([
	{
		type: 'heading1',
		content: 'A walk',
		children: [
			{ type: 'heading2', content: 'The dog', children: [said('Here, boy!', 'Sam', true)] },
			said('Good dog.', 'Anna'),
		],
	},
	{ type: 'somethingNew', content: 'An aside', speakerName: 'Anna' },
	{ type: 'paragraph', content: 'Nobody says this' },
	said('Hello?', null),
]);

test('the transcript has all utterances, in reading order, at any depth', () => {
	expect(utterances(walk).map(({ index, speaker, text }) => [index, speaker, text])).toEqual([
		[0, 'Sam', 'Here, boy!'],
		[1, 'Anna', 'Good dog.'],
		[2, 'Anna', 'An aside'],
		[3, 'Unknown', 'Hello?'],
	]);
});

test('an utterance has all known fields, and null for the others', () => {
	const [utterance] = utterances(
		lifelog([{ ...said('Hi'), startTime: '2026-03-01T09:00:05Z', startOffsetMs: 5000 }]),
	);
	expect(utterance).toEqual({
		lifelogId: 'abc',
		index: 0,
		speaker: 'Unknown',
		speakerIdentifier: null,
		text: 'Hi',
		startTime: '2026-03-01T09:00:05Z',
		endTime: null,
		startOffsetMs: 5000,
		endOffsetMs: null,
	});
});

test.each([
	[['ANNA'], [1, 2]],
	[['user'], [0]],
	[['unknown'], [3]],
	[
		['anna', 'user'],
		[0, 1, 2],
	],
	[['nobody'], []],
])(
	'for the speakers %p, the utterances %p are returned, with their index in the transcript',
	(speakers, indices) => {
		expect(utterances(walk, speakers).map(({ index }) => index)).toEqual(indices);
	},
);

test('as text, the transcript has one line for each utterance', () => {
	expect(transcriptText(utterances(lifelog([said('One\n two', 'Sam'), said('Three')])))).toBe(
		'Sam: One two\nUnknown: Three',
	);
});

test.each(['\n', '\r\n', '\r'])(
	'in Markdown, headings are found at lines that end with %j',
	(end) => {
		const lines = [
			'## First',
			'',
			'   ##\tSecond  ',
			'### Deeper',
			'##Third',
			'    ## Code',
			'a ## b',
		];
		const markdown = [...lines, '## ', '## Last'].join(end);
		expect(secondLevelHeadings({ ...lifelog([]), markdown })).toEqual(['First', 'Second', 'Last']);
	},
);

test('a long line with many marks of headings takes no more time than its length', () => {
	const line = '## '.repeat(300_000);
	expect(secondLevelHeadings({ ...lifelog([]), markdown: line })).toEqual([line.slice(3).trim()]);
	expect(secondLevelHeadings({ ...lifelog([]), markdown: `a${line}` })).toEqual([]);
});

test('in any Markdown, headings are the lines that begin so', () => {
	const piece = fc.constantFrom('#', '##', ' ', '   ', '\t', '\n', '\r', 'a', '## b');
	fc.assert(
		fc.property(fc.string({ unit: piece, maxLength: 30 }), (markdown) => {
			const lines = markdown.split(/[\r\n]/).map((line) => /^ {0,3}##[ \t](.*)$/.exec(line)?.[1]);
			const expected = lines.map((text) => text?.replace(/\s+/g, ' ').trim()).filter(Boolean);
			expect(secondLevelHeadings({ ...lifelog([]), markdown })).toEqual(expected);
		}),
		{ numRuns: 2000 },
	);
});

test('contents nested a thousand deep are read', () => {
	let deepest = said('Down here', 'Sam');
	for (let depth = 0; depth < 1000; depth++) {
		deepest = { type: 'heading3', content: '', children: [deepest] };
	}
	expect([...contentNodes([deepest])]).toHaveLength(1001);
	expect(utterances(lifelog([deepest]))).toHaveLength(1);
});

test.each([[undefined], [null], [[null, 'text', 3]]])(
	'contents of %p are read as empty',
	(contents) => {
		expect([...contentNodes(contents as unknown as ContentNode[])]).toEqual([]);
	},
);

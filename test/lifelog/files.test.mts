// A lifelog's files, whatever the service returned, as the programs read them that people use.
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { parseSync } from 'subtitle';
import { WebVTTParser } from 'webvtt-parser';
import { parse } from 'yaml';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { type FileFormat, writeLifelog } from '../../lifelog/files/formats.ts';
import { readLifelog } from '../../server/import/lifelogFile.mts';

const BEGIN = '2026-03-01T09:00:00.000Z';
const CONTROLS = ['\0', '\u0001', '\u007f', '\u0085', '\u009f', '\ufffe', '\uffff', '\u2028', '\n'];

/** What begins something else in Markdown, at the start of a line or within it. */
const MARKUP = [
	...['```', '~~~', '<!--', '-->', '<script', '<script>', '</script>', '<pre', '<b>', '</b>', '<?'],
	...['1.', '2)', '[x]: u', '[x](y)', '![x](y)', '<http://a.b>', '___', '***', '---', '===', '='],
	...[
		'|',
		'| a | b |',
		'#',
		'##',
		'# a',
		'>',
		'> a',
		'-',
		'+',
		'*',
		'**',
		'_',
		'~~',
		'`',
		'\\',
		'\\*',
	],
	...[
		'&amp;',
		'&#35;',
		'&',
		'[^1]:',
		'[',
		']',
		'    ',
		'\t',
		':',
		': a',
		'$',
		'%%',
		'<a',
		'C#',
		'C #',
	],
];
const word = fc.stringMatching(/^[a-z0-9äж日]{1,6}$/u);
const words = fc.array(word, { minLength: 1, maxLength: 4 }).map((some) => some.join(' '));
const odd = fc
	.array(fc.oneof(word, fc.constantFrom(...MARKUP, ...CONTROLS)), { minLength: 1, maxLength: 6 })
	.chain((parts) => fc.constantFrom(' ', '').map((blank) => parts.join(blank)));
const name = fc.oneof(
	words,
	fc.constantFrom(
		'Sam--',
		'-',
		'-->',
		'a\u0085b',
		'1',
		'null',
		'"',
		"'",
		'#',
		'a: b',
		'\u0000',
		'é',
	),
	fc.string({ unit: 'binary', maxLength: 8 }),
	fc.string({ unit: fc.constantFrom('a', '"', ...CONTROLS), maxLength: 4 }),
);

const heading = fc.record({
	type: fc.constantFrom('heading1', 'heading2', 'heading3'),
	content: odd,
});
const unsaid = fc.record({ type: fc.constantFrom('paragraph', 'note', 'list'), content: odd });
const said = (text: fc.Arbitrary<string>) =>
	fc.record(
		{
			type: fc.constant('blockquote'),
			content: text,
			speakerName: fc.option(name),
			speakerIdentifier: fc.constantFrom('user', null),
			startOffsetMs: fc.nat(7_200_000),
			endOffsetMs: fc.nat(7_200_000),
		},
		{ requiredKeys: ['type', 'content'] },
	);
const lifelogWith = (text: fc.Arbitrary<string>): fc.Arbitrary<Lifelog> =>
	fc
		.record({
			title: odd,
			contents: fc.array(fc.oneof(heading, unsaid, said(text)), { maxLength: 8 }),
		})
		.map(({ title, contents }) => ({
			...{ id: 'a', title, contents: contents as ContentNode[], startTime: BEGIN, endTime: BEGIN },
			...{ isStarred: false, updatedAt: BEGIN },
		}));

const write = (format: FileFormat, lifelog: Lifelog) =>
	writeLifelog(lifelog, format, 'UTC')!.content;
const inOneLine = (text: unknown) =>
	String(text)
		.replace(/[\p{Cc}\s]+/gu, ' ')
		.trim();
const wordsOf = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? [];
const withWords = ({ contents }: Lifelog) => contents.filter(({ content }) => inOneLine(content));
const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n\n/;

/** The text of Markdown as a reader shows it, and the texts of its headings. */
function rendered(markdown: string) {
	const tokens = new MarkdownIt('default', { html: true }).parse(markdown, {});
	const textOf = (at: number) =>
		(tokens[at].children ?? []).map((token) =>
			['text', 'code_inline', 'text_special'].includes(token.type) ? token.content : ' ',
		);
	return {
		kinds: new Set(tokens.map(({ type }) => type.replace(/_(open|close)$/, ''))),
		words: tokens.flatMap((token, at) =>
			token.type === 'inline' ? wordsOf(textOf(at).join('')) : [],
		),
		headings: tokens.flatMap((token, at) =>
			token.type === 'heading_open' ? [`${token.tag} ${textOf(at + 1).join('')}`] : [],
		),
	};
}

test('Markdown shows every word in order, and every heading as a heading', () => {
	fc.assert(
		// What is said keeps the form that other programs read.
		fc.property(lifelogWith(words), (lifelog) => {
			const lines = withWords(lifelog);
			const headings = lines.filter(
				({ type, speakerName, speakerIdentifier }) =>
					type.startsWith('heading') && !speakerName && !speakerIdentifier,
			);
			const shownTitle = headings.some(({ type }) => type === 'heading1')
				? []
				: [{ type: 'heading1', content: inOneLine(lifelog.title) || 'Untitled' }];
			const numbers = new Map<string, number>();
			const expected = [...shownTitle, ...lines].flatMap((node: ContentNode) => {
				const own = wordsOf(inOneLine(node.content));
				if (node.type !== 'blockquote') return own;
				const key = node.speakerIdentifier === 'user' ? 'user' : `named ${oneName(node)}`;
				const others = [...numbers.keys()].filter((each) => each !== 'user').length;
				if (!numbers.has(key)) numbers.set(key, key === 'user' ? 1 : others + 2);
				return [String(numbers.get(key)), ...own];
			});
			const shown = rendered(write('markdown', lifelog).replace(FRONT_MATTER, ''));
			expect(shown.words).toEqual(expected);
			expect(shown.headings).toEqual(
				[...shownTitle, ...headings].map(
					({ type, content }) => `h${type.at(-1)} ${inOneLine(content)}`,
				),
			);
			for (const kind of shown.kinds) {
				expect(['heading', 'paragraph', 'inline', 'blockquote']).toContain(kind);
			}
		}),
		{ numRuns: 300 },
	);
});

const oneName = ({ speakerName }: ContentNode) =>
	(speakerName ?? '').replace(/\s+/g, ' ').trim() || 'Unknown';

test('headings and what nobody said come back from an import of the Markdown', () => {
	fc.assert(
		fc.property(lifelogWith(words), (lifelog) => {
			const lines = withWords(lifelog).filter(({ type }) => type !== 'blockquote');
			const text = write('markdown', {
				...lifelog,
				contents: [{ type: 'heading1', content: 'T' }, ...lines],
			});
			const { contents } = readLifelog(text, 'lifelogs/2026/03/01/2026-03-01_09h00m00s_T.md');
			expect(contents.slice(1).map(({ content }) => content)).toEqual(
				lines.map(({ content }) => inOneLine(content)),
			);
		}),
	);
});

test('any name of a speaker comes back from the front matter as it is', () => {
	fc.assert(
		fc.property(
			fc.uniqueArray(name, {
				selector: (each) => oneName({ speakerName: each } as ContentNode),
				minLength: 1,
			}),
			(names) => {
				const contents = names.map((speakerName) => ({
					type: 'blockquote',
					content: 'a',
					speakerName,
				}));
				const markdown = write('markdown', {
					id: 'a',
					title: 'T',
					contents,
					startTime: BEGIN,
				} as Lifelog);
				const known = contents.map((node) => oneName(node as ContentNode));
				const [, yaml] = FRONT_MATTER.exec(markdown) ?? [];
				const { speakers } = yaml === undefined ? { speakers: {} } : parse(yaml, { strict: true });
				expect(speakers).toEqual(
					Object.fromEntries(
						known.flatMap((each, nth) => (each === 'Unknown' ? [] : [[nth + 2, each]])),
					),
				);
				// What no reader of YAML must accept.
				expect(yaml ?? '').not.toMatch(/[\u007f-\u0084\u0086-\u009f\ufffe\uffff]|\p{Surrogate}/u);
			},
		),
		{ numRuns: 300 },
	);
});

/** Cues of what was said, by time, as a reader shows them. */
const READERS = {
	srt: (text: string) =>
		parseSync(text).map((node) => (node.type === 'cue' ? node.data.text : node.type)),
	vtt: (text: string) => {
		const { cues, errors } = new WebVTTParser().parse(text, 'subtitles/captions/descriptions');
		expect(errors).toEqual([]);
		return cues.map((cue) =>
			cue.text
				.replace(/^<v\s+([^>]*?)\s*>/, '$1: ')
				.replace(/&lt;/g, '<')
				.replace(/&gt;/g, '>')
				.replace(/&amp;/g, '&'),
		);
	},
};

test.each(['srt', 'vtt'] as const)('every cue of %s is read back', (format) => {
	fc.assert(
		fc.property(lifelogWith(odd), (lifelog) => {
			const text = write(format, lifelog);
			const spoken = withWords(lifelog).filter(({ type }) => type === 'blockquote');
			const expected = spoken.map(({ content }) => wordsOf(inOneLine(content)).join(' '));
			const shown = READERS[format](text).map((cue) =>
				wordsOf(cue.slice(cue.indexOf(': '))).join(' '),
			);
			expect(shown).toHaveLength(expected.length);
			for (const each of expected) expect(shown.some((cue) => cue.endsWith(each))).toBe(true);
			expect(text).not.toMatch(/[^\P{Cc}\n]/u);
			expect(text.match(/-->/g) ?? []).toHaveLength(expected.length);
		}),
		{ numRuns: 300 },
	);
});

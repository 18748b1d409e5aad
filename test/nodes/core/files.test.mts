// A lifelog's files, whatever the service returned, as the programs read them that people use.
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { parseSync } from 'subtitle';
import { WebVTTParser } from 'webvtt-parser';
import { parse } from 'yaml';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import { titleOf } from '../../../lifelog/contents.ts';
import { type FileFormat, writeLifelog } from '../../../lifelog/files/formats.ts';
import { piecesOf } from '../../../lifelog/files/spoken.ts';
import { shownNames } from '../../../lifelog/speakers.ts';
import { oneLine } from '../../../lifelog/text.ts';
import { readLifelog } from '../../../server/import/lifelogFile.mts';

const BEGIN = '2026-03-01T09:00:00.000Z';
const CONTROLS = ['\0', '\u0001', '\u007f', '\u0085', '\u009f', '\ufffe', '\uffff', '\u2028', '\n'];

/** What begins something else in Markdown, in GitHub's or in Obsidian's. */
const MARKUP = `
	\`\`\` ~~~ ~~ ~ <!-- --> <script <script> </script> <pre <b> </b> <? <a
	1. 2) 3. x 1) x [x]: u [x](y) ![x](y) <http://a.b> ___ *** --- === = == %% % | # ## > - + * ** _ __
	\` \\ \\* \\# &amp; &#35; &#x23; & : : a :: $ $$ ^ ^a ^[ [^1] [^1]: [ ] ( ) (x) ! { } C# C #
	[[ ]] [[a]] [[a|b]] ![[a]] #tag #a/b %%a%% ==a== $a$ $$a$$ ^block > [!note] [!note]- - [ ]
	http://a.bc https://a.bc/d_e_f ftp://a.b //a.bc obsidian://open www.a.bc WWW.a.b a@b.cd mailto:a@b.cd
	**a** *a* _a_ \`a\` ~~a~~ "a" 'a' @a שלום سلام 日本 é
`
	.trim()
	.split(/[ \n\t]+/)
	.concat('| a | b |', '> [!note] a', '- a', '+ a', '> a', '# a', '1. a', '    ', '\t', '\u202e');
const word = fc.stringMatching(/^[a-z0-9äж日]{1,6}$/u);
const words = fc.array(word, { minLength: 1, maxLength: 4 }).map((some) => some.join(' '));
const odd = fc
	.array(fc.oneof(word, fc.constantFrom(...MARKUP, ...CONTROLS)), { minLength: 1, maxLength: 6 })
	.chain((parts) => fc.constantFrom(' ', '').map((blank) => parts.join(blank)));
const name = fc.oneof(
	words,
	odd,
	fc.constantFrom(...['Sam--', '-', '-->', 'a\u0085b', '1', 'null', '"', "'", 'a: b', '\u0000']),
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

const isSaid = ({ type, speakerName, speakerIdentifier }: ContentNode) =>
	type === 'blockquote' || Boolean(speakerName) || Boolean(speakerIdentifier);

/** What a lifelog is to show: its lines in order, with the title if no heading has it. */
function shownLines(lifelog: Lifelog): ContentNode[] {
	const lines = withWords(lifelog);
	if (lines.some((node) => node.type === 'heading1' && !isSaid(node))) return lines;
	const title = { type: 'heading1', content: oneLine(lifelog.title) || 'Untitled' };
	return [title as ContentNode, ...lines];
}

/** What is shown for who said something: a name, or a label as people write it. */
function shownName(lifelog: Lifelog, node: ContentNode): string {
	const spoken = withWords(lifelog).filter(isSaid);
	return shownNames(spoken.map((each) => nameOf(lifelog, each))).get(nameOf(lifelog, node))!;
}

/** The name of who said something: a wearer has one for the whole lifelog. */
function nameOf({ contents }: Lifelog, node: ContentNode): string {
	const isWearer = node.speakerIdentifier === 'user';
	const own = (each: ContentNode) => oneLine(each.speakerName ?? '') || 'Unknown';
	if (!isWearer) return own(node);
	const named = withWords({ contents } as Lifelog).filter(
		(each) => each.speakerIdentifier === 'user',
	);
	return named.map(own).find((each) => each !== 'Unknown') ?? 'You';
}

/** Each block of Markdown as a reader shows it, and what it has beside text. */
function rendered(markdown: string) {
	// As VS Code has it: no link of a name with a point in it.
	const reader = new MarkdownIt('default', { html: true, linkify: true });
	reader.linkify.set({ fuzzyLink: false });
	const tokens = reader.parse(markdown, {});
	const kinds = new Set(tokens.map(({ type }) => type.replace(/_(open|close)$/, '')));
	const blocks = tokens.flatMap(({ type, children }, at) => {
		if (type !== 'inline') return [];
		const shown = children ?? [];
		for (const token of shown) if (!/^text/.test(token.type)) kinds.add(token.type);
		const strong = shown.findIndex((token) => token.type === 'strong_close');
		const textOf = (some: typeof shown) => some.map(({ content }) => content).join('');
		return [
			{ tag: tokens[at - 1].tag, text: textOf(shown), strong: textOf(shown.slice(0, strong + 1)) },
		];
	});
	return { kinds, blocks };
}

/** Obsidian's own syntax, and addresses that readers link, in a line whose escapes are no markup. */
const OBSIDIAN = {
	wikilink: /\[\[/,
	tag: /(?<![\p{L}\p{N}])#[\p{L}\p{N}_/-]/u,
	comment: /%%/,
	highlight: /==/,
	math: /\$/,
	block: /(^|\s)\^[\p{L}\p{N}-]+$/u,
	quote: /^>/,
	footnote: /\[\^|\^\[/,
	html: /<[a-z!?/]/i,
	address: /[a-z]:\/\/|(?<![\p{L}\p{N}])www\.|[\w.+-]@\w/iu,
};

test('Markdown shows every word as it was said, whatever the words, and makes nothing else of them', () => {
	fc.assert(
		fc.property(lifelogWith(odd), (lifelog) => {
			const markdown = write('markdown', lifelog).replace(FRONT_MATTER, '');
			const { kinds, blocks } = rendered(markdown);
			const expected = shownLines(lifelog).map((node) => {
				const text = inOneLine(node.content);
				if (!isSaid(node)) {
					return {
						tag: node.type.replace(/^heading/, 'h').replace(/^[^h].*|^h\D.*/, 'p'),
						text,
						strong: '',
					};
				}
				const strong = shownName(lifelog, node);
				return { tag: 'p', text: expect.stringMatching(inParagraph(strong, text)), strong };
			});
			expect(blocks).toEqual(expected);
			for (const kind of kinds) {
				expect(['heading', 'paragraph', 'inline', 'strong_open', 'strong_close']).toContain(kind);
			}
			for (const line of markdown.split('\n')) {
				const bare = line.replace(/^#+ /, 'heading ').replace(/\\[!-/:-@[-`{-~]/g, '\0');
				const found = Object.entries(OBSIDIAN).filter(([, syntax]) => syntax.test(bare));
				expect(found).toEqual([]);
			}
		}),
		{ numRuns: 500 },
	);
});

function inParagraph(shown: string, text: string): RegExp {
	const literal = (part: string) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
	return new RegExp(`^${literal(shown)} \\(\\d\\d:\\d\\d:\\d\\d\\): ${literal(text)}$`, 'u');
}

test('the properties of Markdown are what the lifelog says, for readers of YAML 1.1 and 1.2', () => {
	fc.assert(
		fc.property(lifelogWith(odd), fc.boolean(), fc.oneof(word, name), (lifelog, isStarred, id) => {
			const markdown = write('markdown', { ...lifelog, isStarred, id });
			const [, yaml] = FRONT_MATTER.exec(markdown)!;
			const spoken = withWords(lifelog).filter(isSaid);
			const names = [...new Set(spoken.map((node) => shownName(lifelog, node)))];
			const speakers = names.filter((each) => each !== 'Unknown');
			const wearer = spoken.find(({ speakerIdentifier }) => speakerIdentifier === 'user');
			for (const version of ['1.1', '1.2'] as const) {
				const schema = 'core';
				expect(parse(yaml, { strict: true, version, schema })).toEqual({
					...{ title: titleOf(lifelog) || 'Untitled', date: '2026-03-01' },
					...{ start: '2026-03-01T09:00:00', end: '2026-03-01T09:00:00' },
					...(speakers.length > 0 && { speakers }),
					...(wearer && { wearer: shownName(lifelog, wearer) }),
					...{ starred: isStarred, id, source: expect.any(String), timezone: 'UTC' },
				});
			}
			// What no reader of YAML must accept.
			expect(yaml).not.toMatch(/[\u007f-\u0084\u0086-\u009f\ufffe\uffff]|\p{Surrogate}/u);
		}),
		{ numRuns: 300 },
	);
});

const ZONES = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia'];
/** Also in hours that clocks show twice, or skip. */
const begin = fc.oneof(
	fc.date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true }),
	...[
		'2026-10-25T00:10:00Z',
		'2026-03-29T00:10:00Z',
		'2026-11-01T03:10:00Z',
		'2026-04-04T14:40:00Z',
	].map((time) => fc.nat(7_200_000).map((ms) => new Date(Date.parse(time) + ms))),
);

test('words, speakers, the wearer and times to the second come back from an import of the Markdown', () => {
	const seconds = (time: unknown) => Math.floor(Date.parse(String(time)) / 1000);
	fc.assert(
		fc.property(lifelogWith(odd), begin, fc.constantFrom(...ZONES), (given, date, zone) => {
			const [startTime, startMs] = [date.toISOString(), date.getTime()];
			const endTime = new Date(startMs + 7_300_000).toISOString();
			const lifelog = { ...given, startTime, endTime, isStarred: true };
			const { content } = writeLifelog(lifelog, 'markdown', zone)!;
			const read = readLifelog(content, 'lifelogs/anything.md');
			expect(read).toMatchObject({ id: lifelog.id, isStarred: true });
			expect([read.startTime, read.endTime].map(seconds)).toEqual(
				[startTime, endTime].map(seconds),
			);
			const lines = shownLines(lifelog);
			expect(read.title).toBe(
				inOneLine(lines.find((node) => node.type === 'heading1' && !isSaid(node))!.content),
			);
			const names = lines.filter(isSaid).map((node) => shownName(lifelog, node));
			const wearers = lines.filter(isSaid).map((node) => node.speakerIdentifier === 'user');
			// Two people of one name can't be told apart.
			const isClear = names.every((each, at) =>
				names.every((other, nth) => each !== other || wearers[at] === wearers[nth]),
			);
			const pieces = piecesOf(lifelog, 'UTC').filter(({ speaker }) => speaker);
			const expected = lines.filter(isSaid).map(({ content: text }, at) => ({
				content: inOneLine(text),
				speakerName: names[at] === 'Unknown' ? null : names[at],
				...(isClear && { speakerIdentifier: wearers[at] ? 'user' : null }),
				second: Math.floor((startMs + pieces[at].startOffsetMs) / 1000),
			}));
			const said = read.contents.filter(({ type }) => type === 'blockquote');
			expect(said.map((node) => ({ ...node, second: seconds(node.startTime) }))).toMatchObject(
				expected,
			);
			expect(read.contents.map((node) => node.content)).toEqual(
				lines.map((node) => inOneLine(node.content)),
			);
		}),
		{ numRuns: 300 },
	);
});

test('any name of a speaker comes back from the front matter of App Export', () => {
	const shown = (given: string) => oneLine(given) || 'Unknown';
	fc.assert(
		fc.property(fc.uniqueArray(name, { selector: shown, minLength: 1 }), (names) => {
			const contents = names.map((speakerName) => ({
				type: 'blockquote',
				content: 'a',
				speakerName,
			}));
			const lifelog = { id: 'a', title: 'T', contents, startTime: BEGIN } as Lifelog;
			const read = readLifelog(write('appExport', lifelog), 'lifelogs/2026-03-01_09h00m00s_T.md');
			const said = read.contents.filter(({ type }) => type === 'blockquote');
			expect(said.map(({ speakerName }) => speakerName)).toEqual(
				names.map(shown).map((each, nth) => (each === 'Unknown' ? `Speaker ${nth + 2}` : each)),
			);
		}),
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

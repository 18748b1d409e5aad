import type { AppendBlockChildrenParameters, CreatePageParameters } from '@notionhq/client';
import type { KnownBlock } from '@slack/types';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { toMarkdown } from '../../../lifelog/summary/markdown.ts';
import { toNotion } from '../../../lifelog/summary/notion.ts';
import { toSlack } from '../../../lifelog/summary/slack.ts';
import {
	entryOf,
	summarize,
	type Summary,
	type SummaryOptions,
} from '../../../lifelog/summary/summary.ts';
import type { Lifelog } from '../../../lifelog/api.ts';
import { anyDay, ARABIC, EMOJI, lifelogOf, LONG, longDay, MARKUP } from '../../support/days.mts';
import { problemsOfNotionRequest } from '../../support/notionRules.mts';
import { problemsOfSlackMessage } from '../../support/slackRules.mts';

const NINE = '2026-03-01T09:00:00Z';
const DAY = { date: '2026-03-01', timezone: 'UTC' };

function summaryOf(lifelogs: Lifelog[], options: SummaryOptions = {}): Summary {
	const entries = lifelogs.map((lifelog) => entryOf(lifelog, 'UTC'));
	return summarize(entries, DAY, options);
}

const small = summaryOf([
	lifelogOf('b', '2026-03-01T10:00:00Z', 'Lunch', ['Soup'], { isStarred: true }),
	lifelogOf('a', NINE, 'Planning the garden', ['What grows in the shade', 'Where to sit']),
]);

/** Days that are long in every way, with how many messages or batches they need at least. */
const LONG_DAYS: Array<[string, Summary]> = [
	[
		'300 lifelogs',
		summaryOf(
			longDay(
				300,
				(n) => `Lifelog ${n}`,
				() => ['One', 'Two', 'Three'],
			),
		),
	],
	['a heading of 12,000 characters', summaryOf([lifelogOf('a', NINE, LONG, [LONG, LONG])])],
	[
		'300 of them',
		summaryOf(
			longDay(
				300,
				() => LONG,
				() => [LONG, LONG],
			),
		),
	],
	[
		'2,000 headings',
		summaryOf(
			longDay(
				2,
				(n) => `${n}`,
				() => Array(1000).fill('Again'),
			),
		),
	],
	[
		'what JSON makes longer',
		summaryOf(
			longDay(
				60,
				() => '"漢'.repeat(900),
				() => ['字'.repeat(5000)],
			),
		),
	],
	[
		'a heading of a million',
		summaryOf([lifelogOf('a', NINE, 'é漢'.repeat(5e5), ['x'.repeat(1e6)])]),
	],
];

const parser = new MarkdownIt({ html: true, linkify: true });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: true });

/** The text of each paragraph, heading and list item as a reader sees it, and what marks it. */
function read(markdown: string) {
	const inline = parser.parse(markdown, {}).filter(({ type }) => type === 'inline');
	const parts = inline.flatMap(({ children }) => children!);
	return {
		texts: inline.map(({ children }) => children!.map(({ content }) => content).join('')),
		marks: new Set(parts.map(({ type }) => type).filter((type) => type !== 'text')),
	};
}

/** The output as Slack's own package has it, or this file does not compile. */
const messagesOf = (summary: Summary): Array<{ text: string; blocks: KnownBlock[] }> =>
	toSlack(summary).messages;

const sectionsOf = (summary: Summary) =>
	messagesOf(summary).flatMap(({ blocks }) =>
		blocks.flatMap((block) => (block.type === 'section' ? [block.text!.text] : [])),
	);

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
const PAIRS_OF_STARS = /^([^*]|\*(?=\S)[^*]*[^\s*]\*(?=\s|$))*$/u;
const OTHER_MARKS = /[~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/u;

/** The output as Notion's own package takes it, or this file does not compile. */
function requestsOf(summary: Summary) {
	const { properties, children, childrenBatches } = toNotion(summary);
	const page: CreatePageParameters = { parent: { database_id: 'x' }, properties, children };
	const appended = childrenBatches
		.slice(1)
		.map((more): AppendBlockChildrenParameters => ({ block_id: 'x', children: more }));
	return [{ ...page, properties, children }, ...appended];
}

type NotionBlock = ReturnType<typeof toNotion>['children'][number];

/** The texts of a block, one string each, in reading order. */
function textsIn(block: NotionBlock): string[] {
	const content = {
		...('paragraph' in block && block.paragraph),
		...('heading_2' in block && block.heading_2),
		...('bulleted_list_item' in block && block.bulleted_list_item),
	};
	const text = content.rich_text!.map((part) => part.text.content).join('');
	return [text, ...(content.children ?? []).flatMap(textsIn)];
}

/** How a reader has a summary in a format. */
type Format = (summary: Summary) => {
	/** In reading order. */
	texts: string[];
	/** What a reader doesn't take, or would take for markup. */
	problems: string[];
};

const asMarkdown: Format = (summary) => {
	const { texts, marks } = read(toMarkdown(summary).markdown);
	return { texts, problems: [...marks].filter((mark) => !mark.startsWith('strong')) };
};

const asSlack: Format = (summary) => {
	const lines = sectionsOf(summary).flatMap((section) => section.split('\n'));
	return {
		texts: lines.map((line) => line.replace(/&(amp|lt|gt);/g, (entity) => ENTITIES[entity])),
		problems: [
			...messagesOf(summary).flatMap(problemsOfSlackMessage),
			...lines.filter((line) => !PAIRS_OF_STARS.test(line) || OTHER_MARKS.test(line)),
		],
	};
};

const asNotion: Format = (summary) => ({
	texts: toNotion(summary).childrenBatches.flat().flatMap(textsIn),
	problems: requestsOf(summary).flatMap((body) => problemsOfNotionRequest(body)),
});

/** Each with the characters that it replaces, and those in their place. */
const FORMATS: Array<[string, Format, replaced: RegExp]> = [
	['Markdown', asMarkdown, /$^/],
	['Slack', asSlack, /[*_~`•⭐∗ˍ∼ˋ]/g],
	['Notion', asNotion, /$^/],
];

describe.each(FORMATS)('%s', (_name, as, replaced) => {
	/** All words, without white space, times, lengths and stars. */
	const wordsOf = (texts: string[]) =>
		texts
			.map((text) => text.replace(/^(• )?\d\d:\d\d · (30 min · )?/, '').replace(/ ⭐$/, ''))
			.join('')
			.replace(/\s/g, '')
			.replace(replaced, '');

	test('says if the day is empty', () => {
		const { texts, problems } = as(summaryOf([]));
		expect([texts.at(-1), problems]).toEqual(['There are no lifelogs on this day · UTC', []]);
	});

	test.each(LONG_DAYS)('takes a day of %s', (_day, summary) => {
		expect(as(summary).problems).toEqual([]);
	});

	test('takes any day, with all words', () => {
		const property = fc.property(anyDay, (lifelogs) => {
			const summary = summaryOf(lifelogs);
			const { texts, problems } = as(summary);
			expect(problems).toEqual([]);
			const all = summary.entries.flatMap(({ title, headings }) => [title, ...headings]);
			expect(wordsOf(texts)).toContain(wordsOf(all));
		});
		fc.assert(property, { seed: 20260301, numRuns: 300 });
	});

	test.each([
		...[MARKUP, ARABIC, EMOJI, LONG, EMOJI.repeat(2000)],
		...['anna@example.org', '- x', '12) x', 'www.x.y', '---', '    x', 'snake_case_name'],
	])('keeps the text %p', (text) => {
		const { texts, problems } = as(summaryOf([lifelogOf('a', NINE, text, [text])]));
		expect(wordsOf(texts)).toContain(wordsOf([text, text]));
		expect(problems).toEqual([]);
	});
});

describe('Markdown', () => {
	test('lists the lifelogs of the day by time', () => {
		expect(toMarkdown(small).markdown).toBe(
			`# Daily summary: Sunday, 1 March 2026

2 lifelogs · 1 h in all · 1 starred · UTC

**Who took part:** Sam, Anna

## Starred

- 10:00 · **Lunch**

## What happened

- 09:00 · 30 min · **Planning the garden**
  - What grows in the shade
  - Where to sit
- 10:00 · 30 min · **Lunch** ⭐
  - Soup
`,
		);
	});
});

describe('Slack', () => {
	test('lists the lifelogs of the day by time', () => {
		const { text, blocks, messages } = toSlack(small);
		expect(messages).toEqual([{ text, blocks }]);
		const mrkdwn = `2 lifelogs · 1 h in all · 1 starred · UTC
*Who took part:* Sam, Anna

*Starred*
• 10:00 · *Lunch*

09:00 · 30 min · *Planning the garden*
• What grows in the shade
• Where to sit

10:00 · 30 min · *Lunch* ⭐
• Soup`;
		const title = 'Daily summary: Sunday, 1 March 2026';
		expect(blocks).toEqual([
			{ type: 'header', text: { type: 'plain_text', text: title } },
			{ type: 'section', text: { type: 'mrkdwn', text: mrkdwn, verbatim: true }, expand: true },
		]);
		expect(text).toBe(`*${title}*\n\n${mrkdwn}`);
	});

	test.each(LONG_DAYS)('numbers the messages of a day of %s', (_name, summary) => {
		const messages = messagesOf(summary);
		expect(messages.length).toBeGreaterThan(1);
		const headers = messages.map(({ blocks }) => (blocks[0] as { text: { text: string } }).text);
		expect(headers.at(-1)!.text).toContain(`(${messages.length} of ${messages.length})`);
		expect(toSlack(summary)).toMatchObject(messages[0]);
	});

	test('uses no more messages than the day needs', () => {
		const [, summary] = LONG_DAYS[0];
		const bytes = Buffer.byteLength(JSON.stringify(sectionsOf(summary)));
		expect(messagesOf(summary).length).toBeLessThanOrEqual(Math.ceil(bytes / 9000));
	});

	test('the text for notifications ends with a complete line', () => {
		const { text } = messagesOf(LONG_DAYS[0][1])[0];
		expect(text.endsWith('\n…')).toBe(true);
		expect(sectionsOf(LONG_DAYS[0][1]).join('\n')).toContain(text.split('\n').at(-2)!);
	});

	test('shows the star of a title once, however many sections it has', () => {
		const starred = lifelogOf('a', NINE, LONG, [], { isStarred: true });
		const lines = sectionsOf(summaryOf([starred]))
			.join('\n')
			.split('\n');
		expect(lines.filter((line) => line.includes('⭐'))).toHaveLength(1);
		expect(lines.at(-1)!.endsWith('end &amp;.* ⭐')).toBe(true);
	});

	test('escapes special characters, and keeps the words', () => {
		const [section] = sectionsOf(summaryOf([lifelogOf('a', NINE, MARKUP)]));
		expect(section).toContain(
			'*# ∗a∗ ˍbˍ ∼c∼ ˋdˋ ∗∗e∗∗ [f](https://example.com) &lt;b&gt;&amp;amp;&lt;/b&gt; &lt;!channel&gt; | 1. x @you www.example.com*',
		);
		const [kept] = sectionsOf(summaryOf([lifelogOf('a', NINE, 'snake_case_name')]));
		expect(kept).toContain('*snake_case_name*');
	});
});

describe('Notion', () => {
	test('lists the lifelogs of the day by time', () => {
		const { title, properties, children, childrenBatches } = toNotion(small);
		expect(title).toBe('Daily summary: Sunday, 1 March 2026');
		expect(properties.title.title).toEqual([{ type: 'text', text: { content: title } }]);
		expect(childrenBatches).toEqual([children]);
		expect(children.map(({ type }) => type)).toEqual([
			...['paragraph', 'paragraph', 'heading_2', 'bulleted_list_item'],
			...['heading_2', 'bulleted_list_item', 'bulleted_list_item'],
		]);
		expect(children[6]).toEqual({
			object: 'block',
			type: 'bulleted_list_item',
			bulleted_list_item: {
				rich_text: [
					{ type: 'text', text: { content: '10:00 · 30 min · ' } },
					{ type: 'text', text: { content: 'Lunch' }, annotations: { bold: true } },
					{ type: 'text', text: { content: ' ⭐' } },
				],
				children: [
					{
						object: 'block',
						type: 'bulleted_list_item',
						bulleted_list_item: { rich_text: [{ type: 'text', text: { content: 'Soup' } }] },
					},
				],
			},
		});
		expect(asNotion(small).texts.slice(0, 2)).toEqual([
			'2 lifelogs · 1 h in all · 1 starred · UTC',
			'Who took part: Sam, Anna',
		]);
	});

	test('uses no more batches than the day needs', () => {
		expect(toNotion(LONG_DAYS[0][1]).childrenBatches).toHaveLength(4);
		expect(toNotion(LONG_DAYS[1][1]).childrenBatches).toHaveLength(1);
		expect(toNotion(LONG_DAYS[3][1]).childrenBatches.map(({ length }) => length)).toEqual([
			14, 9, 2,
		]);
	});

	test.each([
		[87, [1000]],
		[88, [912, 89]],
	])('counts the blocks in blocks: the last with %p', (last, counts) => {
		const lifelogs = Array.from({ length: 10 }, (_, index) =>
			lifelogOf(`${index}`, NINE, `${index}`, Array(index < 9 ? 100 : last).fill('x')),
		);
		const { childrenBatches } = toNotion(summaryOf(lifelogs));
		const nested = childrenBatches.map(
			(batch) => JSON.stringify(batch).split('"object"').length - 1,
		);
		expect(nested).toEqual(counts);
	});

	test('continues under a separate title if one item cannot contain all headings', () => {
		const { texts } = asNotion(summaryOf([lifelogOf('a', NINE, 'Long', Array(250).fill('x'))]));
		expect(texts.filter((text) => text === 'x')).toHaveLength(250);
		expect(texts.filter((text) => text === '(continued)')).toHaveLength(2);
	});
});

describe('the options', () => {
	const FORTY = Array.from({ length: 40 }, (_, nth) =>
		lifelogOf(`id${nth}`, NINE, `Lifelog ${nth}`, ['A heading'], { isStarred: nth < 2 }),
	);

	test.each([
		['en', '# Daily summary: Sunday, 1 March 2026', 'and 15 more'],
		['de', '# Tagesrückblick: Sonntag, 1. März 2026', 'und 15 weitere'],
		['es', '# Resumen del día: domingo, 1 de marzo de 2026', 'y 15 más'],
		['fr', '# Résumé de la journée : dimanche 1 mars 2026', 'et 15 de plus'],
	] as const)('in %s', (language, title, more) => {
		const { markdown } = toMarkdown(summaryOf(FORTY, { language, maxLifelogs: 25 }));
		const lines = markdown.trim().split('\n');
		expect(lines[0]).toBe(title);
		expect(lines.at(-1)).toBe(more);
	});

	test('a day of 40 lifelogs fits one screen of Slack with the options of the example', () => {
		const { text, messages } = toSlack(summaryOf(FORTY, { detail: 'titles', maxLifelogs: 25 }));
		expect(messages).toHaveLength(1);
		expect(text.split('\n').length).toBeLessThanOrEqual(40);
		expect(text).toContain('and 15 more');
	});

	test('no list is longer than Max Lifelogs', () => {
		const starred = FORTY.map((lifelog) => ({ ...lifelog, isStarred: true }));
		const { markdown } = toMarkdown(summaryOf(starred, { maxLifelogs: 3 }));
		expect(markdown.split('## Starred')[1].split('## ')[0].match(/^- /gm)).toHaveLength(3);
		expect(markdown).toContain('and 37 more');
	});

	test('shows only starred lifelogs', () => {
		const summary = summaryOf(FORTY, { detail: 'starred' });
		const { markdown } = toMarkdown(summary);
		expect(markdown).toContain('## Starred');
		expect(markdown).not.toContain('## What happened');
		expect(JSON.stringify(toNotion(summary).children)).not.toContain('What happened');
		expect(toSlack(summary).text).not.toContain('Lifelog 20');
	});
});

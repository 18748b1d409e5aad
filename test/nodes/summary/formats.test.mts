import type { CreatePageParameters } from '@notionhq/client';
import type { AppendBlockChildrenParameters } from '@notionhq/client';
import type { KnownBlock } from '@slack/types';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { toMarkdown } from '../../../lifelog/summary/markdown.ts';
import { toNotion } from '../../../lifelog/summary/notion.ts';
import { toSlack } from '../../../lifelog/summary/slack.ts';
import { entryOf, summarize, type Summary } from '../../../lifelog/summary/summary.ts';
import type { Lifelog } from '../../../lifelog/api.ts';
import { anyDay, ARABIC, EMOJI, lifelogOf, LONG, longDay, MARKUP } from '../../support/days.mts';
import { problemsOfNotionRequest } from '../../support/notionRules.mts';
import { problemsOfSlackMessage } from '../../support/slackRules.mts';

const trial = { seed: 20260301, numRuns: 300 };
const NINE = '2026-03-01T09:00:00Z';

function summaryOf(lifelogs: Lifelog[], isStarred?: boolean): Summary {
	const entries = lifelogs.map((lifelog) => entryOf(lifelog, 'UTC'));
	return summarize(entries, { date: '2026-03-01', timezone: 'UTC', isStarred });
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

/** All the words of a summary in the order in which every format has them, without white space. */
const words = (texts: string[]) => texts.join('').replace(/\s/g, '');

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

	test('says if the day is empty', () => {
		expect(toMarkdown(summaryOf([])).markdown).toBe(
			'# Daily summary: Sunday, 1 March 2026\n\nThere are no lifelogs on this day · UTC\n',
		);
	});

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

	function expectedTexts({ entries, speakers }: Summary): string[] {
		const starred = entries.filter(({ isStarred }) => isStarred);
		return [
			...(speakers.length > 0 ? [`Who took part: ${speakers.join(', ')}`] : []),
			...(starred.length > 0 ? ['Starred', ...starred.map(({ title }) => title)] : []),
			...(entries.length > 0 ? ['What happened'] : []),
			...entries.flatMap(({ title, headings }) => [title, ...headings]),
		];
	}

	const withoutLead = (text: string) =>
		text.replace(/^\d\d:\d\d · (30 min · )?/, '').replace(/ ⭐$/, '');

	test('shows every text unchanged, without Markdown and links', () => {
		const property = fc.property(anyDay, (lifelogs) => {
			const summary = summaryOf(lifelogs);
			const { texts, marks } = read(toMarkdown(summary).markdown);
			expect(texts.slice(2).map(withoutLead)).toEqual(expectedTexts(summary).map(withoutLead));
			expect([...marks].filter((mark) => !mark.startsWith('strong'))).toEqual([]);
		});
		fc.assert(property, trial);
	});

	test.each([
		MARKUP,
		ARABIC,
		EMOJI,
		LONG,
		'anna@example.org',
		'- x',
		'12) x',
		'www.x.y',
		'---',
		'    x',
	])('keeps the text %p', (text) => {
		const { markdown } = toMarkdown(summaryOf([lifelogOf('a', NINE, text, [text])]));
		const { texts, marks } = read(markdown);
		expect(texts.slice(-2).map(withoutLead)).toEqual([text.trim(), text.trim()]);
		expect([...marks]).toEqual(['strong_open', 'strong_close']);
	});
});

describe('Slack', () => {
	/** The output as Slack's own package has it, or this file does not compile. */
	const messagesOf = (summary: Summary): Array<{ text: string; blocks: KnownBlock[] }> =>
		toSlack(summary).messages;

	const sectionsOf = (messages: ReturnType<typeof messagesOf>) =>
		messages.flatMap(({ blocks }) =>
			blocks.flatMap((block) => (block.type === 'section' ? [block.text!.text] : [])),
		);

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

	test('says in one message if the day is empty', () => {
		const { text, messages } = toSlack(summaryOf([]));
		expect(text).toContain('There are no lifelogs on this day');
		expect(messages.map(problemsOfSlackMessage)).toEqual([[]]);
	});

	test.each(LONG_DAYS)('accepts a day of %s', (_name, summary) => {
		const messages = messagesOf(summary);
		expect(messages.length).toBeGreaterThan(1);
		expect(messages.flatMap(problemsOfSlackMessage)).toEqual([]);
		const headers = messages.map(({ blocks }) => (blocks[0] as { text: { text: string } }).text);
		expect(headers.at(-1)!.text).toContain(`(${messages.length} of ${messages.length})`);
		expect(toSlack(summary)).toMatchObject(messages[0]);
	});

	test('uses no more messages than the day needs', () => {
		const [, summary] = LONG_DAYS[0];
		const bytes = Buffer.byteLength(JSON.stringify(sectionsOf(messagesOf(summary))));
		expect(messagesOf(summary).length).toBeLessThanOrEqual(Math.ceil(bytes / 9000));
	});

	test('the text for notifications ends with a complete line', () => {
		const { text } = messagesOf(LONG_DAYS[0][1])[0];
		expect(text.endsWith('\n…')).toBe(true);
		expect(sectionsOf(messagesOf(LONG_DAYS[0][1])).join('\n')).toContain(text.split('\n').at(-2)!);
	});

	test('shows the star of a title once, however many sections it has', () => {
		const starred = lifelogOf('a', NINE, LONG, [], { isStarred: true });
		const lines = sectionsOf(messagesOf(summaryOf([starred])))
			.join('\n')
			.split('\n');
		expect(lines.filter((line) => line.includes('⭐'))).toHaveLength(1);
		expect(lines.at(-1)!.endsWith('end &amp;.* ⭐')).toBe(true);
	});

	test('escapes special characters, and keeps the words', () => {
		const [section] = sectionsOf(messagesOf(summaryOf([lifelogOf('a', NINE, MARKUP)])));
		expect(section).toContain(
			'*# ∗a∗ ˍbˍ ∼c∼ ˋdˋ ∗∗e∗∗ [f](https://example.com) &lt;b&gt;&amp;amp;&lt;/b&gt; &lt;!channel&gt; | 1. x @you www.example.com*',
		);
		const [kept] = sectionsOf(messagesOf(summaryOf([lifelogOf('a', NINE, 'snake_case_name')])));
		expect(kept).toContain('*snake_case_name*');
	});

	test('accepts any day, with all marks in pairs and all words', () => {
		const property = fc.property(anyDay, (lifelogs) => {
			const summary = summaryOf(lifelogs);
			const messages = messagesOf(summary);
			expect(messages.flatMap(problemsOfSlackMessage)).toEqual([]);

			const lines = sectionsOf(messages).flatMap((section) => section.split('\n'));
			for (const line of lines) {
				expect(line).toMatch(/^([^*]|\*(?=\S)[^*]*[^\s*]\*(?=\s|$))*$/u);
				expect(line).not.toMatch(/[~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/u);
			}
			const entries = summary.entries.flatMap(({ title, headings }) => [title, ...headings]);
			expect(shown(lines)).toContain(words(entries).replace(/[*_~`•⭐]/g, ''));
		});
		fc.assert(property, trial);
	});

	const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
	/** What a reader sees, without the marks and what stands for them, times and lengths. */
	const shown = (lines: string[]) =>
		words(lines.map((line) => line.replace(/^\d\d:\d\d · 30 min · /, '')))
			.replace(/[*_•⭐∗ˍ∼ˋ]/g, '')
			.replace(/&(amp|lt|gt);/g, (entity) => ENTITIES[entity]);

	test.each([
		['of a right-to-left script', ARABIC],
		['of emoji', EMOJI],
		['of 12,000 characters', LONG],
		['of 8,000 emoji', EMOJI.repeat(2000)],
	])('keeps a text %s', (_name, text) => {
		const lines = sectionsOf(messagesOf(summaryOf([lifelogOf('a', NINE, text)]))).join('\n');
		expect(shown(lines.split('\n'))).toContain(words([text]));
	});
});

describe('Notion', () => {
	const parent = { database_id: 'x' };

	/** The output as Notion's own package takes it, or this file does not compile. */
	function requestsOf(summary: Summary) {
		const { properties, children, childrenBatches } = toNotion(summary);
		const page: CreatePageParameters = { parent, properties, children };
		const appended = childrenBatches
			.slice(1)
			.map((more): AppendBlockChildrenParameters => ({ block_id: 'x', children: more }));
		return { page, appended };
	}

	function problemsOf(summary: Summary): string[] {
		const { page, appended } = requestsOf(summary);
		const { properties, children } = toNotion(summary);
		return [
			...problemsOfNotionRequest({ ...page, properties, children }),
			...appended.flatMap((body) => problemsOfNotionRequest(body)),
		];
	}

	/** The texts of the blocks, one string each, in reading order. */
	function textsOf(summary: Summary): string[] {
		type AnyBlock = ReturnType<typeof toNotion>['children'][number];
		const read = (block: AnyBlock): string[] => {
			const content = {
				...('paragraph' in block && block.paragraph),
				...('heading_2' in block && block.heading_2),
				...('bulleted_list_item' in block && block.bulleted_list_item),
			};
			const text = content.rich_text!.map((part) => part.text.content).join('');
			return [text, ...(content.children ?? []).flatMap(read)];
		};
		return toNotion(summary).childrenBatches.flat().flatMap(read);
	}

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
		expect(textsOf(small).slice(0, 2)).toEqual([
			'2 lifelogs · 1 h in all · 1 starred · UTC',
			'Who took part: Sam, Anna',
		]);
	});

	test('says if the day is empty', () => {
		expect(textsOf(summaryOf([]))).toEqual(['There are no lifelogs on this day · UTC']);
		expect(problemsOf(summaryOf([]))).toEqual([]);
	});

	test.each(LONG_DAYS)('accepts a day of %s', (_name, summary) => {
		expect(problemsOf(summary)).toEqual([]);
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
		const texts = textsOf(summaryOf([lifelogOf('a', NINE, 'Long', Array(250).fill('x'))]));
		expect(texts.filter((text) => text === 'x')).toHaveLength(250);
		expect(texts.filter((text) => text === '(continued)')).toHaveLength(2);
	});

	test('accepts any day, with all words', () => {
		const property = fc.property(anyDay, (lifelogs) => {
			const summary = summaryOf(lifelogs);
			expect(problemsOf(summary)).toEqual([]);
			const texts = textsOf(summary).map((text) =>
				text.replace(/^\d\d:\d\d · 30 min · /, '').replace(/ ⭐$/, ''),
			);
			const entries = summary.entries.flatMap(({ title, headings }) => [
				title.replace(/ ⭐$/, ''),
				...headings.map((heading) => heading.replace(/ ⭐$/, '')),
			]);
			expect(words(texts)).toContain(words(entries));
		});
		fc.assert(property, trial);
	});
});

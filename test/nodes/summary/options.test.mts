// The language of a daily summary, and how much it lists.
import { toMarkdown } from '../../../lifelog/summary/markdown.ts';
import { toNotion } from '../../../lifelog/summary/notion.ts';
import { toSlack } from '../../../lifelog/summary/slack.ts';
import { entryOf, summarize, type SummaryOptions } from '../../../lifelog/summary/summary.ts';
import { lifelogOf } from '../../support/days.mts';

const day = { date: '2026-03-01', timezone: 'UTC' };
const FORTY = Array.from({ length: 40 }, (_, nth) =>
	entryOf(
		lifelogOf(`id${nth}`, '2026-03-01T09:00:00Z', `Lifelog ${nth}`, ['A heading'], {
			isStarred: nth < 2,
		}),
		'UTC',
	),
);
const summaryOf = (options: SummaryOptions) => summarize(FORTY, day, options);

test.each([
	['en', '# Daily summary: Sunday, 1 March 2026', 'and 15 more'],
	['de', '# Tagesrückblick: Sonntag, 1. März 2026', 'und 15 weitere'],
	['es', '# Resumen del día: domingo, 1 de marzo de 2026', 'y 15 más'],
	['fr', '# Résumé de la journée : dimanche 1 mars 2026', 'et 15 de plus'],
] as const)('in %s', (language, title, more) => {
	const { markdown } = toMarkdown(summaryOf({ language, maxLifelogs: 25 }));
	const lines = markdown.trim().split('\n');
	expect(lines[0]).toBe(title);
	expect(lines.at(-1)).toBe(more);
});

test('a day of 40 lifelogs fits one screen of Slack with the options of the example', () => {
	const { text, messages } = toSlack(summaryOf({ detail: 'titles', maxLifelogs: 25 }));
	expect(messages).toHaveLength(1);
	expect(text.split('\n').length).toBeLessThanOrEqual(40);
	expect(text).toContain('and 15 more');
});

test('no list is longer than Max Lifelogs', () => {
	const starred = FORTY.map((lifelog) => ({ ...lifelog, isStarred: true }));
	const { markdown } = toMarkdown(summarize(starred, day, { maxLifelogs: 3 }));
	expect(markdown.split('## Starred')[1].split('## ')[0].match(/^- /gm)).toHaveLength(3);
	expect(markdown).toContain('and 37 more');
});

test('shows only starred lifelogs', () => {
	const summary = summaryOf({ detail: 'starred' });
	const { markdown } = toMarkdown(summary);
	expect(markdown).toContain('## Starred');
	expect(markdown).not.toContain('## What happened');
	expect(JSON.stringify(toNotion(summary).children)).not.toContain('What happened');
	expect(toSlack(summary).text).not.toContain('Lifelog 20');
});

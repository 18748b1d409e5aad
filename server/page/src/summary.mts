import { toMarkdown } from '../../../lifelog/summary/markdown.ts';
import { beginsOn, entryOf, summarize } from '../../../lifelog/summary/summary.ts';
import type { Lifelog } from '../../../lifelog/api.ts';

/** The summary of a day in Markdown, in the format of the node's Get Daily Summary. */
export function summaryOf(lifelogs: Lifelog[], date: string, timezone: string): string {
	const entries = lifelogs
		.filter(({ startTime }) => beginsOn(startTime, date, timezone))
		.map((lifelog) => entryOf(lifelog, timezone));
	return toMarkdown(summarize(entries, { date, timezone })).markdown;
}

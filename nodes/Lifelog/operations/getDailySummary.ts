import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Lifelog } from '../../../lifelog/api.ts';
import { toMarkdown } from '../../../lifelog/summary/markdown.ts';
import { toNotion } from '../../../lifelog/summary/notion.ts';
import { toSlack } from '../../../lifelog/summary/slack.ts';
import {
	beginsOn,
	type Entry,
	entryOf,
	summarize,
	type Summary,
	summaryFields,
} from '../../../lifelog/summary/summary.ts';
import { type Language, WORDS } from '../../../lifelog/summary/words.ts';
import { EVERY_PART } from '../../shared/api/entries';
import type { Api } from '../../shared/auth/connection';
import { hint, hintOfNone } from '../../shared/errors/hints';
import { listResource } from '../../shared/errors/nodeErrors';
import { filtersOf, isStarredFilter, optionsOf } from '../../shared/parameters/lists';
import { maxWaitOption } from '../../shared/parameters/maxWait';
import {
	choices,
	readBoolean,
	readChoice,
	readCollection,
	readNumber,
} from '../../shared/parameters/read';
import { dayParameters, readDay, readZone, timezoneOption } from '../../shared/parameters/times';
import { firstEntries, MAX_PAGE_SIZE_WITH_CONTENTS } from '../../shared/transport/pagination';

const FORMATS = { markdown: toMarkdown, notion: toNotion, slack: toSlack };

const formatParameter = choices({
	displayName: 'Format',
	name: 'format',
	type: 'options',
	options: [
		{ name: 'Markdown', value: 'markdown', description: 'One text' },
		{
			name: 'Notion',
			value: 'notion',
			description: 'Title, properties and blocks of a page, in batches that Notion accepts',
		},
		{
			name: 'Slack',
			value: 'slack',
			description: 'Text and blocks of one or more messages that Slack accepts',
		},
	],
	default: 'markdown',
	description: 'Format of the summary',
});

const detailOption = choices({
	displayName: 'Detail',
	name: 'detail',
	type: 'options',
	options: [
		{ name: 'Starred', value: 'starred', description: 'Only the titles of starred lifelogs' },
		{ name: 'Titles', value: 'titles', description: 'Every title' },
		{
			name: 'Titles and Headings',
			value: 'titlesAndHeadings',
			description: 'Every title, with the headings of the lifelog',
		},
	],
	default: 'titlesAndHeadings',
	description: 'Amount of detail in the summary',
});

const languageOption = choices({
	displayName: 'Language',
	name: 'language',
	type: 'options',
	options: [
		{ name: 'English', value: 'en' },
		{ name: 'French', value: 'fr' },
		{ name: 'German', value: 'de' },
		{ name: 'Spanish', value: 'es' },
	],
	default: 'en',
	description:
		"Language of the summary's own words and dates. Titles and headings stay as they are.",
});

const maxLifelogsOption: INodeProperties = {
	displayName: 'Max Lifelogs',
	name: 'maxLifelogs',
	type: 'number',
	typeOptions: { minValue: 0, numberPrecision: 0 },
	default: 0,
	description:
		'Maximum number of lifelogs that the summary lists. It says how many more there are. 0 lists all.',
};

export const description: INodeProperties[] = [
	...dayParameters,
	formatParameter,
	{
		displayName:
			"In the HTTP Request node that creates the page, set the JSON body to <code>{{ JSON.stringify({ parent: { database_id: 'ID of your database' }, properties: $json.properties, children: $json.children }) }}</code>",
		name: 'notionNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { format: ['notion'] } },
	},
	{
		displayName:
			'In the Slack node, set:<br>Message Type: Blocks<br>Blocks: <code>{{ JSON.stringify({ blocks: $json.blocks }) }}</code><br>Notification Text: <code>{{ $json.text }}</code>',
		name: 'slackNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { format: ['slack'] } },
	},
	filtersOf([
		{
			...isStarredFilter,
			description:
				'Whether to summarize only starred lifelogs (on) or only the others (off). Leave this filter out for both.',
		},
	]),
	optionsOf([detailOption, languageOption, maxLifelogsOption, maxWaitOption, timezoneOption]),
];

/**
 * Summarizes the lifelogs that begin on a day (specification, section 4.2, `date`).
 *
 * @returns One item, also for a day without lifelogs: the day, the fields of the format chosen, and
 *   those of every format.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const options = readCollection(this, 'options', itemIndex);
	const timezone = readZone(this, options);
	const date = readDay(this, itemIndex, timezone);
	const filters = readCollection(this, 'filters', itemIndex);
	const isStarred = readBoolean(this, isStarredFilter, filters);
	const format = readChoice(this, formatParameter, itemIndex);
	const summaryOptions = {
		language: readChoice(this, languageOption, options),
		detail: readChoice(this, detailOption, options),
		maxLifelogs: readNumber(this, maxLifelogsOption, options),
	};
	const entries = await readEntries(api, { date, timezone, isStarred }, summaryOptions.language);
	hintIfWithheld(api, entries);
	if (entries.length === 0) {
		hintOfNone(api, listResource('lifelogs', { date, timezone, isStarred }));
	}
	const summary = summarize(entries, { date, timezone, isStarred }, summaryOptions);
	const json = { date, timezone, ...FORMATS[format](summary), ...summaryFields(summary) };
	return [{ json }];
}

async function readEntries(
	api: Api,
	{ date, timezone, isStarred }: Pick<Summary, 'date' | 'timezone' | 'isStarred'>,
	language: Language,
): Promise<Entry[]> {
	const query = { timezone, date, direction: 'asc', ...EVERY_PART, isStarred };
	const listing = { name: 'lifelogs' as const, query, pageSize: MAX_PAGE_SIZE_WITH_CONTENTS };
	const lifelogs = await firstEntries<Lifelog>(api, listing, Infinity);
	const entries = lifelogs
		.filter(({ startTime }) => beginsOn(startTime, date, timezone))
		.map((lifelog) => entryOf(lifelog, timezone, WORDS[language].untitled));
	return entries.filter((entry) => isStarred === undefined || entry.isStarred === isStarred);
}

function hintIfWithheld(api: Api, entries: Entry[]): void {
	const withheld = entries.filter(({ isWithheld }) => isWithheld).length;
	if (withheld === 0) return;
	const which = withheld === entries.length ? '' : ` of ${withheld} of ${entries.length} lifelogs`;
	hint(
		api,
		`The service sent no contents${which}, although they were requested. The headings come from the Markdown instead, and the speakers are unknown.`,
		'warning',
	);
}

// What the panel of a node shows for each choice, by the function with which n8n's editor decides it.
import type { INodeParameters } from 'n8n-workflow';
import { choicesOf, descriptionOf, nodeNames, panelOf, selectable } from '../support/panel.mts';

const LIST = { filters: 'Global Prompt ID, Is Scheduled, Is Starred' };
const AFTER_LIST = 'Return All, Limit, Output, Filters, Options';
const ZONE = 'Time Zone Name or ID';
const WAIT = 'Max Rate Limit Wait (Seconds)';
const LIST_OPTIONS = `Direction, Include Contents, ${WAIT}, ${ZONE}`;
const EXPORT = `File Names, ${WAIT}, ${ZONE}`;
const PARTS = `Chunk Length (Minutes), File Names, If No Audio, If Part Fails, ${WAIT}`;
const DAYS_IN_ZONE = /^Days are in the workflow's time zone/;
const POLLS = /^Every 10 minutes is enough/;
const PERMANENT = /permanent.* can't be recovered/;
const OWN_SERVER = /^Needs your own lifelog-server/;

/** A node and what is chosen; the labels, and what can be added to Filters and Options. */
const PANELS: [
	node: string,
	chosen: INodeParameters,
	labels: string,
	more?: { filters?: string; options?: string; notice?: RegExp },
][] = [
	[
		'lifelog',
		{ operation: 'search' },
		'Query, Period, Limit, Output, Filters, Options',
		{ ...LIST, options: LIST_OPTIONS },
	],
	[
		'lifelog',
		{ operation: 'getMany' },
		`Period, ${AFTER_LIST}`,
		{ ...LIST, options: LIST_OPTIONS },
	],
	[
		'lifelog',
		{ period: 'range' },
		`Period, Start, End, ${AFTER_LIST}`,
		{ ...LIST, options: LIST_OPTIONS, notice: DAYS_IN_ZONE },
	],
	[
		'lifelog',
		{ period: 'date' },
		`Period, Date, ${AFTER_LIST}`,
		{ ...LIST, options: LIST_OPTIONS, notice: DAYS_IN_ZONE },
	],
	[
		'lifelog',
		{ period: 'last7Days' },
		`Period, ${AFTER_LIST}`,
		{ ...LIST, options: LIST_OPTIONS, notice: DAYS_IN_ZONE },
	],
	[
		'lifelog',
		{ returnAll: true },
		'Period, Return All, Output, Filters, Options',
		{ ...LIST, options: LIST_OPTIONS },
	],
	[
		'lifelog',
		{ operation: 'get', output: 'simplified' },
		'Lifelog, Output, Options',
		{ options: `Include Contents, ${ZONE}` },
	],
	[
		'lifelog',
		{ operation: 'get', output: 'selectedFields' },
		'Lifelog, Output, Fields, Options',
		{ options: `Include Headings, Max Characters, ${ZONE}` },
	],
	[
		'lifelog',
		{ operation: 'get', output: 'raw' },
		'Lifelog, Output, Options',
		{ options: `Include Contents, Include Headings, Include Markdown, Max Characters, ${ZONE}` },
	],
	[
		'lifelog',
		{ operation: 'getTranscript' },
		'Lifelog, Output As, Options',
		{ options: `From Offset (Milliseconds), Speakers, ${ZONE}` },
	],
	[
		'lifelog',
		{ operation: 'getDailySummary' },
		'Day, Format, Filters, Options',
		{ filters: 'Is Starred', options: `Detail, Language, Max Lifelogs, ${WAIT}, ${ZONE}` },
	],
	[
		'lifelog',
		{ operation: 'getDailySummary', day: 'date' },
		'Day, Date, Format, Filters, Options',
		{ filters: 'Is Starred', options: `Detail, Language, Max Lifelogs, ${WAIT}, ${ZONE}` },
	],
	[
		'lifelog',
		{ operation: 'export' },
		'Export From, Period, Return All, Limit, Filters, File Formats, Put Output File in Field, Options',
		{ ...LIST, options: EXPORT },
	],
	[
		'lifelog',
		{ operation: 'export', exportFrom: 'lifelog' },
		'Export From, Lifelog, File Formats, Put Output File in Field, Options',
		{ options: EXPORT },
	],
	[
		'lifelog',
		{ operation: 'export', exportFrom: 'input' },
		'Export From, File Formats, Put Output File in Field, Options',
		{ options: EXPORT },
	],
	['lifelog', { operation: 'delete' }, 'Lifelog to Delete', { notice: PERMANENT }],
	[
		'lifelogChat',
		{ operation: 'getMany' },
		AFTER_LIST,
		{ filters: 'Global Prompt ID, Is Scheduled', options: `Direction, ${WAIT}, ${ZONE}` },
	],
	['lifelogChat', { operation: 'get' }, 'Chat, Output, Options', { options: ZONE }],
	[
		'lifelogChat',
		{ operation: 'get', output: 'selectedFields' },
		'Chat, Output, Fields, Options',
		{ options: ZONE },
	],
	['lifelogChat', { operation: 'get', output: 'raw' }, 'Chat, Output, Options', { options: ZONE }],
	['lifelogChat', { operation: 'delete' }, 'Chat to Delete', { notice: PERMANENT }],
	[
		'lifelogAudio',
		{ source: 'lifelog' },
		'Source, Lifelog, Put Output File in Field, Options',
		{ options: `${PARTS}, Padding (Seconds), ${ZONE}` },
	],
	[
		'lifelogAudio',
		{ source: 'timeRange' },
		'Source, Start, End, Put Output File in Field, Options',
		{ options: `Audio Source, ${PARTS}, ${ZONE}` },
	],
	[
		'lifelogAudio',
		{ source: 'day' },
		'Source, Day, Put Output File in Field, Options',
		{ options: `Audio Source, ${PARTS}, ${ZONE}` },
	],
	[
		'lifelogAudio',
		{ source: 'day', day: 'date' },
		'Source, Day, Date, Put Output File in Field, Options',
		{ options: `Audio Source, ${PARTS}, ${ZONE}` },
	],
	[
		'lifelogServer',
		{ operation: 'create' },
		'Start Time, Transcript, Title, Output, Options',
		{ options: `Add Again If Deleted, End Time, External ID, ${ZONE}`, notice: OWN_SERVER },
	],
	[
		'lifelogServer',
		{ operation: 'update' },
		'Lifelog, Update Fields, Output',
		{ notice: OWN_SERVER },
	],
	[
		'lifelogServer',
		{ operation: 'upload' },
		'Input Binary Field, Options',
		{
			options: `Add Again If Deleted, External ID, Language, ${WAIT}, Start Time, ${ZONE}, Title, Wait for Lifelogs (Seconds), Words to Expect`,
			notice: OWN_SERVER,
		},
	],
	...['lifelogCreatedOrUpdated', 'lifelogCreated', 'lifelogUpdated'].map(
		(event): (typeof PANELS)[number] => [
			'lifelogTrigger',
			{ event },
			'Output, Filters, Options',
			{
				filters: 'Is Starred',
				options: `Include Contents, Look-Back (Days), Settle (Minutes), ${ZONE}`,
				notice: POLLS,
			},
		],
	),
	[
		'lifelogTrigger',
		{ event: 'scheduledChatCreated' },
		'Output, Filters, Options',
		{ filters: 'Global Prompt ID', options: `Look-Back (Days), ${ZONE}`, notice: POLLS },
	],
	...['lifelog.created', 'lifelog.updated'].map((event): (typeof PANELS)[number] => [
		'lifelogServerTrigger',
		{ events: [event, 'lifelog.deleted'] },
		'Output, Options',
		{ options: `Include Contents, n8n's Address, ${ZONE}`, notice: OWN_SERVER },
	]),
	[
		'lifelogServerTrigger',
		{ events: ['lifelog.deleted', 'recording.completed', 'recording.failed'] },
		'Options',
		{ options: `n8n's Address, ${ZONE}`, notice: OWN_SERVER },
	],
];

const isTrigger = (node: string) => node.endsWith('Trigger');

test.each(PANELS)('%s with %j shows %s', (node, chosen, labels, more = {}) => {
	const shown = panelOf(node, chosen);
	const [choice, ...others] = shown.labels;
	expect(choice).toBe(isTrigger(node) ? 'Trigger On' : 'Operation');
	expect({ labels: others.join(', ') }).toEqual({ labels });
	const { filters, options, notice } = more;
	expect([shown.filters?.join(', '), shown.options?.join(', ')]).toEqual([filters, options]);
	const notices = notice ? [expect.stringMatching(notice)] : [];
	expect(shown.notices).toEqual(notices);
});

test('every operation and event has a panel here', () => {
	const choices = nodeNames().flatMap((node) =>
		selectable(node).map(({ value }) => `${node} ${value}`),
	);
	const shown = PANELS.flatMap(([node, chosen]) => {
		const { operation = node === 'lifelogAudio' ? 'download' : 'getMany' } = chosen;
		const selected = [chosen.events ?? chosen.event ?? operation].flat();
		return selected.map((value) => `${node} ${String(value)}`);
	});
	expect([...new Set(shown)].sort()).toEqual(choices.sort());
});

// The editor lists the actions of a node only if its resource has choices, and by their operation.
test.each(nodeNames().filter((node) => !isTrigger(node)))(
	'every operation of %s is an action in the nodes panel',
	(node) => {
		const resource = descriptionOf(node).properties.find(({ name }) => name === 'resource');
		expect(resource?.options).toHaveLength(1);
		for (const { name, action } of choicesOf(node, 'operation')) {
			expect([name, action]).toEqual([name, expect.stringMatching(/^[A-Z]/)]);
		}
	},
);

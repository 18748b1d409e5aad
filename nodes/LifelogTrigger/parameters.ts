import type { INodeProperties, INodePropertyOptions, IPollFunctions } from 'n8n-workflow';

import * as chats from '../shared/parameters/chatOutput';
import * as shared from '../shared/parameters/descriptions';
import * as output from '../shared/parameters/output';
import * as read from '../shared/parameters/read';
import { promptIdOf } from '../shared/parameters/resourceLocator';

const CHAT_EVENT = 'scheduledChatCreated';
const LOOKBACK_RULE = { unit: 'days', isWhole: true, min: 2, max: 31 };
const SETTLE_RULE = { unit: 'minutes', isWhole: true, max: 1440 };

const CHANGES: Record<string, Settings['changes']> = {
	lifelogCreatedOrUpdated: ['created', 'updated'],
	lifelogCreated: ['created'],
	lifelogUpdated: ['updated'],
	[CHAT_EVENT]: [],
};

export const eventOptions: INodePropertyOptions[] = [
	{
		name: 'Lifelog Created or Updated',
		value: 'lifelogCreatedOrUpdated',
		description: 'New or changed: several times while a lifelog grows, unless you set Settle',
	},
	{
		name: 'Lifelog Created',
		value: 'lifelogCreated',
		description: 'A lifelog is new, even if it was uploaded days late',
	},
	{
		name: 'Lifelog Updated',
		value: 'lifelogUpdated',
		description: 'A known lifelog or its star has changed. While it grows, see Settle.',
	},
	{
		name: 'Scheduled Chat Created',
		value: CHAT_EVENT,
		description: 'A scheduled prompt has been answered',
	},
];

export const properties: INodeProperties[] = [
	{
		displayName: 'Every 10 minutes is enough: polls miss nothing',
		name: 'pollTimesNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Trigger On',
		name: 'event',
		type: 'options',
		noDataExpression: true,
		options: eventOptions,
		default: 'lifelogCreatedOrUpdated',
		description: 'Event that starts the workflow',
	},
	...shared.withCondition({ show: { event: [CHAT_EVENT] } }, [
		...chats.chatOutputParameters,
		shared.filtersOf([shared.promptIdFilter]),
	]),
	...shared.withCondition({ hide: { event: [CHAT_EVENT] } }, [
		...output.outputParameters,
		shared.filtersOf([
			{
				...shared.isStarredFilter,
				description:
					'Whether to report only lifelogs that are starred (on) or only the others (off), at the time of the change. Leave this filter out for both.',
			},
		]),
	]),
	shared.optionsOf([
		...shared.withCondition({ hide: { '/event': [CHAT_EVENT] } }, [
			{ ...shared.includeOptions.includeContents, default: false },
			shared.includeOptions.includeHeadings,
			shared.includeOptions.includeMarkdown,
		]),
		{
			displayName: 'Look-Back (Days)',
			name: 'lookbackDays',
			type: 'number',
			typeOptions: { minValue: 2, maxValue: 31 },
			default: 7,
			description:
				"Number of days to watch, including today (2 to 31). Earlier lifelogs aren't noticed. A change on a day before yesterday may be noticed some polls later.",
		},
		{
			displayName: 'Settle (Minutes)',
			name: 'settleMinutes',
			type: 'number',
			typeOptions: { minValue: 0, maxValue: 1440 },
			default: 0,
			displayOptions: { hide: { '/event': [CHAT_EVENT] } },
			description:
				'Minutes that a lifelog must stay unchanged before it is reported (0 to 1440). A lifelog that is still growing then starts the workflow only once.',
		},
		shared.timezoneOption,
	]),
];

/** What the trigger watches. If it changes, the saved state no longer applies. */
export interface Watch {
	kind: 'lifelogs' | 'chats';
	credential: string; // its ID, never its key
	prompt: string; // of scheduled chats, '' for all
}

export interface Settings {
	watch: Watch;
	lookbackDays: number;
	timezone: string; // IANA name
	changes: Array<'created' | 'updated'>;
	isStarred?: boolean; // undefined for both
	settleMs: number;
	include: output.Parts;
	output: output.Output;
	chatOutput: chats.ChatOutput;
}

/** @throws NodeOperationError on values that can't be used. */
export function readSettings(context: IPollFunctions): Settings {
	const parameter = (name: string, unset?: unknown) =>
		context.getNodeParameter(name, unset) as unknown;
	const event = read.readChoice(context, parameter('event'), Object.keys(CHANGES), 'Trigger On');
	const filters = read.withoutBlanks(context, parameter('filters', {}));
	const options = read.withoutBlanks(context, parameter('options', {}));
	const { lookbackDays = 7, settleMinutes = 0 } = options;
	const isChats = event === CHAT_EVENT;
	const given = parameter('output', 'simplified');
	const fields = parameter('fields', []);
	const form = output.readOutput(context, isChats ? 'raw' : given, fields);
	const chatOutput = chats.readChatOutput(context, isChats ? given : 'simplified', fields);
	return {
		watch: {
			kind: isChats ? 'chats' : 'lifelogs',
			credential: context.getNode().credentials?.lifelogApi?.id ?? '',
			prompt: (isChats && promptIdOf(context, filters.globalPromptId)) || '',
		},
		lookbackDays: read.readNumber(context, lookbackDays, 'Look-Back', LOOKBACK_RULE),
		timezone: read.readZone(context, options.timezone),
		changes: CHANGES[event],
		isStarred: read.readBoolean(context, filters.isStarred, 'Is Starred'),
		settleMs: 60_000 * read.readNumber(context, settleMinutes, 'Settle', SETTLE_RULE),
		include: output.partsFor(form, read.readParts(context, options, false)),
		output: form,
		chatOutput,
	};
}

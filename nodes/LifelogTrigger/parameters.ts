import type { INodeProperties, IPollFunctions } from 'n8n-workflow';

import {
	type ChatOutput,
	chatOutputParameters,
	readChatOutput,
} from '../shared/parameters/chatOutput';
import { shownIf } from '../shared/parameters/conditions';
import {
	filtersOf,
	isStarredFilter,
	optionsOf,
	promptIdFilter,
	readPromptId,
} from '../shared/parameters/lists';
import { outputParameters } from '../shared/parameters/output';
import {
	choices,
	readBoolean,
	readChoice,
	readNumber,
	withoutBlanks,
} from '../shared/parameters/read';
import {
	partsOptions,
	readReported,
	type Reported,
	shownOutput,
} from '../shared/parameters/reported';
import { timezoneOption } from '../shared/parameters/times';

const CHAT_EVENT = 'scheduledChatCreated';

export const eventParameter = choices({
	displayName: 'Trigger On',
	name: 'event',
	type: 'options',
	noDataExpression: true,
	options: [
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
	],
	default: 'lifelogCreatedOrUpdated',
	description: 'Event that starts the workflow',
});

/** What each event reports of a lifelog. */
const CHANGES: Record<string, Settings['changes']> = {
	lifelogCreatedOrUpdated: ['created', 'updated'],
	lifelogCreated: ['created'],
	lifelogUpdated: ['updated'],
	[CHAT_EVENT]: [],
};

const LIFELOG_EVENTS = Object.keys(CHANGES).filter((event) => event !== CHAT_EVENT);

const lookbackOption: INodeProperties = {
	displayName: 'Look-Back (Days)',
	name: 'lookbackDays',
	type: 'number',
	typeOptions: { minValue: 2, maxValue: 31, numberPrecision: 0 },
	default: 7,
	description:
		"Number of days to watch, including today (2 to 31). Earlier lifelogs aren't noticed. A change on a day before yesterday may be noticed some polls later.",
};

const settleOption: INodeProperties = {
	displayName: 'Settle (Minutes)',
	name: 'settleMinutes',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 1440, numberPrecision: 0 },
	default: 0,
	description:
		'Minutes that a lifelog must stay unchanged before it is reported (0 to 1440). A lifelog that is still growing then starts the workflow only once.',
};

export const properties: INodeProperties[] = [
	{
		displayName: 'Every 10 minutes is enough: polls miss nothing',
		name: 'pollTimesNotice',
		type: 'notice',
		default: '',
	},
	eventParameter,
	...shownIf({ event: [CHAT_EVENT] }, [...chatOutputParameters, filtersOf([promptIdFilter])]),
	...shownIf({ event: LIFELOG_EVENTS }, [
		...outputParameters,
		filtersOf([
			{
				...isStarredFilter,
				description:
					'Whether to report only lifelogs that are starred (on) or only the others (off), at the time of the change. Leave this filter out for both.',
			},
		]),
	]),
	optionsOf([
		...shownIf({ '/event': LIFELOG_EVENTS }, partsOptions),
		lookbackOption,
		...shownIf({ '/event': LIFELOG_EVENTS }, [settleOption]),
		timezoneOption,
	]),
];

/** What the trigger watches. If it changes, the saved state no longer applies. */
export interface Watch {
	kind: 'lifelogs' | 'chats';
	credential: string; // its ID, never its key
	prompt: string; // of scheduled chats, '' for all
}

export interface Settings extends Reported {
	watch: Watch;
	lookbackDays: number;
	changes: Array<'created' | 'updated'>;
	isStarred?: boolean; // undefined for both
	settleMs: number;
	chatOutput: ChatOutput;
}

/** @throws NodeOperationError on values that can't be used. */
export function readSettings(context: IPollFunctions): Settings {
	const parameter = (name: string, unset?: unknown) => context.getNodeParameter(name, unset);
	const event = readChoice(context, eventParameter, { event: parameter('event') });
	const filters = withoutBlanks(parameter('filters', {}));
	const options = withoutBlanks(parameter('options', {}));
	const isChats = event === CHAT_EVENT;
	return {
		watch: {
			kind: isChats ? 'chats' : 'lifelogs',
			credential: context.getNode().credentials?.lifelogApi?.id ?? '',
			prompt: (isChats && readPromptId(context, filters)) || '',
		},
		lookbackDays: readNumber(context, lookbackOption, options),
		changes: CHANGES[event],
		isStarred: readBoolean(context, isStarredFilter, filters),
		settleMs: 60_000 * readNumber(context, settleOption, options),
		...readReported(context, options, isChats ? { kind: 'raw', fields: [] } : undefined),
		chatOutput: isChats
			? readChatOutput(context, shownOutput(context))
			: { kind: 'simplified', fields: [] },
	};
}

import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

export const DEFAULT_MAX_WAIT_S = 300;
export const MAX_LIMIT_OF_TOOL = 100;

export const limitParameter: INodeProperties = {
	displayName: 'Limit',
	name: 'limit',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 50,
	description: 'Max number of results to return',
};

/** n8n's picker empties the field on any other form, or keeps the older date. */
const DAY_HINT = 'Pick a day, or type it as 2026-11-25';
export const TIME_HINT = 'Pick a time, or type it as 2026-11-25 09:30:00';

/** The node needs `methods.loadOptions.getTimezones`. */
export const timezoneOption: INodeProperties = {
	displayName: 'Time Zone Name or ID',
	name: 'timezone',
	type: 'options',
	typeOptions: { loadOptionsMethod: 'getTimezones' },
	default: '',
	description:
		'Time zone of all dates and times, as an IANA name such as Europe/Berlin. Defaults to the time zone of the workflow. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
};

export const maxWaitOption: INodeProperties = {
	displayName: 'Max Rate Limit Wait (Seconds)',
	name: 'maxWait',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: DEFAULT_MAX_WAIT_S,
	description: 'Maximum time one request may wait for the rate limit. A longer wait fails at once.',
};

/** `readLimit` reads them. */
export const limitParameters: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		displayOptions: { show: { '@tool': [false] } },
		description: 'Whether to return all results or only up to a given limit',
	},
	{ ...limitParameter, displayOptions: { show: { '@tool': [false], returnAll: [false] } } },
	{
		...limitParameter,
		typeOptions: { minValue: 1, maxValue: MAX_LIMIT_OF_TOOL },
		displayOptions: { show: { '@tool': [true] } },
		description: `Max number of results to return, at most ${MAX_LIMIT_OF_TOOL}`,
	},
];

export const directionOption: INodeProperties = {
	displayName: 'Direction',
	name: 'direction',
	type: 'options',
	options: [
		{ name: 'Newest First', value: 'desc' },
		{ name: 'Oldest First', value: 'asc' },
	],
	default: 'desc',
	description: 'Order of the results',
};

const dayParameter: INodeProperties = {
	displayName: 'Day',
	name: 'day',
	type: 'options',
	options: [
		{ name: 'Yesterday', value: 'yesterday', description: 'The last complete day' },
		{ name: 'Today', value: 'today', description: 'Today so far' },
		{ name: 'Date', value: 'date', description: 'A day of your choice' },
	],
	default: 'yesterday',
	description: 'Day to use',
	hint: "In the workflow's time zone, unless you add the option Time Zone Name or ID",
};

/** `readDay` reads them. */
export const dayParameters: INodeProperties[] = [
	...withDefaultOfTool(dayParameter, 'date'),
	...dateParameters('day', ['yesterday', 'today', 'date'], 'The day'),
];

/**
 * The parameter Date, for the choice `date` of another parameter. It is required only then: n8n also
 * shows and requires what depends on an expression, whatever that returns.
 *
 * @param chosenBy The other parameter. @param choices Its values.
 */
export function dateParameters(
	chosenBy: string,
	choices: readonly string[],
	description: string,
): INodeProperties[] {
	const date: INodeProperties = {
		displayName: 'Date',
		name: 'date',
		type: 'dateTime',
		typeOptions: { dateOnly: true },
		default: '',
		description,
		hint: DAY_HINT,
	};
	const ofTool = fromAi('Date', 'The day: YYYY-MM-DD, today or yesterday');
	const ifChosen = { hide: { [chosenBy]: [{ _cnd: { not: 'date' } }] } };
	const ifExpression = { hide: { [chosenBy]: [...choices] } };
	return [
		...withCondition(ifChosen, withDefaultOfTool({ ...date, required: true }, ofTool)),
		...withCondition(ifExpression, withDefaultOfTool(date, ofTool)),
	];
}

/** `readBinaryProperty` reads it. */
export const binaryPropertyParameter: INodeProperties = {
	displayName: 'Put Output File in Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	description: 'Field from which later nodes read the file',
	hint: 'The name of the output binary field to put the file in',
};

/** Some options count only for the API's own text, or Fields decides them. */
export const HIDDEN_IF_SIMPLIFIED = { hide: { '/output': ['simplified'] } };
const HIDDEN_IF_SELECTED = { hide: { '/output': ['selectedFields'] } };
const HIDDEN_UNLESS_RAW = { hide: { '/output': ['simplified', 'selectedFields'] } };

export const includeOptions = {
	includeContents: {
		displayName: 'Include Contents',
		name: 'includeContents',
		type: 'boolean',
		default: true,
		displayOptions: HIDDEN_IF_SELECTED,
		description: 'Whether to include who said what and when, as structured contents',
	},
	includeHeadings: {
		displayName: 'Include Headings',
		name: 'includeHeadings',
		type: 'boolean',
		default: true,
		displayOptions: HIDDEN_IF_SIMPLIFIED,
		description: 'Whether to keep the headings in the Markdown and the contents',
	},
	includeMarkdown: {
		displayName: 'Include Markdown',
		name: 'includeMarkdown',
		type: 'boolean',
		default: true,
		displayOptions: HIDDEN_UNLESS_RAW,
		description: 'Whether to include the whole text as Markdown',
	},
} satisfies Record<string, INodeProperties>;

export const isStarredFilter = {
	displayName: 'Is Starred',
	name: 'isStarred',
	type: 'boolean',
	default: true,
} satisfies INodeProperties;
export const promptIdFilter = {
	displayName: 'Global Prompt ID',
	name: 'globalPromptId',
	type: 'string',
	default: '',
	placeholder: 'e.g. 8f2kQ0pXw1Zr5TnB',
	description: 'Include only chats of the scheduled prompt with this ID',
} satisfies INodeProperties;
export const isScheduledFilter = {
	displayName: 'Is Scheduled',
	name: 'isScheduled',
	type: 'boolean',
	default: true,
	description:
		'Whether to return only chats of scheduled prompts (on) or only the others (off). Leave this filter out for both.',
} satisfies INodeProperties;

/** @param options In the order of their names, as n8n wants them. */
export function optionsOf(options: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options,
	};
}

export function filtersOf(filters: INodeProperties[]): INodeProperties {
	const names = { displayName: 'Filters', name: 'filters', placeholder: 'Add Filter' };
	return { ...optionsOf(filters), ...names };
}

/** A parameter once for workflows, and once for tools with another default. */
export function withDefaultOfTool(
	parameter: INodeProperties,
	ofTool: INodeProperties['default'],
): INodeProperties[] {
	return [
		...withCondition({ show: { '@tool': [false] } }, [parameter]),
		...withCondition({ show: { '@tool': [true] } }, [{ ...parameter, default: ofTool }]),
	];
}

export function withCondition(
	{ show, hide }: IDisplayOptions,
	parameters: INodeProperties[],
): INodeProperties[] {
	return parameters.map(({ displayOptions, ...parameter }) => ({
		...parameter,
		displayOptions: {
			...displayOptions,
			...(show && { show: { ...displayOptions?.show, ...show } }),
			...(hide && { hide: { ...displayOptions?.hide, ...hide } }),
		},
	}));
}

/** The editor's expression for a field that is left to the model. */
export function fromAi(name: string, description: string): string {
	return `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${name}', \`${description}\`, 'string') }}`;
}

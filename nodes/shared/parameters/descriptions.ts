import type { INodeProperties } from 'n8n-workflow';

export const DEFAULT_MAX_WAIT_S = 300;
/** How many entries a list gives a model at most. */
export const MAX_LIMIT_OF_TOOL = 100;

const LIMIT: INodeProperties = {
	displayName: 'Limit',
	name: 'limit',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 50,
	description: 'Max number of results to return',
};

/** The option of all operations that says which zone times are in; the node needs `methods.loadOptions.getTimezones`. */
export const timezoneOption: INodeProperties = {
	displayName: 'Time Zone Name or ID',
	name: 'timezone',
	type: 'options',
	typeOptions: { loadOptionsMethod: 'getTimezones' },
	default: '',
	description:
		'IANA name of the time zone that dates are read in and times are written in, such as Europe/Berlin. Defaults to the time zone of the workflow. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
};

/** The option of all operations that bounds the wait for the rate limit. */
export const maxWaitOption: INodeProperties = {
	displayName: 'Max Rate Limit Wait (Seconds)',
	name: 'maxWait',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: DEFAULT_MAX_WAIT_S,
	description:
		'How long one request may pause when the service says that too many were made. A longer pause fails at once.',
};

/** The parameters that say how many entries are wanted; `readLimit` reads them. */
export const limitParameters: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		displayOptions: { show: { '@tool': [false] } },
		description: 'Whether to return all results or only up to a given limit',
	},
	{ ...LIMIT, displayOptions: { show: { '@tool': [false], returnAll: [false] } } },
	{
		...LIMIT,
		typeOptions: { minValue: 1, maxValue: MAX_LIMIT_OF_TOOL },
		displayOptions: { show: { '@tool': [true] } },
		description: `Max number of results to return, at most ${MAX_LIMIT_OF_TOOL}`,
	},
];

/** The option that lists oldest or newest first. */
export const directionOption: INodeProperties = {
	displayName: 'Direction',
	name: 'direction',
	type: 'options',
	options: [
		{ name: 'Newest First', value: 'desc' },
		{ name: 'Oldest First', value: 'asc' },
	],
	default: 'desc',
	description: 'The order in which entries are listed: desc (newest first) or asc (oldest first)',
};

/** The parameter that names the binary field of a file; `readBinaryProperty` reads it. */
export const binaryPropertyParameter: INodeProperties = {
	displayName: 'Put Output File in Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	description: 'Name of the field of the output that the file is put into',
	hint: 'The name of the output binary field to put the file in',
};

/** The options that say which parts of a lifelog are sent. */
export const includeOptions = {
	includeContents: {
		displayName: 'Include Contents',
		name: 'includeContents',
		type: 'boolean',
		default: true,
		description: 'Whether to include who said what and when, as structured contents',
	},
	includeHeadings: {
		displayName: 'Include Headings',
		name: 'includeHeadings',
		type: 'boolean',
		default: true,
		description: 'Whether to keep the headings in the Markdown and the contents',
	},
	includeMarkdown: {
		displayName: 'Include Markdown',
		name: 'includeMarkdown',
		type: 'boolean',
		default: true,
		description: 'Whether to include the whole text as Markdown',
	},
} satisfies Record<string, INodeProperties>;

/** The collection Options; its items stand in the order of their names, as n8n wants them. */
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

/** The collection Filters. */
export function filtersOf(filters: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Filters',
		name: 'filters',
		type: 'collection',
		placeholder: 'Add Filter',
		default: {},
		options: filters,
	};
}

/** A parameter once for workflows, and once for tools with another default. */
export function withDefaultOfTool(
	parameter: INodeProperties,
	ofTool: INodeProperties['default'],
): INodeProperties[] {
	const shownIf = (isTool: boolean) => ({
		displayOptions: { show: { ...parameter.displayOptions?.show, '@tool': [isTool] } },
	});
	return [
		{ ...parameter, ...shownIf(false) },
		{ ...parameter, default: ofTool, ...shownIf(true) },
	];
}

/** What the editor writes when a field is left to the model, with a description for it. */
export function fromAi(name: string, description: string): string {
	return `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${name}', \`${description}\`, 'string') }}`;
}

// The options that choose the parts of a lifelog.
import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { ApiContext } from '../auth/connection';
import { readBoolean } from './read';

/** The parts of a lifelog to request (specification, section 4.2). */
export interface Parts {
	includeMarkdown: boolean;
	includeHeadings: boolean;
	includeContents: boolean;
}

/** Some options count only for the API's own text, or Fields decides them. */
export const HIDDEN_IF_SIMPLIFIED = { hide: { '/output': ['simplified'] } };
const HIDDEN_IF_SELECTED = { hide: { '/output': ['selectedFields'] } };
const HIDDEN_UNLESS_RAW = { hide: { '/output': ['simplified', 'selectedFields'] } };

export const includeContentsOption: INodeProperties = {
	displayName: 'Include Contents',
	name: 'includeContents',
	type: 'boolean',
	default: true,
	displayOptions: HIDDEN_IF_SELECTED,
	description: 'Whether to include who said what and when, as structured contents',
};

export const includeHeadingsOption: INodeProperties = {
	displayName: 'Include Headings',
	name: 'includeHeadings',
	type: 'boolean',
	default: true,
	displayOptions: HIDDEN_IF_SIMPLIFIED,
	description: 'Whether to keep the headings in the Markdown and the contents',
};

export const includeMarkdownOption: INodeProperties = {
	displayName: 'Include Markdown',
	name: 'includeMarkdown',
	type: 'boolean',
	default: true,
	displayOptions: HIDDEN_UNLESS_RAW,
	description: 'Whether to include the whole text as Markdown',
};

/**
 * The parts of a lifelog to request, all sent explicitly because the service's defaults aren't
 * certain.
 *
 * @param contents Whether contents are wanted if the option isn't set.
 */
export function readParts(context: ApiContext, options: IDataObject, contents: boolean): Parts {
	return {
		includeMarkdown: readBoolean(context, includeMarkdownOption, options) ?? true,
		includeHeadings: readBoolean(context, includeHeadingsOption, options) ?? true,
		includeContents: readBoolean(context, includeContentsOption, options) ?? contents,
	};
}

// What triggers report of a lifelog.
import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { Lifelog } from '../../../lifelog/api.ts';
import type { TriggerContext } from '../auth/connection';
import { type Output, outputOf, partsFor, readOutput } from './output';
import {
	includeContentsOption,
	includeHeadingsOption,
	includeMarkdownOption,
	type Parts,
	readParts,
} from './parts';
import { readZone } from './times';

/** The options that choose the parts of a lifelog; {@link readReported} reads them. */
export const partsOptions: INodeProperties[] = [
	{ ...includeContentsOption, default: false },
	includeHeadingsOption,
	includeMarkdownOption,
];

/** What is requested of a lifelog, and what is reported of it. */
export interface Reported {
	output: Output;
	include: Parts;
	timezone: string; // IANA name
}

/** @throws NodeOperationError on values that can't be used. */
export function readReported(
	context: TriggerContext,
	options: IDataObject,
	output = readOutput(context, shownOutput(context)),
): Reported {
	return {
		output,
		include: partsFor(output, readParts(context, options, false)),
		timezone: readZone(context, options),
	};
}

/** The values of Output and Fields, which may be hidden. */
export function shownOutput(context: TriggerContext): IDataObject {
	return {
		output: context.getNodeParameter('output', 'simplified'),
		fields: context.getNodeParameter('fields', []),
	};
}

/** A lifelog as it is reported. @param isWhole Whether it was read with all that was requested. */
export function reportedJson(
	lifelog: Lifelog,
	{ output, include, timezone }: Reported,
	isWhole = true,
): IDataObject {
	const includeContents = include.includeContents && isWhole;
	return outputOf(lifelog, output, { timezone, includeContents });
}

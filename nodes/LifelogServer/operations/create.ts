import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import { inputError } from '../../shared/errors/nodeErrors';
import { optionsOf, timezoneOption } from '../../shared/parameters/descriptions';
import { outputOfItem, outputParameters } from '../../shared/parameters/output';
import {
	readBoolean,
	readCollection,
	readInstant,
	readText,
	readZone,
} from '../../shared/parameters/read';
import { isBlank, trimmedText } from '../../../lifelog/text.ts';
import { changedJson, sendChange } from '../change';

export const description: INodeProperties[] = [
	{
		displayName: 'Start Time',
		name: 'startTime',
		type: 'dateTime',
		default: '',
		description:
			'Start of the transcript. Leave it empty for an Omi conversation, which has its own start.',
		hint: 'Needed, except for an Omi conversation',
	},
	{
		displayName: 'Transcript',
		name: 'transcript',
		type: 'string',
		typeOptions: { rows: 6 },
		default: '',
		required: true,
		placeholder: 'e.g. [{"text": "Hello", "speaker": "Anna", "start": 0.4, "end": 1.2}]',
		description:
			'A list of segments, the JSON of an OpenAI-compatible transcription, an Omi conversation, SRT or WebVTT',
		hint: 'SRT, WebVTT, an Omi conversation, or the JSON of a transcription',
	},
	{
		displayName: 'Title',
		name: 'title',
		type: 'string',
		default: '',
		description: 'Title of the lifelog. Without one, the server chooses one from the transcript.',
	},
	...outputParameters,
	optionsOf([
		{
			displayName: 'Add Again If Deleted',
			name: 'again',
			type: 'boolean',
			default: true,
			description: 'Whether to create the lifelog again if you deleted it',
		},
		{
			displayName: 'End Time',
			name: 'endTime',
			type: 'dateTime',
			default: '',
			description: 'End of the lifelog. Defaults to the end of the last segment.',
		},
		{
			displayName: 'External ID',
			name: 'externalId',
			type: 'string',
			default: '',
			description:
				"Your own ID for the lifelog. Using the same ID again doesn't create a second lifelog.",
		},
		timezoneOption,
	]),
];

/**
 * Creates a lifelog from a transcript (lifelog-server, `POST /v1/lifelogs`).
 *
 * @returns One item: the lifelog, new or known by its external ID; `{ lifelog: null, status:
 *   'deleted' }` if it was deleted before, and isn't to be created again.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const options = readCollection(this, 'options', itemIndex);
	const { timezone: zoneOption, endTime, externalId } = options;
	const timezone = readZone(this, zoneOption);
	const time = (value: unknown, label: string) =>
		isBlank(value)
			? undefined
			: new Date(readInstant(this, value, timezone, 'start', label)).toISOString();
	const body = {
		startTime: time(this.getNodeParameter('startTime', itemIndex), 'Start Time'),
		endTime: time(endTime, 'End Time'),
		timezone,
		title: readText(this, 'title', itemIndex, 'Title') || undefined,
		externalId: trimmedText(externalId) || undefined,
		again: readBoolean(this, options.again, 'Add Again If Deleted') || undefined,
		transcript: readTranscript(this, itemIndex) as IDataObject,
	};
	const output = outputOfItem(this, itemIndex);
	const lifelog = await sendChange(api, body);
	return [{ json: 'id' in lifelog ? changedJson(lifelog, output, timezone) : lifelog }];
}

/** A text, or what an expression returns: a list of segments, or an object with them. */
function readTranscript(context: IExecuteFunctions, itemIndex: number): unknown {
	const value = context.getNodeParameter('transcript', itemIndex) as unknown;
	if (typeof value === 'object' && value !== null) return asJson(context, value);
	if (trimmedText(value) !== '') return value;
	throw inputError(
		context,
		"'Transcript' is empty",
		'Enter a list of segments, the JSON of a transcription, an Omi conversation, SRT or WebVTT. Nothing was sent.',
	);
}

/** As text, which the server takes, too: not every object of an expression can be written as JSON. */
function asJson(context: IExecuteFunctions, value: object): string {
	try {
		return JSON.stringify(value);
	} catch {
		throw inputError(
			context,
			"'Transcript' is an object that can't be written as JSON",
			'Enter a list of segments, or the object of a transcription. Nothing was sent.',
		);
	}
}

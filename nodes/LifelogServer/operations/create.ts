import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { trimmedText } from '../../../lifelog/text.ts';
import type { Api } from '../../shared/auth/connection';
import { inputError } from '../../shared/errors/nodeErrors';
import { optionsOf } from '../../shared/parameters/lists';
import { outputParameters, readOutput } from '../../shared/parameters/output';
import {
	type Place,
	readBoolean,
	readCollection,
	readText,
	valueOf,
} from '../../shared/parameters/read';
import { readInstantIfSet, readZone, timezoneOption } from '../../shared/parameters/times';
import { changedJson, sendChange } from '../change';
import { againOption, externalIdOption, startTimeParameter, titleParameter } from '../parameters';

const transcriptParameter: INodeProperties = {
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
};

const endTimeOption: INodeProperties = {
	displayName: 'End Time',
	name: 'endTime',
	type: 'dateTime',
	default: '',
	description: 'End of the lifelog. Defaults to the end of the last segment.',
};

export const description: INodeProperties[] = [
	{
		...startTimeParameter,
		description:
			'Start of the transcript. Leave it empty for an Omi conversation, which has its own start.',
		hint: 'Needed, except for an Omi conversation',
	},
	transcriptParameter,
	titleParameter,
	...outputParameters,
	optionsOf([againOption, endTimeOption, externalIdOption, timezoneOption]),
];

/**
 * Creates a lifelog from a transcript (lifelog-server, `POST /v1/lifelogs`).
 *
 * @returns One item: the lifelog, new or known by its external ID; `{ lifelog: null, status:
 *   'deleted' }` if it was deleted before, and isn't to be created again.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const options = readCollection(this, 'options', itemIndex);
	const timezone = readZone(this, options);
	const time = (parameter: INodeProperties, place: Place) => {
		const instant = readInstantIfSet(this, parameter, place, timezone, 'start');
		return instant === undefined ? undefined : new Date(instant).toISOString();
	};
	const body = {
		startTime: time(startTimeParameter, itemIndex),
		endTime: time(endTimeOption, options),
		timezone,
		title: readText(this, titleParameter, itemIndex) || undefined,
		externalId: readText(this, externalIdOption, options) || undefined,
		again: readBoolean(this, againOption, options) || undefined,
		transcript: readTranscript(this, itemIndex) as IDataObject,
	};
	const output = readOutput(this, itemIndex);
	const lifelog = await sendChange(api, body);
	return [{ json: 'id' in lifelog ? changedJson(lifelog, output, timezone) : lifelog }];
}

/** A text, or what an expression returns: a list of segments, or an object with them. */
function readTranscript(context: IExecuteFunctions, itemIndex: number): unknown {
	const value = valueOf(context, transcriptParameter, itemIndex);
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

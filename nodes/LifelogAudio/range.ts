import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { toInstant } from '../../lifelog/times.ts';
import { getLifelog, METADATA_ONLY } from '../shared/api/entries';
import type { Api } from '../shared/auth/connection';
import { inputError } from '../shared/errors/nodeErrors';
import { unusableAnswerError } from '../shared/errors/status';
import { ifChosen } from '../shared/parameters/conditions';
import { choices, readChoice, readNumber } from '../shared/parameters/read';
import {
	lifelogIdParameter,
	lifelogIdParameters,
	readId,
} from '../shared/parameters/resourceLocator';
import { dayParameters, readDay, readInstant, TIME_HINT } from '../shared/parameters/times';

/** Epoch ms, the end not included. */
export interface TimeSpan {
	startMs: number;
	endMs: number;
}

export interface AudioRange extends TimeSpan {
	lifelogId?: string;
	title?: unknown;
	/** The device whose audio is wanted; undefined for the service's choice. */
	audioSource?: string;
}

const sourceParameter = choices({
	displayName: 'Source',
	name: 'source',
	type: 'options',
	options: [
		{
			name: 'Lifelog',
			value: 'lifelog',
			description: 'The audio of one lifelog',
		},
		{
			name: 'Day',
			value: 'day',
			description: 'The audio of a whole day',
		},
		{
			name: 'Time Range',
			value: 'timeRange',
			description: 'The audio between two times, however long',
		},
	],
	default: 'lifelog',
	description: 'Source of the audio',
});

const startParameter: INodeProperties = {
	displayName: 'Start',
	name: 'start',
	type: 'dateTime',
	default: '',
	description: 'Start of the audio',
	hint: TIME_HINT,
};

const endParameter: INodeProperties = {
	displayName: 'End',
	name: 'end',
	type: 'dateTime',
	default: '',
	description: 'End of the audio. A date without a time includes that day.',
	hint: TIME_HINT,
};

export const paddingOption: INodeProperties = {
	displayName: 'Padding (Seconds)',
	name: 'padding',
	type: 'number',
	typeOptions: { minValue: 0 },
	displayOptions: { show: { '/source': ['lifelog'] } },
	default: 0,
	description: 'Seconds of audio to add before and after the lifelog',
};

/** What to download; {@link readAudioRange} reads it. */
export const rangeParameters: INodeProperties[] = [
	sourceParameter,
	...ifChosen('source', 'day', dayParameters),
	...ifChosen('source', 'timeRange', [startParameter, endParameter]),
	...ifChosen(
		'source',
		'lifelog',
		lifelogIdParameters(
			'The lifelog whose audio to download. Its ID is the id that a list or a search returns.',
		),
	),
];

/**
 * The range of an input item.
 *
 * @param options The options of the operation.
 * @returns Not empty, in whole milliseconds: fractions are rounded outward.
 * @throws NodeOperationError on values that can't be used; NodeApiError if the lifelog can't be read.
 */
export async function readAudioRange(
	context: IExecuteFunctions,
	api: Api,
	itemIndex: number,
	zone: string,
	options: IDataObject,
): Promise<AudioRange> {
	switch (readChoice(context, sourceParameter, itemIndex)) {
		case 'lifelog':
			return await rangeOfLifelog(context, api, itemIndex, zone, options);
		case 'day':
			return rangeOfDay(context, api, itemIndex, zone);
		case 'timeRange':
			return timeRange(context, itemIndex, zone);
	}
}

function timeRange(context: IExecuteFunctions, itemIndex: number, zone: string): AudioRange {
	const startMs = readInstant(context, startParameter, itemIndex, zone, 'start');
	const endMs = readInstant(context, endParameter, itemIndex, zone, 'until');
	if (endMs <= startMs) {
		// The end of a day is the beginning of the next one.
		const isReversed = readInstant(context, endParameter, itemIndex, zone, 'start') < startMs;
		throw inputError(
			context,
			isReversed ? "'Start' is later than 'End'" : "'Start' and 'End' are the same",
			"Audio is downloaded from 'Start' up to 'End'. Enter an 'End' that is later.",
		);
	}
	return { startMs: Math.floor(startMs), endMs: Math.ceil(endMs) };
}

/** The range of a day; today ends now. */
function rangeOfDay(
	context: IExecuteFunctions,
	api: Api,
	itemIndex: number,
	zone: string,
): AudioRange {
	const day = readDay(context, itemIndex, zone);
	const startMs = toInstant(day, zone, 'start')!;
	const endMs = toInstant(day, zone, 'until')!;
	const now = api.run.serviceTime ?? Date.now();
	if (startMs >= now) {
		throw inputError(
			context,
			`The day ${day} has not begun yet in ${zone}`,
			"Choose an earlier day, or set the option 'Time Zone Name or ID'.",
		);
	}
	return { startMs, endMs: Math.min(endMs, Math.ceil(now)) };
}

async function rangeOfLifelog(
	context: IExecuteFunctions,
	api: Api,
	itemIndex: number,
	zone: string,
	options: IDataObject,
): Promise<AudioRange> {
	const lifelogId = readId(context, lifelogIdParameter, itemIndex, 'lifelog');
	const padding = readNumber(context, paddingOption, options);
	const lifelog = await getLifelog(api, lifelogId, { timezone: zone, ...METADATA_ONLY });
	api.run.isServiceKnown = true;
	const startMs = toInstant(lifelog.startTime, zone, 'start');
	const endMs = toInstant(lifelog.endTime, zone, 'end');
	if (startMs === undefined || endMs === undefined) {
		const resource = { noun: 'lifelog', id: lifelogId };
		throw unusableAnswerError(api, resource, {}, 'the lifelog has no start or no end');
	}
	const range = widen(
		{ startMs, endMs },
		Math.round(padding * 1000),
		api.run.serviceTime ?? Date.now(),
	);
	if (range.endMs <= range.startMs) {
		throw inputError(
			context,
			`The lifelog "${lifelogId}" has no length`,
			"It ends when it starts. To download the audio around it, set the option 'Padding'.",
		);
	}
	return { ...range, ...sourceOf(lifelogId), lifelogId, title: lifelog.title };
}

/** lifelog-server made this lifelog from a recording. The pendant may have audio of the same time. */
const sourceOf = (lifelogId: string) =>
	lifelogId.startsWith('recorded-') ? { audioSource: 'recordings' } : {};

/** Adds padding on both sides, but not before 1970 or after `now`. A later end stays. */
export function widen({ startMs, endMs }: TimeSpan, paddingMs: number, now: number): TimeSpan {
	return {
		startMs: Math.max(0, startMs - paddingMs),
		endMs: Math.max(endMs, Math.min(endMs + paddingMs, now)),
	};
}

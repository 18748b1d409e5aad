import type { IExecuteFunctions } from 'n8n-workflow';

import type { Api } from '../shared/auth/connection';
import { toInstant } from '../../lifelog/times.ts';
import { inputError } from '../shared/errors/nodeErrors';
import { unusableAnswerError } from '../shared/errors/status';
import { readId } from '../shared/parameters/resourceLocator';
import { getLifelog, METADATA_ONLY } from '../shared/api/entries';
import { readDay, readInstant, readNumber } from '../shared/parameters/read';

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

export const SOURCES = ['lifelog', 'day', 'timeRange'] as const;

export interface RangeSettings {
	source: (typeof SOURCES)[number];
	zone: string;
	/** The option Padding, in seconds. */
	padding: unknown;
}

/**
 * The range of an input item.
 *
 * @returns Not empty, in whole milliseconds: fractions are rounded outward.
 * @throws NodeOperationError on values that can't be used; NodeApiError if the lifelog can't be read.
 */
export async function readAudioRange(
	context: IExecuteFunctions,
	api: Api,
	itemIndex: number,
	{ source, zone, padding }: RangeSettings,
): Promise<AudioRange> {
	if (source === 'lifelog') return await rangeOfLifelog(context, api, itemIndex, zone, padding);
	if (source === 'day') return rangeOfDay(context, api, itemIndex, zone);
	const value = (name: string) => context.getNodeParameter(name, itemIndex, undefined) as unknown;
	const startMs = readInstant(context, value('start'), zone, 'start', 'Start');
	const endMs = readInstant(context, value('end'), zone, 'until', 'End');
	if (endMs <= startMs) {
		// The end of a day is the beginning of the next one.
		const isReversed = readInstant(context, value('end'), zone, 'start', 'End') < startMs;
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
	const startMs = readInstant(context, day, zone, 'start', 'Date');
	const endMs = readInstant(context, day, zone, 'until', 'Date');
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
	given: unknown,
): Promise<AudioRange> {
	const lifelogId = readId(context, 'lifelogId', itemIndex, 'lifelog');
	const padding = readNumber(context, given ?? 0, 'Padding', { unit: 'seconds' });
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

import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { joinAdjacent, type TimeSpan } from './chunks';
import { inZone } from './files';
import type { FailedPart, Parts } from './parts';
import type { AudioRange } from './range';

/** What the items of a range have in common. */
export interface Setting {
	range: AudioRange;
	/** How many parts the range has, those without audio too. */
	parts: number;
	/** The time zone of their times; an IANA name. */
	zone: string;
	/** The binary field of the file. */
	property: string;
}

/**
 * The items of a range: one for each file, or a single one without a file where there is none. What
 * is missing and what failed stands on the first item alone, as a long range may have much of both.
 */
export function itemsOf(setting: Setting, parts: Parts): INodeExecutionData[] {
	const { property, zone } = setting;
	const whole = {
		missingRanges: joinAdjacent(parts.missing).map((span) => inZone(span, zone)),
		failedRanges: joinAlike(parts.failed).map(({ message, ...span }) => ({
			...inZone(span, zone),
			message,
		})),
	};
	const none = { missingRanges: [], failedRanges: [] };
	if (parts.stored.length === 0) return [{ json: jsonOf(setting, setting.range, {}, {}, whole) }];
	return parts.stored.map(({ span, part, file, binary }, index) => ({
		json: jsonOf(setting, span, { ...file }, { part }, index === 0 ? whole : none),
		binary: { [property]: binary },
	}));
}

/** The fields in the order in which people read them. */
function jsonOf(
	{ range: { lifelogId }, parts, zone }: Setting,
	span: TimeSpan,
	file: IDataObject,
	position: IDataObject,
	lists: IDataObject,
): IDataObject {
	const { startMs, endMs, startTime, endTime } = inZone(span, zone);
	return {
		startTime,
		endTime,
		...file,
		...position,
		parts,
		...(lifelogId !== undefined && { lifelogId }),
		...lists,
		startMs,
		endMs,
	};
}

/** Joins what lies end to end and failed in the same way. */
function joinAlike(failed: FailedPart[]): FailedPart[] {
	const joined: FailedPart[] = [];
	for (const part of failed) {
		const last = joined.at(-1);
		const isAlike = last?.endMs === part.startMs && last.message === part.message;
		if (isAlike) last.endMs = part.endMs;
		else joined.push({ ...part });
	}
	return joined;
}

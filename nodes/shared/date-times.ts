import { DateTime, IANAZone } from 'luxon';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Epoch values below this (1973) are taken for seconds given by mistake. */
const EARLIEST_MS = 100_000_000_000;

/** Which end of a range a date-time is: where it can be read in two ways, the wider one counts. */
export type Edge = 'start' | 'end';

/** A range of time as the lifelog list takes it. */
export interface Range {
	/** Wall-clock times in the zone, `YYYY-MM-DD HH:mm:ss` (specification, section 4.2). */
	query: { start?: string; end?: string };
	/** False for an entry that only a widening of the range let in; `startTime` is ISO 8601, without offset in the zone. */
	includes(startTime: string): boolean;
}

/**
 * The instant of a date-time: the editor's picker value, an ISO string with or without offset,
 * epoch milliseconds, or a luxon DateTime. Without offset it is wall-clock time in `zone`.
 *
 * @returns Epoch ms; undefined when the value is no date-time.
 */
export function toInstant(value: unknown, zone: string, edge: Edge): number | undefined {
	const read = readDateTime(value);
	if (read === undefined || 'instant' in read) return read?.instant;
	const instants = instantsOfWallClock(read.wallClock, zone);
	return edge === 'start' ? Math.min(...instants) : Math.max(...instants);
}

/**
 * The date of a date-time in `zone`, as the API's `date` takes it. Accepts what
 * {@link toInstant} accepts.
 *
 * @returns `YYYY-MM-DD`; undefined when the value is no date.
 */
export function toDate(value: unknown, zone: string): string | undefined {
	const read = readDateTime(value);
	if (read === undefined) return undefined;
	const date =
		'instant' in read
			? DateTime.fromMillis(read.instant, { zone })
			: DateTime.fromMillis(read.wallClock, { zone: 'utc' });
	return date.toFormat('yyyy-MM-dd');
}

/**
 * A range of instants as wall-clock times in `zone`. The wire knows neither fractions of seconds
 * nor, in the hour that autumn repeats, which of the two is meant: there the wider range is asked
 * for, and `includes` tells the entries that begin outside the instants.
 *
 * @param start Epoch ms, undefined for no bound.
 * @param end Epoch ms, undefined for no bound.
 */
export function toRange(start: number | undefined, end: number | undefined, zone: string): Range {
	const from = start === undefined ? undefined : toWallClock(start, zone, 'start');
	const to = end === undefined ? undefined : toWallClock(end, zone, 'end');
	const widenedFrom = from && Math.min(...instantsOfWallClock(from.wallClock, zone));
	const widenedTo = to && Math.max(...instantsOfWallClock(to.wallClock, zone));
	const isWider =
		(start !== undefined && widenedFrom! < start) || (end !== undefined && widenedTo! > end);
	return {
		query: { start: from?.text, end: to?.text },
		includes(startTime) {
			if (!isWider) return true;
			const begin = toInstant(startTime, zone, 'start') ?? NaN;
			const latest = toInstant(startTime, zone, 'end') ?? NaN;
			const isBefore = start !== undefined && latest < start && latest >= widenedFrom!;
			const isAfter = end !== undefined && begin > end && begin <= widenedTo!;
			return !isBefore && !isAfter;
		},
	};
}

function toWallClock(instant: number, zone: string, edge: Edge) {
	const exact = instant + offsetMs(instant, zone);
	const seconds = edge === 'start' ? Math.floor(exact / 1000) : Math.ceil(exact / 1000);
	const instants = instantsOfWallClock(seconds * 1000, zone);
	const repeatedMs = Math.max(...instants) - Math.min(...instants);
	const wallClock = seconds * 1000 + (edge === 'start' ? -repeatedMs : repeatedMs);
	const text = DateTime.fromMillis(wallClock, { zone: 'utc' }).toFormat('yyyy-MM-dd HH:mm:ss');
	return { wallClock, text };
}

/**
 * The instants at which the clocks of a zone show a time: two in the hour that autumn repeats.
 * A time that spring skips is read with the offset before and with the one after.
 *
 * @param wallClock The time shown, as epoch ms of the same time in UTC.
 * @returns Epoch ms.
 */
function instantsOfWallClock(wallClock: number, zone: string): number[] {
	const offsets = [wallClock - DAY_MS, wallClock + DAY_MS].map((near) => offsetMs(near, zone));
	const readings = [...new Set(offsets)].map((offset) => wallClock - offset);
	const shown = readings.filter((instant) => instant + offsetMs(instant, zone) === wallClock);
	return shown.length > 0 ? shown : readings;
}

function offsetMs(instant: number, zone: string): number {
	return IANAZone.create(zone).offset(instant) * MINUTE_MS;
}

/** `instant`: epoch ms; `wallClock`: a time without offset, as epoch ms of the same time in UTC. */
type DateTimeRead = { instant: number } | { wallClock: number };

function readDateTime(value: unknown): DateTimeRead | undefined {
	if (DateTime.isDateTime(value) || value instanceof Date) return plausible(value.valueOf());
	if (typeof value === 'number') return plausible(value);
	if (typeof value !== 'string') return undefined;
	const text = value.trim();
	if (/^\d{11,}$/.test(text)) return plausible(Number(text));
	if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
	const iso = text.replace(' ', 'T');
	const inUtc = DateTime.fromISO(iso, { zone: 'utc' }).toMillis();
	if (Number.isNaN(inUtc)) return undefined;
	const hasOffset = DateTime.fromISO(iso, { zone: 'utc+1' }).toMillis() === inUtc;
	return hasOffset ? { instant: inUtc } : { wallClock: inUtc };
}

function plausible(instant: number): DateTimeRead | undefined {
	return instant >= EARLIEST_MS && instant <= 8.64e15 ? { instant } : undefined;
}

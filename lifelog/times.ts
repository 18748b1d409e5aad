import { DateTime, IANAZone } from 'luxon';

const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Lower numbers (before 1973) are seconds by mistake. */
const EARLIEST_MS = 100_000_000_000;
/** Higher numbers (after 2286) are microseconds, or a date without hyphens. */
const LATEST_NUMBER = 9_999_999_999_999;
const LATEST_MS = 8.64e15;
const END_OF_YEAR_9999 = Date.UTC(9999, 11, 31);
/** ISO 8601: a date of the calendar, by week or by day of the year, each extended or basic. */
const DATE_TIME = /^(\d{4}-\d\d-\d\d|\d{8}|\d{4}-?W\d\d-?\d|\d{4}-?\d{3})(?:[T ](\d.*))?$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;
const BEFORE_OFFSET = / (?=Z|[+-]\d)/i;

/**
 * How a date-time bounds a range: `start` and `end` are in it, `until` is the first that isn't. If a
 * date-time has two meanings, the wider range counts.
 */
export type Edge = 'start' | 'end' | 'until';

/** A range of time as the lifelog list takes it. */
export interface Range {
	/** Wall-clock times in the zone, `YYYY-MM-DD HH:mm:ss` (specification, section 4.2). */
	query: { start?: string; end?: string };
	/** False for an entry that only widening the range let in. */
	includes(startTime: string): boolean;
}

/**
 * The instant of a date-time: the editor's picker value, an ISO string, epoch ms, or a luxon DateTime.
 * Without offset it is wall-clock time in `zone`. A date is its whole day: its beginning as `start`,
 * its last millisecond as `end`, the beginning of the next day as `until`.
 *
 * @returns Epoch ms; undefined if the value isn't a date-time.
 */
export function toInstant(value: unknown, zone: string, edge: Edge): number | undefined {
	const read = readDateTime(value);
	if (read === undefined || 'instant' in read) return read?.instant;
	if (read.isDay) {
		if (edge === 'start') return firstShown(read.wallClock, zone);
		const nextDay = firstShown(read.wallClock + DAY_MS, zone);
		return edge === 'end' ? nextDay - 1 : nextDay;
	}
	const instants = instantsOfWallClock(read.wallClock, zone);
	return edge === 'start' ? Math.min(...instants) : Math.max(...instants);
}

/**
 * The instant of a time in data, epoch ms; undefined if it is missing or unreadable. Without an offset
 * it is the first time that the clocks of `zone` show it, or when they skip it.
 */
export function instantOf(time: unknown, zone: string): number | undefined {
	const read = typeof time === 'string' ? readDateTime(time) : undefined;
	if (read === undefined || 'instant' in read) return read?.instant;
	return firstShown(read.wallClock, zone);
}

/** All meanings of a time, epoch ms: two in the hour that autumn repeats, none if unreadable. */
export function instantsOf(time: unknown, zone: string): number[] {
	const isInUtc = typeof time === 'string' && time.endsWith('Z');
	const edges: Edge[] = isInUtc ? ['start'] : ['start', 'end'];
	const instants = edges.map((edge) => toInstant(time, zone, edge) ?? 0);
	return [...new Set(instants)].filter((instant) => instant > 0 && instant <= END_OF_YEAR_9999);
}

/** What the clocks of a zone show. */
export interface WallClock {
	/** `YYYY-MM-DD`. */
	day: string;
	/** `HH:mm:ss`. */
	time: string;
	/** Such as `+01:00`, only if they show the same twice. */
	offset?: string;
}

/** What the clocks of a zone show at an instant (epoch ms), to the second. */
export function wallClockOf(instant: number, zone: string): WallClock {
	const offset = offsetMs(instant, zone);
	const wallClock = instant + offset;
	const [day, time] = new Date(wallClock).toISOString().split('T');
	const isRepeated = instantsOfWallClock(wallClock, zone).length > 1;
	return { day, time: time.slice(0, 8), ...(isRepeated && { offset: offsetText(offset) }) };
}

function offsetText(offset: number): string {
	const time = new Date(Math.abs(offset)).toISOString().slice(11, 16);
	return `${offset < 0 ? '-' : '+'}${time}`;
}

/** The UTC day, `YYYY-MM-DD`, `days` after an instant or a day. */
export function utcDay(time: number | string, days = 0): string {
	return new Date(new Date(time).getTime() + days * DAY_MS).toISOString().slice(0, 10);
}

/** The length of an entry in ms; undefined if a time is missing, or the end is before the start. */
export function durationOf(
	{ startTime, endTime }: { startTime?: unknown; endTime?: unknown },
	zone: string,
): number | undefined {
	const start = instantOf(startTime, zone);
	const end = instantOf(endTime, zone);
	return start !== undefined && end !== undefined && end >= start ? end - start : undefined;
}

export function daysAgo(days: number, zone: string): string {
	return DateTime.now().setZone(zone).minus({ days }).toFormat('yyyy-MM-dd');
}

/** The date of a value of {@link toInstant} in `zone`, `YYYY-MM-DD`; undefined if it has none. */
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
 * The day under which the service lists an entry, `YYYY-MM-DD`: the date of its start as it is written.
 * The service's rules for a zone may differ from those here. UTC is no zone that was asked for.
 *
 * @returns undefined if the start is unreadable.
 */
export function listedDay(start: unknown, zone: string): string | undefined {
	const iso = typeof start === 'string' ? isoOf(start.trim()) : undefined;
	if (iso === undefined) return typeof start === 'string' ? toDate(start, zone) : undefined;
	const time = DateTime.fromISO(iso, { zone, setZone: !iso.endsWith('Z') });
	return time.toISODate() ?? undefined;
}

/**
 * A range of instants as wall-clock times in `zone`. The API has neither fractions of seconds nor a
 * sign for which of the hours that autumn repeats is meant. So the query is for the wider range.
 *
 * @param start Epoch ms, undefined for no bound; `end` likewise.
 */
export function toRange(start: number | undefined, end: number | undefined, zone: string): Range {
	const from = start === undefined ? undefined : toWallClock(start, zone, 'start');
	const to = end === undefined ? undefined : toWallClock(end, zone, 'end');
	const widenedFrom = from && Math.min(...instantsOfWallClock(from.wallClock, zone));
	const widenedTo = to && Math.max(...instantsOfWallClock(to.wallClock, zone));
	return {
		query: { start: from?.text, end: to?.text },
		includes(startTime) {
			if (start === undefined && end === undefined) return true;
			const instants = instantsOf(startTime, zone);
			const [begin, latest] = [Math.min(...instants), Math.max(...instants)];
			const isBefore = start !== undefined && latest < start && latest >= widenedFrom!;
			// A service may include the whole of the last second.
			const isAfter = end !== undefined && begin > end && begin < widenedTo! + SECOND_MS;
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
 * When the clocks of a zone show a time: twice in the hour that autumn repeats. A time that spring
 * skips is read with the offset before and with the one after.
 *
 * @param wallClock As epoch ms of the same time in UTC.
 */
function instantsOfWallClock(wallClock: number, zone: string): number[] {
	const offsets = [wallClock - DAY_MS, wallClock + DAY_MS].map((near) => offsetMs(near, zone));
	const readings = [...new Set(offsets)].map((offset) => wallClock - offset);
	const shown = readings.filter((instant) => instant + offsetMs(instant, zone) === wallClock);
	return shown.length > 0 ? shown : readings;
}

/** When clocks show a time first, or skip it; so a day begins at its first midnight. */
function firstShown(wallClock: number, zone: string): number {
	const instants = instantsOfWallClock(wallClock, zone);
	const isSkipped = instants.every((instant) => instant + offsetMs(instant, zone) !== wallClock);
	return isSkipped ? Math.max(...instants) : Math.min(...instants);
}

function offsetMs(instant: number, zone: string): number {
	return IANAZone.create(zone).offset(instant) * MINUTE_MS;
}

/** Epoch ms; or a time without offset, as epoch ms of the same time in UTC. `isDay`: only a date. */
type DateTimeRead = { instant: number } | { wallClock: number; isDay: boolean };

function readDateTime(value: unknown): DateTimeRead | undefined {
	if (DateTime.isDateTime(value) || value instanceof Date)
		return plausible(value.valueOf(), LATEST_MS);
	if (typeof value === 'number') return plausible(value, LATEST_NUMBER);
	if (typeof value !== 'string') return undefined;
	const text = value.trim();
	if (/^\d{11,}$/.test(text)) return plausible(Number(text), LATEST_NUMBER);
	const iso = isoOf(text);
	if (iso === undefined) return undefined;
	const instant = inUtc(text);
	if (instant !== undefined) return { instant };
	const wallClock = DateTime.fromISO(iso, { zone: 'utc' }).toMillis();
	if (Number.isNaN(wallClock)) return undefined;
	const hasOffset = DateTime.fromISO(iso, { zone: 'utc+1' }).toMillis() === wallClock;
	return hasOffset ? { instant: wallClock } : { wallClock, isDay: !iso.includes('T') };
}

/** A date-time as luxon reads it. Luxon also takes a year, or a date without hyphens, for one. */
function isoOf(text: string): string | undefined {
	const [, date, time] = DATE_TIME.exec(text) ?? [];
	if (date === undefined || (time === undefined && !DATE.test(date))) return undefined;
	return time === undefined ? date : `${date}T${time.replace(BEFORE_OFFSET, '')}`.toUpperCase();
}

/** The instant of a time as JavaScript writes it. Luxon reads it, too, but far slower. */
function inUtc(text: string): number | undefined {
	const instant = text.endsWith('Z') ? Date.parse(text) : NaN;
	if (Number.isNaN(instant)) return undefined;
	const iso = new Date(instant).toISOString();
	return text === iso || text === iso.replace('.000Z', 'Z') ? instant : undefined;
}

function plausible(instant: number, latest: number): DateTimeRead | undefined {
	return instant >= EARLIEST_MS && instant <= latest ? { instant } : undefined;
}

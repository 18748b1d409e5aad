import { DateTime, IANAZone } from 'luxon';
import { instantOf } from '../../lifelog/times.ts';
import { ApiError } from './errors.mts';
import { DAY_MS, MINUTE_MS } from './durations.mts';

const quarterHour = 15 * MINUTE_MS;

/** Epoch ms in UTC with milliseconds. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** Checks an IANA time zone and returns it; by default UTC. Throws an ApiError (400) for an unknown one. */
export function checkZone(zone = 'UTC'): string {
	if (!IANAZone.isValidZone(zone)) {
		throw new ApiError(400, `timezone "${zone}" is not a known IANA time zone`);
	}
	return zone;
}

/**
 * Returns a function that converts a UTC ISO string to an ISO string with the zone's offset. Other
 * text stays unchanged.
 */
export function zoneFormatter(zone: string): (iso: string) => string {
	if (zone === 'UTC') return (iso) => iso;
	return (iso) => {
		const ms = Date.parse(iso);
		if (Number.isNaN(ms)) return iso;
		const offset = offsetAt(zone, ms);
		return new Date(ms + offset.minutes * 60_000).toISOString().replace('Z', offset.text);
	};
}

interface Offset {
	minutes: number;
	text: string;
}

// Finding an offset is slow, and most days have only one.
function offsetAt(zone: string, ms: number): Offset {
	const day = Math.floor(ms / DAY_MS);
	const first = offsetOfQuarter(zone, day * DAY_MS);
	const next = offsetOfQuarter(zone, (day + 1) * DAY_MS);
	return first.minutes === next.minutes ? first : offsetOfQuarter(zone, ms);
}

// Zones change their offset only at quarters of an hour.
const zoneOffsets = new Map<string, Map<number, Offset>>();
function offsetOfQuarter(zone: string, ms: number): Offset {
	let known = zoneOffsets.get(zone);
	if (!known) zoneOffsets.set(zone, (known = new Map()));
	const quarter = Math.floor(ms / quarterHour);
	let offset = known.get(quarter);
	if (!offset) {
		const time = DateTime.fromMillis(ms, { zone });
		offset = { minutes: time.offset, text: time.toFormat('ZZ') };
		known.set(quarter, offset);
	}
	return offset;
}

const wallClock =
	/^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(?:Z|[+-]?\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Parses `YYYY-MM-DD` or `YYYY-MM-DD HH:mm:SS` as local time in `zone`; returns the instant as a UTC
 * ISO string. `T` and missing seconds are allowed; an offset is ignored. A time in the hour that autumn
 * repeats is the first one. Throws an ApiError (400) with `parameter` for an invalid value.
 */
export function parseWallClock(parameter: string, value: string, zone: string): string {
	const [, date, time = '00:00:00'] = wallClock.exec(value) ?? [];
	const local = DateTime.fromISO(`${date}T${time}`, { zone });
	if (!local.isValid) {
		throw new ApiError(
			400,
			`${parameter} "${value}" is not of the form YYYY-MM-DD or YYYY-MM-DD HH:mm:SS`,
		);
	}
	const instants = local.getPossibleOffsets().map((possible) => possible.toMillis());
	return new Date(Math.min(...instants)).toISOString();
}

/** Like `parseWallClock`; undefined without a value. */
export function parseOptionalWallClock(
	parameter: string,
	value: string | undefined,
	zone: string,
): string | undefined {
	return value === undefined ? undefined : parseWallClock(parameter, value, zone);
}

/** Forms send the `+` of an offset as a space. */
const SENT_PLUS = / (?=\d\d(?::?\d\d)?$)(?<=[T ]\d\S* )/i;

/**
 * Parses an instant to epoch ms: an ISO 8601 time, in `zone` without an offset, or milliseconds
 * since 1970. Throws an ApiError (400) with `parameter` for an invalid value.
 */
export function parseInstant(parameter: string, value: string, zone: string): number {
	const ms = instantOf(value.trim().replace(SENT_PLUS, '+'), zone);
	if (ms !== undefined) return ms;
	throw new ApiError(400, `${parameter} "${value}" is not a time of ISO 8601`);
}

/** Like `parseInstant`; undefined for an invalid value. */
export function parseInstantIfAny(value: string, zone: string): number | undefined {
	try {
		return parseInstant('time', value, zone);
	} catch (error) {
		if (error instanceof ApiError) return undefined;
		throw error;
	}
}

/** Checks a date `YYYY-MM-DD` and returns it. Throws an ApiError (400) if it is invalid. */
export function checkDate(date: string): string {
	if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || !DateTime.fromISO(date).isValid) {
		throw new ApiError(400, `date "${date}" is not of the form YYYY-MM-DD`);
	}
	return date;
}

/** Returns the first instants of a local date and of the next date, as UTC ISO strings. */
export function dayBounds(date: string, zone: string): { from: string; before: string } {
	const day = DateTime.fromISO(date, { zone });
	const next = day.plus({ days: 1 }).toISODate() ?? date;
	return {
		from: parseWallClock('date', date, zone),
		before: parseWallClock('date', next, zone),
	};
}

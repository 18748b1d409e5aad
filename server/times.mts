import { DateTime, IANAZone } from 'luxon';
import { ApiError } from './errors.mts';

const quarterHour = 15 * 60_000;

/**
 * Checks an IANA time zone name and returns it; UTC when missing.
 * Throws an ApiError (400) when there is no such zone.
 */
export function checkZone(zone = 'UTC'): string {
	if (!IANAZone.isValidZone(zone)) {
		throw new ApiError(400, `timezone "${zone}" is not a known IANA time zone`);
	}
	return zone;
}

/**
 * Returns a function that rewrites a UTC ISO string as an ISO string with the zone's offset. What is
 * no time stays as it is.
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

// Zones change their offset only at quarters of an hour, and asking for an offset is slow.
const zoneOffsets = new Map<string, Map<number, { minutes: number; text: string }>>();
function offsetAt(zone: string, ms: number) {
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
 * Reads `YYYY-MM-DD` or `YYYY-MM-DD HH:mm:SS` (a `T`, and seconds left out, are understood; an
 * offset is ignored) as wall-clock time in `zone` and returns the instant as a UTC ISO string.
 * `ambiguousHour` chooses in the hour that autumn repeats. Throws an ApiError (400) naming
 * `parameter` when the value is none.
 */
export function parseWallClock(
	parameter: string,
	value: string,
	zone: string,
	ambiguousHour: 'first' | 'second',
): string {
	const [, date, time = '00:00:00'] = wallClock.exec(value) ?? [];
	const local = DateTime.fromISO(`${date}T${time}`, { zone });
	if (!local.isValid) {
		throw new ApiError(
			400,
			`${parameter} "${value}" is not of the form YYYY-MM-DD or YYYY-MM-DD HH:mm:SS`,
		);
	}
	const instants = local.getPossibleOffsets().map((possible) => possible.toMillis());
	const ms = ambiguousHour === 'first' ? Math.min(...instants) : Math.max(...instants);
	return new Date(ms).toISOString();
}

/** Checks a date `YYYY-MM-DD` and returns it. Throws an ApiError (400) when it is none. */
export function checkDate(date: string): string {
	if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || !DateTime.fromISO(date).isValid) {
		throw new ApiError(400, `date "${date}" is not of the form YYYY-MM-DD`);
	}
	return date;
}

/** Returns the first instant of a local date and of the date after it, as UTC ISO strings. */
export function dayBounds(date: string, zone: string): { from: string; before: string } {
	const day = DateTime.fromISO(date, { zone });
	const next = day.plus({ days: 1 }).toISODate() ?? date;
	return {
		from: parseWallClock('date', date, zone, 'first'),
		before: parseWallClock('date', next, zone, 'first'),
	};
}

// Formats days, times and numbers in English, like the rest of the page, in the server's time zone.
// Only the clock (12 or 24 hours) and the first day of the week follow the browser's settings.

export const LANGUAGE = 'en';

/** Whether a text is a valid day `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
	const date = new Date(`${text}T12:00:00Z`);
	return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${text}T`);
}

/** Formats a day `YYYY-MM-DD`. */
export function dayInWords(day: string, options: Intl.DateTimeFormatOptions = LONG_DAY): string {
	// Noon UTC is on the same day in UTC.
	return formatter({ ...options, timeZone: 'UTC' }).format(new Date(`${day}T12:00:00Z`));
}

const LONG_DAY: Intl.DateTimeFormatOptions = {
	weekday: 'long',
	year: 'numeric',
	month: 'long',
	day: 'numeric',
};

export function timeInWords(time: string | number, timeZone: string): string {
	return formatter({ timeZone, hour: 'numeric', minute: '2-digit' }).format(new Date(time));
}

export function dateTimeInWords(time: string | number, timeZone: string): string {
	return formatter({ timeZone, dateStyle: 'medium', timeStyle: 'short' }).format(new Date(time));
}

/** Today in a time zone, `YYYY-MM-DD`. */
export function todayIn(timeZone: string): string {
	return dayOf(Date.now(), timeZone);
}

/** The day of an instant in a time zone, `YYYY-MM-DD`. */
export function dayOf(time: string | number, timeZone: string): string {
	// The Swedish format is that of ISO 8601.
	return new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' }).format(new Date(time));
}

/** A duration in hours and minutes; under a minute in seconds. */
export function lengthInWords(ms: number): string {
	if (ms < 60_000) return `${Math.max(0, Math.round(ms / 1000))} s`;
	const minutes = Math.round(ms / 60_000);
	const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
	return [hours > 0 && `${hours} h`, (rest > 0 || hours === 0) && `${rest} min`]
		.filter(Boolean)
		.join(' ');
}

/** A duration of many days; from one hour in hours only. */
export const hoursInWords = (ms: number) =>
	ms < HOUR_MS ? lengthInWords(ms) : `${figure(Math.round(ms / HOUR_MS))} h`;

const HOUR_MS = 3_600_000;

/** A position in audio: `4:05`, `1:04:05`. */
export function clock(ms: number): string {
	const seconds = Math.floor(ms / 1000);
	const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
	const shown = parts[0] > 0 ? parts : parts.slice(1);
	return shown.map((part, at) => (at === 0 ? part : String(part).padStart(2, '0'))).join(':');
}

export function count(number: number, noun: string): string {
	return `${figure(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** A number with thousands separators. */
export const figure = (number: number) => number.toLocaleString(LANGUAGE);

/** A size in the largest unit with a value of at least 1. */
export function sizeInWords(bytes: number): string {
	const at = Math.max(
		0,
		UNITS.findLastIndex((_, nth) => bytes >= 1000 ** nth),
	);
	const size = bytes / 1000 ** at;
	return `${at > 0 && size < 10 ? size.toFixed(1) : figure(Math.round(size))} ${UNITS[at]}`;
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
	const key = JSON.stringify(options);
	let known = formatters.get(key);
	if (!known) {
		// For a date without time, `hourCycle` has no effect.
		known = new Intl.DateTimeFormat(LANGUAGE, { ...options, hourCycle: clockOf() });
		formatters.set(key, known);
	}
	return known;
}

/** Whether the browser's settings use a 12-hour or 24-hour clock. */
const clockOf = () =>
	new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hourCycle;

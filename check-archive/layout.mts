// Names in an archive, by docs/reference/archive.md and nothing else.
import { createHash } from 'node:crypto';
import { DateTime } from 'luxon';

const DAY_FILE = /^(\d{4}-\d{2}-\d{2})_([0-9a-f]{16})\.json$/;

/** A day manifest, as its name tells it. */
export interface DayName {
	day: string;
	fingerprint: string;
}

/** @returns undefined for a name that is not a day manifest's. */
export function readDayName(name: string): DayName | undefined {
	const [, day, fingerprint] = DAY_FILE.exec(name) ?? [];
	return day !== undefined && isDay(day) ? { day, fingerprint } : undefined;
}

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
	const instant = Date.parse(`${text}T00:00:00Z`);
	return !Number.isNaN(instant) && dayOf(instant) === text;
}

/** The day in UTC, `YYYY-MM-DD`, of epoch ms. */
export function dayOf(instant: number): string {
	return new Date(instant).toISOString().slice(0, 10);
}

/**
 * The instant of a time of ISO 8601, epoch ms; NaN for anything else, and for a time that no name of
 * an archive can hold. Without an offset it is in UTC, wherever this runs.
 */
export function instantOf(time: unknown): number {
	if (typeof time !== 'string') return NaN;
	const instant = DateTime.fromISO(time.replace(/^(\S+) (?=\d)/, '$1T'), {
		zone: 'utc',
	}).toMillis();
	return instant >= 0 && instant < Date.UTC(10_000, 0) ? instant : NaN;
}

/** When a lifelog was updated, epoch ms: at its end if it doesn't say; NaN without any time. */
export function updatedAtOf(lifelog: Record<string, unknown>): number {
	const times = [lifelog.updatedAt, lifelog.endTime, lifelog.startTime].map(instantOf);
	return times.find((instant) => !Number.isNaN(instant)) ?? NaN;
}

/** What the manifest keeps of a lifelog's title and end. */
export function listedOf({ title, endTime }: Record<string, unknown>): string {
	const instant = instantOf(endTime);
	const end = Number.isNaN(instant) ? '' : new Date(instant).toISOString();
	const text = `${end}\n${typeof title === 'string' ? title : ''}`;
	return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** `lifelogs/2026/03/01`, of a day. */
export function folderOf(collection: string, day: string): string {
	return `${collection}/${day.replaceAll('-', '/')}`;
}

/** Where a lifelog or a chat lies, without the extension; `begin` is epoch ms. */
export function entryPath(collection: string, id: string, begin: number): string {
	const time = new Date(begin).toISOString().slice(11, 19);
	const [hours, minutes, seconds] = time.split(':');
	const day = dayOf(begin);
	return `${folderOf(collection, day)}/${day}_${hours}h${minutes}m${seconds}s_${asName(id)}`;
}

/** An ID as names have it. */
export function asName(id: string): string {
	return [...id]
		.map((character) => (/[\w-]/.test(character) ? character : percent(character)))
		.join('');
}

function percent(character: string): string {
	return [...Buffer.from(character)]
		.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
		.join('');
}

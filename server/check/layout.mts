// Names in an archive, based only on docs/reference/archive.md.
import { createHash } from 'node:crypto';
import { DateTime } from 'luxon';

const DAY_FILE = /^(\d{4}-\d{2}-\d{2})_([0-9a-f]{16})\.json$/;

/** Parts of a day manifest's name. */
export interface DayName {
	day: string;
	fingerprint: string;
}

/** @returns undefined if it isn't the name of a day manifest. */
export function readDayName(name: string): DayName | undefined {
	const [, day, fingerprint] = DAY_FILE.exec(name) ?? [];
	return day !== undefined && isDay(day) ? { day, fingerprint } : undefined;
}

/** Whether a text is a valid date, `YYYY-MM-DD`. */
function isDay(text: string): boolean {
	const instant = Date.parse(`${text}T00:00:00Z`);
	return !Number.isNaN(instant) && dayOf(instant) === text;
}

/** The day in UTC, `YYYY-MM-DD`, of a time in epoch ms. */
export function dayOf(instant: number): string {
	return new Date(instant).toISOString().slice(0, 10);
}

/**
 * Parses an ISO 8601 time to epoch ms. Without an offset it is UTC. NaN for anything else, and for
 * a time that names of an archive can't hold.
 */
export function instantOf(time: unknown): number {
	if (typeof time !== 'string') return NaN;
	const instant = DateTime.fromISO(time.replace(/^(\S+) (?=\d)/, '$1T'), {
		zone: 'utc',
	}).toMillis();
	return instant >= 0 && instant < Date.UTC(10_000, 0) ? instant : NaN;
}

/** Time of a lifelog's last update, epoch ms; its end if missing, NaN without any time. */
export function updatedAtOf(lifelog: Record<string, unknown>): number {
	const times = [lifelog.updatedAt, lifelog.endTime, lifelog.startTime].map(instantOf);
	return times.find((instant) => !Number.isNaN(instant)) ?? NaN;
}

/** The manifest's hash of a lifelog's title and end. */
export function listedOf({ title, endTime }: Record<string, unknown>): string {
	const instant = instantOf(endTime);
	const end = Number.isNaN(instant) ? '' : new Date(instant).toISOString();
	const text = `${end}\n${typeof title === 'string' ? title : ''}`;
	return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The folder of a day, such as `lifelogs/2026/03/01`. */
export function folderOf(collection: string, day: string): string {
	return `${collection}/${day.replaceAll('-', '/')}`;
}

/** The path of a lifelog or a chat, up to its ID. `begin` is epoch ms. */
export function placeOf(collection: string, begin: number): string {
	const time = new Date(begin).toISOString().slice(11, 19);
	const [hours, minutes, seconds] = time.split(':');
	const day = dayOf(begin);
	return `${folderOf(collection, day)}/${day}_${hours}h${minutes}m${seconds}s_`;
}

/** Names have at most 255 bytes: 21 for the time, and `.json` is the longest extension. */
const MAX_ID_BYTES = 255 - 21 - '.json'.length;
const SHORT_ID_BYTES = 180;

/** An ID as used in names, followed by a counter if `nth` is more than 1. */
function asName(id: string, nth = 1): string {
	const counter = nth > 1 ? `-${nth}` : '';
	const parts = [...id].map((character) =>
		/[\w-]/.test(character) ? character : percent(character),
	);
	const whole = parts.join('');
	if (whole.length + counter.length <= MAX_ID_BYTES) return whole + counter;
	let short = '';
	for (const part of parts) {
		if (short.length + part.length > SHORT_ID_BYTES) break;
		short += part;
	}
	return short + createHash('sha256').update(id).digest('hex').slice(0, 16) + counter;
}

/** Whether a name fits an ID of a day. It may end in `-2` if another ID's name differs only by case. */
export function isNameOf(name: string, id: string, ids: string[]): boolean {
	if (name === asName(id)) return true;
	const nth = Number(/-(\d+)$/.exec(name)?.[1]);
	if (!(nth > 1) || name !== asName(id, nth)) return false;
	const own = asName(id).toLowerCase();
	const isLike = (other: string) => {
		const [short, long] = [own, asName(other).toLowerCase()].sort((a, b) => a.length - b.length);
		return long.startsWith(short) && /^(-\d+)?$/.test(long.slice(short.length));
	};
	return nth <= ids.filter(isLike).length;
}

function percent(character: string): string {
	return [...Buffer.from(character)]
		.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
		.join('');
}

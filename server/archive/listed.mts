// Fields of the service's list that a manifest keeps (docs/reference/archive.md).
import { createHash } from 'node:crypto';
import { instantOf } from '../../lifelog/times.ts';

type Listed = Partial<Record<'title' | 'startTime' | 'endTime' | 'updatedAt', unknown>>;

/** The end of the year 9999. Names in an archive can't hold later days. */
const MAX_MS = Date.UTC(10_000, 0) - 1;

/** Parses a time to epoch ms; undefined if an archive can't hold it. */
export function possibleTime(time: unknown): number | undefined {
	const ms = instantOf(time, 'UTC');
	return ms !== undefined && ms >= 0 && ms <= MAX_MS ? ms : undefined;
}

/**
 * Time of the last update, in UTC with milliseconds. Without `updatedAt` it is the end, as in an
 * import.
 */
export function updatedAtOf({ updatedAt, endTime, startTime }: Listed): string | undefined {
	const times = [updatedAt, endTime, startTime].map(possibleTime);
	const ms = times.find((time) => time !== undefined);
	return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** A hash of title and end. It shows changes without revealing the title. */
export function listedOf({ title, endTime }: Listed): string {
	const endMs = possibleTime(endTime);
	const end = endMs === undefined ? '' : new Date(endMs).toISOString();
	const text = `${end}\n${typeof title === 'string' ? title : ''}`;
	return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

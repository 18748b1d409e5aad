// What a list of the service says of a lifelog, and the manifest keeps (docs/reference/archive.md).
import { createHash } from 'node:crypto';
import { instantOf } from '../../lifelog/times.ts';

type Listed = Partial<Record<'title' | 'startTime' | 'endTime' | 'updatedAt', unknown>>;

/** The end of the year 9999, after which names of an archive can't say a day. */
const MAX_MS = Date.UTC(10_000, 0) - 1;

/** A time that an archive can hold, epoch ms. */
export function possibleTime(time: unknown): number | undefined {
	const ms = instantOf(time, 'UTC');
	return ms !== undefined && ms >= 0 && ms <= MAX_MS ? ms : undefined;
}

/** When a lifelog was updated, in UTC with milliseconds: without `updatedAt` it is the end, as in an import. */
export function updatedAtOf({ updatedAt, endTime, startTime }: Listed): string | undefined {
	const times = [updatedAt, endTime, startTime].map(possibleTime);
	const ms = times.find((time) => time !== undefined);
	return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** What tells that title or end have changed: no word of the title can be read from it. */
export function listedOf({ title, endTime }: Listed): string {
	const endMs = possibleTime(endTime);
	const end = endMs === undefined ? '' : new Date(endMs).toISOString();
	const text = `${end}\n${typeof title === 'string' ? title : ''}`;
	return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

import { ApiError } from '../util/errors.mts';
import { parseInstant } from '../util/times.mts';

/** What is known of when a recording was made. */
interface Known {
	/** Given with the upload, epoch ms. */
	given?: number;
	fileName?: string;
	/** The container's `creation_time`, epoch ms. */
	createdMs?: number;
	/** When the file was written last, epoch ms. */
	modifiedMs: number;
	durationMs: number;
	/** Of times without an offset. */
	timezone: string;
	nowMs: number;
}

export interface Start {
	/** Epoch ms. */
	startMs: number;
	from: 'upload' | 'fileName' | 'container' | 'modified';
}

/** Devices without a clock begin in 1904, 1970 or 1980. */
export const EARLIEST_MS = Date.UTC(2000, 0);
const MAX_FILE_NAME = 255;
/**
 * A date and a time; an offset, also after a fraction, is one only if nothing that belongs to it
 * follows. Uploads have `_` instead of `:`.
 */
const TIME_IN_NAME =
	/(?<!\d)(\d{4})([-_.]?)(\d\d)\2(\d\d)[T _-](\d\d)([-:_.]?)(\d\d)\6(\d\d)(?!\d)(?:[.,]\d{1,9}(?=Z|[+-])|[_-]\d{3}(?=Z|[+-]))?(Z(?![a-z])|[+-](?:0\d|1[0-4])[:_]?(?:00|15|30|45)(?![\da-z]))?/gi;

/**
 * Returns when a recording began: as given with the upload, by the file's name, by the container's
 * time or by the file's, each of which is that of the end. A time in the future becomes now minus the
 * duration.
 */
export function startOf(known: Known): Start {
	const { given, fileName = '', createdMs = 0, modifiedMs, durationMs, timezone, nowMs } = known;
	const latestMs = nowMs - durationMs;
	const start = (startMs: number, from: Start['from']): Start => ({
		// File systems know parts of a millisecond, an archive doesn't.
		startMs: Math.round(startMs > nowMs ? latestMs : startMs),
		from,
	});
	if (given !== undefined) return start(given, 'upload');
	const named = timeInName(fileName.slice(0, MAX_FILE_NAME), timezone);
	if (named !== undefined) return start(named, 'fileName');
	if (createdMs >= EARLIEST_MS) return start(createdMs - durationMs, 'container');
	return start(modifiedMs >= EARLIEST_MS ? modifiedMs - durationMs : latestMs, 'modified');
}

/** The first time in a file's name that exists, epoch ms. */
function timeInName(name: string, timezone: string): number | undefined {
	for (const match of name.matchAll(TIME_IN_NAME)) {
		const [, year, , month, day, hour, , minute, second, offset = ''] = match;
		const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}${offset.replace('_', ':')}`;
		try {
			const ms = parseInstant('file name', iso, timezone);
			if (ms >= EARLIEST_MS) return ms;
		} catch (error) {
			if (!(error instanceof ApiError)) throw error;
		}
	}
	return undefined;
}

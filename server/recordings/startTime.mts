import { parseInstantIfAny } from '../util/times.mts';

/** Sources for a recording's start. */
interface Known {
	/** Given with the upload, epoch ms. */
	given?: number;
	fileName?: string;
	/** The container's `creation_time`, epoch ms. */
	createdMs?: number;
	/** Last modification of the file, epoch ms. */
	modifiedMs: number;
	durationMs: number;
	/** For times without an offset. */
	timezone: string;
	nowMs: number;
}

export interface Start {
	/** Epoch ms. */
	startMs: number;
	from: 'upload' | 'fileName' | 'container' | 'modified';
}

/** Devices without a clock start in 1904, 1970 or 1980. */
export const EARLIEST_MS = Date.UTC(2000, 0);
const MAX_FILE_NAME = 255;

const DATE = String.raw`(?<year>20\d\d)(?<dash>[-_. ]?)(?<month>\d\d)\k<dash>(?<day>\d\d)`;
const SHORT_DATE = String.raw`(?<year>\d\d)(?<month>\d\d)(?<day>\d\d)`;
/** Between a date and a time: punctuation, or "at" in the languages of phones. */
const AT = String.raw`(?:T|[ _.,@()[\]–-]{1,4}|[ _-](?:at|um|om|à|a las?|às|alle|alle ore|kl\.?|klo)[ _-])`;
const HOUR_MINUTE = String.raw`(?<hour>\d\d)(?<minute>\d\d)`;
/** Recorders number the files of a day: 0001, 0002 and so on. */
const NOT_COUNTER = String.raw`(?!(?<!T)00\d\d(?!\d))`;
/** The second date of a range. */
const NOT_DATE = String.raw`(?!20\d\d(?<sign>[-_. ])\d\d\k<sign>\d\d)`;
const ENDS = String.raw`(?!\d)`;
const HALF = String.raw`(?:[ _.-]?(?<half>[ap])\.?m(?![a-z]))?`;
const BEFORE_ZONE = String.raw`(?:[.,]\d{1,9}|[_-]\d{3})?`;
const UTC = String.raw`[ _([-]{0,2}(?:Z|UTC|GMT)(?:[+-](?:1[0-4]|0?\d)(?:[:_.]?(?:00|15|30|45))?)?(?![\da-z])`;
const OFFSET = String.raw`[ _]?(?:\+(?:0\d|1[0-4])[-:_.]?|-(?:0\d|1[0-4])[:_]?)(?:00|15|30|45)(?![\da-z])`;

/** Formats of a time in a file name. Uploads replace `:` by other characters. */
const TIMES_IN_NAME = [
	// 2026-03-01 09-04-12, 2026-03-01 at 9.04.12 AM, 2026-03-01 09 04
	String.raw`${DATE}${AT}(?<hour>\d{1,2})(?<colon>[-:_. ])(?<minute>\d\d)(?:\k<colon>(?<second>\d\d))?${ENDS}`,
	// 2026-03-01_09h04m12s
	String.raw`${DATE}${AT}(?<hour>\d{1,2})h[ _]?(?<minute>\d\d)(?:m(?:in)?[ _]?(?:(?<second>\d\d)s?)?)?${ENDS}`,
	// 20260301_090412, 20260301_0904, and with milliseconds 20260301_090412345
	String.raw`${DATE}${AT}${NOT_DATE}${NOT_COUNTER}${HOUR_MINUTE}(?:(?<second>\d\d)(?:\d{3})?)?${ENDS}`,
	// 20260301090412, 202603010904
	String.raw`(?<!\+)(?<year>20\d\d)(?<month>\d\d)(?<day>\d\d)${NOT_COUNTER}${HOUR_MINUTE}(?<second>\d\d)?${ENDS}`,
	// 260301_090412, 260301_0904
	String.raw`${SHORT_DATE}[ _-]${HOUR_MINUTE}(?<second>\d\d)${ENDS}`,
	String.raw`${SHORT_DATE}_${NOT_COUNTER}${HOUR_MINUTE}${ENDS}`,
].map(
	(form) =>
		new RegExp(
			// Pixel phones write UTC.
			String.raw`(?:(?<![a-z])(?<utc>GMT|UTC|PXL)[ _-]?)?(?<!\d)${form}${HALF}(?:${BEFORE_ZONE}(?<zone>${UTC}|${OFFSET}))?`,
			'gi',
		),
);

/**
 * The start of a recording: as given with the upload, from the file's name, or from the container's
 * or the file's time, both of which are the end. A time in the future is ignored or, without
 * another one, replaced by now minus the duration.
 */
export function startOf(known: Known): Start {
	const { given, fileName = '', createdMs = 0, modifiedMs, durationMs, timezone, nowMs } = known;
	const latestMs = nowMs - durationMs;
	const start = (startMs: number, from: Start['from']): Start => ({
		// File systems have fractions of a millisecond, an archive doesn't.
		startMs: Math.round(startMs > nowMs ? latestMs : startMs),
		from,
	});
	const isPast = (ms: number) => ms >= EARLIEST_MS && ms <= nowMs;
	if (given !== undefined) return start(given, 'upload');
	const named = timesInName(fileName.slice(0, MAX_FILE_NAME), timezone).find(isPast);
	if (named !== undefined) return start(named, 'fileName');
	if (isPast(createdMs)) return start(createdMs - durationMs, 'container');
	return start(modifiedMs >= EARLIEST_MS ? modifiedMs - durationMs : latestMs, 'modified');
}

/** Characters that replace colons in file names. */
const LIKE_COLONS = /[;∶꞉ː]/g;

/** Valid times in a file name, epoch ms, in order. */
function timesInName(name: string, timezone: string): number[] {
	// Normalizes spaces and colon-like characters.
	const plain = name.normalize('NFKC').replace(LIKE_COLONS, ':');
	return TIMES_IN_NAME.flatMap((form) => [...plain.matchAll(form)])
		.sort((a, b) => a.index - b.index)
		.flatMap(({ groups = {} }) => {
			const { year, month, day, minute, second = '00', zone = groups.utc } = groups;
			const time = `${hourOf(groups)}:${minute}:${second}${offsetOf(zone)}`;
			return parseInstantIfAny(`${year.padStart(4, '20')}-${month}-${day}T${time}`, timezone) ?? [];
		});
}

function hourOf({ hour, half }: Record<string, string | undefined>): string {
	const isTwelve = half !== undefined && Number(hour) <= 12;
	const number = isTwelve
		? (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
		: Number(hour);
	return String(number).padStart(2, '0');
}

/** The ISO 8601 offset of a time zone such as `+01_00`, `GMT-8` or `UTC`. */
function offsetOf(zone: string | undefined): string {
	if (zone === undefined) return '';
	const [, sign, hours, minutes = '00'] = /([+-])(\d{1,2}?)[-:_.]?(\d\d)?$/.exec(zone) ?? [];
	return sign === undefined ? 'Z' : `${sign}${hours.padStart(2, '0')}:${minutes}`;
}

import { dayOf } from './layout.mts';

const DAY_MS = 86_400_000;
const MAX_LISTED = 10;

/** The days missing from `days` (YYYY-MM-DD, in order) between its first and last. */
export function daysBetween(days: string[]): string[] {
	const between: string[] = [];
	for (const [index, day] of days.slice(1).entries()) {
		const end = Date.parse(day);
		for (let ms = Date.parse(days[index]) + DAY_MS; ms < end; ms += DAY_MS) between.push(dayOf(ms));
	}
	return between;
}

/** Formats sorted days as ranges; only the first ranges. */
export function asRanges(days: string[]): string {
	const ranges: string[][] = [];
	for (const day of days) {
		const last = ranges.at(-1)?.at(-1);
		if (last !== undefined && Date.parse(day) - Date.parse(last) === DAY_MS)
			ranges.at(-1)!.push(day);
		else ranges.push([day]);
	}
	const shown = ranges
		.slice(0, MAX_LISTED)
		.map((range) => (range.length === 1 ? range[0] : `${range[0]} to ${range.at(-1)}`));
	return shown.join(', ') + (ranges.length > MAX_LISTED ? ' and others' : '');
}

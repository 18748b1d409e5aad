import { DAY_MS } from '../util/durations.mts';

/** The missing days between the first and the last. `days` are `YYYY-MM-DD`, in order. */
export function missingDays(days: string[]): string[] {
	const there = new Set(days);
	const missing: string[] = [];
	const last = Date.parse(days.at(-1) ?? '');
	for (let ms = Date.parse(days.at(0) ?? ''); ms < last; ms += DAY_MS) {
		const day = new Date(ms).toISOString().slice(0, 10);
		if (!there.has(day)) missing.push(day);
	}
	return missing;
}

/** The lists whose requests are counted. */
export const requestCases = [100, 1000, 10_000].flatMap((lifelogs) =>
	[false, true].map((includeContents) => ({ lifelogs, includeContents })),
);

/** The range of time that holds them all, in UTC, and the clock of the sandbox that makes them. */
export const month = { start: '2026-02-01 00:00:00', end: '2026-03-03 00:00:00' };
export const monthOf = { now: '2026-03-03T00:00:00Z', days: 30 };

/** So many pages are read at a time. */
export const LANES = 6;

/** A list of so many pages costs the least. */
export const PAGES_IN_A_ROW = 2;

/** The most requests that a longer list may cost beside the least: two for each stretch it is cut into. */
export const MOST_MORE = 20;
/** A stretch has so many pages. */
const PAGES_OF_STRETCH = 4;

/** The fewest requests that the rules allow: pages of 100, or of 25 with contents. */
export function leastRequests(lifelogs: number, includeContents: boolean): number {
	return Math.max(1, Math.ceil(lifelogs / (includeContents ? 25 : 100)));
}

/** The most requests that a list may cost whose least is known. */
export function mostRequests(least: number): number {
	if (least <= PAGES_IN_A_ROW) return least;
	return least + Math.min(3 + 2 * Math.floor(least / PAGES_OF_STRETCH), MOST_MORE);
}

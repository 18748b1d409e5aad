/** The range of time that holds all lifelogs, in UTC, and the clock of the sandbox that makes them. */
export const month = { start: '2026-02-01 00:00:00', end: '2026-03-03 00:00:00' };
export const monthOf = { now: '2026-03-03T00:00:00Z', days: 30 };

/** The fewest requests that the rules allow: pages of 100, or of 25 with contents. */
export function minRequests(lifelogs: number, includeContents: boolean): number {
	return Math.max(1, Math.ceil(lifelogs / (includeContents ? 25 : 100)));
}

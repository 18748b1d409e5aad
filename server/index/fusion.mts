// The usual RRF constant: first place in one ranking doesn't outweigh good places in both.
const SMOOTHING = 60;

/** Merges rankings by reciprocal rank (RRF). Entries high in one ranking, or in several, come first. */
export function fuse(rankings: string[][]): string[] {
	const scores = new Map<string, number>();
	for (const ranking of rankings) {
		for (const [place, id] of ranking.entries()) {
			scores.set(id, (scores.get(id) ?? 0) + 1 / (SMOOTHING + place + 1));
		}
	}
	return [...scores].sort(([, a], [, b]) => b - a).map(([id]) => id);
}

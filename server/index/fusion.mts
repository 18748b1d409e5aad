// The usual constant: the first place of one ranking does not outweigh good places in both.
const SMOOTHING = 60;

/** Fuses rankings by reciprocal rank: what stands far up in one, or in several, comes first. */
export function fuse(rankings: string[][]): string[] {
	const scores = new Map<string, number>();
	for (const ranking of rankings) {
		for (const [place, id] of ranking.entries()) {
			scores.set(id, (scores.get(id) ?? 0) + 1 / (SMOOTHING + place + 1));
		}
	}
	return [...scores].sort(([, a], [, b]) => b - a).map(([id]) => id);
}

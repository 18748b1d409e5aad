/**
 * Puts things into as few groups as their order allows.
 *
 * @param most What a group may hold at most, in as many respects as there are.
 * @param costOf What one thing takes of each. A thing too large for a group gets one of its own.
 */
export function inGroups<T>(all: T[], most: number[], costOf: (one: T) => number[]): T[][] {
	const groups: T[][] = [];
	let free: number[] = [];
	for (const one of all) {
		const cost = costOf(one);
		const last = groups.at(-1);
		if (last && cost.every((part, respect) => part <= free[respect])) {
			last.push(one);
		} else {
			groups.push([one]);
			free = most;
		}
		free = free.map((left, respect) => left - cost[respect]);
	}
	return groups;
}

/** The bytes that something takes in a list that is sent as JSON. */
export function sizeOf(value: unknown): number {
	return Buffer.byteLength(JSON.stringify(value)) + 1;
}

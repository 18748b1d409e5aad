import { utf8Bytes } from '../text.ts';

/**
 * As few groups as the order allows.
 *
 * @param limits Of a group, for each kind of cost.
 * @param costOf The costs of one thing. One that is too large gets a group of its own.
 */
export function inGroups<T>(all: T[], limits: number[], costOf: (one: T) => number[]): T[][] {
	const groups: T[][] = [];
	let free: number[] = [];
	for (const one of all) {
		const cost = costOf(one);
		const last = groups.at(-1);
		if (last && cost.every((part, respect) => part <= free[respect])) {
			last.push(one);
		} else {
			groups.push([one]);
			free = limits;
		}
		free = free.map((left, respect) => left - cost[respect]);
	}
	return groups;
}

/** Of an element of a list. */
export function jsonBytes(value: unknown): number {
	return utf8Bytes(JSON.stringify(value)) + 1;
}

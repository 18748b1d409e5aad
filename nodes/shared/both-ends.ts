import type { IDataObject } from 'n8n-workflow';

import type { Api } from './api';
import { endingTogether, ifAnswered } from './at-once';
import type { Listing, Walk } from './pagination';
import { begunWalk, isOldestFirst, reversed, walkOf } from './pagination';

/** The times by which a service may sort its lists. */
const TIMES = ['startTime', 'endTime', 'updatedAt', 'createdAt', 'startedAt'];
/** Where so many pages in a row are empty at the far end, the front reads as fast alone. */
const MOST_EMPTY_PAGES = 2;

/**
 * All entries of a listing, in the service's order, each once: its first pages one after the other,
 * and where it goes on, the rest from both ends at once until the two walks meet. What a range
 * means plays no part, as both ask for the same; what the service sorts by is not relied upon
 * either:
 *
 * - They have met when the last two entries of the one stand in the other the other way round, and
 *   have not changed: nothing can stand between. (One entry alone may be the first of several
 *   of the same time that are listed the same way in both directions.)
 * - What only the second walk has read is put behind the first, the other way round, if it is in
 *   order of one of its times, and entries of the same time are known to change places with the
 *   direction. Otherwise the first walk goes on, if need be to its end, as page after page does.
 * - Where the service does not answer from the other end, or next to nothing is there, the first walk
 *   goes on alone.
 * - Then the far end is asked for once more: what changed meanwhile may have moved there. Where that
 *   is not answered, the first walk goes on alone, too.
 *
 * The rest takes half the rounds of page after page and one more, and at most three requests more.
 *
 * @param begun The walk from the front, where it has begun.
 * @throws NodeApiError as `pages`.
 */
export async function readFromBothEnds<T extends { id: string }>(
	api: Api,
	listing: Listing,
	begun?: Walk<T>,
): Promise<T[]> {
	return await endingTogether(api, async (own) => {
		const head = begun ?? (await begunWalk<T>(own, listing));
		return head.isAtEnd ? head.entries : await meet(own, listing, head);
	});
}

async function meet<T extends { id: string }>(
	api: Api,
	listing: Listing,
	head: Walk<T>,
): Promise<T[]> {
	const rises = isOldestFirst(listing.query);
	const fromBack = { ...listing, query: reversed(listing.query), isBeside: true };
	const keys = keysOf(head.entries, rises);
	const front: Side<T> = { walk: head, rises, keys, emptyPages: 0 };
	const back: Side<T> = { walk: walkOf(api, fromBack), rises: !rises, keys: TIMES, emptyPages: 0 };
	while (!head.isAtEnd) {
		const isSparse = back.emptyPages >= MOST_EMPTY_PAGES;
		const mayMeet = !isSparse && front.keys.some((key) => back.keys.includes(key));
		await Promise.all([goOn(front), mayMeet && !back.walk.isAtEnd && goOnIfAnswered(back)]);
		const rest = mayMeet && !head.isAtEnd ? behind(front, back) : undefined;
		if (!rest) continue;
		const entries = head.entries.concat(rest);
		const all = await ifAnswered(withLate(entries, walkOf(api, fromBack), back.walk));
		if (all) return all;
		back.keys = [];
	}
	return head.entries;
}

/** One of two walks towards each other. */
interface Side<T> {
	walk: Walk<T>;
	rises: boolean;
	/** The times by which it is in order, as far as read. */
	keys: string[];
	/** So many of its pages, the last ones, were empty. */
	emptyPages: number;
}

async function goOn<T extends { id: string }>(side: Side<T>): Promise<void> {
	const last = side.walk.entries.slice(-1);
	const page = await side.walk.next();
	side.emptyPages = page.length > 0 ? 0 : side.emptyPages + 1;
	side.keys = keysOf(last.concat(page), side.rises, side.keys);
}

/** What fails here may not fail page after page; it then goes no further. */
async function goOnIfAnswered<T extends { id: string }>(side: Side<T>): Promise<void> {
	await goOn(side).catch(() => (side.keys = []));
}

/** What stands behind the one walk in the list, by the other one; undefined where not known. */
function behind<T extends { id: string }>(front: Side<T>, back: Side<T>): T[] | undefined {
	const head = front.walk;
	const tail = back.walk.entries;
	const last = head.entries.length - 1;
	const met = last < 1 ? undefined : back.walk.places.get(head.entries[last].id);
	if (met === undefined) return undefined;
	let common = 0;
	while (common <= last && isUnchanged(head.entries[last - common], tail[met + common])) common++;
	if (common < 2) return undefined;

	const rest = tail.slice(0, met).filter(({ id }) => !head.places.has(id));
	rest.reverse();
	const seam = [head.entries[last], ...rest];
	const keys = keysOf(seam, front.rises, front.keys);
	const overlap = tail.slice(met, met + common);
	const isCertain = keys.every((key) => !hasTies(seam, key) || hasTies(overlap, key));
	return keys.length > 0 && isCertain ? rest : undefined;
}

/** Adds what has come to the far end of a list, or has moved there, since it was read. */
async function withLate<T extends { id: string }>(
	entries: T[],
	again: Walk<T>,
	tail: Walk<T>,
): Promise<T[]> {
	const isKnown = (entry: T) => {
		const place = tail.places.get(entry.id);
		return place !== undefined && isUnchanged(entry, tail.entries[place]);
	};
	let known = -1;
	while (known < 0 && !again.isAtEnd) {
		await again.next();
		known = again.entries.findIndex(isKnown);
	}
	const ids = new Set(entries.map(({ id }) => id));
	const late = again.entries
		.slice(0, known < 0 ? undefined : known)
		.filter(({ id }) => !ids.has(id));
	return entries.concat(late.reverse());
}

/**
 * Whether two readings of an entry agree in all that a service may sort by. One that has changed
 * may have moved in the list.
 */
export function isUnchanged<T extends { id: string }>(one: T, other: T | undefined): boolean {
	const values = (entry: T) => TIMES.map((key) => (entry as IDataObject)[key] ?? null);
	return one.id === other?.id && JSON.stringify(values(one)) === JSON.stringify(values(other));
}

/** Those of `keys` by which entries are in order. */
function keysOf<T>(entries: T[], rises: boolean, keys = TIMES): string[] {
	return keys.filter((key) => {
		const instants = entries.map((entry) => timeUnder(entry, key));
		return instants.every((instant, nth) => {
			const before = nth === 0 ? instant : instants[nth - 1];
			return rises ? instant >= before : instant <= before;
		});
	});
}

/** Whether any two neighbours have the same time. */
function hasTies<T>(entries: T[], key: string): boolean {
	const instants = entries.map((entry) => timeUnder(entry, key));
	return instants.some((instant, nth) => instant === instants[nth - 1]);
}

function timeUnder<T>(entry: T, key: string): number {
	return Date.parse(String((entry as IDataObject)[key]));
}

import type { Api } from '../shared/api';
import type { Lifelog } from '../shared/api-types';
import { endedBy, endingTogether, ifAnswered } from '../shared/at-once';
import { readFromBothEnds } from '../shared/both-ends';
import { toNodeError } from '../shared/errors';
import type { Listing, Walk } from '../shared/pagination';
import { begunWalk, PAGES_IN_A_ROW, walkOf } from '../shared/pagination';
import type { Place } from './seams';
import {
	cutNear,
	goesAsFar,
	hasReadUntil,
	holdsWhatBeginsInIt,
	lookAtEnd,
	part,
	placeOf,
} from './seams';

/** So many pages are read at a time. More are faster still, but each may earn a 429 at the limit. */
const MOST_LANES = 6;
/** So many stretches a range is cut into at most: each costs up to two requests. */
const MOST_STRETCHES = 10;
/** Each has so many pages at least, as far as that can be seen when the list is cut. */
const LEAST_PAGES = 4;
/** A stretch is shared where so many pages seem to be left of it. */
const WORTH_SHARING = 5;
/** How often a seam is looked at, a page further each time, until the stretch behind it is given up. */
const LOOKS_AT_SEAM = 2;

/** A walk that begins somewhere in the list and would, if let, go to its end. */
interface Stretch {
	walk: Walk<Lifelog>;
	/** Where it begins; undefined where the list does. */
	from?: Place;
	/** Fires when what it reads is not needed. */
	drop: AbortController;
	pages: number;
	/** So many of them, the last ones, were empty. */
	emptyPages: number;
	/** Everything up to the stretch behind it was read. */
	isDone: boolean;
	/** Nothing begins between here and the stretch behind it. */
	emptyFrom: Place;
	/** Which part of what is left of it the next lane leaves to it. */
	share: number;
	looks: number;
}

interface Lanes {
	api: Api;
	listing: Listing;
	/** In the order of the list, none of them dropped. */
	stretches: Stretch[];
	/** Where the last lifelog of the list begins. */
	far: Place;
	/** Its ID. */
	lastId: string;
	/** How many more stretches may be made. */
	left: number;
}

/**
 * All lifelogs of a list, in the service's order, each once: its first pages one after the other,
 * and where it goes on, the rest several pages at a time.
 *
 * Walks begin at several places of the list, and each goes on until it has read everything up to
 * where the next one began; the list is then what the first has read, then what the second has
 * read besides, and so on. It rests on nothing that the specification leaves open (section 4.2),
 * what `start` and `end` mean and what the list is sorted by:
 *
 * - The service is asked whether a range holds what begins in it, and whether one with one bound
 *   alone ends where the list does. If not, or where a date is asked for, or it does not say, the
 *   list is read from both its ends instead; where it does not answer from the other end, page after
 *   page.
 * - A walk keeps to its cursors, and its range ends where the list does. So one that is let go on
 *   reads what page after page reads, and is let go on unless the service itself, asked for the
 *   end of the part before the next walk, gives what was read already.
 * - A walk whose range ends before the list does is given up, and the one before it let go on.
 *
 * A lane that is done begins a stretch in the middle of what is left of the largest one; one that
 * finds nothing new there tries again nearer to where the other one reads.
 *
 * @throws NodeApiError as `pages`: the first one of any lane, which ends the other lanes. What page
 *   after page would not have asked for is no reason, until it is known to be answered.
 */
export async function readInLanes(api: Api, listing: Listing): Promise<Lifelog[]> {
	return await endingTogether(api, async (own) => {
		const head = await begunWalk<Lifelog>(own, listing);
		if (head.isAtEnd || listing.query.date !== undefined) {
			return await readFromBothEnds(own, listing, head);
		}
		const known = [...head.entries];
		const [isCovered, end, third] = await Promise.all([
			ifAnswered(holdsWhatBeginsInIt(own, listing, known)),
			ifAnswered(lookAtEnd(own, listing, listing.query)),
			head.next(),
		]);
		if (head.isAtEnd || !end) return await readOn(head);
		const last = end.entries.at(0);
		const far = last ? placeOf(listing.query, last) : NaN;
		if (!last || !isCovered || Number.isNaN(far)) {
			return await readFromBothEnds(own, listing, head);
		}
		const { id: lastId } = last;
		const lanes: Lanes = { api: own, listing, stretches: [], far, lastId, left: MOST_STRETCHES };
		const first = newStretch(lanes, undefined, head);
		first.pages = PAGES_IN_A_ROW + 1;
		lanes.stretches.push(first);
		if (listing.query.start === undefined || listing.query.end === undefined) {
			// With the page that is read meanwhile.
			if (!(pagesLeft(lanes, first) - 1 >= 2 * LEAST_PAGES)) return await readOn(head);
			const [isSafe, fourth] = await Promise.all([
				ifAnswered(goesAsFar(own, listing, known[0], last)),
				head.next(),
			]);
			const isSparse = third.length + fourth.length === 0;
			if (!isSafe || isSparse) return await readFromBothEnds(own, listing, head);
			first.pages++;
		}
		cut(lanes, first);
		await Promise.all(Array.from({ length: MOST_LANES }, async (_, nth) => await work(lanes, nth)));
		return joined(lanes.stretches);
	});
}

/** The rest of a list, page after page: all of it. */
async function readOn(head: Walk<Lifelog>): Promise<Lifelog[]> {
	while (!head.isAtEnd) await head.next();
	return head.entries;
}

function newStretch(lanes: Lanes, from?: Place, walk?: Walk<Lifelog>): Stretch {
	const { api, listing } = lanes;
	const drop = new AbortController();
	const query = part(listing.query, from);
	return {
		walk: walk ?? walkOf<Lifelog>(endedBy(api, drop.signal), { ...listing, query }),
		from,
		drop,
		pages: 0,
		emptyPages: 0,
		isDone: false,
		emptyFrom: Infinity,
		share: 1 / 2,
		looks: 0,
	};
}

/** Cuts what a first stretch leaves of the list into parts of the same length, one for each lane. */
function cut(lanes: Lanes, first: Stretch): void {
	const { listing, stretches } = lanes;
	const reached = reachedBy(lanes, first);
	const count = Math.min(Math.floor(pagesLeft(lanes, first) / LEAST_PAGES), MOST_LANES);
	for (let nth = 1; nth < count; nth++) {
		const from = cutNear(listing.query, reached + ((lanes.far - reached) * nth) / count);
		if (from === undefined) continue;
		stretches.push(newStretch(lanes, from));
		lanes.left--;
	}
}

/** A lane: reads its stretch, then parts of others, as long as there are any worth it. */
async function work(lanes: Lanes, nth: number): Promise<void> {
	let stretch: Stretch | undefined = lanes.stretches[nth];
	while (stretch) {
		let reopened: Stretch | undefined;
		try {
			reopened = await read(lanes, stretch);
		} catch (error) {
			if (isUsed(lanes, stretch)) throw toNodeError(lanes.api.context, error);
		}
		stretch = reopened ?? share(lanes);
	}
}

/**
 * Reads a stretch until all before the next one is read, or it is not needed any more.
 *
 * @returns One that was done and is to be read on.
 */
async function read(lanes: Lanes, stretch: Stretch): Promise<Stretch | undefined> {
	while (isUsed(lanes, stretch)) {
		if (stretch.walk.isAtEnd) {
			const isEarly = await endsEarly(lanes, stretch);
			if (!isUsed(lanes, stretch)) return undefined;
			if (isEarly) return giveUp(lanes, stretch);
			drop(lanes, lanes.stretches.slice(lanes.stretches.indexOf(stretch) + 1));
			stretch.isDone = true;
			return undefined;
		}
		const page = await stretch.walk.next();
		stretch.pages++;
		stretch.emptyPages = page.length > 0 ? 0 : stretch.emptyPages + 1;
		if (!isUsed(lanes, stretch)) return undefined;
		if (stretch.pages === 1 && findsNothing(lanes, stretch)) return undefined;
		if (isSparse(stretch)) {
			lanes.left = 0;
			return giveUp(lanes, stretch);
		}
		if (await isJoined(lanes, stretch, page)) return undefined;
	}
	return undefined;
}

/**
 * Whether a range ends before the list does: what it means with one end alone is left open, too.
 * Where what was last in the list is not in it, it may have gone meanwhile, so that is looked up.
 */
async function endsEarly(lanes: Lanes, { walk, from, drop }: Stretch): Promise<boolean> {
	const { api, listing } = lanes;
	if (from === undefined || walk.places.has(lanes.lastId)) return false;
	const own = endedBy(api, drop.signal);
	const end = await ifAnswered(lookAtEnd(own, listing, listing.query));
	const last = end?.entries.at(0);
	if (!last || !walk.places.has(last.id)) return true;
	lanes.lastId = last.id;
	return false;
}

/**
 * Whether a service filters its pages after cutting them, and leaves next to nothing here: where
 * nothing comes, nothing shows how far a stretch has got.
 */
function isSparse({ from, walk, pages, emptyPages }: Stretch): boolean {
	return from !== undefined && !walk.isAtEnd && emptyPages >= (pages === 1 ? 1 : 2);
}

/** Leaves what a stretch was to read to the one before it, which is given back if it was done. */
function giveUp(lanes: Lanes, stretch: Stretch): Stretch | undefined {
	const [before] = neighbours(lanes, stretch);
	drop(lanes, [stretch]);
	if (!before?.isDone) return undefined;
	before.isDone = false;
	return before;
}

/** Drops a stretch that begins with what a neighbour begins with: nothing lies between. */
function findsNothing(lanes: Lanes, stretch: Stretch): boolean {
	const [before, after] = neighbours(lanes, stretch);
	const begin = beginOf(lanes, stretch);
	const isEmpty = begin === undefined && stretch.walk.isAtEnd;
	const isSame =
		begin !== undefined &&
		[before, after].some((other) => other && beginOf(lanes, other) === begin);
	if (!before || (!isEmpty && !isSame)) return false;
	if (isEmpty || beginOf(lanes, before) !== begin) {
		before.emptyFrom = Math.min(before.emptyFrom, stretch.from!);
		before.share /= 8;
	}
	drop(lanes, [stretch]);
	return true;
}

/** The ID of the first lifelog that begins in a stretch; of what reaches into it others know. */
function beginOf({ listing }: Lanes, { walk, from }: Stretch): string | undefined {
	const first = walk.entries.find(
		(entry) => !(placeOf(listing.query, entry) < (from ?? -Infinity)),
	);
	return first?.id;
}

/** Whether a stretch that has come to the next one has read everything before it. */
async function isJoined(lanes: Lanes, stretch: Stretch, page: Lifelog[]): Promise<boolean> {
	const { api, listing } = lanes;
	const [, next] = neighbours(lanes, stretch);
	if (!next?.from || stretch.walk.isAtEnd || page.length === 0) return false;
	const { from, walk } = next;
	if (next.pages === 0 && reachedBy(lanes, stretch) >= from) {
		// It would read behind this one what this one has read; where lanes begin late, fewer are worth it.
		drop(lanes, [next]);
		lanes.left = Math.max(0, lanes.left - 1);
		return false;
	}
	const hasCome = page.some(
		(entry) => walk.places.has(entry.id) && placeOf(listing.query, entry) >= from,
	);
	if (!hasCome) return false;

	const own = endedBy(api, stretch.drop.signal);
	const isWhole = await ifAnswered(hasReadUntil(own, listing, stretch.walk, stretch.from, from));
	if (!isUsed(lanes, stretch) || !isUsed(lanes, next)) return false;
	if (!isWhole) {
		stretch.looks++;
		const isVain = isWhole === undefined || stretch.looks % LOOKS_AT_SEAM === 0;
		if (isVain) drop(lanes, [next]);
		return false;
	}
	const { stretches } = lanes;
	drop(lanes, stretches.slice(stretches.indexOf(stretch) + 1, stretches.indexOf(next)));
	stretch.isDone = true;
	return true;
}

/** Begins a stretch in what is left of the one with the most left; undefined where too little is. */
function share(lanes: Lanes): Stretch | undefined {
	const open = lanes.stretches.filter(({ isDone, walk }) => !isDone && walk.entries.length > 0);
	const worth = open.map((stretch) => pagesLeft(lanes, stretch));
	const most = worth.indexOf(Math.max(...worth));
	const largest: Stretch | undefined = open[most];
	if (!largest || lanes.left === 0 || !(worth[most] >= WORTH_SHARING)) return undefined;

	const reached = reachedBy(lanes, largest);
	const from = cutNear(
		lanes.listing.query,
		reached + (endOf(lanes, largest) - reached) * largest.share,
	);
	if (from === undefined || from <= reached) return undefined;
	lanes.left--;
	const stretch = newStretch(lanes, from);
	lanes.stretches.splice(lanes.stretches.indexOf(largest) + 1, 0, stretch);
	return stretch;
}

/** How many pages seem to be left of a stretch, were the rest as dense as what was read of it. */
function pagesLeft(lanes: Lanes, stretch: Stretch): number {
	const reached = reachedBy(lanes, stretch);
	const begin = placeOf(lanes.listing.query, stretch.walk.entries[0]);
	const perPage = Math.max((reached - begin) / stretch.pages, 1);
	return (endOf(lanes, stretch) - reached) / perPage;
}

function reachedBy({ listing }: Lanes, { walk }: Stretch): Place {
	return placeOf(listing.query, walk.entries[walk.entries.length - 1]);
}

function endOf(lanes: Lanes, stretch: Stretch): Place {
	const [, next] = neighbours(lanes, stretch);
	return Math.min(next?.from ?? lanes.far, stretch.emptyFrom);
}

function neighbours({ stretches }: Lanes, stretch: Stretch): Array<Stretch | undefined> {
	const nth = stretches.indexOf(stretch);
	return [stretches[nth - 1], stretches[nth + 1]];
}

function isUsed({ stretches }: Lanes, stretch: Stretch): boolean {
	return stretches.includes(stretch);
}

function drop(lanes: Lanes, dropped: Stretch[]): void {
	lanes.stretches = lanes.stretches.filter((stretch) => !dropped.includes(stretch));
	for (const stretch of dropped) stretch.drop.abort();
}

/** What the first has read, then what each of the others has read besides. */
function joined(stretches: Stretch[]): Lifelog[] {
	const entries = new Map<string, Lifelog>();
	for (const { walk } of stretches) {
		for (const entry of walk.entries) if (!entries.has(entry.id)) entries.set(entry.id, entry);
	}
	return [...entries.values()];
}

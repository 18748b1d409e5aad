import type { IDataObject } from 'n8n-workflow';

import type { Api } from '../shared/api';
import type { Lifelog } from '../shared/api-types';
import { isUnchanged } from '../shared/both-ends';
import { toInstant, toRange } from '../shared/date-times';
import { LIGHT } from '../shared/lifelogs';
import type { Listing, Walk } from '../shared/pagination';
import { isOldestFirst, reversed, walkOf } from '../shared/pagination';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** So many lifelogs of the end of a part are compared, as any of them may have changed since. */
const COMPARED = 5;
/** A look at one end of a range goes no further, where next to nothing is on its pages. */
const MOST_PAGES_OF_LOOK = 3;
/** What is asked whether it is listed lasts at least so long: its middle lies far behind its begin. */
const LONG_MS = 10 * SECOND_MS;

/**
 * A place in a list by time: epoch ms, negative in a list that is newest first, so that what comes
 * later in the list is always greater.
 */
export type Place = number;

/** Where a lifelog begins; NaN where that cannot be read. */
export function placeOf(query: IDataObject, { startTime }: Lifelog): Place {
	const rises = isOldestFirst(query);
	const instant = toInstant(startTime, query.timezone as string, rises ? 'start' : 'end') ?? NaN;
	return rises ? instant : -instant;
}

/**
 * The place near a given one at which a range may be cut: in full seconds, and not near an hour
 * that clocks show twice, as the wire cannot name it (specification, section 4.2, `start`).
 */
export function cutNear(query: IDataObject, place: Place): Place | undefined {
	const cut = Math.floor(place / SECOND_MS) * SECOND_MS;
	const isShownOnce = [-MINUTE_MS, 0, MINUTE_MS].every((shift) => {
		const instant = Math.abs(cut) + shift;
		const { start, end } = toRange(instant, instant, query.timezone as string).query;
		return start === end;
	});
	return isShownOnce ? cut : undefined;
}

/** The query, from a place on, or up to one, or both; otherwise as far as it reaches itself. */
export function part(query: IDataObject, from?: Place, to?: Place): IDataObject {
	const rises = isOldestFirst(query);
	const [first, last] = rises ? [from, to] : [to, from];
	const instant = (place?: Place) => (place === undefined ? place : Math.abs(place));
	const cut = toRange(instant(first), instant(last), query.timezone as string).query;
	return { ...query, start: cut.start ?? query.start, end: cut.end ?? query.end };
}

/**
 * Whether a part of a list with open ends goes as far as the list, seen at its last lifelog: what
 * leads up to there begins with the first, and what is left from there ends with the last. Such a
 * part is asked for by a range with one bound alone, and the specification does not say how far that
 * goes (section 4.2): it may end before the list does, or behind it.
 */
export async function goesAsFar(
	api: Api,
	listing: Listing,
	first: Lifelog,
	last: Lifelog,
): Promise<boolean> {
	const { query } = listing;
	const far = placeOf(query, last);
	const [before, behind] = [far - MINUTE_MS, far + MINUTE_MS].map((at) => cutNear(query, at));
	if (before === undefined || behind === undefined) return false;
	const [begin, end] = isOldestFirst(query) ? [query.start, query.end] : [query.end, query.start];
	const looks = [
		begin === undefined && { asked: reversed(part(query, undefined, behind)), wanted: first },
		end === undefined && { asked: part(query, before), wanted: last },
	].filter((look) => look !== false);
	const found = await Promise.all(
		looks.map(async ({ asked }) => await lookAtEnd(api, listing, asked)),
	);
	return found.every(({ entries }, nth) => entries.at(0)?.id === looks[nth].wanted.id);
}

/**
 * The last lifelogs of a list, the last one first, where possible two; all of them when the walk is
 * at its end. Pages as large as the list's own: where a service filters a page after cutting it, as
 * much of a large one comes as of theirs, and next to nothing of a small one.
 */
export async function lookAtEnd(
	api: Api,
	listing: Listing,
	query: IDataObject,
): Promise<Walk<Lifelog>> {
	const back = { ...listing, query: { ...reversed(query), ...LIGHT }, isBeside: true };
	const walk = walkOf<Lifelog>(api, back);
	for (let pages = 0; pages < MOST_PAGES_OF_LOOK && walk.entries.length < 2; pages++) {
		if (!walk.isAtEnd) await walk.next();
	}
	return walk;
}

/**
 * Asks the service whether a range holds what begins in it and ends behind it. Where it does, two
 * ranges that overlap hold together all that the range from the start of the one to the end of the
 * other holds, whatever else it asks of an entry. The specification does not say so of `start` and
 * `end` (section 4.2).
 *
 * @param known Lifelogs of the list, one of them long enough to be asked for.
 */
export async function holdsWhatBeginsInIt(
	api: Api,
	listing: Listing,
	known: Lifelog[],
): Promise<boolean> {
	const zone = listing.query.timezone as string;
	const spans = known.map(({ id, startTime, endTime }) => {
		const begin = toInstant(startTime, zone, 'start') ?? NaN;
		return { id, begin, lasts: (toInstant(endTime, zone, 'start') ?? NaN) - begin };
	});
	const newest = spans.reduce((latest, { begin }) => (begin > latest ? begin : latest), -Infinity);
	const long = spans.filter(({ begin, lasts }) => lasts >= LONG_MS && begin < newest);
	long.sort((one, other) => other.lasts - one.lasts);
	const oldestFirst = { direction: 'asc', timezone: zone };
	const asked = long.find(({ begin }) => cutNear(oldestFirst, begin) !== undefined);
	if (!asked) return false;

	const until = Math.ceil(asked.begin / SECOND_MS) * SECOND_MS + SECOND_MS;
	const range = toRange(asked.begin - SECOND_MS, until, zone).query;
	const query = { ...listing.query, ...LIGHT, ...range };
	const walk = walkOf<Lifelog>(api, { ...listing, query, pageSize: 10 });
	const found = await walk.next();
	const keepsToIt = found.every(
		({ startTime }) => (toInstant(startTime, zone, 'start') ?? NaN) <= until + SECOND_MS,
	);
	return keepsToIt && found.some(({ id }) => id === asked.id);
}

/**
 * Whether a walk has read all of its range up to a place. It has when the end of that part is among
 * what it has read, unchanged: what comes before it in the list was read before it, whatever the
 * list is sorted by. That the service turns the list round shows in two entries that have changed
 * places.
 *
 * @param from Where the walk began; undefined for where the listing does.
 */
export async function hasReadUntil(
	api: Api,
	listing: Listing,
	walk: Walk<Lifelog>,
	from: Place | undefined,
	to: Place,
): Promise<boolean> {
	const end = await lookAtEnd(api, listing, part(listing.query, from, to + MINUTE_MS));
	const last = end.entries.slice(0, COMPARED);
	const isAll = end.isAtEnd && last.length === end.entries.length;
	const places = last.map((entry) => {
		const place = walk.places.get(entry.id);
		return place !== undefined && isUnchanged(entry, walk.entries[place]) ? place : NaN;
	});
	const isTurned = places.some((place, nth) => place < places[nth - 1]);
	return places.every((place) => !Number.isNaN(place)) && (isAll || isTurned);
}

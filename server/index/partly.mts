// Finds lifelogs that match a search only partly.
import type { IndexDatabase } from './database.mts';
import {
	conditionsOf,
	numbersOfText,
	numbersOfVoices,
	type VoicedCondition,
} from './conditions.mts';
import type { IndexFilter } from './store.mts';

/** If fewer lifelogs match completely, those that match mostly are added. */
export const FEW = 10;
/** Newest lifelogs to search for frequent words. */
const NEWEST = 2_500;
/** Lifelogs per query. */
const CHUNK = 5_000;
/** Weight of rare words: only decides among lifelogs with the same number of words. */
const RARITY = 1e-4;

/**
 * IDs of at most `limit` lifelogs that match at least half of an alternative, but none completely.
 * If none matches half, those that match most. Sorted by how much they match, then by the newest in
 * the index.
 */
export function partlyMatching(
	db: IndexDatabase,
	alternatives: VoicedCondition[][],
	filter: IndexFilter,
	limit: number,
): string[] {
	/** Matched share of an alternative, by lifelog. */
	const shares = new Map<number, number>();
	const whole = new Set<number>();
	let most = 0;
	for (const conditions of alternatives) {
		const step = 1 / conditions.length;
		for (const [number, { met, rarity }] of metIn(db, conditions)) {
			if (met === conditions.length) whole.add(number);
			else {
				shares.set(number, Math.max(shares.get(number) ?? 0, met * step + RARITY * rarity));
				most = Math.max(most, met * step);
			}
		}
	}
	const enough = Math.min(0.5, most);
	const best = [...shares]
		.filter(([number, share]) => share >= enough && !whole.has(number))
		.sort(([a, one], [b, other]) => other - one || b - a);
	return idsOf(
		db,
		best.map(([number]) => number),
		filter,
		limit,
	);
}

/**
 * How many conditions each lifelog meets, weighted by rarity. A very frequent condition is only
 * tested in lifelogs that meet a rarer one, and in the newest ones.
 */
function metIn(
	db: IndexDatabase,
	conditions: VoicedCondition[],
): Map<number, { met: number; rarity: number }> {
	const heard = conditions.map(({ voices }) => numbersOfVoices(db, voices));
	const said = conditions.map((each) => (each.isFrequent ? undefined : numbersOfText(db, each)));
	const rare = new Set([...heard, ...said].flatMap((all = []) => (all.length > NEWEST ? [] : all)));
	const last = Number(db.get('SELECT max(number) AS last FROM document')?.last ?? 0);
	const found = new Map<number, { met: number; rarity: number }>();
	for (const [at, condition] of conditions.entries()) {
		const own = said[at] ?? numbersAmong(db, condition, rare, last - NEWEST);
		const isLookedAt = (number: number) => number > last - NEWEST || rare.has(number);
		const numbers = new Set([...own, ...heard[at].filter(isLookedAt)]);
		const rarity = 1 / (1 + numbers.size);
		for (const number of numbers) {
			const known = found.get(number);
			if (known) {
				known.met += 1;
				known.rarity += rarity;
			} else found.set(number, { met: 1, rarity });
		}
	}
	return found;
}

/** Numbers of matching lifelogs, among given ones and those after `after`. */
function numbersAmong(
	db: IndexDatabase,
	{ expression }: VoicedCondition,
	some: Set<number>,
	after: number,
): number[] {
	// The plus makes SQLite compare each match, instead of searching for each number.
	const row = db.get(
		`SELECT json_group_array(rowid) AS numbers FROM document_text WHERE document_text MATCH ?
		AND (+rowid > ? OR +rowid IN (SELECT value FROM json_each(?)))`,
		expression,
		after,
		JSON.stringify([...some]),
	);
	return db.parse(row?.numbers) as number[];
}

/** IDs of the first of these lifelogs that pass a filter, in the same order. */
function idsOf(db: IndexDatabase, numbers: number[], filter: IndexFilter, limit: number): string[] {
	const filters = conditionsOf(filter);
	const ids: string[] = [];
	for (let from = 0; from < numbers.length && ids.length < limit; from += CHUNK) {
		const rows = db.all(
			`SELECT document.id FROM json_each(?) CROSS JOIN document ON number = json_each.value
			${filters.length > 0 ? 'WHERE' : ''} ${filters.map(([condition]) => condition).join(' AND ')}
			ORDER BY json_each.key LIMIT ?`,
			JSON.stringify(numbers.slice(from, from + CHUNK)),
			...filters.map(([, value]) => value),
			limit - ids.length,
		);
		ids.push(...rows.map(({ id }) => String(id)));
	}
	return ids;
}

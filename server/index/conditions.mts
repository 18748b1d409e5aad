// Translates searches and filters into SQL and FTS5.
import type { IndexDatabase } from './database.mts';
import type { IndexFilter } from './store.mts';
import { hasVoice } from './voices.mts';

/** A required part of a search. */
export interface Condition {
	expression: string;
	words: number;
	isFrequent: boolean;
	/** The searched word or phrase. */
	terms: string[];
	phrase?: string[];
}

/** A condition that also matches if one of these voices speaks. */
export type VoicedCondition = Condition & { voices: number[] };

/** The filter's SQL conditions, each with its value. */
export function conditionsOf({
	from,
	before,
	isStarred,
	voices,
}: IndexFilter): [condition: string, value: string | number][] {
	return [
		...(from === undefined ? [] : [['time >= ?', from] as [string, string]]),
		...(before === undefined ? [] : [['time < ?', before] as [string, string]]),
		...(isStarred === undefined ? [] : [['starred = ?', Number(isStarred)] as [string, number]]),
		...(voices === undefined
			? []
			: [[`number ${hasVoice()}`, JSON.stringify(voices)] as [string, string]]),
	];
}

/** Numbers of the lifelogs in which one of the voices speaks. */
export function numbersOfVoices(db: IndexDatabase, voices: number[]): number[] {
	if (voices.length === 0) return [];
	const row = db.get(
		`SELECT json_group_array(document) AS numbers FROM spoken
		WHERE voice IN (SELECT value FROM json_each(?))`,
		JSON.stringify(voices),
	);
	return db.parse(row?.numbers) as number[];
}

/** Numbers of the lifelogs that match a condition. */
export function numbersOfText(db: IndexDatabase, { expression }: Condition): number[] {
	const row = db.get(
		'SELECT json_group_array(rowid) AS numbers FROM document_text WHERE document_text MATCH ?',
		expression,
	);
	return db.parse(row?.numbers) as number[];
}

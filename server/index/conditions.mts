// What a search asks of the index.
import type { IndexDatabase } from './database.mts';
import type { IndexFilter } from './store.mts';
import { hasVoice } from './voices.mts';

/** A part of a search that has to occur. */
export interface Condition {
	/** In FTS5's language. */
	expression: string;
	/** How many words it consists of. */
	words: number;
	isFrequent: boolean;
	/** The word or the phrase as it was searched for. */
	terms: string[];
	/** The words of a phrase. */
	phrase?: string[];
}

/** A condition that also holds where one of these voices speaks. */
export type VoicedCondition = Condition & { voices: number[] };

/** What a filter asks of a document, in SQL, each with its value. */
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

/** The numbers of the lifelogs in which one of the voices speaks. */
export function numbersOfVoices(db: IndexDatabase, voices: number[]): number[] {
	if (voices.length === 0) return [];
	const row = db.get(
		`SELECT json_group_array(document) AS numbers FROM spoken
		WHERE voice IN (SELECT value FROM json_each(?))`,
		JSON.stringify(voices),
	);
	return db.parse(row?.numbers) as number[];
}

/** The numbers of the lifelogs that have something. */
export function numbersOfText(db: IndexDatabase, { expression }: Condition): number[] {
	const row = db.get(
		'SELECT json_group_array(rowid) AS numbers FROM document_text WHERE document_text MATCH ?',
		expression,
	);
	return db.parse(row?.numbers) as number[];
}

/** Question words and the like, which don't describe the searched topic. */
export const stopWords = new Set(
	`a about an and any are as at be by can did do does for from had has have how i in is it me my
	of on or our say said tell that the their them they this to us was we were what when where
	which who why with you your`.split(/\s+/),
);

const WORD = /[\p{L}\p{N}\p{Co}]+/gu;

/** The words and phrases of a search, marked where an alternative begins. */
export function partsOf(
	search: string,
): Array<{ isOr: boolean; isQuoted: boolean; terms: string[] }> {
	return [...search.matchAll(/"([^"]*)"?|[^\s"]+/g)].map(([word, phrase]) => ({
		isOr: word === 'OR',
		isQuoted: phrase !== undefined,
		terms: ['OR', 'AND'].includes(word) ? [] : wordsIn(plain(phrase ?? word)),
	}));
}

export const wordsIn = (text: string): string[] => text.match(WORD) ?? [];

/**
 * A text in lower case without accents. SQLite normalizes only Latin letters, and splits words at
 * the marks of other scripts. So both texts and searches are normalized here.
 */
export function plain(text: string): string {
	return text
		.replaceAll(/[^\0-\x7f]+/g, withoutAccents)
		.toLowerCase()
		.replaceAll('ς', 'σ');
}

const withoutAccents = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '');

/** A speaker's name, or a part of it, as stored in the index. */
export const asSpeaker = (name: string) => name.trim().toLowerCase();

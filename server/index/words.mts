/** Question words and the like, which say nothing of what is searched for. */
export const stopWords = new Set(
	`a about an and any are as at be by can did do does for from had has have how i in is it me my
	of on or our say said tell that the their them they this to us was we were what when where
	which who why with you your`.split(/\s+/),
);

const WORD = /[\p{L}\p{N}\p{Co}]+/gu;

/** The words and phrases of a search, and where an alternative begins. */
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
 * A text in small letters, without accents. SQLite does that to Latin letters alone, and takes the
 * marks of other scripts for ends of words: so it is given both texts and searches like this.
 */
export function plain(text: string): string {
	return text
		.replaceAll(/[^\0-\x7f]+/g, withoutAccents)
		.toLowerCase()
		.replaceAll('ς', 'σ');
}

const withoutAccents = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '');

/** The name of a speaker, or a part of it, as the index has it. */
export const asSpeaker = (name: string) => name.trim().toLowerCase();

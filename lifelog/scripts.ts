// How scripts write words, as parts of regular expressions with the flag `u`.

const SCRIPTS = [
	...['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan'],
	...['Tai_Le', 'New_Tai_Lue', 'Tai_Tham', 'Tai_Viet', 'Javanese', 'Balinese'],
];
/** Signs of Japanese that are of no script, such as the long vowel in サーバー. */
const SIGNS = '\\u3006\\u3031-\\u3035\\u303c\\u3099-\\u309c\\u30fc\\uff70\\uff9e\\uff9f';
/** What is written without blanks between words; within brackets. */
export const BLANKLESS = SCRIPTS.map((script) => `\\p{sc=${script}}`).join('') + SIGNS;
/** A letter, a digit or a mark of a word, but not of a script without blanks. */
export const IN_WORD = `(?![${BLANKLESS}])[\\p{L}\\p{N}\\p{M}]`;

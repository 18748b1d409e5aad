// Which words the page offers to correct in all lifelogs after one line was.
import { changedWords } from '../../server/page/src/changedWords.mts';

describe('the words that were corrected', () => {
	test.each([
		[
			'one for two',
			'We met quick carbon today.',
			'We met Quickcarbon today.',
			'quick carbon',
			'Quickcarbon',
		],
		['at both ends', 'jon said', 'John said', 'jon', 'John'],
		['more words', 'I live in york', 'I live in New York', 'york', 'New York'],
		['only case', 'the meier family', 'the Meier family', 'meier', 'Meier'],
		['whole words, not their letters', 'a carbn copy', 'a carbon copy', 'carbn', 'carbon'],
		['a part of a compound', "Anna's quick-carbon", "Hanna's quick-carbon", 'Anna', 'Hanna'],
		[
			'without the end of the sentence',
			'at quick carbon',
			'at Quickcarbon.',
			'quick carbon',
			'Quickcarbon',
		],
		[
			'without the marks around',
			'at "quick carbon"',
			'at (Quickcarbon)',
			'quick carbon',
			'Quickcarbon',
		],
		['with a mark that begins the right ones', 'in dot net', 'in .NET', 'dot net', '.NET'],
		['with accents written apart', 'at cafe\u0301s', 'at Caffés', 'cafe\u0301s', 'Caffés'],
		[
			'as written, whatever they mean elsewhere',
			'pay five',
			"pay $& <b>$'</b>",
			'five',
			"$& <b>$'</b>",
		],
		['Chinese', '我和田中先生', '我和中田先生', '田中', '中田'],
		['one Chinese character with its neighbors', '二十世记的', '二十世纪的', '世记的', '世纪的'],
		['Japanese, one character added', 'クイクカーボン', 'クイックカーボン', 'イク', 'イック'],
		['Japanese, one taken out', 'カーーボン', 'カーボン', 'ーーボ', 'ーボ'],
		['Thai', 'ไปกรุงเทบ', 'ไปกรุงเทพ', 'ทบ', 'ทพ'],
	])('%s', (_name, before, after, heard, right) => {
		expect(changedWords(before, after)).toEqual({ heard, right });
	});

	test.each([
		['nothing changed', 'the same', 'the same'],
		['words were added', 'in York', 'in New York'],
		['words were taken out', 'the uh, garden', 'the garden'],
		['all was added', '', 'words'],
		['only marks differ', 'yes, no', 'yes; no'],
		['a word became a mark', 'so comma yes', 'so, yes'],
		['several places differ', 'jon met anna', 'John met Anna'],
		['words changed places', 'Meier Anna', 'Anna Meier'],
		['several places differ in Chinese', '今天田中先生去', '昨天田中先生来'],
		['Latin was added to Chinese', '我用', '我用GPT'],
		['they are too long', `a ${'b'.repeat(201)}`, 'a c'],
	])('none if %s', (_name, before, after) => {
		expect(changedWords(before, after)).toBeUndefined();
	});
});

// Days made up to be hard to summarize.
import fc from 'fast-check';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';

/** A text that means something in every markup. */
export const MARKUP =
	'# *a* _b_ ~c~ `d` **e** [f](https://example.com) <b>&amp;</b> <!channel> | 1. x @you www.example.com';
export const ARABIC = 'اجتماع حول الحديقة (مع آنا) 12';
/** A family, a flag and a letter with two marks: each one character to a person. */
export const EMOJI = '👩‍👩‍👧‍👦🏴󠁧󠁢󠁷󠁬󠁳󠁿é̂🇩🇪';
/** A heading of 12,000 characters. */
export const LONG = `${'A heading that does not end & '.repeat(400)}`.slice(0, 11_999) + '.';

/** What was said, by someone with a name, by the wearer, or by nobody knows whom. */
export function said(speakerName: string | null, isUser = false): ContentNode {
	return {
		type: 'blockquote',
		content: 'Well.',
		speakerName,
		speakerIdentifier: isUser ? 'user' : null,
	};
}

/** A lifelog of half an hour with headings of the second level. */
export function lifelogOf(
	id: string,
	startTime: string,
	title: string | null,
	headings: string[] = [],
	more: Partial<Lifelog> = {},
): Lifelog {
	return {
		id,
		title: title as string,
		markdown: null,
		contents: [
			{ type: 'heading1', content: title ?? '', children: [said('Anna')] },
			...headings.map((content) => ({ type: 'heading2', content, children: [said('Sam', true)] })),
		],
		startTime,
		endTime: new Date(Date.parse(startTime) + 30 * 60_000).toISOString(),
		isStarred: false,
		updatedAt: startTime,
		...more,
	};
}

/** A day of so many lifelogs, three minutes apart. */
export function longDay(
	count: number,
	title: (index: number) => string,
	headings: (index: number) => string[],
): Lifelog[] {
	return Array.from({ length: count }, (_, index) => {
		const startTime = new Date(Date.UTC(2026, 2, 1, 6, 3 * index)).toISOString();
		return lifelogOf(`lifelog-${index}`, startTime, title(index), headings(index), {
			isStarred: index % 7 === 0,
		});
	});
}

const anyText = fc.oneof(
	fc.string({ unit: 'grapheme' }),
	fc.string({ unit: 'binary' }),
	fc.constantFrom(MARKUP, ARABIC, EMOJI, LONG, EMOJI.repeat(300), '&<>'.repeat(2000), '', '_x_'),
	fc
		.array(
			fc.constantFrom('*', '_', '~', '`', '#', '- ', '1. ', '<', '&', '>', 'a', ' ', '\n', '|'),
		)
		.map((parts) => parts.join('')),
	// One character to a person, and longer than anything may be.
	fc.constant(`e${'\u0301'.repeat(4000)}`),
);

const anyLifelog = fc
	.record({
		minute: fc.nat({ max: 1439 }),
		title: fc.option(anyText),
		headings: fc.array(anyText, { maxLength: 6, size: 'max' }),
		names: fc.array(anyText, { maxLength: 3 }),
		isStarred: fc.boolean(),
		hasContents: fc.boolean(),
	})
	.map(({ minute, title, headings, names, isStarred, hasContents }) => {
		const startTime = new Date(Date.UTC(2026, 2, 1, 0, minute)).toISOString();
		const lifelog = lifelogOf('any', startTime, title, headings, { isStarred });
		const spoken = names.map((name) => said(name));
		return { ...lifelog, contents: hasContents ? [...lifelog.contents, ...spoken] : [] };
	});

/** Any day, the first of March 2026. */
export const anyDay = fc
	.array(anyLifelog, { maxLength: 12, size: 'max' })
	.map((lifelogs) => lifelogs.map((lifelog, index) => ({ ...lifelog, id: `lifelog-${index}` })));

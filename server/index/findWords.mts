// Finds words that are to be replaced.
import type { Lifelog } from '../../lifelog/api.ts';
import { contentNodes, isUtterance } from '../../lifelog/contents.ts';
import { corrector, wordsFinder, type Words } from '../archive/correct.mts';
import { around } from './around.mts';
import type { Rows } from './rows.mts';
import { plain } from './words.mts';

/** Effects of a replacement. */
export interface Preview {
	lifelogs: number;
	lines: number;
	examples: { lifelogId: string; startTime: string; before: string; after: string }[];
}

/** A lifelog with words to replace. */
export interface Found {
	id: string;
	startTime: string;
	/** Changed lines, before and after. */
	lines: [before: string, after: string][];
}

const MAX_EXAMPLES = 10;
/** Lifelogs to search before yielding. */
const BATCH = 20;

/**
 * Finds all lifelogs with words to replace.
 *
 * @param pause Yields to other work. If it rejects, the search ends.
 */
export async function findWords(
	rows: Rows,
	words: Words,
	pause: () => Promise<void>,
): Promise<Found[]> {
	// The full-text index stores words without case and accents.
	const isLike = new RegExp(wordsFinder(plain(words.heard), { isPart: true }).source, 'iu');
	const correct = corrector(words);
	const found = new Map<string, Found>();
	let last = 0;
	for (;;) {
		const texts = rows.textsAfter(last, BATCH);
		if (texts.length === 0) return [...found.values()];
		last = texts.at(-1)!.number;
		for (const { id, text } of texts) {
			if (!isLike.test(text)) continue;
			const lifelog = rows.getLifelog(id, { markdown: false, contents: true });
			const lines = lifelog ? changedLines(lifelog, correct) : [];
			if (lines.length > 0) found.set(id, { id, startTime: lifelog!.startTime, lines });
			await pause();
		}
		await pause();
	}
}

/** Summarizes what was found, with the newest lifelogs as examples. */
export function previewOf(found: Found[], { heard }: Words): Preview {
	const newest = found.toSorted((a, b) => (a.startTime < b.startTime ? 1 : -1));
	return {
		lifelogs: found.length,
		lines: found.reduce((sum, { lines }) => sum + lines.length, 0),
		examples: newest.slice(0, MAX_EXAMPLES).map(({ id, startTime, lines: [[before, after]] }) => {
			const at = before.search(wordsFinder(heard));
			return { lifelogId: id, startTime, before: around(before, at), after: around(after, at) };
		}),
	};
}

/** The lines of a lifelog that a replacement would change. */
function changedLines({ contents }: Lifelog, correct: (text: string) => string): Found['lines'] {
	return [...contentNodes(contents)].flatMap((node): Found['lines'] => {
		const { startOffsetMs, content } = node;
		if (!isUtterance(node) || typeof startOffsetMs !== 'number') return [];
		const after = correct(content);
		return after === content ? [] : [[content, after]];
	});
}

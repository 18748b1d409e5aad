// Which of the patterns that come in as JSON may take more than linear time. A process of its own,
// as jest's sandbox makes the checker ten times slower: node checkPatterns.mts < patterns.json
import { text } from 'node:stream/consumers';
import type { Pattern } from './patterns.mts';

// In this process: nothing is started, and no pattern is given up for the time it takes.
process.env.RECHECK_SYNC_BACKEND = 'pure';
const { checkSync } = await import('recheck');

/** Why a pattern may take more than linear time, or cannot be told; undefined for one that cannot. */
function dangerOf({ source, flags }: Pattern): string | undefined {
	if (source === undefined) return 'is put together at run time';
	// Its other checker only searches for an attack; this one proves that there is none.
	const { status } = checkSync(source, flags, { checker: 'automaton', timeout: null });
	return status === 'safe' ? undefined : status;
}

const patterns = JSON.parse(await text(process.stdin)) as Pattern[];
const dangers = patterns.flatMap((pattern) => {
	const danger = dangerOf(pattern);
	return danger === undefined ? [] : [`${pattern.where}: /${pattern.source}/ ${danger}`];
});
process.stdout.write(JSON.stringify(dangers));

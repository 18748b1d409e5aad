// Plays random histories of one kind after another, and says of a failing one how to repeat it.
import fc from 'fast-check';
import { KINDS } from './generate.mts';
import type { History } from './history.mts';
import { play } from './play.mts';
import type { createTheatre } from './stage.mts';

/** A history in which a promise was broken, made as small as possible. */
export interface Failure {
	kind: string;
	seed: number;
	/** What fast-check needs to get there at once. */
	path: string;
	message: string;
	history: History;
}

export type Theatre = Awaited<ReturnType<typeof createTheatre>>;

/**
 * Plays so many histories of a kind.
 *
 * @param path Of a failure, to play that one alone.
 * @returns undefined where every promise was kept.
 */
export async function playKind(
	{ perform }: Theatre,
	kind: string,
	numRuns: number,
	seed: number,
	path?: string,
): Promise<Failure | undefined> {
	const property = fc.asyncProperty(KINDS[kind], async (history) => {
		await perform(history, (stage) => play(history, stage));
	});
	const result = await fc.check(property, { seed, numRuns, ...(path && { path }) });
	if (!result.failed) return undefined;
	const message = String((result.errorInstance as Error | undefined)?.message);
	const [history] = result.counterexample!;
	return { kind, seed, path: result.counterexamplePath!, message, history };
}

/** How to repeat a failure, and what happens in it. */
export function report({ kind, seed, path, message, history }: Failure): string {
	const again = `npm run test:model -- --kind ${kind} --seed ${seed} --path ${path}`;
	return `${message}\n${again}\n${JSON.stringify(history, null, '\t')}`;
}

/**
 * Whether `npm run test:soak` runs, which plays the files with a size once more, with larger numbers.
 * See test/soak.config.js.
 */
const isSoak = process.env.SLOW === '1';

/** How much a test does: in `npm test`, and in `npm run test:soak`. */
export const size = <T,>(usual: T, soak: T): T => (isSoak ? soak : usual);

/** How often long runs kill what they test, in each test: ten times, or `KILLS`. */
export const KILLS = Number(process.env.KILLS ?? 10);

/** A seed for one long run: `SOAK_SEED`, to repeat a failure, or another each time. */
export function randomSeed(): number {
	return Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 2 ** 31));
}

/** The same cases each time in `npm test`, and others in `npm run test:soak`. */
export const seedOr = (usual: number): number => (isSoak ? randomSeed() : usual);

/** A seed for one long run: `SOAK_SEED`, to repeat a failure, or another each time. */
export function randomSeed(): number {
	return Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 2 ** 31));
}

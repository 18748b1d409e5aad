// Lets the pauses of the nodes, as between retries, take no time: each is over in a thousandth of it, and
// the clocks of the process then say that it took as long as it should. Time-outs keep to the real time.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

/** Of the package as `loadPackage` loads it. */
const pauses = createRequire(resolve('package.json'))(
	'./dist/nodes/shared/transport/concurrency.js',
) as typeof import('../../nodes/shared/transport/concurrency.ts');

/** Waits as the nodes do. */
export const pause: typeof pauses.pause = async (...args) => await pauses.pause(...args);

export interface SkippedPauses {
	/** False while they are really waited for. */
	areSkipped: boolean;
	/** How much was not waited for. Less than the pauses, by what each really takes. */
	skippedMs: number;
	/** The sum of all pauses. */
	pausesMs: number;
	/** Waits again, with the right clocks. */
	stop: () => void;
}

/** Skips pauses from now on. Only for work that nothing else goes on beside. */
export function skipPauses(): SkippedPauses {
	const { pause: wait } = pauses;
	const { now: today } = Date;
	const now = performance.now.bind(performance);
	const skipped: SkippedPauses = {
		areSkipped: true,
		skippedMs: 0,
		pausesMs: 0,
		stop() {
			Object.assign(pauses, { pause: wait });
			Object.assign(performance, { now });
			Date.now = today;
		},
	};
	performance.now = () => now() + skipped.skippedMs;
	Date.now = () => Math.floor(today() + skipped.skippedMs);
	const pauseShortly: typeof wait = async (ms, signal) => {
		if (!skipped.areSkipped) return await wait(ms, signal);
		skipped.pausesMs += ms;
		const end = performance.now() + ms;
		await wait(ms / 1000, signal);
		skipped.skippedMs = Math.max(skipped.skippedMs, end - now());
	};
	Object.assign(pauses, { pause: pauseShortly });
	return skipped;
}

import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Whether something ends at once. Counted in turns of the event loop that it shares, not by the clock:
 * on a loaded machine both take longer.
 *
 * @param turns Of a timer of 10 ms; by default as many as make a second where nothing else is done.
 */
export async function endsSoon(promise: Promise<unknown>, turns = 100): Promise<boolean> {
	let hasEnded = false;
	const end = () => (hasEnded = true);
	promise.then(end, end);
	for (let turn = 0; turn < turns && !hasEnded; turn++) await sleep(10);
	return hasEnded;
}

/** Waits until something is the case. What never is, meets the time-out of the test. */
export async function until(isSo: () => Promise<boolean> | boolean, everyMs = 20): Promise<void> {
	while (!(await isSo())) await sleep(everyMs);
}

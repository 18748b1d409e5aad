import { sleep } from 'n8n-workflow';

import type { Api } from '../auth/connection';

/** Single reads at a time: more would only use up the rate limit sooner. */
export const MAX_CONCURRENT_READS = 5;

/** Results in the order of the list, `max` at a time. The first error is thrown and ends the rest. */
export async function mapConcurrent<T, R>(
	api: Api,
	list: T[],
	max: number,
	act: (api: Api, entry: T, index: number) => Promise<R>,
): Promise<R[]> {
	const stop = new AbortController();
	const own = withAbortSignal(api, stop.signal);
	const results: R[] = [];
	const entries = list.entries();
	const work = async () => {
		for (const [index, entry] of entries) {
			if (own.signal?.aborted) return;
			results[index] = await act(own, entry, index);
		}
	};
	try {
		await Promise.all(Array.from({ length: Math.min(max, list.length) }, work));
		return results;
	} finally {
		stop.abort();
	}
}

function withAbortSignal(api: Api, signal: AbortSignal): Api {
	return { ...api, signal: api.signal ? AbortSignal.any([api.signal, signal]) : signal };
}

/** Sleeps until the signal fires; n8n 2.0's `sleep` would sleep on. @throws The signal's reason. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	signal?.throwIfAborted();
	await unlessAborted(sleep(ms, signal), signal);
}

/** Waits for a promise until the signal fires. @throws The signal's reason. */
export async function unlessAborted<T>(awaited: Promise<T>, signal?: AbortSignal): Promise<T> {
	if (!signal) return await awaited;
	let stop = () => {};
	const aborted = new Promise<never>((_resolve, reject) => {
		stop = () => reject(signal.reason as Error);
		signal.addEventListener('abort', stop, { once: true });
		if (signal.aborted) stop();
	});
	try {
		return await Promise.race([awaited, aborted]);
	} finally {
		signal.removeEventListener('abort', stop);
	}
}

/** Calls `check` at least every second, until the signal fires. */
export async function watch(end: AbortSignal, stallMs: number, check: () => void): Promise<void> {
	while (!end.aborted) {
		await sleep(Math.min(1_000, stallMs), end).catch(() => {});
		check();
	}
}

import type { Api } from './api';

/**
 * Does work of several requests at once. When it ends, be it by the first error, so do those of
 * its requests that are still under way or waiting.
 *
 * @param work Gets the connection to make its requests with.
 */
export async function endingTogether<T>(api: Api, work: (api: Api) => Promise<T>): Promise<T> {
	const stop = new AbortController();
	try {
		return await work(endedBy(api, stop.signal));
	} finally {
		stop.abort();
	}
}

/** The same connection, its requests ended by one signal more. */
export function endedBy(api: Api, signal: AbortSignal): Api {
	return { ...api, signal: api.signal ? AbortSignal.any([api.signal, signal]) : signal };
}

/** What is asked beside what is needed: undefined where that fails, for whatever reason. */
export async function ifAnswered<T>(asked: Promise<T>): Promise<T | undefined> {
	return await asked.catch(() => undefined);
}

/**
 * Does something with each of a list, in the order of the list, so many at a time. The first error
 * ends what is under way and is thrown; what comes behind it is not begun.
 *
 * @param most How many at a time.
 * @returns The results, in the order of the list.
 */
export async function eachAtOnce<T, R>(
	api: Api,
	list: T[],
	most: number,
	act: (api: Api, each: T) => Promise<R>,
): Promise<R[]> {
	return await endingTogether(api, async (own) => {
		const results: R[] = [];
		let next = 0;
		const work = async () => {
			while (next < list.length && !own.signal?.aborted) {
				const nth = next++;
				results[nth] = await act(own, list[nth]);
			}
		};
		await Promise.all(Array.from({ length: Math.min(most, list.length) }, work));
		return results;
	});
}

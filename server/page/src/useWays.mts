import { useEffect } from 'preact/hooks';
import { readWays, type Ways } from './api.mts';
import { useLoad, type Loaded } from './useLoad.mts';

/** How often progress is asked for. */
const LOOK_MS = 1_000;

/** Which of the two is in progress. */
export function busyWith({ archiving, importing }: Ways): 'archiving' | 'importing' | undefined {
	if (archiving.state === 'running' || archiving.state === 'stopping') return 'archiving';
	return importing.state === 'receiving' || importing.state === 'running' ? 'importing' : undefined;
}

/** How the archive is being filled, kept up to date while it is. */
export function useWays(): Loaded<Ways> {
	const ways = useLoad('ways', readWays);
	const { value, error } = ways;
	useEffect(() => {
		if (!value || !busyWith(value)) return;
		// After each answer, so that slow ones are waited for.
		const timer = setTimeout(ways.reload, LOOK_MS);
		return () => clearTimeout(timer);
	}, [value, error]);
	return ways;
}

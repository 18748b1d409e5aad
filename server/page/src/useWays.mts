import { useEffect } from 'preact/hooks';
import { readWays, type Ways } from './api.mts';
import { useLoad, type Loaded } from './useLoad.mts';

/** While something is going on, and otherwise: another browser may begin something. */
const BUSY_MS = 1_000;
const LOOK_MS = 10_000;

/** What goes on, of archiving and importing. */
export function busyWith({ archiving, importing }: Ways): 'archiving' | 'importing' | undefined {
	if (archiving.state === 'running' || archiving.state === 'stopping') return 'archiving';
	return importing.state === 'receiving' || importing.state === 'running' ? 'importing' : undefined;
}

/** How the archive is being filled, again and again. */
export function useWays(): Loaded<Ways> {
	const ways = useLoad('ways', readWays);
	const { value, error } = ways;
	useEffect(() => {
		// After each answer, so that slow ones are waited for.
		const timer = setTimeout(ways.reload, value && busyWith(value) ? BUSY_MS : LOOK_MS);
		return () => clearTimeout(timer);
	}, [value, error]);
	return ways;
}

import { useEffect } from 'preact/hooks';
import { readWays, type Ways } from './api.mts';
import { isExportSent, isImporting, watchExportUpload } from './exportUpload.mts';
import { useLoad, type Loaded } from './useLoad.mts';

/** Interval for reading the progress. */
const LOOK_MS = 1_000;

export function busyWith(ways: Ways): 'archiving' | 'importing' | undefined {
	const { state } = ways.archiving;
	if (state === 'running' || state === 'stopping') return 'archiving';
	return isImporting(ways) ? 'importing' : undefined;
}

/** State of archiving and importing, updated during the work. */
export function useWays(): Loaded<Ways> {
	const ways = useLoad('ways', readWays);
	const { value, error } = ways;
	useEffect(() => {
		if (!error && !(value && busyWith(value))) return;
		// After each answer, so that slow requests don't overlap.
		const timer = setTimeout(ways.reload, LOOK_MS);
		return () => clearTimeout(timer);
	}, [value, error]);
	// A short import can end before the next look: then only the answer to its upload says that it ran.
	useEffect(
		() =>
			watchExportUpload((answer) => {
				if (answer) ways.replace(answer);
				else if (!isExportSent()) ways.reload();
			}),
		[],
	);
	return ways;
}

import { useEffect, useState } from 'preact/hooks';
import { RequestError } from './api.mts';

/** What was loaded, or why it couldn't be. */
export interface Loaded<Value> {
	value?: Value;
	error?: RequestError;
	/** Loads it again; the value stays meanwhile. */
	reload: () => void;
}

/** Loads something when the page is shown, and again when one of `inputs` changes. */
export function useLoad<Value>(load: () => Promise<Value>, inputs: unknown[]): Loaded<Value> {
	const [state, setState] = useState<{ value?: Value; error?: RequestError; of?: string }>({});
	const [count, setCount] = useState(0);
	const of = JSON.stringify(inputs);
	useEffect(() => {
		let isCurrent = true;
		const set = (next: typeof state) => isCurrent && setState({ ...next, of });
		load().then(
			(value) => set({ value }),
			(error: unknown) =>
				set({ error: error instanceof RequestError ? error : new RequestError(0, String(error)) }),
		);
		return () => {
			isCurrent = false;
		};
	}, [of, count]);
	// What was loaded for other inputs isn't shown for these.
	const { value, error } = state.of === of ? state : {};
	return { value, error, reload: () => setCount((before) => before + 1) };
}

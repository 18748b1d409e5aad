import { useEffect, useState } from 'preact/hooks';
import { RequestError } from './api.mts';

/** What was loaded, and why the last attempt failed. */
export interface Loaded<Value> {
	value?: Value;
	error?: RequestError;
	/** Loads it again; the value stays meanwhile, and if that fails. */
	reload: () => void;
}

/** Loads something when the page is shown, and again when one of `inputs` changes. */
export function useLoad<Value>(load: () => Promise<Value>, inputs: unknown[]): Loaded<Value> {
	const [state, setState] = useState<{ value?: Value; error?: RequestError; of?: string }>({});
	const [count, setCount] = useState(0);
	const of = JSON.stringify(inputs);
	useEffect(() => {
		let isCurrent = true;
		load().then(
			(value) => isCurrent && setState({ value, of }),
			(reason: unknown) => {
				if (!isCurrent) return;
				const error = reason instanceof RequestError ? reason : new RequestError(0, String(reason));
				setState((before) => ({ ...(before.of === of && before), error, of }));
			},
		);
		return () => {
			isCurrent = false;
		};
	}, [of, count]);
	// What was loaded for other inputs isn't shown for these.
	const { value, error } = state.of === of ? state : {};
	return { value, error, reload: () => setCount((before) => before + 1) };
}

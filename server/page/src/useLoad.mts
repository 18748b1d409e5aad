import { useEffect, useRef, useState } from 'preact/hooks';
import { RequestError } from './request.mts';

/** A loaded value, and why the last attempt failed. */
export interface Loaded<Value> {
	value?: Value;
	error?: RequestError;
	/** Loads it again. The value stays meanwhile, and after a failure. */
	reload: () => void;
	replace: (value: Value) => void;
}

/** Last loaded values by name, so that going back shows them immediately. */
const kept = new Map<string, unknown>();
const MAX_KEPT = 30;

/** Discards loaded values, because the session has ended or something was deleted. */
export const forgetLoaded = () => kept.clear();

/** Keeps a value that a view will show. @param of Its name. */
export function keep(of: string, value: unknown): void {
	kept.delete(of);
	kept.set(of, value);
	if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
}

/**
 * Loads a value when the page is shown, and when its name changes. Until then, returns the last
 * value: of the same name, or else of the previous name.
 *
 * @param of A unique name.
 * @param load Gets the current value of this name.
 */
export function useLoad<Value>(of: string, load: (shown?: Value) => Promise<Value>): Loaded<Value> {
	const [state, setState] = useState<{ of?: string; value?: Value; error?: RequestError }>({});
	const [count, setCount] = useState(0);
	const latest = useRef(0);
	const hasOwn = state.of === of;
	const { value, error } =
		!hasOwn && kept.has(of) ? { value: kept.get(of) as Value, error: undefined } : state;
	const replace = (next: Value) => {
		latest.current += 1;
		keep(of, next);
		setState({ of, value: next });
	};
	useEffect(() => {
		const own = (latest.current += 1);
		const isLatest = () => own === latest.current;
		load(hasOwn || kept.has(of) ? value : undefined).then(
			(next) => isLatest() && replace(next),
			(reason: unknown) => {
				if (!isLatest()) return;
				const failure =
					reason instanceof RequestError ? reason : new RequestError(0, String(reason));
				// Don't show what no longer exists.
				if (failure.status === 404) kept.delete(of);
				setState({ of, value: kept.get(of) as Value | undefined, error: failure });
			},
		);
		return () => void (latest.current += 1);
	}, [of, count]);
	return { value, error, replace, reload: () => setCount((before) => before + 1) };
}

/** Keeps a view's state, so that going back restores it. @param of A unique name. */
export function useKept<Value>(of: string, first: Value): [Value, (next: Value) => void] {
	const [state, setState] = useState(kept.has(of) ? (kept.get(of) as Value) : first);
	const change = (next: Value) => {
		keep(of, next);
		setState(next);
	};
	return [state, change];
}

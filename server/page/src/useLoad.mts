import { useEffect, useRef, useState } from 'preact/hooks';
import { RequestError } from './request.mts';

/** What was loaded, and why the last attempt failed. */
export interface Loaded<Value> {
	value?: Value;
	error?: RequestError;
	/** Loads it again; the value stays meanwhile, and if that fails. */
	reload: () => void;
	/** Takes another value for the loaded one. */
	replace: (value: Value) => void;
}

/** What was loaded last, by name, so that going back shows it at once. */
const kept = new Map<string, unknown>();
const MAX_KEPT = 30;

/** Forgets what was loaded: nobody is signed in any more, or something was deleted. */
export const forgetLoaded = () => kept.clear();

function keep(of: string, value: unknown): void {
	kept.delete(of);
	kept.set(of, value);
	if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
}

/**
 * Loads something when the page is shown, and again when its name changes. Until then, the last
 * value is shown: of the same name, or else of the name before.
 *
 * @param of A name that nothing else has.
 * @param load Told of the value that is shown for this name.
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
				// What isn't there any more isn't shown.
				if (failure.status === 404) kept.delete(of);
				setState({ of, value: kept.get(of) as Value | undefined, error: failure });
			},
		);
		return () => void (latest.current += 1);
	}, [of, count]);
	return { value, error, replace, reload: () => setCount((before) => before + 1) };
}

/**
 * Keeps a state of a view, so that going back finds it as it was left.
 *
 * @param of A name that nothing else has.
 */
export function useKept<Value>(of: string, first: Value): [Value, (next: Value) => void] {
	const [state, setState] = useState(kept.has(of) ? (kept.get(of) as Value) : first);
	const change = (next: Value) => {
		keep(of, next);
		setState(next);
	};
	return [state, change];
}

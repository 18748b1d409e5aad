import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'wouter-preact';

/** Returns a function that replaces the address, unless the user has left the view meanwhile. */
export function useRedirect(): (to: string) => void {
	const [, navigate] = useLocation();
	const isShown = useRef(true);
	useEffect(() => () => void (isShown.current = false), []);
	return (to) => isShown.current && navigate(to, { replace: true });
}

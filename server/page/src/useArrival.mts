import { useEffect } from 'preact/hooks';

/** How far down each address was scrolled when it was left. */
const places = new Map<string, number>();
/** Where to scroll to, until what is there has been loaded. */
let returning: number | undefined;

const MAX_WAIT_MS = 2_000;

/** Whether the view is about to be scrolled to where it was left. */
export const isReturning = () => returning !== undefined;

/** A new path begins at its top. Another query doesn't, and going back leads to where one was. */
export function useArrival(): void {
	useEffect(() => {
		let { href, pathname } = location;
		const onScroll = () => {
			if (location.href === href && !isReturning()) places.set(href, scrollY);
		};
		const stop = () => void (returning = undefined);
		const onPop = () => {
			({ href, pathname } = location);
			const place = places.get(href);
			// A link to a part of the page.
			if (place === undefined) return;
			returning = place;
			scrollBack(performance.now() + MAX_WAIT_MS);
		};
		const onPush = () => {
			if (!places.has(href)) places.set(href, 0);
			const isOther = location.pathname !== pathname;
			({ href, pathname } = location);
			if (!isOther) return;
			stop();
			scrollTo(0, 0);
			document.getElementById('main')?.focus({ preventScroll: true });
		};
		// The router tells of `history.pushState` and `replaceState` by events.
		const listeners = {
			...{ pushState: onPush, replaceState: onPush, popstate: onPop, scroll: onScroll },
			...{ wheel: stop, pointerdown: stop, keydown: stop },
		};
		for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener);
		return () => {
			for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener);
		};
	}, []);
}

/** Scrolls until the page is as long as it was. */
function scrollBack(untilMs: number): void {
	requestAnimationFrame((now) => {
		if (returning === undefined) return;
		scrollTo(0, returning);
		// Once more after it's there, because lists take their places a moment later.
		const isThere = Math.abs(scrollY - returning) < 1;
		if (now > untilMs) returning = undefined;
		else scrollBack(isThere ? Math.min(untilMs, now + 100) : untilMs);
	});
}

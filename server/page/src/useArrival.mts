import { useLayoutEffect } from 'preact/hooks';

/** Scroll positions by address, saved when leaving. */
const places = new Map<string, number>();
/** Scroll position to restore once the content is loaded. */
let returning: number | undefined;

const MAX_WAIT_MS = 2_000;

/** Whether the scroll position is about to be restored. */
export const isReturning = () => returning !== undefined;

/** Scrolls to the top for a new path, but not for a new query. Going back restores the position. */
export function useArrival(): void {
	useLayoutEffect(() => {
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
		// The router fires events for `history.pushState` and `replaceState`.
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

/** Scrolls until the page has its former length. */
function scrollBack(untilMs: number): void {
	requestAnimationFrame((now) => {
		if (returning === undefined) return;
		scrollTo(0, returning);
		// Once more after reaching it, because lists move a moment later.
		const isThere = Math.abs(scrollY - returning) < 1;
		if (now > untilMs) returning = undefined;
		else scrollBack(isThere ? Math.min(untilMs, now + 100) : untilMs);
	});
}

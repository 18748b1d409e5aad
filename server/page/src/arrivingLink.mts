// Reads links for signing in from the address: `/#link=…`.

/** A link that wasn't used yet. */
let arrived: string | undefined;

/** Removes the link from the address, so that it stays neither in the address bar nor in the history. */
function take(): boolean {
	const [, link] = /^#link=(.*)$/.exec(location.hash) ?? [];
	if (link === undefined) return false;
	arrived = link;
	history.replaceState(history.state, '', location.pathname + location.search);
	return true;
}
take();

/** Calls `call` for each further link. Returns a function that stops this. */
export function whenLinkArrives(call: () => void): () => void {
	const onHash = () => take() && call();
	addEventListener('hashchange', onHash);
	return () => removeEventListener('hashchange', onHash);
}

/** Returns the new link once. */
export function arrivedLink(): string | undefined {
	const link = arrived;
	arrived = undefined;
	return link;
}

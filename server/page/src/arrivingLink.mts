// A link that signs in comes in the address: `/#link=…`.

/** One that came and wasn't used yet. */
let arrived: string | undefined;

/** Takes the link out of the address, so that neither the bar nor the history keeps it. */
function take(): boolean {
	const [, link] = /^#link=(.*)$/.exec(location.hash) ?? [];
	if (link === undefined) return false;
	arrived = link;
	history.replaceState(history.state, '', location.pathname + location.search);
	return true;
}
take();

/** Has something called with each further link. Returns what stops that. */
export function whenLinkArrives(call: () => void): () => void {
	const onHash = () => take() && call();
	addEventListener('hashchange', onHash);
	return () => removeEventListener('hashchange', onHash);
}

/** The link that arrived, once. */
export function arrivedLink(): string | undefined {
	const link = arrived;
	arrived = undefined;
	return link;
}

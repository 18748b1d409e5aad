// Recent searches, stored only in this browser until the user clears them or signs out.

const NAME = 'searches';
const MAX = 8;

/** Newest first, each as the query of its address. */
export function recentSearches(): string[] {
	try {
		const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
		return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string') : [];
	} catch {
		return [];
	}
}

export function keepSearch(address: string): void {
	const others = recentSearches().filter((each) => each !== address);
	localStorage.setItem(NAME, JSON.stringify([address, ...others].slice(0, MAX)));
}

export const forgetSearches = () => localStorage.removeItem(NAME);

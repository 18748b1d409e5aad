import { plain } from './words.mts';

/** Finds similar names: equal without case and accents, or with one different letter. */
export class SimilarNames {
	readonly #names = new Set<string>();
	readonly #byForm = new Map<string, Set<string>>();

	/** Sets all known names. Only new ones take time. */
	keep(names: ReadonlyMap<string, unknown>): void {
		for (const name of this.#names) if (!names.has(name)) this.#delete(name);
		for (const name of names.keys()) if (!this.#names.has(name)) this.#add(name);
	}

	/** Other names similar to this one, in order. */
	of(name: string): string[] {
		const own = plain(name);
		const others = new Set(formsOf(own).flatMap((form) => [...(this.#byForm.get(form) ?? [])]));
		others.delete(name);
		return [...others].filter((other) => isNear(own, plain(other))).sort();
	}

	#add(name: string): void {
		this.#names.add(name);
		for (const form of formsOf(plain(name))) {
			const same = this.#byForm.get(form);
			if (same) same.add(name);
			else this.#byForm.set(form, new Set([name]));
		}
	}

	#delete(name: string): void {
		this.#names.delete(name);
		for (const form of formsOf(plain(name))) {
			const same = this.#byForm.get(form);
			same?.delete(name);
			if (same?.size === 0) this.#byForm.delete(form);
		}
	}
}

/**
 * A text, and its variants with one letter removed. Similar texts share a variant, which avoids
 * comparing all pairs.
 */
function formsOf(text: string): string[] {
	const forms = [text];
	for (let at = 0; at < text.length; at += 1) forms.push(text.slice(0, at) + text.slice(at + 1));
	return forms;
}

/** Whether two texts differ by at most one letter. */
function isNear(one: string, other: string): boolean {
	const longer = other.length - one.length;
	if (longer < -1 || longer > 1) return false;
	const length = Math.min(one.length, other.length);
	let start = 0;
	while (start < length && one.charCodeAt(start) === other.charCodeAt(start)) start += 1;
	let end = 1;
	while (
		end <= length - start &&
		one.charCodeAt(one.length - end) === other.charCodeAt(other.length - end)
	) {
		end += 1;
	}
	return Math.max(one.length, other.length) - start - end < 1;
}

import { inspect } from 'node:util';

/** How every API key of these tests begins. */
export const KEY_MARK = 'marked-key-5f1c';

/** Words in what a service sends that no error may quote, as they may have been recorded. */
export const RECORDED = 'recorded-words-90e1';

/** Which of some texts a value holds anywhere, in hidden properties and in errors' causes too. */
export function heldIn(value: unknown, texts: string[]): string[] {
	const all = inspect(value, {
		depth: Infinity,
		showHidden: true,
		maxArrayLength: Infinity,
		maxStringLength: Infinity,
	});
	return texts.filter((text) => all.includes(text));
}

/** Whether a value holds such a key anywhere. */
export function holdsKey(value: unknown): boolean {
	return heldIn(value, [KEY_MARK]).length > 0;
}

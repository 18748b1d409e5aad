import { inspect } from 'node:util';

/** How every API key of these tests begins. */
export const KEY_MARK = 'marked-key-5f1c';

/** Words in what a service sends that no error may quote, as they may have been recorded. */
export const RECORDED = 'recorded-words-90e1';

/** Whether a value holds such a key anywhere, in hidden properties and in errors' causes too. */
export function holdsKey(value: unknown): boolean {
	return holds(value, KEY_MARK);
}

/** Whether a value holds a text anywhere, in hidden properties and in errors' causes too. */
export function holds(value: unknown, text: string): boolean {
	return inspect(value, {
		depth: Infinity,
		showHidden: true,
		maxArrayLength: Infinity,
		maxStringLength: Infinity,
	}).includes(text);
}

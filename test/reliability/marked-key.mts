import { inspect } from 'node:util';

/** How every API key of these tests begins. */
export const KEY_MARK = 'marked-key-5f1c';

/** Whether a value holds such a key anywhere, in hidden properties and in errors' causes too. */
export function holdsKey(value: unknown): boolean {
	return inspect(value, {
		depth: Infinity,
		showHidden: true,
		maxArrayLength: Infinity,
		maxStringLength: Infinity,
	}).includes(KEY_MARK);
}

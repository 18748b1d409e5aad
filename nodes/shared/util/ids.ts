/** Half a character, which no URL can hold. */
const LONE_SURROGATE = /\p{Surrogate}/u;
/** What, once a proxy has decoded it, makes another address; and what shows as something else. */
const MISLEADING = /[/\\%?#\p{Cc}\p{Bidi_Control}]/u;

/** Whether a value can be an ID: a text that, encoded, is one segment of a path, and stays one. */
export function isId(value: unknown): value is string {
	return typeof value === 'string' && !/^(\s*|\.\.?)$/.test(value) && !LONE_SURROGATE.test(value);
}

/**
 * Whether an entry can be asked for by this ID: it stays one segment of a path even where somebody
 * on the way decodes it, so that no other entry is read or deleted.
 */
export function isSafePathSegment(id: string): boolean {
	return isId(id) && !MISLEADING.test(id);
}

/** Half a character, which no URL can have. */
const LONE_SURROGATE = /\p{Surrogate}/u;
/** What makes another address when a proxy decodes it, or looks like something else. */
const MISLEADING = /[/\\%?#\p{Cc}\p{Bidi_Control}]/u;

export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value can be an ID: a text that, encoded, is one segment of a path. */
export function isId(value: unknown): value is string {
	return typeof value === 'string' && !/^(\s*|\.\.?)$/.test(value) && !LONE_SURROGATE.test(value);
}

/** Whether an ID stays one segment even if a proxy decodes it: no other entry is read or deleted. */
export function isSafePathSegment(id: string): boolean {
	return isId(id) && !MISLEADING.test(id);
}

/** A filter that lets each ID pass once. */
export function eachOnce(): (entry: { id: string }) => boolean {
	const ids = new Set<string>();
	return ({ id }) => {
		const isNew = !ids.has(id);
		ids.add(id);
		return isNew;
	};
}

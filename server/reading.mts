/**
 * How the contract is read where it states two things, or says nothing: what one service may do
 * otherwise than another.
 */
export interface Reading {
	/** Page size of the lifelog list: the largest, and what happens to a larger `limit`. */
	limit: { max: 10 | 100; above: 'clamp' | 'reject' };
	/** `includeContents` when the request does not say. */
	includeContentsDefault: boolean;
	/** Where a lifelog's delete puts `success`. Chats always use `data`. */
	deleteShape: 'top' | 'data';
	/** What getting an unknown id answers: 404, or 200 with null. */
	missing: '404' | 'null';
	/** `short`: half-filled pages; `emptyBetween`: an empty page after each page but the last. */
	pages: 'full' | 'short' | 'emptyBetween';
	/** How `nextCursor` says that there is no next page. */
	lastCursor: 'absent' | 'null' | 'empty';
	/** Where a 429 says how long to wait. */
	retryAfter: 'body' | 'headerSeconds' | 'headerDate' | 'none';
	/** Requests per key in a sliding window of `windowMs` milliseconds. */
	rateLimit: { max: number; windowMs: number };
	/** Whether an entry that begins exactly at `end` belongs to the range. */
	endInclusive: boolean;
	/** Which instant a wall-clock value means in the hour that autumn repeats. */
	ambiguousHour: 'first' | 'second';
	/** Whether audio declares its length, where it is known, or is sent chunked. */
	audioContentLength: boolean;
}

/** The reading that a client is most likely to expect. */
export const defaultReading: Reading = {
	limit: { max: 100, above: 'clamp' },
	includeContentsDefault: true,
	deleteShape: 'top',
	missing: '404',
	pages: 'full',
	lastCursor: 'absent',
	retryAfter: 'body',
	rateLimit: { max: 180, windowMs: 60_000 },
	endInclusive: false,
	ambiguousHour: 'first',
	audioContentLength: true,
};

/** A refusal that is answered as `{ error: message }` with the given HTTP status. */
export class ApiError extends Error {
	readonly statusCode: number;

	constructor(statusCode: number, message: string) {
		super(message);
		this.statusCode = statusCode;
	}
}

/** The 429 of a key that used up its window. */
export class RateLimitedError extends ApiError {
	/** Milliseconds until the window frees a slot. */
	readonly waitMs: number;

	constructor(waitMs: number) {
		super(429, 'Too many requests: this API key is rate limited.');
		this.waitMs = waitMs;
	}
}

/** The 503 of a server that will be able to answer later. */
export class UnavailableError extends ApiError {
	readonly retryAfterS: number;

	constructor(message: string, retryAfterS: number) {
		super(503, message);
		this.retryAfterS = retryAfterS;
	}
}

/** What was thrown, if it is an error, and otherwise an error that says it. */
export function asError(thrown: unknown): Error & { code?: string } {
	// Not instanceof: each realm has an Error of its own.
	const isError = typeof thrown === 'object' && thrown !== null && 'message' in thrown;
	return isError ? (thrown as Error) : new Error(String(thrown));
}

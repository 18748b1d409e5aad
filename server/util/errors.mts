/** An error that is answered as `{ error: message }` with the given HTTP status. */
export class ApiError extends Error {
	readonly statusCode: number;

	constructor(statusCode: number, message: string) {
		super(message);
		this.statusCode = statusCode;
	}
}

/** A 429 for a key that has used up its window. */
export class RateLimitedError extends ApiError {
	/** Milliseconds until the next request is allowed. */
	readonly waitMs: number;

	constructor(waitMs: number) {
		super(429, 'Too many requests: this API key is rate limited.');
		this.waitMs = waitMs;
	}
}

/** A 503 of a server that will be ready later. */
export class UnavailableError extends ApiError {
	readonly retryAfterS: number;

	constructor(message: string, retryAfterS: number) {
		super(503, message);
		this.retryAfterS = retryAfterS;
	}
}

/** The thrown value if it is an error, otherwise an error with its text. */
export function asError(thrown: unknown): Error & { code?: string } {
	// Not instanceof: each realm has its own Error.
	const isError = typeof thrown === 'object' && thrown !== null && 'message' in thrown;
	return isError ? (thrown as Error) : new Error(String(thrown));
}

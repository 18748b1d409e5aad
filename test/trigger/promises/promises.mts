// What docs/reference/trigger.md promises, by the names it has there; see the test that holds the two together.

/** The promises of docs/reference/trigger.md, in its order. */
export const PROMISES = [
	'created-once',
	'final-version',
	'next-poll',
	'nothing-old',
	'nothing-untrue',
	'no-repeat',
	'as-asked',
	'whole',
	'completed',
	'chat-answered',
	'chat-once',
	'failure-shows',
	'no-false-alarm',
	'publishing',
	'bounded',
	'in-time',
	'cheap',
] as const;

export type Promised = (typeof PROMISES)[number];

/** A promise that was not kept in a history. */
export class Broken extends Error {
	readonly promise: Promised;

	constructor(promise: Promised, what: string) {
		super(`${promise}: ${what}`);
		this.promise = promise;
	}
}

// What failed, short enough to be said once more at the end of a long run.
import type { TestEvent } from 'node:test/reporters';

/** A test that failed. */
export interface Failure {
	/** Its name after the names of its groups: `n8n 2.41.1 > other storages > only S3`. */
	test: string;
	/** The first lines of its error. */
	message: string;
}

const MAX_LINES = 12;
const MAX_LINE_LENGTH = 300;

/** Passes the events of a run on and keeps those of tests that failed in `failures`. */
export async function* keepFailures(
	events: AsyncIterable<TestEvent>,
	failures: Failure[],
): AsyncGenerator<TestEvent> {
	const names: string[] = [];
	for await (const event of events) {
		if (event.type === 'test:start') {
			const { nesting, name } = event.data;
			names.splice(nesting, Infinity, name);
		} else if (event.type === 'test:fail') {
			const { nesting, name, details } = event.data;
			const error = details.error as unknown as WrappedError;
			// A group fails by a test in it, which is told already.
			if (error.failureType !== 'subtestsFailed') {
				const test = [...names.slice(0, nesting), name].join(' > ');
				failures.push({ test, message: messageOf(error) });
			}
		}
		yield event;
	}
}

/** The error that node:test makes of what a test threw. */
interface WrappedError extends Error {
	failureType?: string;
}

function messageOf(error: WrappedError): string {
	const thrown = isError(error.cause) ? error.cause : error;
	const lines = thrown.message.trim().split('\n').slice(0, MAX_LINES);
	// As where `fetch failed`.
	if (isError(thrown.cause)) lines.push(`Cause: ${thrown.cause.message.split('\n')[0]}`);
	const place = thrown.stack?.split('\n').find((line) => /^ +at .*\/suites\//.test(line));
	return [...lines, ...(place ? [place.trim()] : [])]
		.map((line) => line.slice(0, MAX_LINE_LENGTH))
		.join('\n');
}

/** By its message: what comes from another process is no instance, and n8n tells errors as objects. */
function isError(value: unknown): value is Error {
	return typeof (value as Error | undefined)?.message === 'string';
}

// The failures of a poll: what they say about the requests after them.
import { NodeApiError } from 'n8n-workflow';

import { kindOf, toNodeError } from '../../shared/errors/nodeErrors';
import { isRetryDue, retried } from './retry';
import type { KnownDay, Poll } from './types';

/** After so many failures and no answer, nothing more is asked. */
export const FAILURES_OF_OUTAGE = 4;

/** @throws NodeOperationError on what neither the service nor the connection caused. */
export function noteFailure({ context, failures }: Poll, error: unknown): void {
	const failure = toNodeError(context, error);
	if (!(failure instanceof NodeApiError)) throw failure;
	failures.push(failure);
}

/** Whether the next request would fail in the same way, because of the key. */
export function isBlocked({ failures }: Poll): boolean {
	return failures.some(isBlocking);
}

export function isBlocking({ httpCode }: NodeApiError): boolean {
	return httpCode === '401' || httpCode === '429';
}

/** Whether an error says that the entry doesn't exist. */
export function isGone(error: unknown): boolean {
	return kindOf(error) === 'notFound';
}

/** An entry without ID doesn't keep its day from being read; it is reported less and less often. */
export function passOver(poll: Poll, known: KnownDay | undefined, read: Partial<KnownDay>) {
	const { state, window } = poll.current();
	const isDue = isRetryDue(known?.retry, state.polls, window.now);
	return (error: NodeApiError) => {
		read.retry = isDue ? retried(known?.retry, state, window.now) : known?.retry;
		if (isDue) poll.failures.push(error);
	};
}

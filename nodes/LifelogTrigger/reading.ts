import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Api } from '../shared/api';

const AT_ONCE = 4;
/** So many failures before the first success are taken for an outage. */
const OUTAGE = 4;

/** What became of entries that were to be read by ID. */
export interface Reading<T> {
	found: Map<string, T>;
	/** IDs the service does not know. */
	gone: Set<string>;
	/** IDs whose read failed, each with its error. */
	failed: Map<string, NodeApiError>;
	/** What ended it before all were tried: the rate limit, or a refused key. */
	blockedBy?: NodeApiError;
}

/**
 * Reads entries one by one, a few at a time. Does not throw what the service or the connection is
 * to blame for; what is neither found, gone nor failed was not tried.
 *
 * @param ids In the order to read them in.
 * @param mayGoOn False when no further read may begin.
 */
export async function readByIds<T>(
	api: Api,
	ids: string[],
	read: (id: string) => Promise<T>,
	mayGoOn: () => boolean,
): Promise<Reading<T>> {
	const reading: Reading<T> = { found: new Map(), gone: new Set(), failed: new Map() };
	const queue = [...ids];
	const isOutage = () =>
		reading.failed.size >= OUTAGE && reading.found.size + reading.gone.size === 0;

	const work = async () => {
		while (queue.length > 0 && !reading.blockedBy && !isOutage() && mayGoOn()) {
			const id = queue.shift()!;
			try {
				reading.found.set(id, await read(id));
			} catch (error) {
				const failure = toApiError(api, error);
				if (failure.httpCode === '404') reading.gone.add(id);
				else if (isBlocking(failure)) reading.blockedBy = failure;
				else reading.failed.set(id, failure);
			}
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	return reading;
}

/** Whether the next request would fail just so. */
export function isBlocking({ httpCode }: NodeApiError): boolean {
	return httpCode === '401' || httpCode === '429';
}

/**
 * Whether an error may be gone at the next try: the rate limit, a failing service, the network.
 *
 * @param isKnown Whether the service has answered well before; else an answer that cannot be used
 *   speaks for a wrong address.
 */
export function isPassing({ httpCode }: NodeApiError, isKnown: boolean): boolean {
	if (httpCode === null || httpCode === '429') return true;
	return Number(httpCode) >= 500 || (isKnown && httpCode === '200');
}

/** @throws NodeOperationError on what neither the service nor the connection is to blame for. */
export function toApiError({ context }: Api, error: unknown): NodeApiError {
	if (error instanceof NodeApiError) return error;
	throw new NodeOperationError(context.getNode(), error as Error);
}

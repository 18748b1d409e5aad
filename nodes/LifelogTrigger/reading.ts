import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Api } from '../shared/api';

const AT_ONCE = 4;
/** So many failures before the first success are taken for an outage. */
export const OUTAGE = 4;

/**
 * Reads entries one by one, a few at a time. Does not throw what the service or the connection is
 * to blame for; what is neither found, gone nor failed was not tried, or ended the reading.
 *
 * @param ids In the order to read them in.
 * @param mayGoOn False when no further read may begin.
 * @returns `found` by ID; `gone`, the IDs the service does not know; `failed`, errors by ID; and
 *   `failures`: these errors, and the one that ended it before all were tried, if any.
 */
export async function readByIds<T>(
	api: Api,
	ids: string[],
	read: (id: string) => Promise<T>,
	mayGoOn: () => boolean,
) {
	const found = new Map<string, T>();
	const gone = new Set<string>();
	const failed = new Map<string, NodeApiError>();
	let blocking: NodeApiError[] = [];
	const queue = [...ids];
	const isOutage = () => failed.size >= OUTAGE && found.size + gone.size === 0;

	const work = async () => {
		while (queue.length > 0 && blocking.length === 0 && !isOutage() && mayGoOn()) {
			const id = queue.shift()!;
			try {
				found.set(id, await read(id));
			} catch (error) {
				const failure = toApiError(api, error);
				if (failure.httpCode === '404') gone.add(id);
				else if (isBlocking(failure)) blocking = [failure];
				else failed.set(id, failure);
			}
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	return { found, gone, failed, failures: [...failed.values(), ...blocking] };
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

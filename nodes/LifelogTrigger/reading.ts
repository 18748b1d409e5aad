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
export async function readEach<T>(
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
				if (!(error instanceof NodeApiError)) {
					throw new NodeOperationError(api.context.getNode(), error);
				}
				if (error.httpCode === '404') reading.gone.add(id);
				else if (isBlocking(error)) reading.blockedBy = error;
				else reading.failed.set(id, error);
			}
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	return reading;
}

/** Whether the next request would fail just so. */
function isBlocking({ httpCode }: NodeApiError): boolean {
	return httpCode === '401' || httpCode === '429';
}

/** Whether an error may be gone at the next try: the rate limit, a failing service, the network. */
export function isPassing(error: unknown): boolean {
	if (!(error instanceof NodeApiError)) return false;
	const { httpCode } = error;
	return httpCode === null || httpCode === '429' || Number(httpCode) >= 500;
}

import type {
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IPollFunctions,
	NodeExecutionHint,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { checkedApiKey } from './api-key';
import { checkedBaseUrl } from './base-url';
import type { LimitWait } from './rate-limit';
import type { Line } from './rate-limit-line';

/** What n8n passes to a node as `this`, wherever this package makes requests. */
export type ApiContext = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

/** A connection to the service for one run of a node. */
export interface Api {
	readonly context: ApiContext;
	readonly baseUrl: string;
	/** For the rate limit's gate and for keeping the key out of texts; `authenticate` sends it. */
	readonly apiKey: string;
	/** Fires when the execution is cancelled. */
	readonly signal?: AbortSignal;
	/**
	 * How long, in ms, one request may wait for the rate limit; where the run goes first, all of its
	 * requests together.
	 */
	readonly maxWaitMs: number;
	/**
	 * Whether its requests go before those of other runs of this process when the rate limit lets
	 * the key in again: for short runs that a clock or a person waits for, as polls and the editor's
	 * lists are. Without it, a long read beside them would use up each minute's requests first.
	 */
	readonly goesFirst?: boolean;
	/** How often a request that failed in passing is repeated. */
	readonly retries: number;
	/** How long, in ms, a connection may stand still before it counts as broken. */
	readonly timeoutMs?: number;
	/** When every request must be over, by `performance.now()`; for polls, which n8n ends. */
	readonly endsAt?: number;
	/** What the run has learned and spent; shared by all items of the run. */
	readonly run: {
		/** The largest page size the service accepts, once a larger one was answered 400. */
		pageLimit?: number;
		/** Whether an answer that only the service gives has shown that it is at the Base URL. */
		isServiceKnown?: boolean;
		/** Requests sent. */
		requests: number;
		/** ms that its requests waited for the rate limit, each counted for itself. */
		waitedMs: number;
		/** What the run as a whole waited for the rate limit. */
		waited: LimitWait;
		/** Where its requests stand while the rate limit lets few in. */
		line: Line;
		/** What is to be said of the run at its end, and how. */
		hints: Map<string, NodeExecutionHint['type']>;
		/** The service's clock at its latest answer, epoch ms, in full seconds (header `Date`). */
		serviceTime?: number;
		/** The same at its first answer. */
		firstServiceTime?: number;
	};
}

/** Of the lists in the editor: a person waits for them, and can ask again. */
export const PATIENCE_OF_EDITOR = { maxWaitMs: 20_000, goesFirst: true, retries: 0 };

/**
 * Reads the credential and prepares a connection; sends nothing.
 *
 * @param patience Waiting and repeating as far as the caller can afford it.
 * @throws NodeOperationError when the credential's Base URL is unsafe, or its key missing or no header's value.
 */
export async function connect(
	context: ApiContext,
	patience: Pick<Api, 'maxWaitMs' | 'goesFirst' | 'retries' | 'timeoutMs'>,
): Promise<Api> {
	const credential = await context.getCredentials('lifelogApi');
	const checked = { baseUrl: '', apiKey: '' };
	try {
		checked.baseUrl = checkedBaseUrl(credential);
		checked.apiKey = checkedApiKey(credential.apiKey);
	} catch (error) {
		throw new NodeOperationError(context.getNode(), error as Error);
	}
	return {
		context,
		...checked,
		signal: 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined,
		...patience,
		run: {
			requests: 0,
			waitedMs: 0,
			waited: { ms: 0, until: 0 },
			line: { isTaken: false, waiting: [] },
			hints: new Map(),
		},
	};
}

import type {
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IPollFunctions,
	NodeExecutionHint,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { checkedApiKey } from '../auth/apiKey';
import { checkedBaseUrl } from '../auth/baseUrl';

/** What n8n passes to a node as `this`, wherever this package makes requests. */
export type ApiContext = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

/** A connection to the service for one run of a node. */
export interface Api {
	readonly context: ApiContext;
	readonly baseUrl: string;
	/** For the rate limiter and for keeping the key out of texts; `authenticate` sends it. */
	readonly apiKey: string;
	/** Fires when the execution is cancelled. */
	readonly signal?: AbortSignal;
	/**
	 * The longest wait for the rate limit in ms. A request's wait counts anew when requests ahead of
	 * it in the queue get through.
	 */
	readonly maxWaitMs: number;
	/** No wait for the rate limit may end after this, by `performance.now()`. */
	readonly waitUntil?: number;
	/**
	 * Whether its requests have priority over those of other runs of this process in the rate
	 * limiter's queue: polls and the editor's lists, which a clock or a person waits for.
	 */
	readonly goesFirst?: boolean;
	/** How often a request that failed temporarily is repeated. */
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
		/** The question whether it is, while it is under way. */
		serviceCheck?: Promise<unknown>;
		/** Requests sent. */
		requests: number;
		/** ms that its requests waited for the rate limit, each counted for itself. */
		waitedMs: number;
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
 * Reads the credential and prepares a connection; sends nothing. The waits of a run that goes first
 * end `maxWaitMs` from now.
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
		...(patience.goesFirst && { waitUntil: performance.now() + patience.maxWaitMs }),
		run: {
			requests: 0,
			waitedMs: 0,
			hints: new Map(),
		},
	};
}

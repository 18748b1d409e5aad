import type {
	IExecuteFunctions,
	IHookFunctions,
	ILoadOptionsFunctions,
	IPollFunctions,
	IWebhookFunctions,
	NodeExecutionHint,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { checkedApiKey } from './apiKey';
import { checkedBaseUrl } from './baseUrl';

/** What n8n passes to a trigger as `this`: at a poll, a registration or a delivery. */
export type TriggerContext = IPollFunctions | IHookFunctions | IWebhookFunctions;

/** What n8n passes to a node as `this`, wherever this package makes requests. */
export type ApiContext = IExecuteFunctions | ILoadOptionsFunctions | TriggerContext;

/** A connection to the service for one run of a node. */
export interface Api {
	readonly context: ApiContext;
	readonly baseUrl: string;
	/** For the rate limiter and for redacting it; `authenticate` sends it. */
	readonly apiKey: string;
	/** Fires when the execution is canceled. */
	readonly signal?: AbortSignal;
	/** The wait budget in ms. It starts again when other requests get through. */
	readonly maxWaitMs: number;
	/** No wait for the rate limit may end after this, by `performance.now()`. */
	readonly waitUntil?: number;
	/** For polls and the editor's lists: a clock or a person waits for them. */
	readonly hasPriority?: boolean;
	/** How often a request that failed temporarily is retried. */
	readonly retries: number;
	/** How long, in ms, a connection may stall. */
	readonly timeoutMs?: number;
	/** When every request ends, by `performance.now()`; n8n ends polls. */
	readonly endsAt?: number;
	/** Shared by all items of the run. */
	readonly run: {
		/** The maximum page size of the service, once it refused a larger one. */
		pageLimit?: number;
		/** Whether the service has shown itself at the Base URL. */
		isServiceKnown?: boolean;
		/** The probe for it, while it runs. */
		serviceCheck?: Promise<unknown>;
		requests: number;
		/** The waits of all requests for the rate limit, in ms. */
		waitedMs: number;
		hints: Map<string, NodeExecutionHint['type']>;
		/** The service's clock at its latest answer, epoch ms, in full seconds (header `Date`). */
		serviceTime?: number;
		/** When that answer came, by `performance.now()`. */
		serviceTimeAt?: number;
	};
}

/**
 * Reads the credential; sends nothing. With priority, all waits end `maxWaitMs` from now.
 *
 * @throws NodeOperationError if the Base URL is unsafe, or the key is missing or can't be sent.
 */
export async function connect(
	context: ApiContext,
	budget: Pick<Api, 'maxWaitMs' | 'hasPriority' | 'retries' | 'timeoutMs'>,
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
		...budget,
		...(budget.hasPriority && { waitUntil: performance.now() + budget.maxWaitMs }),
		run: { requests: 0, waitedMs: 0, hints: new Map() },
	};
}

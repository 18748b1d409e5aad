import type { Reading } from './reading.mts';
import type { SlidingLog } from './slidingLog.mts';
import type { Store } from './store/store.mts';

/** What the routes answer from. All of it may change while they are served. */
export interface Service {
	/** Its name in challenges and in errors of its own. */
	readonly name: string;
	/** Where `GET /` leads. */
	readonly documentation: string;
	readonly store: Store;
	readonly reading: Reading;
	/** The requests that count against the rate limit; without it there is no limit. */
	readonly rateLimits?: SlidingLog;
	/** What its MCP server offers. */
	readonly tools: Tool[];
	/** Called with an error that nobody expected. Its message may quote what was said or asked. */
	onError?: (error: Error & { code?: string }) => void;
	/** Whether a request with this key is answered. */
	acceptsKey: (key: string) => boolean;
	/** The service's time in milliseconds. */
	now: () => number;
}

/** A tool of the MCP server. */
export interface Tool {
	name: string;
	description: string;
	inputSchema: { type: 'object'; properties: Record<string, object>; required: string[] };
	/** Returns text for a model. Throws an Error with a message for it. */
	call: (service: Service, args: Record<string, unknown>) => string | Promise<string>;
}

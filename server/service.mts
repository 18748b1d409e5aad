import type { Tool } from './mcp-tools.mts';
import type { SlidingLog } from './rate-limit.mts';
import type { Reading } from './reading.mts';
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
	/** Whether a request with this key is answered. */
	acceptsKey: (key: string) => boolean;
	/** The service's time in milliseconds. */
	now: () => number;
}

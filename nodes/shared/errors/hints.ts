import type { IExecuteFunctions, NodeExecutionHint } from 'n8n-workflow';

import type { Api } from '../auth/connection';
import type { Resource } from './nodeErrors';
import { sanitizeForDisplay } from './sanitize';

/** A run that took less needs no hint about it. */
const MANY_REQUESTS = 20;
const LONG_WAIT_MS = 1_000;
/** In UTF-16 units. */
const MAX_HINT_LENGTH = 1_000;

/** What a person should know of a run that didn't fail; shown once, however many items say it. */
export function hint(api: Api, message: string, type?: NodeExecutionHint['type']): void {
	api.run.hints.set(sanitizeForDisplay(api.apiKey, message, MAX_HINT_LENGTH), type);
}

/** Says that there is nothing: `No starred lifelogs on 2020-01-01 in Europe/Berlin`. */
export function hintOfNone(api: Api, { noun }: Resource, advice?: string): void {
	hint(api, `No ${[noun, advice].filter(Boolean).join('. ')}`);
}

/** Shows the hints of a run, and what it took if that was much. */
export function showHints(context: IExecuteFunctions, api: Api): void {
	const { requests, waitedMs } = api.run;
	if (requests >= MANY_REQUESTS || waitedMs >= LONG_WAIT_MS) {
		const wait = `, which waited ${Math.round(waitedMs / 1000)} s in total for the rate limit`;
		hint(api, `This run made ${requests} requests${waitedMs < LONG_WAIT_MS ? '' : wait}.`);
	}
	const location = 'outputPane';
	const hints = [...api.run.hints].map(([message, type]) => ({ message, location, type }) as const);
	if (hints.length > 0) context.addExecutionHints(...hints);
}

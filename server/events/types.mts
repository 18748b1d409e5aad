// Types of events, webhooks and deliveries.
import type { sourceOf } from '../archive/sourceOf.mts';

/** Events that a webhook can subscribe to. */
export const TYPES = [
	'lifelog.created',
	'lifelog.updated',
	'lifelog.deleted',
	'recording.completed',
	'recording.failed',
] as const;
export type EventType = (typeof TYPES)[number];

/** Sent to one webhook on request. */
export const TEST = 'webhook.test';

/** The event's data about its subject, without titles, words or file names. */
export type EventData =
	| { id: string }
	| {
			/** ID of the lifelog or the recording. */
			id: string;
			/** UTC; null if the start of a recording is unknown. */
			startTime: string | null;
			/** UTC. For a deleted lifelog, when the delete was noticed; for a recording, when it ended. */
			updatedAt: string;
			source: ReturnType<typeof sourceOf>;
	  };

/** An event as sent, with its identification. */
export interface Event {
	/** The same in all attempts. */
	id: string;
	type: EventType | typeof TEST;
	/** Time of the event, in UTC. */
	timestamp: string;
	data: EventData;
}

export interface Outcome {
	/** Of the answer; missing without one. */
	status?: number;
	/** Why no answer came. Completes a sentence, without the address. */
	error?: string;
	/** Delay that the answer asks for. */
	waitMs?: number;
}

/** A webhook, without its secret. */
export interface Webhook {
	id: string;
	url: string;
	types: EventType[];
	description: string | null;
	status: 'active' | 'paused';
	/** Reason for pausing it. */
	reason: string | null;
	createdAt: string;
	/** Deliveries that wait for an attempt. */
	waiting: number;
	lastDelivery: { at: string; status: number | null; error: string | null } | null;
}

/** An entry of a webhook's log. */
export interface Delivery {
	/** ID of the event. */
	id: string;
	type: string;
	data: EventData;
	state: 'waiting' | 'delivered' | 'failed';
	attempts: number;
	status: number | null;
	error: string | null;
	createdAt: string;
	lastAttemptAt: string | null;
	nextAttemptAt: string | null;
}

// What an event is, and what is kept of webhooks and deliveries.
import type { sourceOf } from '../archive/sourceOf.mts';

/** What a webhook can be told of. */
export const TYPES = [
	'lifelog.created',
	'lifelog.updated',
	'lifelog.deleted',
	'recording.completed',
	'recording.failed',
] as const;
export type EventType = (typeof TYPES)[number];

/** Sent to one webhook, because somebody asked for it. */
export const TEST = 'webhook.test';

/** The part of an event that is about its subject. No title, no words, no name of a file. */
export type EventData =
	| { id: string }
	| {
			/** Of the lifelog or the recording. */
			id: string;
			/** UTC; null for a recording whose start isn't known. */
			startTime: string | null;
			/** UTC. For a deleted lifelog, when that was noticed; for a recording, when it ended. */
			updatedAt: string;
			source: ReturnType<typeof sourceOf>;
	  };

/** An event as it is sent, and what identifies it. */
export interface Event {
	/** The same in all attempts. */
	id: string;
	type: EventType | typeof TEST;
	/** When it happened, in UTC. */
	timestamp: string;
	data: EventData;
}

/** What came of an attempt. */
export interface Outcome {
	/** Of the answer; missing if none came. */
	status?: number;
	/** Why no answer came: half a sentence, without the address. */
	error?: string;
	/** How long the answer asks to wait. */
	waitMs?: number;
}

/** A webhook, without its secret. */
export interface Webhook {
	id: string;
	url: string;
	types: EventType[];
	description: string | null;
	status: 'active' | 'paused';
	/** Why it is paused. */
	reason: string | null;
	createdAt: string;
	/** Deliveries that wait for an attempt. */
	waiting: number;
	lastDelivery: { at: string; status: number | null; error: string | null } | null;
}

/** A line of a webhook's log. */
export interface Delivery {
	/** Of the event. */
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

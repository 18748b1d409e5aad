import type { FastifyReply } from 'fastify';
import type { Events } from '../../events/events.mts';
import type { EventType } from '../../events/types.mts';
import type { Service } from '../service.mts';
import { bodyOf } from './changes.mts';

export interface NewWebhook {
	url: string;
	types?: EventType[];
	description?: string;
}

/** Creates a webhook: 201 with its secret, or 200 if one with the same URL was renewed. */
export async function createWebhook(
	service: Service,
	asked: NewWebhook,
	reply: FastifyReply,
): Promise<object> {
	const { isNew, ...data } = await eventsOf(service).create(bodyOf(asked));
	reply.code(isNew ? 201 : 200);
	return { data };
}

export function listWebhooks(service: Service): object {
	return { data: { webhooks: eventsOf(service).list() } };
}

/** Throws an ApiError (404) for an unknown ID. */
export function deleteWebhook(service: Service, id: string): object {
	eventsOf(service).remove(id);
	return { data: { success: true } };
}

/** Throws an ApiError (404) for an unknown ID. */
export async function testWebhook(service: Service, id: string): Promise<object> {
	return { data: await eventsOf(service).test(id) };
}

/** Throws an ApiError (404) for an unknown ID. */
export function listDeliveries(service: Service, id: string, limit = 20): object {
	return { data: { deliveries: eventsOf(service).deliveries(id, limit) } };
}

/** Throws an ApiError (400) if `after` isn't from this server. */
export function listEvents(
	service: Service,
	{ after: asked = 0, limit = 100 }: { after?: number; limit?: number },
): object {
	const { events, after } = eventsOf(service).after(asked, limit);
	return { data: { events }, meta: { events: { count: events.length, after } } };
}

/** These routes only exist with events. */
const eventsOf = ({ events }: Service): Events => events!;

// A receiver of webhooks, which checks their signatures by the specification, with no code of the server.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { serve, type Served } from '../../support/serve.mts';
import { ask, type SpawnedServer } from '../sources.mts';

/** A request that a receiver got. */
export interface Received {
	/** The `webhook-id`. */
	id: string;
	type: string;
	timestamp: string;
	data: { id: string; startTime?: string | null; updatedAt?: string; source?: string };
	headers: IncomingHttpHeaders;
	/** As it came. */
	body: string;
	/** Whether the signature is right. */
	isSigned: boolean;
	/** Epoch ms. */
	atMs: number;
}

export interface Receiver extends Served {
	/** Where it is to be told: with a path, as n8n's. */
	hook: string;
	/** Everything that came, but tests. */
	received: Received[];
	/** The tests that came. */
	tests: Received[];
	/** Signatures are checked with it; another one after each `register`. */
	secret: string;
	/** Answers: a status, or what else is done. */
	answer: (received: Received, response: ServerResponse) => number | void;
}

/** Whether a request is signed, by section "Signature scheme" of the specification. */
export function isSigned(secret: string, headers: IncomingHttpHeaders, body: string): boolean {
	const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
	const said = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
	const wanted = createHmac('sha256', key).update(said).digest();
	return String(headers['webhook-signature'])
		.split(' ')
		.filter((each) => each.startsWith('v1,'))
		.map((each) => Buffer.from(each.slice(3), 'base64'))
		.some((each) => each.length === wanted.length && timingSafeEqual(each, wanted));
}

export async function startReceiver(): Promise<Receiver> {
	const served = await serve((request, response) => {
		const pieces: Buffer[] = [];
		request.on('data', (piece: Buffer) => pieces.push(piece));
		request.on('end', () => {
			const { headers } = request;
			const body = Buffer.concat(pieces).toString();
			const one: Received = {
				...{ ...(JSON.parse(body) as Received), id: String(headers['webhook-id']) },
				...{ headers, body, isSigned: isSigned(receiver.secret, headers, body) },
				atMs: Date.now(),
			};
			(one.type === 'webhook.test' ? receiver.tests : receiver.received).push(one);
			const status = receiver.answer(one, response);
			if (status !== undefined) response.writeHead(status).end();
		});
	});
	const receiver: Receiver = {
		...{ ...served, hook: `${served.url}/webhook/lifelogs`, received: [], tests: [], secret: '' },
		answer: () => 204,
	};
	return receiver;
}

/** What the server says of a webhook that is created. */
export interface Registered {
	webhook: { id: string; url: string; types: string[]; status: string; secret: string };
	reached: { status?: number; error?: string };
	status: number;
}

/** Registers a receiver at a server. */
export async function register(
	server: SpawnedServer,
	receiver: Pick<Receiver, 'hook'> & { secret?: string },
	more: object = {},
): Promise<Registered> {
	const response = await send(server, 'POST', '/v1/webhooks', { url: receiver.hook, ...more });
	const { data } = (await response.json()) as { data: Registered };
	receiver.secret = data.webhook.secret;
	return { ...data, status: response.status };
}

/** Sends a request with a body of JSON. */
export function send(
	server: Pick<SpawnedServer, 'url' | 'apiKey'>,
	method: string,
	path: string,
	body?: unknown,
): Promise<Response> {
	const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
	return ask(server, path, { method, ...(body !== undefined && json) });
}

/** Creates a lifelog of a sentence, and returns its ID. */
export async function say(server: SpawnedServer, text: string, more: object = {}): Promise<string> {
	const transcript = [{ text, speaker: 'Anna', start: 0, end: 2 }];
	const body = { transcript, startTime: '2026-03-01T09:00:00Z', externalId: text, ...more };
	const response = await send(server, 'POST', '/v1/lifelogs', body);
	const { data } = (await response.json()) as { data: { lifelog: { id: string } } };
	return data.lifelog.id;
}

/** The events that a server lists. */
export async function listed(server: SpawnedServer, query = ''): Promise<Received[]> {
	const response = await ask(server, `/v1/events?limit=1000${query}`);
	return (await response.json()).data.events;
}

/** What came, in short. */
export const inShort = (events: Pick<Received, 'type' | 'data'>[]): string[] =>
	events.map(({ type, data }) => `${type} ${data.id}`);

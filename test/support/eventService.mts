// lifelog-server as far as a receiver of its events sees it, with faults that a test sets.
import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { IDataObject } from 'n8n-workflow';
import { serve } from './serve.mts';
import { REFUSED } from './messages.mts';

export interface Webhook {
	id: string;
	url: string;
	types: string[];
	description?: string;
	status: 'active' | 'paused';
	secret: string;
}

interface Answer {
	status: number;
	body: unknown;
}

/** How a delivery differs from a right one. */
export interface Delivery {
	id?: string;
	type: string;
	data: IDataObject;
	/** How wrong the server's clock is, in seconds. */
	lateS?: number;
	secret?: string;
	/** What is sent in place of what was signed. */
	forged?: string;
}

export class EventService {
	url!: string;
	apiKey = 'key';
	readonly webhooks = new Map<string, Webhook>();
	readonly lifelogs = new Map<string, IDataObject>();
	readonly recordings = new Map<string, IDataObject>();
	/** Requests, `GET /v1/webhooks`. */
	readonly requests: string[] = [];
	/** What the `webhook.test` of each registration was answered with. */
	readonly reached: unknown[] = [];
	/** Whether no request is answered. */
	isSilent = false;
	/** What a request is answered with instead. */
	fault: (method: string, path: string) => Answer | undefined = () => undefined;
	/** Is told the query of each request. */
	onQuery: (query: string) => void = () => undefined;
	close!: () => Promise<void>;
	#ids = 0;

	static async start(): Promise<EventService> {
		const service = new EventService();
		const { url, close } = await serve((request, response) => {
			if (service.isSilent) return;
			void service.#answer(request).then(({ status, body }) => {
				response.writeHead(status, { 'content-type': 'application/json' });
				response.end(JSON.stringify(body));
			});
		});
		return Object.assign(service, { url, close });
	}

	/** Forgets everything, and has no fault. */
	reset(): void {
		this.apiKey = 'key';
		this.onQuery = () => undefined;
		for (const all of [this.webhooks, this.lifelogs, this.recordings]) all.clear();
		for (const all of [this.requests, this.reached]) all.length = 0;
		this.fault = () => undefined;
	}

	/** Delivers an event to the only webhook. Returns the status of the answer. */
	async deliver(delivery: Delivery, webhook = this.only()): Promise<number> {
		const { type, data, id = `msg_${++this.#ids}`, lateS = 0, forged } = delivery;
		const { url, secret } = { ...webhook, ...delivery };
		const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data });
		const timestamp = String(Math.floor(Date.now() / 1000) - lateS);
		const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
		const signature = createHmac('sha256', key)
			.update(`${id}.${timestamp}.${body}`)
			.digest('base64');
		const { status } = await fetch(url, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				'webhook-id': id,
				'webhook-timestamp': timestamp,
				'webhook-signature': `v1,${signature}`,
			},
			body: forged ?? body,
		});
		return status;
	}

	only(): Webhook {
		const [webhook] = this.webhooks.values();
		return webhook;
	}

	async #answer(request: IncomingMessage): Promise<Answer> {
		const { method = '', url: path = '' } = request;
		const { pathname, search } = new URL(path, this.url);
		this.onQuery(search);
		this.requests.push(`${method} ${pathname}`);
		const body = await text(request);
		const fault = this.fault(method, pathname);
		if (fault) return fault;
		if (request.headers['x-api-key'] !== this.apiKey) return failed(401, 'Wrong key');
		const [, , kind, id] = pathname.split('/');
		if (kind === 'webhooks') return await this.#answerWebhooks(method, id, body);
		const entries = kind === 'recordings' ? this.recordings : this.lifelogs;
		const entry = entries.get(decodeURIComponent(id));
		return entry
			? { status: 200, body: { data: { [kind.slice(0, -1)]: entry } } }
			: failed(404, 'There is none');
	}

	async #answerWebhooks(method: string, id: string | undefined, body: string): Promise<Answer> {
		if (method === 'GET') {
			const webhooks = [...this.webhooks.values()].map((each) => ({ ...each, secret: undefined }));
			return { status: 200, body: { data: { webhooks } } };
		}
		if (method === 'DELETE') {
			return this.webhooks.delete(id!)
				? { status: 200, body: { success: true } }
				: failed(404, 'There is no such webhook');
		}
		const asked = JSON.parse(body) as Pick<Webhook, 'url' | 'types' | 'description'>;
		const same = [...this.webhooks.values()].find(({ url }) => url === asked.url);
		const secret = `whsec_${randomBytes(32).toString('base64')}`;
		const own = {
			id: same?.id ?? `wh-${++this.#ids}`,
			...asked,
			status: 'active' as const,
			secret,
		};
		this.webhooks.set(own.id, own);
		const reached = await this.deliver({ type: 'webhook.test', data: {} }, own).then(
			(status) => ({ status }),
			() => ({ error: REFUSED }),
		);
		this.reached.push(reached);
		return { status: same ? 200 : 201, body: { data: { webhook: own, reached } } };
	}
}

const failed = (status: number, error: string): Answer => ({ status, body: { error } });

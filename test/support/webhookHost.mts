// n8n as a trigger with a webhook sees it: its address, and what it saves when (read in n8n 2.0.0 and
// 2.41.1). An address exists before the trigger is registered, and static data is saved after that.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { IDataObject, INode } from 'n8n-workflow';
import type { Engine, WorkflowJson } from './engine.mts';
import { serve } from './serve.mts';

type Webhook = ReturnType<Engine['openWebhook']>;

export class WebhookHost {
	url!: string;
	/** What started a workflow. */
	readonly started: IDataObject[] = [];
	/** What a trigger threw when it was called. */
	readonly failures: Error[] = [];
	/** The static data in n8n's database. */
	saved: IDataObject = {};
	/** The static data of a test, of which nothing is saved. */
	ofTest: IDataObject = {};
	readonly #engine: Engine;
	readonly #listening = new Map<string, { workflow: WorkflowJson; isTest: boolean }>();
	#close!: () => Promise<void>;

	private constructor(engine: Engine) {
		this.#engine = engine;
	}

	static async start(engine: Engine): Promise<WebhookHost> {
		const host = new WebhookHost(engine);
		const { url, close } = await serve(
			(request, response) => void host.#receive(request, response),
		);
		host.url = url;
		host.#close = close;
		return host;
	}

	close(): Promise<void> {
		return this.#close();
	}

	/** The workflow begins to be active, or n8n starts again and it is. */
	async activate(node: INode): Promise<string> {
		return await this.#register(node, false);
	}

	/** As n8n's editor: waits for one event. Returns the path of its address. */
	async listen(node: INode): Promise<string> {
		return await this.#register(node, true);
	}

	async deactivate(node: INode): Promise<void> {
		const staticData = copyOf(this.saved);
		const webhook = this.#open({ nodes: [node], connections: {} }, staticData, false);
		await webhook.deregister();
		this.#listening.delete(webhook.path);
		this.saved = copyOf(staticData);
	}

	async #register(node: INode, isTest: boolean): Promise<string> {
		const workflow = { nodes: [node], connections: {} };
		const staticData = isTest ? {} : copyOf(this.saved);
		const webhook = this.#open(workflow, staticData, isTest);
		this.#listening.set(webhook.path, { workflow, isTest });
		try {
			await webhook.register();
		} catch (error) {
			// What `create` has kept isn't saved, and what becomes of clearing up changes nothing.
			if (!isTest) await this.deactivate(node).catch(() => {});
			throw error;
		}
		if (isTest) this.ofTest = staticData;
		else this.saved = copyOf(staticData);
		return webhook.path;
	}

	#open(workflow: WorkflowJson, staticData: IDataObject, isTest: boolean): Webhook {
		return this.#engine.openWebhook(workflow, { staticData, baseUrl: this.url, isTest });
	}

	async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const rawBody = await buffer(request);
		const found = this.#listening.get(request.url!);
		const answer = (status: number) => {
			response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
		};
		if (!found) return answer(404);
		const { workflow, isTest } = found;
		const staticData = isTest ? this.ofTest : copyOf(this.saved);
		const webhook = this.#open(workflow, staticData, isTest);
		try {
			const { workflowData, noWebhookResponse } = await webhook.receive(
				Object.assign(request, { rawBody }),
				response,
			);
			if (!isTest) this.saved = copyOf(staticData);
			this.started.push(...(workflowData ?? []).flat().map(({ json }) => json));
			// The editor then shows the event, and waits no longer.
			if (isTest && workflowData) {
				this.#listening.delete(webhook.path);
				await webhook.deregister();
			}
			if (!noWebhookResponse) answer(200);
		} catch (error) {
			this.failures.push(error as Error);
			answer(500);
		}
	}
}

const copyOf = (data: IDataObject) => JSON.parse(JSON.stringify(data)) as IDataObject;

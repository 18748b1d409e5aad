// n8n's internal REST interface, as its editor uses it.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
	ExecutionError,
	IDataObject,
	INodeExecutionData,
	INodeListSearchResult,
	INodeCredentialsDetails,
	ITaskData,
} from 'n8n-workflow';
import type { WorkflowJson } from '../../support/engine.mts';
import { isOlder, n8nFolder } from '../install.mts';
import type { N8n } from './server.mts';

/** The account that the tests and `npm run dev` create. */
export const OWNER = {
	email: 'owner@example.com',
	password: 'Lifelog-1234',
	firstName: 'Olga',
	lastName: 'Owner',
};

/** A workflow as n8n keeps it. */
export interface SavedWorkflow extends WorkflowJson {
	id: string;
	name: string;
	versionId: string;
	active: boolean;
}

/** An execution that has ended. */
export interface Execution {
	id: string;
	status: string;
	mode: string;
	error: ExecutionError | undefined;
	/** The items of one output, all runs of the node together. */
	items: (nodeName: string, outputIndex?: number) => INodeExecutionData[];
	/** The JSON of these items. */
	json: (nodeName: string, outputIndex?: number) => IDataObject[];
	runData: Record<string, ITaskData[]>;
}

/** An execution as the list tells it. */
export interface ExecutionSummary {
	id: string;
	status: string;
	mode: string;
	workflowId: string;
}

interface Publication {
	status: 'in_progress' | 'published' | 'not_published' | 'partial' | 'failed';
	triggers: Array<{ errorMessage: string | null }>;
}

/** An answer that is no success. */
class RestError extends Error {
	readonly status: number;

	constructor(request: string, status: number, body: string) {
		super(`${request}: ${status} ${messageIn(body)}`);
		this.status = status;
	}
}

/** n8n answers errors with their stack trace; their message is enough. */
function messageIn(body: string): string {
	try {
		return JSON.parse(body).message ?? body;
	} catch {
		return body;
	}
}

/** Whether n8n was too busy for its own database, on which it gives up after some seconds. */
const isTooBusy = (method: string, { status }: Response, body: string) =>
	// Until its next check, it then answers so before it does anything.
	(status === 503 && messageIn(body) === 'Database is not ready!') ||
	(status === 500 &&
		method === 'GET' &&
		body.includes('operation timed out for an unknown reason'));

/**
 * How long what must come is waited for, by default: far beyond what it takes, as only what hangs is
 * to fail.
 */
export const TIMEOUT_MS = 300_000;

const BROWSER_ID = 'lifelog-tests';
const RUNNING = new Set(['new', 'running', 'waiting']);

/** A client of n8n's REST interface. `setUp` or `login` first. */
export class Rest {
	private readonly url: string;
	private readonly version: string;
	private cookie = '';
	private readonly ended = new Map<string, Execution>();

	constructor({ url, version }: Pick<N8n, 'url' | 'version'>) {
		this.url = url;
		this.version = version;
	}

	/** Sends a request below `/rest` and returns the answer's `data`. */
	async call<T>(method: string, path: string, body?: unknown): Promise<T> {
		let response = await this.send(method, `/rest${path}`, body);
		let text = await response.text();
		for (let wait = 0; wait < 60 && isTooBusy(method, response, text); wait++) {
			await sleep(1_000);
			response = await this.send(method, `/rest${path}`, body);
			text = await response.text();
		}
		if (!response.ok) throw new RestError(`${method} ${path}`, response.status, text);
		const answer = text === '' ? {} : JSON.parse(text);
		return 'data' in answer ? answer.data : answer;
	}

	private async send(method: string, path: string, body?: unknown): Promise<Response> {
		const response = await fetch(this.url + path, {
			method,
			headers: {
				'browser-id': BROWSER_ID,
				// n8n ends a connection that was idle for 5 s. Where it is too busy to see the next request
				// that has come meanwhile, it ends it all the same.
				connection: 'close',
				cookie: this.cookie,
				...(body !== undefined && { 'content-type': 'application/json' }),
			},
			body: body === undefined ? undefined : JSON.stringify(body),
		});
		const session = response.headers.getSetCookie().find((each) => each.startsWith('n8n-auth='));
		if (session) this.cookie = session.split(';')[0];
		return response;
	}

	/** Creates the owner's account on a new n8n, and signs in. */
	async setUp(): Promise<void> {
		await this.call('POST', '/owner/setup', OWNER);
	}

	/** Signs in, as the owner by default. */
	async login({ email, password }: { email: string; password: string } = OWNER): Promise<void> {
		await this.call('POST', '/login', { emailOrLdapLoginId: email, password });
	}

	/** Stores a credential, by default named as the editor names a first Lifelog API, and returns
	 * what a node's `credentials` name it by. */
	async createCredential(
		type: string,
		data: IDataObject,
		name = 'Lifelog account',
	): Promise<INodeCredentialsDetails & { id: string }> {
		const { id } = await this.call<{ id: string }>('POST', '/credentials', { name, type, data });
		return { id, name };
	}

	async deleteCredential(id: string): Promise<void> {
		await this.call('DELETE', `/credentials/${id}`);
	}

	/** Every credential that is stored, without its data. */
	async credentials(): Promise<Array<{ id: string; name: string; type: string }>> {
		return await this.call('GET', '/credentials');
	}

	/** The editor's test of a stored credential, after `data` was entered in its form. */
	async testCredential(
		type: string,
		{ id, name }: INodeCredentialsDetails,
		data: IDataObject,
	): Promise<{ status: 'OK' | 'Error'; message: string }> {
		return await this.call('POST', '/credentials/test', { credentials: { id, name, type, data } });
	}

	/** Stores a workflow. */
	async createWorkflow(workflow: WorkflowJson, name = 'Test'): Promise<SavedWorkflow> {
		return await this.call('POST', '/workflows', {
			settings: {},
			active: false,
			name,
			...workflow,
		});
	}

	async workflow(id: string): Promise<SavedWorkflow> {
		return await this.call('GET', `/workflows/${id}`);
	}

	/** Starts a workflow from one of its triggers, as the editor's button does. */
	async run(workflow: SavedWorkflow, trigger = 'Start'): Promise<string> {
		const { executionId } = await this.call<{ executionId: string }>(
			'POST',
			`/workflows/${workflow.id}/run`,
			{
				triggerToStartFrom: { name: trigger },
				...(isOlder(this.version, '2.1.0') && { workflowData: workflow }),
			},
		);
		return executionId;
	}

	/** Stores a workflow, runs it and returns the ended execution. */
	async execute(workflow: WorkflowJson, trigger?: string): Promise<Execution> {
		const saved = await this.createWorkflow(workflow);
		return await this.execution(await this.run(saved, trigger));
	}

	/**
	 * Activates a workflow and waits until its triggers run.
	 *
	 * @throws Error with what n8n shows when that fails.
	 */
	async activate(id: string): Promise<void> {
		const { versionId } = await this.workflow(id);
		const version = { versionId, name: '', description: '' };
		await this.call('POST', `/workflows/${id}/activate`, version);
		await this.published(id);
	}

	/** Deactivates a workflow, if it is active. */
	async deactivate(id: string): Promise<void> {
		await this.call('POST', `/workflows/${id}/deactivate`);
		await this.published(id);
	}

	/** Newer versions activate in the background. */
	private async published(id: string): Promise<void> {
		if (isOlder(this.version, '2.41.0')) return;
		for (;;) {
			const { status, triggers } = await this.call<Publication>(
				'GET',
				`/workflows/${id}/publication-status`,
			);
			if (status === 'failed' || status === 'partial') {
				throw new Error(triggers.map(({ errorMessage }) => errorMessage).join('\n'));
			}
			if (status !== 'in_progress') return;
			await sleep(200);
		}
	}

	/** The executions of a workflow, the oldest first. */
	async executions(workflowId: string): Promise<ExecutionSummary[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const { results } = await this.call<{ results: ExecutionSummary[] }>(
			'GET',
			`/executions?limit=100&filter=${filter}`,
		);
		return results.sort((a, b) => Number(a.id) - Number(b.id));
	}

	/**
	 * Waits until an execution has ended and returns it. Asks ever less often, as each answer costs n8n
	 * work, and never again for one that has ended.
	 */
	async execution(id: string, timeoutMs = TIMEOUT_MS): Promise<Execution> {
		const ended = this.ended.get(id);
		if (ended) return ended;
		const began = Date.now();
		for (;;) {
			const found = await this.call<ExecutionSummary & { data: string }>(
				'GET',
				`/executions/${id}`,
			);
			if (!RUNNING.has(found.status)) {
				const execution = this.readExecution(found);
				this.ended.set(id, execution);
				return execution;
			}
			const sinceMs = Date.now() - began;
			if (sinceMs > timeoutMs) {
				throw new Error(`Execution ${id} has not ended after ${timeoutMs / 1000} s`);
			}
			await sleep(100 + sinceMs / 10);
		}
	}

	private readExecution(found: ExecutionSummary & { data: string }): Execution {
		const { resultData } = this.flatted().parse(found.data) as {
			resultData: { error?: ExecutionError; runData?: Record<string, ITaskData[]> };
		};
		const runData = resultData.runData ?? {};
		const items = (nodeName: string, outputIndex = 0) =>
			(runData[nodeName] ?? []).flatMap((task) => task.data?.main[outputIndex] ?? []);
		return {
			id: found.id,
			status: found.status,
			mode: found.mode,
			error: resultData.error,
			items,
			json: (nodeName, outputIndex) => items(nodeName, outputIndex).map(({ json }) => json),
			runData,
		};
	}

	/** n8n's own copy of the format in which it keeps executions. */
	private flatted(): { parse: (text: string) => unknown } {
		const n8n = join(n8nFolder(this.version), 'node_modules', 'n8n', 'package.json');
		return createRequire(n8n)('flatted');
	}

	/** Downloads an item's binary data. */
	async binary(item: INodeExecutionData, property = 'data'): Promise<Response> {
		const query = new URLSearchParams({ id: item.binary![property].id!, action: 'download' });
		const response = await this.send('GET', `/rest/binary-data?${query}`);
		if (!response.ok) throw new RestError('binary-data', response.status, await response.text());
		return response;
	}

	/** What the editor's list of a resource locator shows. */
	async listSearch(request: IDataObject): Promise<INodeListSearchResult> {
		return await this.call('POST', '/dynamic-node-parameters/resource-locator-results', request);
	}
}

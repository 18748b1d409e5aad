// Runs workflow JSON on the real n8n engine (n8n-core), without an n8n server.
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type {
	ExecutionError,
	IConnections,
	ICredentialDataDecryptedObject,
	ICredentialType,
	IDataObject,
	IHttpRequestOptions,
	INode,
	INodeCredentialsDetails,
	INodeExecutionData,
	INodeListSearchResult,
	INodeParameters,
	INodeType,
	INodeTypes,
	IRun,
	IRunData,
	ITaskData,
	IVersionedNodeType,
	IWebhookData,
	IWebhookResponseData,
	IWorkflowExecuteAdditionalData,
	IWorkflowSettings,
	NodeExecutionHint,
	WorkflowActivateMode,
	WorkflowExecuteMode,
} from 'n8n-workflow';

// n8n-workflow exists as CommonJS and as ESM; nodes and engine must share the CommonJS copy.
const require = createRequire(resolve('package.json'));
const requireOfCore = createRequire(require.resolve('n8n-core'));
const core = require('n8n-core') as typeof import('n8n-core');
const n8n = requireOfCore('n8n-workflow') as typeof import('n8n-workflow');
const { Container } = requireOfCore('@n8n/di') as typeof import('@n8n/di');
const { Logger } = requireOfCore('@n8n/backend-common') as {
	Logger: new () => { warn(message: string): void };
};

/** Node types by their full name, `<package>.<node>`. */
export type NodeTypeMap = Record<string, INodeType | IVersionedNodeType>;
/** Credential types by name. */
export type CredentialTypeMap = Record<string, ICredentialType>;
/** A workflow as n8n exports it. */
export interface WorkflowJson {
	id?: string;
	name?: string;
	nodes: INode[];
	connections: IConnections;
	settings?: IWorkflowSettings;
}

/** Loads the built types that `dir`'s package.json declares; as in n8n, a class is named like its file. */
export function loadPackage(dir = process.cwd()): {
	nodeTypes: NodeTypeMap;
	credentialTypes: CredentialTypeMap;
} {
	const manifest = require(resolve(dir, 'package.json')) as {
		name: string;
		n8n: { nodes?: string[]; credentials?: string[] };
	};
	const instances = <T,>(files: string[] = []) =>
		files.map((file) => {
			const module = require(resolve(dir, file)) as Record<string, new () => T>;
			return new module[basename(file).split('.')[0]]();
		});
	return {
		nodeTypes: Object.fromEntries(
			instances<INodeType>(manifest.n8n.nodes).map((type) => [
				`${manifest.name}.${type.description.name}`,
				type,
			]),
		),
		credentialTypes: Object.fromEntries(
			instances<ICredentialType>(manifest.n8n.credentials).map((type) => [type.name, type]),
		),
	};
}

/**
 * A node type as n8n makes a tool of it, as far as its parameters go: by the end of its name it is
 * known for one. It is run like a node here; test/n8n has real agents.
 */
function asTool(type: INodeType | IVersionedNodeType): INodeType {
	const node = type as INodeType;
	const description = { ...node.description, name: `${node.description.name}Tool` };
	return Object.create(node, { description: { value: description } }) as INodeType;
}

/** The node types, and each of them as a tool, its name ending in `Tool`. */
export function withTools(nodeTypes: NodeTypeMap): NodeTypeMap {
	const tools = Object.entries(nodeTypes).map(([name, type]) => [`${name}Tool`, asTool(type)]);
	return { ...nodeTypes, ...Object.fromEntries(tools) };
}

/** A node type that hands its input on, in place of a built-in node that is not installed. */
export function standIn(name: string): INodeType {
	return {
		description: {
			displayName: name,
			name,
			group: ['transform'],
			version: 1,
			description: name,
			defaults: { name },
			inputs: ['main'],
			outputs: ['main'],
			properties: [],
		},
		async execute() {
			return [this.getInputData()];
		},
	};
}

class CredentialsHelper extends n8n.ICredentialsHelper {
	private readonly types: CredentialTypeMap;
	private readonly data: Record<string, ICredentialDataDecryptedObject>;

	constructor(types: CredentialTypeMap, data: Record<string, ICredentialDataDecryptedObject>) {
		super();
		this.types = types;
		this.data = data;
	}

	/** As in n8n: a function is called, a generic object is resolved and merged in. */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		options: IHttpRequestOptions,
		workflow: InstanceType<typeof n8n.Workflow>,
		node: INode,
	): Promise<IHttpRequestOptions> {
		const { authenticate } = this.types[typeName];
		if (typeof authenticate === 'function') return await authenticate(credentials, options);
		const merged = { ...options } as IDataObject;
		const keys = { $credentials: credentials as IDataObject };
		for (const [part, values] of Object.entries(authenticate?.properties ?? {})) {
			const resolved = workflow.expression.getComplexParameterValue(node, values, 'internal', keys);
			merged[part] = { ...(merged[part] as IDataObject), ...(resolved as IDataObject) };
		}
		return merged as unknown as IHttpRequestOptions;
	}

	async getDecrypted(
		_additionalData: IWorkflowExecuteAdditionalData,
		{ id }: INodeCredentialsDetails,
		type: string,
	): Promise<ICredentialDataDecryptedObject> {
		if (!this.data[type])
			throw new Error(`Credential with ID "${id}" does not exist for "${type}"`);
		return this.withDefaults(type, this.data[type]);
	}

	/** A copy of the data with the type's defaults filled in. */
	withDefaults(type: string, data: ICredentialDataDecryptedObject): ICredentialDataDecryptedObject {
		const given = structuredClone(data) as INodeParameters;
		return n8n.NodeHelpers.getNodeParameters(
			this.types[type].properties,
			given,
			true,
			false,
			null,
			null,
		) as ICredentialDataDecryptedObject;
	}

	getParentTypes = () => [];
	isCredentialUsableByNode = () => true;
	getCredentialsProperties = (type: string) => this.types[type].properties;
	preAuthentication = async () => undefined;
	runPreAuthentication = async () => undefined;
	updateCredentials = async () => {};
	updateCredentialsOauthTokenData = async () => {};
	getCredentials = async () => {
		throw new Error('Credentials are not stored here');
	};
}

/** Options of `createEngine`. */
export interface EngineOptions {
	nodeTypes: NodeTypeMap;
	credentialTypes?: CredentialTypeMap;
	/** The data of the one credential of each type; its id in the workflow does not matter. */
	credentials?: Record<string, ICredentialDataDecryptedObject>;
	/** Where binary data goes. One setting for the whole process: the newest engine decides. */
	binaryMode?: 'default' | 'filesystem';
	/** Defaults to a directory that `close()` removes. */
	binaryDir?: string;
	/** Is told each warning that would be in n8n's log. */
	onWarning?: (message: string) => void;
}

/** Options of `runWorkflow` and `startWorkflow`. */
export interface RunOptions {
	/** What the start node hands on; one empty item by default. */
	input?: INodeExecutionData[];
	/** Name of the start node, where n8n's own choice (the trigger) is not meant. */
	startNode?: string;
	/** Overrides the workflow's `settings.timezone`. */
	timezone?: string;
	mode?: WorkflowExecuteMode;
	/** Aborting cancels the execution. */
	signal?: AbortSignal;
}

/** What an execution left behind. */
export interface RunResult {
	/** After `cancel()` `canceled`, or `error` if the node then threw something that does not say so. */
	status: IRun['status'];
	/** As n8n stores it: the thrown error's own properties, message and stack, without its class. */
	error: ExecutionError | undefined;
	runData: IRunData;
	/** The items of one output, all runs of the node together. */
	items(nodeName: string, outputIndex?: number): INodeExecutionData[];
	hints(nodeName: string): NodeExecutionHint[];
	binary(item: INodeExecutionData, property: string): Promise<Buffer>;
}

/** An execution under way; after `cancel()` `done` still waits for the running node. */
export interface RunningWorkflow {
	done: Promise<RunResult>;
	cancel(): void;
}

/** Options of `startPolling` and `runPoll`. */
export interface PollOptions {
	/** `manual` is the editor's test of the trigger. */
	mode?: 'trigger' | 'manual';
	activation?: WorkflowActivateMode;
	/** The workflow's static data (`{ 'node:<name>': state }`); polls given the same object share it. */
	staticData?: IDataObject;
	/** What `getPollBudgetMs()` tells the node; n8n's in-memory engine says five minutes. */
	budgetMs?: number;
	timezone?: string;
}

/** What a poll returned, raw and as items of the first output, and the node's state after it. */
export interface PollResult {
	output: INodeExecutionData[][] | null;
	items: INodeExecutionData[] | null;
	state: IDataObject;
}

/** Options of `openWebhook`. */
export interface WebhookOptions {
	/** The workflow's static data, as `PollOptions` has it. */
	staticData: IDataObject;
	/** n8n's own address. */
	baseUrl: string;
	/** Whether the editor waits for one event. */
	isTest?: boolean;
}

interface RequestFailure {
	code?: string;
	response?: { status: number; statusText?: string };
}

/** The engine with the given types and credentials. Call `close()` when done. */
export async function createEngine(options: EngineOptions) {
	const { credentialTypes = {}, credentials = {}, binaryMode = 'default' } = options;
	const home = await mkdtemp(join(tmpdir(), 'n8n-engine-'));
	process.env.N8N_USER_FOLDER = home;
	process.env.N8N_ENCRYPTION_KEY ??= 'engine';
	process.env.N8N_LOG_LEVEL ??= 'silent';
	Object.assign(Container.get(core.BinaryDataConfig), {
		mode: binaryMode,
		localStoragePath: options.binaryDir ?? join(home, 'binary'),
	});
	const binaryData = Container.get(core.BinaryDataService);
	await binaryData.init();
	const logger = Container.get(Logger);
	const { warn } = logger;
	const { onWarning } = options;
	if (onWarning) logger.warn = onWarning;

	const known: NodeTypeMap = {
		'n8n-nodes-base.manualTrigger': standIn('manualTrigger'),
		'n8n-nodes-base.stickyNote': standIn('stickyNote'),
		...options.nodeTypes,
	};
	const nodeTypes: INodeTypes = {
		getByName: (name) => known[name],
		getByNameAndVersion: (name, version) =>
			known[name] && n8n.NodeHelpers.getVersionedNodeType(known[name], version),
		getKnownTypes: () => ({}),
	};
	const credentialsHelper = new CredentialsHelper(credentialTypes, credentials);
	let executions = 0;

	function toWorkflow(json: WorkflowJson, timezone?: string, staticData?: IDataObject) {
		const { id = 'workflow', name, nodes, connections, settings } = structuredClone(json);
		return new n8n.Workflow({
			id,
			name,
			nodes,
			connections,
			nodeTypes,
			staticData,
			active: false,
			settings: { executionOrder: 'v1', ...settings, ...(timezone && { timezone }) },
		});
	}

	const additionalData = (extra: Partial<IWorkflowExecuteAdditionalData> = {}) =>
		({
			credentialsHelper,
			currentNodeExecutionIndex: 0,
			variables: {},
			webhookWaitingBaseUrl: 'http://localhost/webhook-waiting',
			formWaitingBaseUrl: 'http://localhost/form-waiting',
			...extra,
		}) as IWorkflowExecuteAdditionalData;

	/** Starts a workflow and returns at once, so that it can be cancelled. */
	function startWorkflow(json: WorkflowJson, run: RunOptions = {}): RunningWorkflow {
		const { input = [{ json: {} }], mode = 'trigger', signal } = run;
		const workflow = toWorkflow(json, run.timezone);
		const executionId = String(++executions);
		const hooks = new core.ExecutionLifecycleHooks(mode, executionId, {
			...json,
			id: workflow.id,
			name: json.name ?? '',
			active: false,
			isArchived: false,
			createdAt: new Date(),
			updatedAt: new Date(),
			activeVersionId: null,
		});
		const triggerData = { data: { main: [input] } } as Partial<ITaskData> as ITaskData;
		const startNode = run.startNode ? workflow.getNode(run.startNode) : workflow.getStartNode();
		let execution: ReturnType<InstanceType<typeof core.WorkflowExecute>['run']>;
		try {
			execution = new core.WorkflowExecute(additionalData({ executionId, hooks }), mode).run({
				workflow,
				startNode: startNode ?? undefined,
				triggerToStartFrom: { name: '', data: triggerData },
			});
		} catch (error) {
			// What n8n records when a workflow cannot start, e.g. for a required parameter left empty.
			return { done: Promise.resolve(toResult('error', {}, error)), cancel() {} };
		}
		const cancel = () => execution.cancel();
		signal?.addEventListener('abort', cancel, { once: true });
		if (signal?.aborted) cancel();
		return {
			done: execution.then(({ status, data }) =>
				toResult(status, data.resultData.runData, data.resultData.error),
			),
			cancel,
		};
	}

	function toResult(status: IRun['status'], runData: IRunData, error: unknown): RunResult {
		const tasks = (nodeName: string) => runData[nodeName] ?? [];
		return {
			status,
			error: error as ExecutionError | undefined,
			runData,
			items: (nodeName, outputIndex = 0) =>
				tasks(nodeName).flatMap((task) => task.data?.main[outputIndex] ?? []),
			hints: (nodeName) => tasks(nodeName).flatMap((task) => task.hints ?? []),
			binary: async (item, property) => await binaryData.getAsBuffer(item.binary![property]),
		};
	}

	/** Runs a workflow to its end. A failed execution is a result, not a rejection. */
	async function runWorkflow(json: WorkflowJson, run?: RunOptions): Promise<RunResult> {
		return await startWorkflow(json, run).done;
	}

	/**
	 * The workflow's polling trigger as n8n holds it between polls: one workflow and one context for
	 * all of them.
	 */
	function startPolling(json: WorkflowJson, options: PollOptions = {}) {
		const { mode = 'trigger', staticData = {}, budgetMs } = options;
		const workflow = toWorkflow(json, options.timezone, staticData);
		const [node] = workflow.getPollNodes();
		const context = new core.PollContext(
			workflow,
			node,
			additionalData(),
			mode,
			options.activation ?? (mode === 'manual' ? 'manual' : 'init'),
			...([undefined, undefined, undefined, undefined, undefined] as const),
			budgetMs === undefined ? undefined : () => budgetMs,
		);
		const poller = Container.get(core.TriggersAndPollers);
		return {
			/** Polls once; what the trigger throws is thrown. */
			async poll(): Promise<PollResult> {
				const output = await poller.runPollFunction(workflow, node, context);
				const state = workflow.getStaticData('node', node);
				return { output, items: output?.[0] ?? null, state };
			},
		};
	}

	/** Polls once, as at an activation; what the trigger throws is thrown. */
	async function runPoll(json: WorkflowJson, options?: PollOptions): Promise<PollResult> {
		return await startPolling(json, options).poll();
	}

	/** The first trigger with a webhook of a workflow, as n8n calls it. What it throws is thrown. */
	function openWebhook(json: WorkflowJson, { staticData, baseUrl, isTest }: WebhookOptions) {
		const workflow = toWorkflow(json, undefined, staticData);
		const node = Object.values(workflow.nodes).find(({ type, typeVersion }) => {
			const { description } = nodeTypes.getByNameAndVersion(type, typeVersion);
			return description.webhooks !== undefined;
		})!;
		const type = nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
		const [webhookDescription] = type.description.webhooks!;
		const path = n8n.NodeHelpers.getNodeWebhookPath(workflow.id, node, webhookDescription.path);
		const addresses = {
			webhookBaseUrl: `${baseUrl}/webhook`,
			webhookTestBaseUrl: `${baseUrl}/webhook-test`,
		};
		const webhookData = {
			httpMethod: 'POST',
			node: node.name,
			path,
			webhookDescription,
			workflowId: workflow.id,
			workflowExecuteAdditionalData: additionalData(addresses),
			isTest,
		} satisfies IWebhookData;
		const { checkExists, create, delete: remove } = type.webhookMethods!.default!;
		const hookContext = () =>
			new core.HookContext(
				workflow,
				node,
				additionalData(addresses),
				isTest ? 'manual' : 'trigger',
				isTest ? 'manual' : 'activate',
				webhookData,
			);
		return {
			/** Its path at n8n's address. */
			path: `${isTest ? '/webhook-test' : '/webhook'}/${path}`,
			/** Registers it, unless it says that it is. */
			async register(): Promise<void> {
				if (!(await checkExists.call(hookContext()))) await create.call(hookContext());
			},
			async deregister(): Promise<void> {
				await remove.call(hookContext());
			},
			/** Hands a request on. @param request With its body, `rawBody`. */
			async receive(
				request: IncomingMessage & { rawBody: Buffer },
				response: ServerResponse,
			): Promise<IWebhookResponseData> {
				const exchange = { httpRequest: request, httpResponse: response };
				const data = additionalData({ ...addresses, ...(exchange as object) });
				const mode = isTest ? 'manual' : 'webhook';
				const context = new core.WebhookContext(workflow, node, data, mode, webhookData, [], null);
				return await type.webhook!.call(context);
			},
		};
	}

	/** Runs one of a node's `methods.listSearch`, as the editor does to fill a list. */
	async function loadOptions(
		node: INode,
		methodName: string,
		filter?: string,
		paginationToken?: string,
	): Promise<INodeListSearchResult> {
		const workflow = toWorkflow({ nodes: [node], connections: {} });
		const method = nodeTypes.getByNameAndVersion(node.type, node.typeVersion).methods!.listSearch![
			methodName
		];
		const context = new core.LoadOptionsContext(
			workflow,
			workflow.getNode(node.name)!,
			additionalData({ currentNodeParameters: node.parameters }),
			'',
		);
		return await method.call(context, filter, paginationToken);
	}

	async function testByNode(type: string, data: ICredentialDataDecryptedObject) {
		const methods = Object.values(known).map((node) => (node as INodeType).methods ?? {});
		const [test] = methods.flatMap(({ credentialTest = {} }) => Object.values(credentialTest));
		const context = new core.CredentialTestContext(additionalData());
		const credential = {
			id: '1',
			name: 'Test',
			type,
			data: credentialsHelper.withDefaults(type, data),
		};
		const { status, message } = await test.call(context, credential);
		return { ok: status === 'OK', message };
	}

	/** Tests a credential as n8n does, by its type's request or a node's function; the message is what n8n shows. */
	async function testCredential(
		type: string,
		data: ICredentialDataDecryptedObject,
	): Promise<{ ok: boolean; message: string }> {
		if (!credentialTypes[type].test) return await testByNode(type, data);
		const { request, rules = [] } = credentialTypes[type].test;
		const nodeType = standIn('test');
		nodeType.description.credentials = [{ name: type, required: true }];
		nodeType.description.properties = [
			{ displayName: 'Test', name: 'test', type: 'string', default: '', routing: { request } },
		];
		known[`credentialTest.${type}`] = nodeType;
		const credential = { id: '1', name: 'Test', type };
		const workflow = toWorkflow({
			nodes: [
				{
					id: 'test',
					name: 'Test',
					type: `credentialTest.${type}`,
					typeVersion: 1,
					position: [0, 0],
					parameters: {},
					credentials: { [type]: credential },
				},
			],
			connections: {},
		});
		const node = workflow.getNode('Test')!;
		const context = new core.ExecuteContext(
			workflow,
			node,
			additionalData(),
			'internal',
			n8n.createRunExecutionData(),
			0,
			[],
			{ main: [[{ json: {} }]] },
			{ node, data: {}, source: null },
			[],
		);
		try {
			const answer = await new core.RoutingNode(context, nodeType, {
				...credential,
				data: credentialsHelper.withDefaults(type, data),
			}).runNode();
			const refusal = rules.find(
				(rule) =>
					rule.type === 'responseSuccessBody' &&
					fieldOf(answer![0][0].json, rule.properties.key) === rule.properties.value,
			);
			return refusal
				? { ok: false, message: refusal.properties.message }
				: { ok: true, message: 'Connection successful!' };
		} catch (error) {
			const { message, cause } = error as Error & { cause?: RequestFailure };
			const status = cause?.response?.status;
			const rule = rules.find(
				(candidate) => candidate.type === 'responseCode' && candidate.properties.value === status,
			);
			const shown = status
				? (rule?.properties.message ??
					(cause?.response?.statusText || `Received HTTP status code: ${status}`))
				: (cause?.code ?? message);
			return { ok: false, message: shown };
		}
	}

	/** Removes the engine's temporary directory. */
	async function close(): Promise<void> {
		logger.warn = warn;
		await rm(home, { recursive: true, force: true });
	}

	return {
		startWorkflow,
		runWorkflow,
		startPolling,
		runPoll,
		openWebhook,
		loadOptions,
		testCredential,
		close,
	};
}

/** A field by its path, `data.chats`; undefined where there is none. */
function fieldOf(json: unknown, path: string): unknown {
	const step = (value: unknown, key: string) => (value as IDataObject | null | undefined)?.[key];
	return path.split('.').reduce(step, json);
}

/** What `createEngine` gives. */
export type Engine = Awaited<ReturnType<typeof createEngine>>;

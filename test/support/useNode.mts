import type { IDataObject, INode } from 'n8n-workflow';
import {
	type Engine,
	type EngineOptions,
	loadPackage,
	type RunOptions,
	type RunResult,
	withTools,
} from './engine.mts';
import { type Lab, startLab } from './lab.mts';
import { workflowWith } from './workflow.mts';

/** What is started before the tests of a file, as if it were there already. */
function later<Started extends object>(get: () => Started): Started {
	return new Proxy({} as Started, {
		get: (_none, name) => Reflect.get(get(), name) as unknown,
		set: (_none, name, value) => Reflect.set(get(), name, value),
	});
}

/** What a test needs, from its first test to its last one. */
export function use<Started extends { close: () => unknown }>(
	start: () => Promise<Started>,
): Started {
	let started: Started | undefined;
	beforeAll(async () => {
		started = await start();
	});
	afterAll(async () => {
		await started?.close();
	});
	return later(() => started!);
}

/** How one run of a node differs from the usual. */
export interface NodeRun extends RunOptions {
	/** Another node than the usual one. */
	type?: string;
	/** What the node does with an item that fails. */
	onError?: INode['onError'];
	/** An engine for another service. */
	on?: Pick<Engine, 'runWorkflow'>;
}

/** What came of a run, as tests read it most. */
interface NodeResult extends RunResult {
	/** The items of the first output. */
	json: IDataObject[];
	/** The first hint. */
	hint: string | undefined;
	message: string | undefined;
	description: string | undefined;
}

/** Runs one node, after a trigger. */
export async function runNode(
	engine: Pick<Engine, 'runWorkflow'>,
	type: string,
	parameters: IDataObject,
	{ onError, ...options }: Pick<NodeRun, 'onError'> & RunOptions = {},
): Promise<NodeResult> {
	const result = await engine.runWorkflow(workflowWith(type, parameters, { onError }), options);
	return {
		...result,
		json: result.items('Node').map(({ json }) => json),
		hint: result.hints('Node')[0]?.message,
		message: result.error?.message,
		description: (result.error as { description?: string } | undefined)?.description,
	};
}

/**
 * One of our nodes, and a sandbox for it, while the tests of a file run.
 *
 * @param type The node's name without the package's: `lifelog`, or `lifelogTool` as a tool.
 * @param settings What parameters are unless a test says otherwise; how many days of data the sandbox
 *   makes up, one by default; and what the engine has beside the package.
 */
export function useNode(
	type: string,
	{
		usual = {},
		days = 1,
		...options
	}: { usual?: IDataObject; days?: number } & Partial<EngineOptions> = {},
) {
	const nodeTypes = { ...withTools(loadPackage().nodeTypes), ...options.nodeTypes };
	const lab = use<Lab>(async () => await startLab(days, { ...options, nodeTypes }));
	const sandbox = later(() => lab.sandbox);
	const engine = later(() => lab.engine);
	return {
		sandbox,
		engine,

		/** Runs the node, and returns the sandbox's requests with what came of it. */
		async run(parameters: IDataObject, { type: other = type, on = engine, ...run }: NodeRun = {}) {
			await sandbox.control.clearRequests();
			const result = await runNode(on, other, { ...usual, ...parameters }, run);
			return { ...result, requests: await sandbox.control.requests() };
		},
	};
}

// The invented life that agents are measured on, always the same, and tools to look things up in it.
import { readFileSync } from 'node:fs';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { createEngine, loadPackage, withTools } from '../../test/support/engine.mts';
import { spawnSandbox } from '../../test/support/sandbox.mts';
import { workflowWith } from '../../test/support/workflow.mts';

/** A week that ends on a Friday evening. */
export const LIFE = { days: 7, now: '2026-03-20T18:00:00.000Z' };

/** What a tool is asked with: the values that a model gives, by their names. */
export type Call = (tool: string, values: IDataObject) => Promise<IDataObject[]>;

/** A sandbox with the invented life, and n8n's engine with the nodes as tools. */
export async function startLife() {
	const sandbox = await spawnSandbox(['--days', '1']);
	await sandbox.control.reset({
		...LIFE,
		dialect: { rateLimit: { max: 1_000_000, windowMs: 1000 } },
	});
	const { nodeTypes, credentialTypes } = loadPackage();
	const engine = await createEngine({
		nodeTypes: withTools(nodeTypes),
		credentialTypes,
		credentials: { lifelogApi: { apiKey: sandbox.apiKey, baseUrl: sandbox.url } },
	});
	/** What a node as a tool gives with these parameters. */
	const run = async (type: string, parameters: IDataObject): Promise<IDataObject[]> => {
		const result = await engine.runWorkflow(workflowWith(`${type}Tool`, parameters));
		if (result.error) throw new Error(result.error.message);
		return result.items('Node').map(({ json }) => json);
	};
	return {
		sandbox,
		run,
		/** A tool of the example *Ask your days*, as it is there. */
		call: (async (tool, values) => {
			const { type, parameters } = toolOf(tool);
			return await run(type, withValues(parameters, values) as IDataObject);
		}) satisfies Call,
		async close() {
			await engine.close();
			await sandbox.close();
		},
	};
}

export type Life = Awaited<ReturnType<typeof startLife>>;

/** How much a model has to read of what a tool gave: n8n hands it the items as JSON. */
export function charactersOf(items: IDataObject[]): number {
	return JSON.stringify(items).length;
}

function toolOf(name: string): { type: string; parameters: INodeParameters } {
	const example = JSON.parse(readFileSync('examples/ask-your-days.json', 'utf8')) as {
		nodes: Array<{ name: string; type: string; parameters: INodeParameters }>;
	};
	const node = example.nodes.find((each) => each.name === name);
	if (!node) throw new Error(`The example has no tool "${name}"`);
	const type = node.type.replace(/^n8n-nodes-lifelog\.|Tool$/g, '');
	return { type, parameters: node.parameters };
}

const FROM_AI = /^=\{\{ \$fromAI\('(\w+)'/;

/** Parameters with what the model says in place of its expressions. */
function withValues(value: unknown, values: IDataObject): unknown {
	if (typeof value === 'string') {
		const key = FROM_AI.exec(value)?.[1];
		if (key === undefined) return value;
		if (!(key in values)) throw new Error(`The model must give "${key}"`);
		return values[key];
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
	const entries = Object.entries(value).map(([name, each]) => [name, withValues(each, values)]);
	return Object.fromEntries(entries);
}

import type { IDataObject } from 'n8n-workflow';
import { nodeOperations, withParameters } from './faults/parameters.mts';
import { startTrials } from './faults/properties.mts';
import { loadPackage } from '../support/engine.mts';
import { workflowWith } from '../support/workflow.mts';
import { use } from '../support/useNode.mts';

// A choice of a list, where an expression gives it.

const trials = use(startTrials);

interface Property {
	displayName: string;
	name: string;
	type: string;
	options?: Array<Property & { value: string }>;
}

/** The choices of a node, those in its collections included: where each is, and what it may be. */
function choicesOf(node: string): Map<string, { label: string; values: string[] }> {
	const type = loadPackage().nodeTypes[`n8n-nodes-lifelog.${node}`];
	const { properties } = type.description as unknown as { properties: Property[] };
	const inAll = properties.flatMap((property) =>
		property.type === 'collection'
			? property.options!.map((option) => [`${property.name}.${option.name}`, option] as const)
			: [[property.name, property] as const],
	);
	return new Map(
		inAll
			// The options of some come from a method.
			.filter(([, { type: kind, options }]) => kind === 'options' && options !== undefined)
			.map(([path, { displayName: label, options }]) => [
				path,
				{ label, values: options!.map(({ value }) => value) },
			]),
	);
}

/** Every choice of every operation, the operation itself included. */
const CHOICES = nodeOperations().flatMap((operation) => {
	const choices = choicesOf(operation.node);
	const selector = operation.isTrigger ? 'event' : 'operation';
	const own = { path: [selector], isLocator: false, isEmpty: false, needs: {} };
	return [own, ...operation.parameters].flatMap((parameter) => {
		const choice = choices.get(parameter.path.join('.'));
		const name = `${operation.node}.${operation.operation}: ${parameter.path.join('.')}`;
		return choice ? [{ name, operation, parameter, ...choice }] : [];
	});
});

async function run({ operation, parameter }: (typeof CHOICES)[number], value: string) {
	const world = trials.open();
	// n8n takes no expression for these two.
	const isSelector = ['operation', 'event'].includes(parameter.path[0]);
	const given = isSelector ? value : `={{ ${JSON.stringify(value)} }}`;
	const parameters = withParameters(operation, [[parameter, given]]);
	const workflow = workflowWith(operation.node, parameters as IDataObject);
	if (!operation.isTrigger) {
		const { error } = await trials.engine.runWorkflow(workflow);
		return { ...said(error), requests: world.seen.length };
	}
	const [, node] = workflow.nodes;
	const error = await trials.engine
		.runPoll({ nodes: [node], connections: {} }, { mode: 'manual' })
		.then(() => undefined)
		.catch((thrown: unknown) => thrown as Error);
	return { ...said(error), requests: world.seen.length };
}

const said = (error?: { message: string; description?: string | null }) => ({
	...{ message: error?.message, description: error?.description },
});

test('the choices of all nodes are checked', () => {
	const labels = new Set(CHOICES.map(({ label }) => label));
	for (const label of ['Operation', 'Trigger On', 'Direction', 'Format', 'If No Audio']) {
		expect(labels).toContain(label);
	}
});

test.each(CHOICES.map((choice) => [choice.name, choice] as const))(
	'%s with an unknown value is refused before any request',
	async (_name, choice) => {
		for (const value of ['toString', 'nonsense']) {
			const { message, description, requests } = await run(choice, value);
			const [, label, named, given] = /^'(.*)' must be (.*), not "(.*)"$/.exec(message ?? '') ?? [];
			expect([label, given]).toEqual([choice.label, value]);
			expect(named.split(/, | or /).sort()).toEqual([...choice.values].sort());
			expect(description).toContain('choose from the list');
			expect(requests).toBe(0);
		}
	},
);

test.each(CHOICES.map((choice) => [choice.name, choice] as const))(
	'%s is read in upper and lower case',
	async (_name, choice) => {
		for (const value of choice.values) {
			const { message } = await run(choice, ` ${value.toUpperCase()} `);
			expect(message ?? '').not.toContain(`'${choice.label}' must be `);
		}
	},
);

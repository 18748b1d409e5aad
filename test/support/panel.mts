// What the panel of a node shows, by the node's description.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { INode, INodeParameters, INodeProperties, INodeType } from 'n8n-workflow';
import { loadPackage } from './engine.mts';
import { workflowWith } from './workflow.mts';

// As nodes and engine, the CommonJS copy.
const { NodeHelpers } = createRequire(resolve('package.json'))(
	'n8n-workflow',
) as typeof import('n8n-workflow');

/** The labels in a panel, and what can be added to its collections. */
export interface Shown {
	labels: string[];
	filters?: string[];
	options?: string[];
}

const descriptionOf = (node: string) =>
	(loadPackage().nodeTypes[`n8n-nodes-lifelog.${node}`] as INodeType).description;

/** The choices of a parameter of a node, as its description lists them. */
export function choicesOf(node: string, parameter: string) {
	const { options } = descriptionOf(node).properties.find(({ name }) => name === parameter)!;
	return options as Array<{ name: string; value: string; action?: string }>;
}

/**
 * What is shown for each choice of a parameter, all others being as they are at first. Without what
 * n8n adds of its own.
 */
export function panelsOf(node: string, parameter: string): Record<string, Shown> {
	return Object.fromEntries(
		choicesOf(node, parameter).map(({ name, value }) => [
			name,
			panelOf(node, { [parameter]: value }),
		]),
	);
}

function panelOf(type: string, chosen: INodeParameters): Shown {
	const description = descriptionOf(type);
	const { properties } = description;
	const node = { ...workflowWith(type, chosen).nodes[1], disabled: false } as INode;
	const values = NodeHelpers.getNodeParameters(properties, chosen, true, true, node, description)!;
	const isShown = (property: INodeProperties) =>
		property.type !== 'hidden' &&
		property.type !== 'notice' &&
		NodeHelpers.displayParameter(values, property, node, description, values);
	const shown = properties.filter(isShown);
	const addable = (name: string) =>
		(shown.find((property) => property.name === name)?.options as INodeProperties[] | undefined)
			?.filter(isShown)
			.map(({ displayName }) => displayName);
	return {
		labels: shown.map(({ displayName }) => displayName),
		filters: addable('filters'),
		options: addable('options'),
	};
}

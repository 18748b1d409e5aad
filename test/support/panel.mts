// What the panel of a node shows, by the node's description.
import type { INode, INodeParameters, INodeProperties, INodeType } from 'n8n-workflow';
import { loadPackage, withTools } from './engine.mts';
import { nativeRequire } from './nativeRequire.mts';
import { workflowWith } from './workflow.mts';

// As nodes and engine, the CommonJS copy.
const { NodeHelpers } = nativeRequire('n8n-workflow') as typeof import('n8n-workflow');

/** The labels and notices in a panel, and what can be added to its collections. */
export interface Shown {
	labels: string[];
	notices: string[];
	filters?: string[];
	options?: string[];
}

const { nodeTypes, credentialTypes } = loadPackage();

/** The names of the nodes: `lifelog`. */
export const nodeNames = (): string[] =>
	Object.values(nodeTypes).map((type) => (type as INodeType).description.name);

/** The names of the parameter that chooses what a node does, or what a trigger waits for. */
const SELECTORS = ['operation', 'event', 'events'];

/** The parameter that chooses what a node does. */
export const selectorIn = (properties: INodeProperties[]): INodeProperties =>
	properties.find(({ name }) => SELECTORS.includes(name))!;

/** What a node can do, or what a trigger can wait for. */
export const selectable = (node: string) =>
	choicesOf(node, selectorIn(descriptionOf(node).properties).name);

/** The description of a node, or of a node as a tool: `lifelogTool`. */
export const descriptionOf = (node: string) =>
	(withTools(nodeTypes)[`n8n-nodes-lifelog.${node}`] as INodeType).description;

/** The choices of a parameter of a node, as its description lists them; none without the parameter. */
export function choicesOf(node: string, parameter: string) {
	const property = descriptionOf(node).properties.find(({ name }) => name === parameter);
	return (property?.options ?? []) as Array<{ name: string; value: string; action?: string }>;
}

/** What is shown with these parameters, all others being as they are at first. Without what n8n adds. */
export function panelOf(type: string, chosen: INodeParameters): Shown {
	const { shown, isShown } = shownIn(type, chosen);
	const addable = (name: string) =>
		(shown.find((property) => property.name === name)?.options as INodeProperties[] | undefined)
			?.filter(isShown)
			.map(({ displayName }) => displayName);
	const notices = shown.filter(({ type: kind }) => kind === 'notice');
	return {
		labels: labelsOf(shown),
		notices: notices.map(({ displayName }) => displayName),
		filters: addable('filters'),
		options: addable('options'),
	};
}

/** The properties that are shown for these parameters, and all values then. */
function shownIn(type: string, chosen: INodeParameters) {
	const description = descriptionOf(type);
	const { properties } = description;
	const node = { ...workflowWith(type, chosen).nodes[1], disabled: false } as INode;
	const values = NodeHelpers.getNodeParameters(properties, chosen, true, true, node, description)!;
	const isShown = (property: INodeProperties) =>
		property.type !== 'hidden' &&
		NodeHelpers.displayParameter(values, property, node, description, values);
	return { shown: properties.filter(isShown), isShown, values };
}

const labelsOf = (properties: INodeProperties[]) =>
	properties.filter(({ type }) => type !== 'notice').map(({ displayName }) => displayName);

/** The texts that the panel of a node can show with these parameters, and those that it does show. */
export function panelTexts(type: string, chosen: INodeParameters) {
	const { shown, values } = shownIn(type, chosen);
	const choices = shown.flatMap(({ name, options = [] }) =>
		options.filter((option) => 'value' in option && option.value === values[name]),
	);
	const certain = [...labelsOf(shown), ...choices.map(({ name }) => name)];
	return { possible: [...new Set(shown.flatMap(textsOf))], certain: [...new Set(certain)] };
}

/** The texts that the form of the credential can show, and its labels. */
export function credentialTexts() {
	const [{ properties }] = Object.values(credentialTypes);
	return { possible: properties.flatMap(textsOf), certain: labelsOf(properties) };
}

/** What has texts in a description, of whichever kind it is. */
interface Described {
	name?: string;
	displayName?: string;
	placeholder?: string;
	hint?: string;
	options?: Described[];
	modes?: Described[];
	values?: Described[];
}

/** Every text of a parameter but its tooltips, and those of what is in it. */
function textsOf({ name, displayName = name, placeholder, hint, ...more }: Described): string[] {
	const own = [displayName, placeholder, hint].filter((text) => text !== undefined);
	const inside = [more.options, more.modes, more.values].flatMap((each) => each ?? []);
	return [...own.map((text) => text.replace(/<[^>]+>/g, '')), ...inside.flatMap(textsOf)];
}

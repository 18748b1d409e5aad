import type { IDataObject, INodeProperties, INodeType } from 'n8n-workflow';
import { loadPackage } from '../../support/engine.mts';
import { selectorIn } from '../../support/panel.mts';
import { byId } from '../../support/workflow.mts';
import { addUsual, usualValues } from '../usual.mts';

/** A parameter of an operation, down to the options of a collection. */
export interface Parameter {
	/** Name, with that of its collection before it. */
	path: string[];
	isLocator: boolean;
	/** Whether its default is no value to run with: an empty text, date, list or locator. */
	isEmpty: boolean;
	/** What other parameters must be for it to be shown. */
	needs: IDataObject;
}

export interface NodeOperation {
	/** The node's name without the package's. */
	node: string;
	operation: string;
	isTrigger: boolean;
	parameters: Parameter[];
}

/** With these values every operation sends a request. */
const USUAL: IDataObject = {
	...usualValues({
		lifelog: {
			id: 'lifelog-a',
			title: 'garden',
			startTime: '2026-03-02T09:00:00Z',
			endTime: '2026-03-02T09:30:00Z',
		},
		chat: { id: 'chat-a' },
	}),
	start: '2026-03-02',
	end: '2026-03-03',
};

/** Every operation of the built nodes with all of its parameters. */
export function nodeOperations(): NodeOperation[] {
	const descriptions = Object.values(loadPackage().nodeTypes)
		.map((type) => (type as INodeType).description)
		// A trigger with a webhook waits to be called: test/nodes/serverTrigger/anything.test.mts.
		.filter(({ webhooks }) => webhooks === undefined);
	return descriptions.flatMap(({ properties, name: node }) => {
		const selector = selectorIn(properties);
		const values = selector.options as Array<{ value: string }>;
		return values.map(({ value: operation }) => ({
			node,
			operation,
			isTrigger: selector.name === 'event',
			parameters: properties
				.filter((property) => property.type !== 'hidden' && property.type !== 'notice')
				.filter((property) => property.name !== selector.name)
				.filter((property) => isShown(property, selector.name, operation))
				.flatMap(parametersIn),
		}));
	});
}

function isShown({ displayOptions }: INodeProperties, selector: string, value: string): boolean {
	const { show, hide } = displayOptions ?? {};
	const isMeant = show?.[selector]?.includes(value) ?? true;
	return isMeant && !hide?.[selector]?.includes(value);
}

function parametersIn(property: INodeProperties): Parameter[] {
	const { name, type, options = [] } = property;
	const isLocator = type === 'resourceLocator';
	const needs = needsOf(property);
	const whole = { path: [name], isLocator, isEmpty: isEmpty(property), needs };
	if (type !== 'collection') return [whole];
	const inside = options.map((option) => ({
		path: [name, option.name],
		isLocator: false,
		isEmpty: false,
		needs: { ...needs, ...('type' in option && needsOf(option)) },
	}));
	return [whole, ...inside];
}

function needsOf({ displayOptions }: INodeProperties): IDataObject {
	const others = Object.entries(displayOptions?.show ?? {}).filter(
		([name]) => !['resource', 'operation', 'event', '@tool'].includes(name),
	);
	// Date is hidden unless one value is chosen.
	const unless = Object.entries(displayOptions?.hide ?? {}).flatMap(([name, conditions]) => {
		const condition: unknown = conditions?.[0];
		const isNot = typeof condition === 'object' && condition !== null && '_cnd' in condition;
		return isNot ? [[name, (condition as { _cnd: { not: unknown } })._cnd.not]] : [];
	});
	// In a collection, `/source` is a parameter outside of it.
	const chosen = others.map(([name, values]) => [name.replace(/^\//, ''), values![0]]);
	return Object.fromEntries([...chosen, ...unless]) as IDataObject;
}

function isEmpty({ type, default: value }: INodeProperties): boolean {
	if (type === 'resourceLocator') return (value as { value?: unknown }).value === '';
	return value === '' || (Array.isArray(value) && value.length === 0);
}

/**
 * The parameters of a node's operation, some of them set, and what these need to be shown.
 *
 * @throws Error on a parameter that has neither a usual value nor a default to run with.
 */
export function withParameters(
	{ node, operation, isTrigger, parameters }: NodeOperation,
	changes: Array<[Parameter, unknown]>,
): IDataObject {
	const all: IDataObject = { ...(isTrigger ? { event: operation } : { operation }) };
	for (const { path, isLocator, isEmpty } of parameters.filter(({ path }) => path.length === 1)) {
		const [name] = path;
		if (name in USUAL) all[name] = isLocator ? byId(USUAL[name]) : USUAL[name];
		else if (isEmpty) {
			throw new Error(addUsual(node, operation, name));
		}
	}
	for (const [{ needs }] of changes) Object.assign(all, needs);
	for (const [{ path, isLocator }, value] of changes) {
		const [name, option] = path;
		if (option !== undefined) {
			const collection = typeof all[name] === 'object' ? (all[name] as IDataObject) : {};
			all[name] = { ...collection, [option]: value as IDataObject };
		} else {
			all[name] = isLocator ? byId(value) : (value as IDataObject);
		}
	}
	return all;
}

/** The operations of a node, or of all action nodes, that are given the ID of an entry. */
export function operationsById(node?: string): NodeOperation[] {
	return nodeOperations().filter(
		(operation) =>
			!operation.isTrigger &&
			(node === undefined || operation.node === node) &&
			operation.parameters.some(({ isLocator }) => isLocator),
	);
}

/** The parameters of an operation, its entry being the one with this ID where it takes one. */
export function withId(operation: NodeOperation, id: unknown): IDataObject {
	const locators = operation.parameters.filter(({ isLocator }) => isLocator);
	return withParameters(
		operation,
		locators.map((locator) => [locator, id]),
	);
}

/** The lists of the editor from which an entry is chosen. */
export function editorLists(): Array<{ node: string; parameter: string; methodName: string }> {
	const lists = Object.values(loadPackage().nodeTypes).flatMap((type) => {
		const { properties, name: node } = (type as INodeType).description;
		return properties.flatMap(({ name: parameter, modes = [] }) => {
			const { typeOptions } = modes.find(({ type: kind }) => kind === 'list') ?? {};
			const methodName = typeOptions?.searchListMethod;
			return methodName ? [{ node, parameter, methodName }] : [];
		});
	});
	return lists.filter(
		({ node, methodName }, nth) =>
			lists.findIndex((other) => other.node === node && other.methodName === methodName) === nth,
	);
}

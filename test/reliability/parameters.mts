import type { IDataObject, INodeProperties, INodeType } from 'n8n-workflow';
import { loadPackage } from '../support/engine.mts';

/** A parameter of an operation, down to the options of a collection. */
export interface Parameter {
	/** Name, with that of its collection before it. */
	path: string[];
	isLocator: boolean;
}

export interface NodeOperation {
	/** The node's name without the package's. */
	node: string;
	operation: string;
	isTrigger: boolean;
	parameters: Parameter[];
}

/** What every parameter is set to unless a test wants it otherwise. */
const USUAL: IDataObject = {
	query: 'garden',
	start: '2026-03-02',
	end: '2026-03-03',
	day: 'date',
	date: '2026-03-02',
};

/** Every operation of the built nodes with all of its parameters. */
export function nodeOperations(): NodeOperation[] {
	return Object.values(loadPackage().nodeTypes).flatMap((type) => {
		const { description } = type as INodeType;
		const { properties, name: node } = description;
		const selector = properties.find(({ name }) => name === 'operation' || name === 'event')!;
		const values = selector.options as Array<{ value: string }>;
		return values.map(({ value: operation }) => ({
			node,
			operation,
			isTrigger: selector.name === 'event',
			parameters: properties
				.filter((property) => property.type !== 'hidden' && property.type !== 'notice')
				.filter((property) => property !== selector && isShown(property, selector.name, operation))
				.flatMap(parametersIn),
		}));
	});
}

function isShown({ displayOptions }: INodeProperties, selector: string, value: string): boolean {
	const { show, hide } = displayOptions ?? {};
	const isMeant = show?.[selector]?.includes(value) ?? true;
	return isMeant && !hide?.[selector]?.includes(value);
}

function parametersIn({ name, type, options = [] }: INodeProperties): Parameter[] {
	const whole = { path: [name], isLocator: type === 'resourceLocator' };
	if (type !== 'collection') return [whole];
	return [whole, ...options.map((option) => ({ path: [name, option.name], isLocator: false }))];
}

/** The parameters of a node's operation, some of them set. */
export function withParameters(
	{ operation, isTrigger, parameters }: NodeOperation,
	changes: Array<[Parameter, unknown]>,
): IDataObject {
	const all: IDataObject = { ...(isTrigger ? { event: operation } : { operation }) };
	for (const { path, isLocator } of parameters) {
		if (isLocator) all[path[0]] = { __rl: true, mode: 'id', value: 'lifelog-a' };
		else if (path[0] in USUAL && path.length === 1) all[path[0]] = USUAL[path[0]];
	}
	for (const [{ path, isLocator }, value] of changes) {
		const [name, option] = path;
		if (option !== undefined) {
			const collection = typeof all[name] === 'object' ? (all[name] as IDataObject) : {};
			all[name] = { ...collection, [option]: value as IDataObject };
		} else {
			all[name] = isLocator
				? { __rl: true, mode: 'id', value: value as string }
				: (value as IDataObject);
		}
	}
	return all;
}

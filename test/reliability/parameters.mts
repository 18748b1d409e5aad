import type { IDataObject, INodeProperties, INodeType } from 'n8n-workflow';
import { loadPackage } from '../support/engine.mts';

/** A parameter of an operation, down to the options of a collection. */
export interface Parameter {
	/** Name, with that of its collection before it. */
	path: string[];
	isLocator: boolean;
	/** Whether its default is no value to run with: an empty text, date, list or locator. */
	isEmpty: boolean;
}

export interface NodeOperation {
	/** The node's name without the package's. */
	node: string;
	operation: string;
	isTrigger: boolean;
	parameters: Parameter[];
}

/**
 * What every parameter is set to unless a test wants it otherwise; a locator to this ID. With these
 * values every operation sends a request.
 */
const USUAL: IDataObject = {
	lifelogId: 'lifelog-a',
	chatId: 'chat-a',
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

function parametersIn(property: INodeProperties): Parameter[] {
	const { name, type, options = [] } = property;
	const isLocator = type === 'resourceLocator';
	const whole = { path: [name], isLocator, isEmpty: isEmpty(property) };
	if (type !== 'collection') return [whole];
	const inside = { isLocator: false, isEmpty: false };
	return [whole, ...options.map((option) => ({ path: [name, option.name], ...inside }))];
}

function isEmpty({ type, default: value }: INodeProperties): boolean {
	if (type === 'resourceLocator') return (value as { value?: unknown }).value === '';
	return value === '' || (Array.isArray(value) && value.length === 0);
}

const located = (value: unknown) => ({ __rl: true, mode: 'id', value: value as string });

/**
 * The parameters of a node's operation, some of them set.
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
		if (name in USUAL) all[name] = isLocator ? located(USUAL[name]) : USUAL[name];
		else if (isEmpty) {
			throw new Error(
				`The parameter '${name}' of ${node} ${operation} is empty by default, so that tests would run without it. Add to USUAL in test/reliability/parameters.mts:  ${name}: <a value with which the operation sends a request>`,
			);
		}
	}
	for (const [{ path, isLocator }, value] of changes) {
		const [name, option] = path;
		if (option !== undefined) {
			const collection = typeof all[name] === 'object' ? (all[name] as IDataObject) : {};
			all[name] = { ...collection, [option]: value as IDataObject };
		} else {
			all[name] = isLocator ? located(value) : (value as IDataObject);
		}
	}
	return all;
}

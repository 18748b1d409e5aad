// Everything that the action nodes can be asked to read, as their descriptions say.
import type { IDataObject, INode, INodeProperties } from 'n8n-workflow';
import { nodeOperations } from '../nodes/faults/parameters.mts';
import { loadPackage, type WorkflowJson } from './engine.mts';
import { byId, workflowWith } from './workflow.mts';

/** An operation with one of its parameters set to one of its values. */
export interface Reading {
	/** Of its node in a workflow: `lifelog.getMany filters.isStarred=true`. */
	name: string;
	/** The node's name without the package's. */
	node: string;
	operation: string;
	parameters: IDataObject;
}

/** A value that a service doesn't know. */
const ONLY_OF_SERVER = 'audioSource=recordings';

/** What parameters are set to that have no list of values, by their names. */
export type Values = Record<string, string | number>;

/**
 * Every operation of the action nodes that only reads, with every value of every parameter, one
 * at a time.
 *
 * @throws Error for a parameter that is set to nothing by `values` and has no list of values.
 */
export function allReadings(values: Values): Reading[] {
	return nodeOperations()
		.filter(({ node, operation, isTrigger }) => {
			return !isTrigger && operation !== 'delete' && node !== 'lifelogServer';
		})
		.flatMap(({ node, operation }) => {
			const properties = propertiesOf(node, operation);
			const usual = Object.fromEntries(
				properties
					.filter(isToBeFilledIn)
					.map((property) => [property.name, plainValue(property, values)]),
			);
			const origin = originOf(properties);
			return properties.flatMap((property) =>
				settingsOf(property, values).flatMap(({ label, value }) => {
					const needed = whereShown(property);
					const isFree = origin && property !== origin && !(origin.name in needed);
					const origins = isFree ? settingsOf(origin, values) : [{ label: '', value: undefined }];
					return origins.map((from) => ({
						name: `${node}.${operation} ${isFree ? `${origin.name}${from.label} ` : ''}${property.name}${label}`,
						node,
						operation,
						parameters: {
							operation,
							...usual,
							...(isFree && { [origin.name]: from.value }),
							...needed,
							[property.name]: value,
						} as IDataObject,
					}));
				}),
			);
		})
		.filter(({ name }) => !name.endsWith(ONLY_OF_SERVER));
}

/** A workflow of a trigger, named `Start`, and a node for each reading, all on its one item. */
export function workflowOf(
	readings: Reading[],
	credentials: INode['credentials'],
	input: IDataObject,
): WorkflowJson & { pinData: Record<string, Array<{ json: IDataObject }>> } {
	const { nodes, settings } = workflowWith('lifelog', {}, { credentials });
	const [start, any] = nodes;
	return {
		nodes: [
			start,
			...readings.map(({ name, node, parameters }) => ({
				...any,
				id: name,
				name,
				type: `n8n-nodes-lifelog.${node}`,
				parameters: parameters as INode['parameters'],
			})),
		],
		connections: {
			Start: { main: [readings.map(({ name }) => ({ node: name, type: 'main', index: 0 }))] },
		},
		settings,
		pinData: { Start: [{ json: input }] },
	};
}

/** The parameters of an operation that a person sets in a node. */
function propertiesOf(node: string, operation: string): INodeProperties[] {
	const { properties } = loadPackage().nodeTypes[`n8n-nodes-lifelog.${node}`]
		.description as unknown as { properties: INodeProperties[] };
	return properties.filter(
		({ type, name, displayOptions }) =>
			!['hidden', 'notice'].includes(type) &&
			name !== 'operation' &&
			(displayOptions?.show?.operation?.includes(operation) ?? true) &&
			!displayOptions?.show?.['@tool']?.includes(true),
	);
}

/** The other parameters that a parameter wants, to be shown at all. */
function whereShown({ displayOptions }: INodeProperties): IDataObject {
	const conditions = Object.entries(displayOptions?.show ?? {}).filter(
		([name]) => !['resource', 'operation', '@tool'].includes(name),
	);
	return Object.fromEntries(conditions.map(([name, shown]) => [name, shown![0]])) as IDataObject;
}

/** The parameter that decides which others say what is read, where there is one. */
function originOf(properties: INodeProperties[]): INodeProperties | undefined {
	return properties.find(({ name, type }) =>
		properties.some(
			(other) => type === 'options' && isToBeFilledIn(other) && name in whereShown(other),
		),
	);
}

/** Whether a person has to say something there. */
function isToBeFilledIn({ type, default: value }: INodeProperties): boolean {
	return type === 'resourceLocator' || value === '';
}

function plainValue({ name, type }: INodeProperties, values: Values): unknown {
	const value = values[name];
	if (value === undefined) {
		throw new Error(`Nothing to set '${name}' to: give a value for it where allReadings is called`);
	}
	return type === 'resourceLocator' ? byId(value) : value;
}

/** What a parameter can be set to, each with what names it. */
function settingsOf(
	property: INodeProperties,
	values: Values,
): Array<{ label: string; value: unknown }> {
	const { type, options = [] } = property;
	const each = (all: unknown[]) => all.map((value) => ({ label: `=${value}`, value }));
	const listed = options.map((option) => ('value' in option ? option.value : undefined));
	switch (type) {
		case 'boolean':
			return each([true, false]);
		case 'options':
			return each(listed);
		case 'multiOptions':
			return [{ label: '=all', value: listed }];
		case 'collection':
			return (options as INodeProperties[]).flatMap((option) =>
				settingsOf(option, values).map(({ label, value }) => ({
					label: `.${option.name}${label}`,
					value: { [option.name]: value },
				})),
			);
		default:
			return [{ label: '', value: plainValue(property, values) }];
	}
}

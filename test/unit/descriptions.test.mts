// What a model is told of a parameter is its description alone.
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { nodeOperations } from '../reliability/parameters.mts';
import { loadPackage } from '../support/engine.mts';

const { nodeTypes } = loadPackage();
const TOOLS = ['lifelog', 'lifelogChat', 'lifelogAudio', 'lifelogServer'];

/** All that can be set in a node, down to the options of collections. */
function settable(properties: INodeProperties[]): INodeProperties[] {
	return properties.flatMap((property) =>
		property.type === 'collection' ? settable(property.options as INodeProperties[]) : [property],
	);
}

const parameters = TOOLS.flatMap((node) => {
	const { properties } = nodeTypes[`n8n-nodes-lifelog.${node}`].description as {
		properties: INodeProperties[];
	};
	return settable(properties)
		.filter(({ type }) => type !== 'hidden' && type !== 'notice')
		.filter(({ name }) => name !== 'operation')
		.map((property) => [`${node}: ${property.displayName}`, property] as const);
});

test('there are parameters', () => {
	expect(parameters.length).toBeGreaterThan(50);
	expect(nodeOperations().length).toBeGreaterThan(10);
});

test.each(parameters)('%s can be an expression and has a description', (_name, property) => {
	const { description = '', type, options = [], noDataExpression } = property;
	expect(noDataExpression).toBeUndefined();
	expect(description.length).toBeGreaterThan(20);
	if (!['options', 'multiOptions'].includes(type)) return;
	// Those of a list are not told to a model, so its description has them.
	for (const { value } of options as INodePropertyOptions[]) {
		expect(description.toLowerCase()).toContain(String(value).toLowerCase());
	}
});

/** Options that the service may ignore for lifelogs: they say so first, and come last. */
const OFTEN_IGNORED = ['Global Prompt ID', 'Is Scheduled'];

/** From so many items on n8n's lint wants them in order. */
const MANY_ITEMS = 5;

const collections = [...TOOLS, 'lifelogTrigger'].flatMap((node) => {
	const { properties } = nodeTypes[`n8n-nodes-lifelog.${node}`].description as {
		properties: INodeProperties[];
	};
	return properties
		.filter(({ type }) => type === 'collection')
		.map(({ displayName, displayOptions, options }) => {
			const shown = displayOptions?.show?.operation ?? [];
			return [[node, ...shown, displayName].join(' '), options as INodeProperties[]] as const;
		});
});

test('there are collections', () => {
	expect(collections.length).toBeGreaterThan(15);
});

// What n8n's lint looks for where a collection is written out; it does not look into a function.
test.each(collections)('the items of %s are sorted, and none is required', (_name, items) => {
	expect(items.filter(({ required }) => required)).toEqual([]);
	const names = items
		.map(({ displayName }) => displayName)
		.filter((name) => !OFTEN_IGNORED.includes(name) || !_name.endsWith(' Options'));
	if (names.length < items.length) {
		const ignored = items.slice(names.length);
		expect(ignored.map(({ displayName }) => displayName)).toEqual(OFTEN_IGNORED);
		for (const { description } of ignored) {
			expect(description).toMatch(
				/^(The service may ignore|Whether, unless the service ignores) this/,
			);
		}
	}
	if (names.length < MANY_ITEMS) return;
	expect(names).toEqual([...names].sort((one, other) => one.localeCompare(other)));
});

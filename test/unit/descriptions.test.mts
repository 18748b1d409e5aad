// What a model is told of a parameter is its description alone.
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { nodeOperations } from '../reliability/parameters.mts';
import { loadPackage } from '../support/engine.mts';

const { nodeTypes } = loadPackage();
const TOOLS = ['lifelog', 'lifelogChat', 'lifelogAudio'];

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

test.each(parameters)('%s can be given by an expression and says what it is', (_name, property) => {
	const { description = '', type, options = [], noDataExpression } = property;
	expect(noDataExpression).toBeUndefined();
	expect(description.length).toBeGreaterThan(20);
	if (!['options', 'multiOptions'].includes(type)) return;
	// Those of a list are not told to a model, so its description has them.
	for (const { value } of options as INodePropertyOptions[]) {
		expect(description.toLowerCase()).toContain(String(value).toLowerCase());
	}
});

// What people read of a parameter. A model reads only what `$fromAI` says.
import type {
	INode,
	INodeProperties,
	INodePropertyOptions,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';
import { loadPackage } from '../support/engine.mts';
import { selectorIn } from '../support/panel.mts';

const { nodeTypes } = loadPackage();
const TOOLS = ['lifelog', 'lifelogChat', 'lifelogAudio', 'lifelogServer'];
const NODES = [...TOOLS, 'lifelogTrigger', 'lifelogServerTrigger'];

const propertiesOf = (node: string) =>
	(nodeTypes[`n8n-nodes-lifelog.${node}`].description as INodeTypeDescription).properties;

/** All that can be set in a node, down to the options of collections. */
function settable(properties: INodeProperties[]): INodeProperties[] {
	return properties.flatMap((property) =>
		property.type === 'collection' ? settable(property.options as INodeProperties[]) : [property],
	);
}

const parameters = TOOLS.flatMap((node) =>
	settable(propertiesOf(node))
		.filter(({ type }) => type !== 'hidden' && type !== 'notice')
		.filter(({ name }) => name !== 'operation')
		.map((property) => [`${node}: ${property.displayName}`, property] as const),
);

test.each(parameters)('%s can be an expression and has a description', (_name, property) => {
	const { description = '', type, options = [], noDataExpression } = property;
	expect(noDataExpression).toBeUndefined();
	expect(description).not.toBe('');
	if (!['options', 'multiOptions'].includes(type)) return;
	// The words on the screen, not the values behind them.
	const names = (options as INodePropertyOptions[]).map(({ name }) => name.toLowerCase());
	for (const { value } of options as INodePropertyOptions[]) {
		if (names.includes(String(value).toLowerCase())) continue;
		expect(description).not.toMatch(new RegExp(`\\b${value}\\b`));
	}
	expect(description).not.toMatch(/: [a-z]+, [a-z]+|: [a-z]+ or [a-z]+/);
});

const wordsOf = (text = ''): string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];

test('no hint below a field repeats its description', () => {
	const repeated = parameters
		.filter(([, { hint, description }]) =>
			wordsOf(description).every((word) => wordsOf(hint).includes(word)),
		)
		.map(([name]) => name);
	expect(repeated).toEqual([]);
});

test('a notice or a hint of one sentence ends without a full stop', () => {
	const texts = NODES.flatMap((node) =>
		settable(propertiesOf(node)).map(({ type, displayName, hint = '' }) =>
			type === 'notice' ? displayName : hint,
		),
	);
	expect(texts.length).toBeGreaterThan(50);
	expect(texts.filter((text) => text.endsWith('.') && !text.includes('. '))).toEqual([]);
});

/** From so many items on n8n's lint wants them in order. */
const MANY_ITEMS = 5;

const collections = NODES.flatMap((node) =>
	propertiesOf(node)
		.filter(({ type }) => type === 'collection')
		.map(({ displayName, displayOptions, options }) => {
			const shown = displayOptions?.show?.operation ?? [];
			return [[node, ...shown, displayName].join(' '), options as INodeProperties[]] as const;
		}),
);

// What n8n's lint looks for where a collection is written out; it does not look into a function.
test.each(collections)('the items of %s are sorted, and none is required', (_name, items) => {
	expect(items.filter(({ required }) => required)).toEqual([]);
	const names = items.map(({ displayName }) => displayName);
	if (names.length < MANY_ITEMS) return;
	expect(names).toEqual([...names].sort((one, other) => one.localeCompare(other)));
});

const bySimplified = NODES.flatMap((node) =>
	propertiesOf(node)
		.filter(({ name }) => name === 'output')
		.map((output) => [node, output] as const),
);

test.each(bySimplified)(
	'the Output of %s begins with Simplified, which is the default',
	(_node, output) => {
		expect(output.default).toBe('simplified');
		expect((output.options as INodePropertyOptions[])[0].value).toBe('simplified');
		expect(output.displayOptions?.show ?? {}).not.toHaveProperty('@tool');
	},
);

test('what is deleted has a parameter of its own, which begins empty', () => {
	const locators = NODES.flatMap(propertiesOf).filter(({ type }) => type === 'resourceLocator');
	const ofDelete = locators.filter(({ displayOptions }) =>
		displayOptions?.show?.operation?.includes('delete'),
	);
	expect(ofDelete).toHaveLength(2);
	for (const { name, default: value } of ofDelete) {
		expect(value).toEqual({ mode: 'list', value: '' });
		expect(locators.filter((each) => each.name === name)).toHaveLength(1);
	}
});

/** Each operation or event, and a choice of its own that an expression can make. */
const byExpression = NODES.flatMap((node) => {
	const properties = propertiesOf(node);
	const { name: selector, options = [] } = selectorIn(properties);
	return (options as INodePropertyOptions[]).flatMap(({ value: selected }) => {
		const own = properties.filter(
			({ type, noDataExpression, displayOptions }) =>
				type === 'options' &&
				!noDataExpression &&
				displayOptions?.show?.[selector]?.includes(selected),
		);
		const names = [...new Set(own.map(({ name }) => name))];
		return names.map(
			(name) => [`${node} ${selected}`, name, node, { [selector]: selected }] as const,
		);
	});
});

test('there is enough to check', () => {
	expect(parameters.length).toBeGreaterThan(50);
	expect(collections.length).toBeGreaterThan(15);
	expect(new Set(byExpression.map(([, name]) => name)).size).toBeGreaterThan(5);
});

// n8n shows and requires everything that depends on an expression, whatever that returns.
test.each(byExpression)(
	'%s: if an expression chooses %s, no parameter is shown twice, and none of a choice is required',
	(_operation, chosen, nodeName, selected) => {
		const description = nodeTypes[`n8n-nodes-lifelog.${nodeName}`]
			.description as INodeTypeDescription;
		const { resource } = Object.fromEntries(
			description.properties.map(({ name, default: value }) => [name, value]),
		);
		const values = { resource, ...selected, [chosen]: '={{ $json.chosen }}' };
		const parameters = NodeHelpers.getNodeParameters(
			description.properties,
			values as INode['parameters'],
			true,
			false,
			null,
			description,
		)!;
		const node = { parameters, typeVersion: 1 } as INode;
		const shown = description.properties
			.filter((property) => NodeHelpers.displayParameter(parameters, property, node, description))
			.filter(({ type }) => type !== 'notice');
		const names = shown.map(({ name }) => name);
		expect(names.filter((name, nth) => names.indexOf(name) !== nth)).toEqual([]);

		const required = shown.filter((property) => property.required);
		const depends = required.filter(({ displayOptions }) =>
			Object.keys(displayOptions?.show ?? {}).some((name) => name === chosen),
		);
		expect(depends.map(({ name }) => name)).toEqual([]);
	},
);

import { readFileSync } from 'node:fs';
import type { INodePropertyOptions, INodeType } from 'n8n-workflow';
import { loadPackage } from '../support/engine.mts';

/** What was ever told as added: the text of each such section. */
const added = readFileSync('CHANGELOG.md', 'utf8')
	.split(/^(?=##)/m)
	.filter((section) => section.startsWith('### Added'))
	.join('\n');

const named = Object.values(loadPackage().nodeTypes).flatMap((type) => {
	const { displayName, properties } = (type as INodeType).description;
	const selector = properties.find(({ name }) => name === 'operation' || name === 'event')!;
	const options = selector.options as INodePropertyOptions[];
	return options.map(({ name }) => [displayName, name]);
});

test.each(named)('%s: the changelog says that %s was added', (node, operation) => {
	expect(added).toContain(`**${node}**`);
	expect(added).toMatch(new RegExp(`\\b${operation}\\b`));
});

test('every operation is looked for', () => {
	expect(named.length).toBeGreaterThan(10);
});

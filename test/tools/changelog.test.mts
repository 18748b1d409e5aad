import { readFileSync } from 'node:fs';
import type { INodePropertyOptions, INodeType } from 'n8n-workflow';
import { loadPackage } from '../support/engine.mts';

const readme = readFileSync('README.md', 'utf8');
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
	if (added.includes(`**${node}**`) && new RegExp(`\\b${operation}\\b`).test(added)) return;
	throw new Error(`Add a line for ${operation} (**${node}**) under Added in CHANGELOG.md`);
});

test.each(named)('%s: its page explains %s', (node, operation) => {
	const [, page] = new RegExp(`^\\| \\[${node}\\]\\(\\S+/(docs/[\\w-]+\\.md)\\)`, 'm').exec(
		readme,
	)!;
	const told = new RegExp(`^(\\| ${operation} +\\||\\*\\*${operation}\\*\\*)`, 'm');
	if (told.test(readFileSync(page, 'utf8'))) return;
	throw new Error(`Add a row for ${operation} to the table in ${page}`);
});

test('every operation is checked', () => {
	expect(named.length).toBeGreaterThan(10);
});

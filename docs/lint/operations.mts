// What is new is in the changelog, and each operation or event is explained on its node's page.
import { existsSync, readFileSync } from 'node:fs';
import type { INodePropertyOptions } from 'n8n-workflow';
import { descriptions, found } from './sources.mts';

export function problemsOfOperations(): string[] {
	const readme = readFileSync('README.md', 'utf8');
	const added = readFileSync('CHANGELOG.md', 'utf8')
		.split(/^(?=##)/m)
		.filter((section) => section.startsWith('### Added'))
		.join('\n');
	const operations = descriptions().flatMap(({ displayName, properties }) => {
		const selector = properties.find(({ name }) => /^(operation|events?)$/.test(name))!;
		const options = selector.options as INodePropertyOptions[];
		return options.map(({ name }) => [displayName, name] as const);
	});
	return found(operations, 10, 'operations').flatMap(([node, operation]) => {
		const isAdded = added.includes(`**${node}**`) && new RegExp(`\\b${operation}\\b`).test(added);
		const row = new RegExp(`^\\| \\[${node}\\]\\(\\S+/(docs/[\\w-]+\\.md)\\)`, 'm');
		const page = row.exec(readme)?.[1];
		if (!page || !existsSync(page)) return [`README.md has no row for ${node} with its page`];
		const explained = new RegExp(`^(\\| ${operation} +\\||\\*\\*${operation}\\*\\*)`, 'm');
		return [
			...(isAdded ? [] : [`CHANGELOG.md has no ${operation} (**${node}**) under Added`]),
			...(explained.test(readFileSync(page, 'utf8'))
				? []
				: [`${page} has no row for ${operation}`]),
		];
	});
}

import { existsSync, globSync, readFileSync } from 'node:fs';
import { changesSince, type Shown } from './sources.mts';

/**
 * The pictures whose texts have changed since they were made, by path without its end, and in sentences
 * what has changed.
 */
export function changedPictures(): Map<string, string[]> {
	const files = globSync('{docs,examples}/images/*.{png,json}');
	const paths = new Set(
		files.map((file) => file.replace(/(\.dark)?\.\w+$/, '').replaceAll('\\', '/')),
	);
	const changes = [...paths].sort().map((path) => [path, changesOf(path)] as const);
	return new Map(changes.filter(([, sentences]) => sentences.length > 0));
}

function changesOf(path: string): string[] {
	if (!existsSync(`${path}.png`)) return [`${path}.json belongs to no picture`];
	if (!existsSync(`${path}.json`)) return [`${path}.png has no list of its texts`];
	return changesSince(path, JSON.parse(readFileSync(`${path}.json`, 'utf8')) as Shown);
}

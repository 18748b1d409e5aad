import { globSync } from 'node:fs';

/** The folders of the packages that are published, and what their tarballs are to hold. */
export const TARBALLS: Record<string, () => string[]> = {
	'.': () => [
		...globSync('{nodes,credentials,icons}/**/*.{ts,json,svg}')
			.filter((path) => !path.endsWith('.d.ts'))
			.map((path) => `dist/${path.replace(/\.ts$/, '.js')}`),
		...['LICENSE.md', 'README.md', 'package.json'],
	],
	'./server': () => [
		...globSync('server/**/*.mts', { exclude: (name) => name === 'dist' }).map(
			(path) => `dist/${path.replace(/\.mts$/, '.mjs')}`,
		),
		...['dist/LICENSE.md', 'dist/openapi.yaml'],
		...['README.md', 'lifelog-server.cjs', 'package.json'],
	],
};

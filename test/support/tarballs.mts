import { globSync, readdirSync } from 'node:fs';
import { sep } from 'node:path';

/** The folders of the packages that are published, and what their tarballs are to hold. */
export const TARBALLS: Record<string, () => string[]> = {
	'.': () => [
		...globSync(['lifelog/**/*.ts', '{nodes,credentials,icons}/**/*.{ts,json,svg}'])
			.filter((path) => !path.endsWith('.d.ts'))
			.map((path) => `dist/${path.replace(/\.ts$/, '.js')}`),
		...['LICENSE.md', 'README.md', 'package.json'],
	],
	'./server': () => [
		...globSync(['server/**/*.mts', 'lifelog/**/*.ts'], {
			exclude: (name) => name === 'dist',
		})
			.filter((path) => !path.endsWith('.d.ts'))
			.filter((path) => !/^server[\\/](page|sandbox)[\\/]/.test(path))
			.map((path) => `dist/${path.replaceAll(sep, '/').replace(/ts$/, 'js')}`),
		...['dist/lifelog/package.json', 'dist/lifelog/openapi.yaml', 'dist/server/openapi.yaml'],
		// Names of scripts change with their contents. `npm run build:server` has built them.
		...readdirSync('server/dist/server/page/dist/assets').map(
			(name) => `dist/server/page/dist/assets/${name}`,
		),
		...['index.html', 'licenses.txt'].map((name) => `dist/server/page/dist/${name}`),
		...['LICENSE.md', 'README.md', 'lifelog-server.cjs', 'npm-shrinkwrap.json', 'package.json'],
	],
};

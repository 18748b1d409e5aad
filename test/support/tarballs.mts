import { globSync } from 'node:fs';
import { join, sep } from 'node:path';

/** The folders of the packages that are published, and what their tarballs are to hold. */
export const TARBALLS: Record<string, () => string[]> = {
	'.': () => [
		...globSync('{nodes,credentials,icons}/**/*.{ts,json,svg}')
			.filter((path) => !path.endsWith('.d.ts'))
			.map((path) => `dist/${path.replace(/\.ts$/, '.js')}`),
		...['LICENSE.md', 'README.md', 'package.json'],
	],
	'./server': () => [
		...globSync('{server,check-archive}/**/*.mts', { exclude: (name) => name === 'dist' })
			// In the package it is `lifelog-server check`.
			.filter((path) => path !== join('check-archive', 'main.mts'))
			.map((path) => `dist/${path.replaceAll(sep, '/').replace(/\.mts$/, '.mjs')}`),
		...['dist/LICENSE.md', 'dist/openapi.yaml'],
		...['README.md', 'lifelog-server.cjs', 'package.json'],
	],
};

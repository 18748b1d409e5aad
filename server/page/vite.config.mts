// Builds the page of lifelog-server: `npm run build:web` into server/page/dist, `gulp server` into
// the package.
import { readFile, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import preact from '@preact/preset-vite';
import license from 'rollup-plugin-license';
import { defineConfig, type Plugin } from 'vite';

// Jest sets another value, which makes Vite build larger scripts.
process.env.NODE_ENV = 'production';

const folder = process.env.PAGE_FOLDER ?? `${import.meta.dirname}/dist`;

/**
 * Writes a gzip copy beside each script and style sheet. With additional Brotli copies, the page
 * would take more than 400 KB of the package.
 */
const compressed: Plugin = {
	name: 'compressed',
	async writeBundle(_options, bundle) {
		for (const name of Object.keys(bundle).filter((each) => /\.(js|css)$/.test(each))) {
			const content = await readFile(`${folder}/${name}`);
			await writeFile(`${folder}/${name}.gz`, gzipSync(content, { level: 9 }));
		}
	},
};

/** Puts the theme's script before the styles: modules run only after the first paint. */
const theme: Plugin = {
	name: 'theme',
	async buildStart() {
		const source = await readFile(`${import.meta.dirname}/src/theme.mts`, 'utf8');
		this.emitFile({ type: 'asset', name: 'theme.js', source });
	},
	transformIndexHtml: (_html, { bundle = {} }) => {
		const name = Object.keys(bundle).find((each) => each.startsWith('assets/theme'));
		return [{ tag: 'script', attrs: { src: `/${name}` }, injectTo: 'head' }];
	},
};

export default defineConfig({
	root: import.meta.dirname,
	plugins: [
		preact(),
		license({ thirdParty: { output: { file: `${folder}/licenses.txt` } } }),
		theme,
		compressed,
	],
	build: {
		outDir: folder,
		emptyOutDir: true,
		target: 'es2022',
		// Everything is a file: the page's security policy allows nothing inline.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
	},
	resolve: {
		alias: {
			...{ react: 'preact/compat', 'react-dom': 'preact/compat' },
			'linkify-it': `${import.meta.dirname}/src/noLinkify.mts`,
			entities: `${import.meta.dirname}/src/noEntities.mts`,
		},
	},
});

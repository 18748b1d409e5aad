// The page of lifelog-server: `npm run build:web` builds it into server/web/dist, `gulp server` into
// the package.
import preact from '@preact/preset-vite';
import license from 'rollup-plugin-license';
import { defineConfig } from 'vite';

// Jest sets another value, with which Vite builds larger scripts.
process.env.NODE_ENV = 'production';

const folder = process.env.PAGE_FOLDER ?? `${import.meta.dirname}/dist`;

export default defineConfig({
	root: import.meta.dirname,
	plugins: [preact(), license({ thirdParty: { output: { file: `${folder}/licenses.txt` } } })],
	build: {
		outDir: folder,
		emptyOutDir: true,
		target: 'es2022',
		// Everything comes from files of its own: the page's security policy allows nothing inline.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
	},
	resolve: { alias: { react: 'preact/compat', 'react-dom': 'preact/compat' } },
});

// Builds the page in a checkout if its sources are newer: for `npm run server` and the tests.
import { existsSync, globSync, statSync } from 'node:fs';

const here = import.meta.dirname;
const built = `${here}/dist/index.html`;
// The page uses code of lifelog/.
const sources = globSync(['index.html', 'vite.config.mts', 'src/**/*.*', '../../lifelog/**/*.ts'], {
	cwd: here,
});
const changedMs = (path: string) => statSync(path).mtimeMs;

if (!existsSync(built) || sources.some((path) => changedMs(`${here}/${path}`) > changedMs(built))) {
	const { build } = await import('vite');
	await build({ configFile: `${here}/vite.config.mts`, logLevel: 'error' });
}

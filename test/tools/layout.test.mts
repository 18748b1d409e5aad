import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const FOLDERS = ['nodes', 'server', 'test/support'];
/** What a build leaves, and the lockfile that npm wants by this name. */
const BUILT = /(^|[\\/])((dist|node_modules)[\\/]|npm-shrinkwrap\.json$)/;
/** Named after the command that the package installs. */
const EXCEPTIONS = [join('server', 'lifelog-server.cjs')];

test('file names are in camel case, without hyphens', () => {
	const files = FOLDERS.flatMap((folder) =>
		readdirSync(folder, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map(({ parentPath, name }) => join(parentPath, name)),
	).filter((path) => !BUILT.test(path));
	expect(files.length).toBeGreaterThan(300);
	expect(files.filter((path) => basename(path).includes('-'))).toEqual(EXCEPTIONS);
});

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const own = read('server/package.json');

/** What the files below a folder import, by the text behind `from`. */
function importsOf(folder: string): string[] {
	return (
		readdirSync(folder, { recursive: true, encoding: 'utf8' })
			// The page is built, with what it imports in it.
			.filter((file) => file.endsWith('.mts') && !/^(web|dist)[\\/]/.test(file))
			.flatMap((file) => {
				const text = readFileSync(join(folder, file), 'utf8');
				return [...text.matchAll(/\bfrom '([^']+)'/g)].map(([, name]) => name);
			})
	);
}

test('lifelog-server depends on the packages that it imports, in the tested versions', () => {
	const packages = [...importsOf('server'), ...importsOf('check-archive')]
		.filter((name) => !/^(\.|node:)/.test(name))
		.map((name) =>
			name
				.split('/')
				.slice(0, name.startsWith('@') ? 2 : 1)
				.join('/'),
		);
	expect(Object.keys(own.dependencies).sort()).toEqual([...new Set(packages)].sort());
	expect(read('package.json').devDependencies).toMatchObject(own.dependencies);
});

test('on a Node.js that is too old, it names the required version', () => {
	const program = `
		Object.defineProperty(process.versions, 'node', { value: '20.19.0' });
		require('./server/lifelog-server.cjs');
	`;
	const { status, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
	expect(status).toBe(2);
	expect(stderr).toContain('lifelog-server needs Node.js 24 or newer');
	expect(stderr).toContain('this is 20.19.0');
	expect(own.engines.node).toBe('>=24');
});

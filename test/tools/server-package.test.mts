import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const own = JSON.parse(readFileSync('server/package.json', 'utf8'));

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

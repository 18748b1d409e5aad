// npm run pictures
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { UPDATE_PICTURES } from '../../support/pictures.mts';
import { changedPictures } from './changed.mts';

// One that is there is replaced only if the new one looks different, by more than a short word.
for (const path of changedPictures().keys()) {
	for (const end of ['.png', '.dark.png', '.json']) rmSync(path + end, { force: true });
}

async function run(...command: string[]): Promise<boolean> {
	const env = { ...process.env, [UPDATE_PICTURES]: '1' };
	const [code] = await once(spawn(process.execPath, command, { env, stdio: 'inherit' }), 'exit');
	return code === 0;
}

// Its one file runs in jest's own process, which the servers of the tests would keep alive.
const PAGE = ['--testMatch', '**/test/page/views.web.mts', '-t', 'picture', '--forceExit'];

const made = await Promise.all([
	run('test/n8n/run.mts', 'editor', 'examples-canvas'),
	run('node_modules/jest/bin/jest.js', ...PAGE),
]);
if (made.includes(false)) throw new Error('Not every picture was made');
await import('./check.mts');

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

test('50 workflows with one key finish at the same time, without more memory', async () => {
	const load = [join('test', 'server', 'api', 'load.mts'), '1'];
	const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...load]);
	process.stdout.write(`load: ${stdout}\n`);
	const { finished, failed, served, refused, heapBefore, heapAfter } = JSON.parse(stdout);
	expect(failed).toBe(0);
	expect(finished).toBeGreaterThan(400);
	expect(heapAfter / heapBefore).toBeLessThan(1.1);
	expect(refused / served).toBeLessThan(1);
});

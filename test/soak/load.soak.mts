import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

test('50 workflows of one key at once all finish, in the same memory', async () => {
	const load = [join('test', 'soak', 'load.mts'), '3'];
	const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...load]);
	process.stdout.write(`load: ${stdout}\n`);
	const { finished, failed, served, refused, heapBefore, heapAfter } = JSON.parse(stdout);
	expect(failed).toBe(0);
	expect(finished).toBeGreaterThan(1000);
	expect(heapAfter / heapBefore).toBeLessThan(1.1);
	expect(refused / served).toBeLessThan(1);
}, 600_000);

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether a test may mount a small disk: only root on Linux may. */
export const mayMount = (() => {
	if (process.platform !== 'linux') return false;
	const disk = mkdtempSync(join(tmpdir(), 'lifelog-disk-'));
	const isMounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', disk]).status === 0;
	if (isMounted) spawnSync('umount', [disk]);
	rmdirSync(disk);
	return isMounted;
})();

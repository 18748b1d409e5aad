// Loaded into a server before its own program (--import): files whose path has TEST_HELD in it
// cannot be opened before there is a file at TEST_FREE. Once one is being opened, there is a file
// at TEST_REACHED, if that is set.
import { existsSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

const { TEST_HELD: held, TEST_FREE: free, TEST_REACHED: reached } = process.env;
const { open } = fs;

fs.open = async (path, flags, mode) => {
	const isHeld = String(path).replaceAll('\\', '/').includes(held!);
	if (isHeld && reached) writeFileSync(reached, '');
	while (isHeld && !existsSync(free!)) await sleep(10);
	return await open(path, flags, mode);
};
syncBuiltinESMExports();

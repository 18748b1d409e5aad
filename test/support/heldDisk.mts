// Loaded into a server before its own program (--import): files whose path has LIFELOG_TEST_HELD in it
// cannot be opened before there is a file at LIFELOG_TEST_FREE. Once one is being opened, there is a file
// at LIFELOG_TEST_REACHED, if that is set.
import { existsSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

const {
	LIFELOG_TEST_HELD: held,
	LIFELOG_TEST_FREE: free,
	LIFELOG_TEST_REACHED: reached,
} = process.env;
const { open } = fs;

fs.open = async (path, flags, mode) => {
	const isHeld = String(path).replaceAll('\\', '/').includes(held!);
	if (isHeld && reached) writeFileSync(reached, '');
	while (isHeld && !existsSync(free!)) await sleep(10);
	return await open(path, flags, mode);
};
syncBuiltinESMExports();

// Loaded into a server before its own program (--import): new files cannot be made, for the reason
// whose code is in the file TEST_DISK, if it has any.
import { readFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const { open } = fs;

fs.open = async (path, flags, mode) => {
	const code = flags === 'wx' ? readFileSync(process.env.TEST_DISK!, 'utf8') : '';
	if (code === '') return await open(path, flags, mode);
	const message = `${code}: something of the disk, open '${String(path)}'`;
	throw Object.assign(new Error(message), { code, path });
};
syncBuiltinESMExports();

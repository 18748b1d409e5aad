// Loaded into a server before its own program (--import): new files cannot be made, for the reason
// that TEST_DISK is the code of.
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const code = process.env.TEST_DISK!;
const { open } = fs;

fs.open = async (path, flags, mode) => {
	if (flags !== 'wx') return await open(path, flags, mode);
	const message = `${code}: something of the disk, open '${String(path)}'`;
	throw Object.assign(new Error(message), { code, path });
};
syncBuiltinESMExports();

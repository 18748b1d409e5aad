// Loaded into a command before its own program (--import): files whose path has TEST_LOCKED in it
// can't be removed, as while another program has them open on Windows.
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const { unlink } = fs;

fs.unlink = async (path) => {
	if (!String(path).includes(process.env.TEST_LOCKED!)) return await unlink(path);
	throw Object.assign(new Error('EPERM: operation not permitted, unlink'), { code: 'EPERM', path });
};
syncBuiltinESMExports();

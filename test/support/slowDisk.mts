// Loaded into a server before its own program (--import): the disk needs 32 s to save an uploaded
// file, longer than an upload may stall.
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

const SAVING_MS = 32_000;
const { open } = fs;

fs.open = async (path, flags, mode) => {
	const file = await open(path, flags, mode);
	if (flags !== 'wx' || !String(path).includes('.lifelog-recordings')) return file;
	const sync = file.sync.bind(file);
	file.sync = async () => {
		await sleep(SAVING_MS);
		await sync();
	};
	return file;
};
syncBuiltinESMExports();

// Loaded into a process before its own program (--import): one of eight changes of the disk, by chance,
// fails for the reason that TEST_FAULT is the code of, a written file often after its first half.
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { en, Faker } from '@faker-js/faker';

const code = process.env.TEST_FAULT!;
const random = new Faker({ locale: en, seed: Number(process.env.TEST_SEED) });
const { open, rename, rm } = fs;

function failAtTimes(what: string): void {
	if (random.number.float() > 1 / 8) return;
	throw Object.assign(new Error(`${code}: ${what}`), { code });
}

fs.open = async (path, flags, mode) => {
	if (flags !== 'wx') return await open(path, flags, mode);
	failAtTimes('open');
	const file = await open(path, flags, mode);
	const append = file.appendFile.bind(file);
	file.appendFile = async (data, options) => {
		try {
			failAtTimes('write');
		} catch (error) {
			const bytes = data as Uint8Array;
			await append(bytes.subarray(0, bytes.length / 2), options);
			throw error;
		}
		await append(data, options);
	};
	return file;
};
fs.rename = async (from, to) => {
	failAtTimes('rename');
	await rename(from, to);
};
fs.rm = async (path, options) => {
	failAtTimes('rm');
	await rm(path, options);
};
syncBuiltinESMExports();

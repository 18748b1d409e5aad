import { statSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';

type Handle = { stat: () => Promise<Stats>; readFile: () => Promise<unknown> };

/**
 * Has a file fail when this is done with it, as on a broken disk, until `jest.restoreAllMocks()`.
 *
 * @returns How often it has failed.
 */
export async function failingFile(path: string, method: keyof Handle): Promise<() => number> {
	const { ino } = statSync(path);
	const file = await open(path);
	const handles = Object.getPrototypeOf(file) as Handle;
	await file.close();
	const { [method]: real, stat } = handles;
	let failed = 0;
	jest.spyOn(handles, method).mockImplementation(async function (this: Handle, ...more) {
		if ((await stat.call(this)).ino !== ino) return real.apply(this, more) as Promise<Stats>;
		failed += 1;
		throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5 });
	});
	return () => failed;
}

import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Those of the given programs that are not on the PATH. */
export async function missingPrograms(names: string[]): Promise<string[]> {
	const missing: string[] = [];
	for (const name of new Set(names)) if (!(await isOnPath(name))) missing.push(name);
	return missing;
}

async function isOnPath(name: string): Promise<boolean> {
	for (const folder of (process.env.PATH ?? '').split(delimiter)) {
		const found = await access(join(folder, name), constants.X_OK).then(
			() => true,
			() => false,
		);
		if (found) return true;
	}
	return false;
}

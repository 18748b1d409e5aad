// Files of test/engine in one: Jest loads modules anew for each file, and n8n-core takes seconds.
// jest.config.js runs these groups in place of the files, unless files are named.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(process.cwd(), 'test', 'engine');
const GROUPS = 4;
/** Files that measure the memory of their process. */
const ALONE = ['bombs.test.mts'];

/** Declares the tests of one group of files, each in a block with the name of its file. */
export function together(group: number): void {
	const files = readdirSync(folder)
		.filter((name) => name.endsWith('.test.mts') && !ALONE.includes(name))
		.sort((a, b) => statSync(join(folder, b)).size - statSync(join(folder, a)).size);
	for (const [index, name] of files.entries()) {
		if (index % GROUPS !== group - 1) continue;
		describe(`test/engine/${name}`, () => {
			jest.requireActual(join(folder, name));
		});
	}
}

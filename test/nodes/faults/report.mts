// Runs the matrix and writes docs/developer/reliability.csv: npm run reliability
// For one operation, without the cells that take minutes: npm run reliability -- lifelog.get
import { readFile, writeFile } from 'node:fs/promises';
import { cells, type Group, type Outcome, runCells } from './cells.mts';
import { OPERATIONS } from './operations.mts';
import { OPEN, renderTable, REPORT, tableIn, tableOf, withNewer } from './render.mts';

const [wanted] = process.argv.slice(2);
const chosen = OPERATIONS.filter(({ name }) => wanted === undefined || name === wanted);
if (chosen.length === 0) {
	const names = OPERATIONS.map(({ name }) => name).join('\n  ');
	process.stderr.write(`There is no operation ${wanted}. There are:\n  ${names}\n`);
	process.exit(2);
}

const quick = await run('quick', ['core', 'rest']);
const outcomes = wanted === undefined ? [...quick, ...(await run('slow', ['slow']))] : quick;

const old = wanted === undefined ? new Map() : tableIn(await readFile(REPORT, 'utf8'));
const table = withNewer(old, tableOf(outcomes));
await writeFile(REPORT, renderTable(table));
process.stdout.write(`${REPORT} is written.\n`);
if ([...table.values()].some((row) => [...row.values()].includes(OPEN))) {
	process.stdout.write(`What is ${OPEN} there takes minutes: npm run reliability\n`);
}

const failed = outcomes.filter(({ problems }) => problems.length > 0);
// The same is often wrong under many faults: it is told once.
const textOf = ({ problems }: Outcome) => problems.join('; ');
for (const problem of new Set(failed.map(textOf))) {
	const where = failed
		.filter((outcome) => textOf(outcome) === problem)
		.map(({ operation, fault, when }) => `${operation}, ${fault}, ${when}`);
	process.stderr.write(`\n${where.join('\n')}:\n${problem}\n`);
}
// n8n's engine keeps timers that would hold the process.
process.exit(failed.length > 0 ? 1 : 0);

async function run(speed: string, groups: Group[]): Promise<Outcome[]> {
	const all = cells(groups, chosen);
	let tenths = 0;
	return await runCells(all, (done) => {
		const now = Math.floor((10 * done) / all.length);
		if (now === tenths) return;
		tenths = now;
		process.stdout.write(`${speed} cells: ${done} of ${all.length}\n`);
	});
}

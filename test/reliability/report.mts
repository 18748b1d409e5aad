// Runs the whole matrix and writes docs/reliability.md: npm run reliability
import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { cells, runCells } from './cells.mts';
import { renderReport, REPORT } from './render.mts';

const outcomes = [...(await runCells(cells(false))), ...(await runCells(cells(true)))];
const options = { ...(await resolveConfig(REPORT)), filepath: REPORT };
const report = await format(renderReport(outcomes), options);
await writeFile(REPORT, report);
process.stdout.write(report);
const failed = outcomes.filter(({ problems }) => problems.length > 0);
for (const { operation, fault, when, problems } of failed) {
	process.stderr.write(`${operation}, ${fault}, ${when}: ${problems.join('; ')}\n`);
}
// n8n's engine keeps timers that would hold the process.
process.exit(failed.length > 0 ? 1 : 0);

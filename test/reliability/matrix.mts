// Runs cells of the matrix and writes what came of them, as JSON, into a file:
//   node test/reliability/matrix.mts <quick|slow> <file>
import { writeFile } from 'node:fs/promises';
import { cells, runCells } from './cells.mts';

const [speed, file] = process.argv.slice(2);
await writeFile(file, JSON.stringify(await runCells(cells(speed === 'slow'))));
// n8n's engine keeps timers that would hold the process.
process.exit();

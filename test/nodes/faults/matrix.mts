// Runs cells of the matrix and writes what came of them, as JSON, into a file:
//   node test/nodes/faults/matrix.mts <core|rest|slow> <file>
import { writeFile } from 'node:fs/promises';
import { cells, type Group, runCells } from './cells.mts';

const [group, file] = process.argv.slice(2);
await writeFile(file, JSON.stringify(await runCells(cells([group as Group]))));
// n8n's engine keeps timers that would hold the process.
process.exit();

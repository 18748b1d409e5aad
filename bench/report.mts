// Writes what was measured: bench/results.md, the chart, and the table in docs/developer/performance.md.
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cpus, totalmem, type as osName } from 'node:os';
import { join, resolve } from 'node:path';
import * as prettier from 'prettier';
import { n8nFolder, NEWEST } from '../test/n8n/install.mts';
import { drawChart } from './chart.mts';
import { count, figureOf, PAIRS, type Row, spreadOf, verdictOf } from './figures.mts';
import type { Point } from './lists.mts';
import { blockOf, withBlock } from './block.mts';

const RESULTS = join('bench', 'results.md');
const PAGE = join('docs', 'developer', 'performance.md');
const CHART = join('bench', 'time.svg');

/** What the rows are measured on. */
function machine(): string {
	const require = createRequire(resolve('package.json'));
	const requireOfN8n = createRequire(join(n8nFolder(NEWEST), 'package.json'));
	const versionOf = (name: string, from = require) =>
		`${name} ${from(`${name}/package.json`).version}`;
	return [
		`${osName()}, ${cpus().length} × ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB of memory`,
		`Node.js ${process.version.slice(1)}`,
		versionOf('n8n-core'),
		versionOf('n8n-nodes-base', requireOfN8n),
		versionOf('axios'),
	].join('; ');
}

/** Writes all three; a missed goal shows as such. */
export async function report(
	rows: Row[],
	serverRows: Row[],
	points: Point[],
	took: string,
): Promise<void> {
	const date = new Date().toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
	const table = `Measured with \`npm run bench\` on ${date}, with nothing else running. Machine: ${machine()}.\n\n${tableOf(rows)}`;

	const results = `# What \`npm run bench\` measured

Everything reads from the same [sandbox](../sandbox/README.md), a process of its own on the same machine. A figure is the median of several runs, with the lowest and the highest behind it; a ratio is formed run by run, the ways taking turns. The times of lists and the CPU of a poll are medians of ${PAIRS} pairs with their 95 % interval, whose upper end is compared with the goal. Each time and each peak of memory is taken in a fresh process. The HTTP Request node runs on the same n8n engine, with its pagination set up by hand for this API; it gives pages, not lifelogs, one item each.

${withBlock('', table)}

![Time against the number of lifelogs](time.svg)

## lifelog-server

${tableOf(serverRows)}

## Behind the figures

| What | From |
| --- | --- |
${[...rows, ...serverRows].map(({ what, from }) => `| ${what} | ${from} |`).join('\n')}

## Times

Seconds.

| Latency | Lifelogs | Way | Time |
| --- | --- | --- | --- |
${points.map(({ latencyMs, lifelogs, way, ms }) => `| ${latencyMs} ms | ${count(lifelogs)} | ${way} | ${figureOf(spreadOf(ms.map((each) => each / 1000)), 3)} |`).join('\n')}

The whole took ${took}.
`;
	await writeFile(CHART, drawChart(points));
	await writeMarkdown(RESULTS, results);
	const written = await readFile(RESULTS, 'utf8');
	const page = await readFile(PAGE, 'utf8');
	await writeMarkdown(PAGE, withBlock(page, blockOf(written)));
}

function tableOf(rows: Row[]): string {
	const lines = rows.map((row) => [row.what, row.figure, row.goal, verdictOf(row)].join(' | '));
	return ['What | Figure | Goal | ', '--- | --- | --- | ---', ...lines]
		.map((line) => `| ${line} |`)
		.join('\n');
}

async function writeMarkdown(file: string, text: string): Promise<void> {
	const config = await prettier.resolveConfig(file);
	await writeFile(file, await prettier.format(text, { ...config, filepath: file }));
}

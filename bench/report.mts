// Writes what was measured: the files beside bench/results.md, and the table in docs/developer/performance.md.
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cpus, totalmem, type as osName } from 'node:os';
import { join, resolve } from 'node:path';
import * as prettier from 'prettier';
import { n8nFolder, NEWEST } from '../test/n8n/install.mts';
import { drawChart } from './chart.mts';
import { count, figureOf, type Row, spreadOf } from './figures.mts';
import type { Point } from './lists.mts';
import { withBlock } from './block.mts';
import { csvOf, csvOfResults, RESULTS, resultsOf, tableOf, TIMES } from './results.mts';

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

/** Writes all of them; a missed goal shows as such. */
export async function report(
	rows: Row[],
	serverRows: Row[],
	points: Point[],
	took: string,
): Promise<void> {
	const results = [...resultsOf('nodes', rows), ...resultsOf('lifelog-server', serverRows)];
	await writeFile(RESULTS, csvOfResults(results));
	const times = points.map(({ latencyMs, lifelogs, way, ms }) => {
		const seconds = figureOf(spreadOf(ms.map((each) => each / 1000)), 3);
		return [`${latencyMs} ms`, count(lifelogs), way, seconds];
	});
	await writeFile(TIMES, csvOf([['Latency', 'Lifelogs', 'Way', 'Seconds'], ...times]));
	await writeFile(CHART, drawChart(points));

	const date = new Date().toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
	const when = `Measured with \`npm run bench\` on ${date}, in ${took}, with nothing else running.`;
	const block = `${when} Machine: ${machine()}.\n\n${tableOf(results)}`;
	const page = withBlock(await readFile(PAGE, 'utf8'), block);
	const config = await prettier.resolveConfig(PAGE);
	await writeFile(PAGE, await prettier.format(page, { ...config, filepath: PAGE }));
}

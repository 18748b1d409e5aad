// Measures everything and writes it down: npm run bench
// With names of parts it measures those and writes nothing: npm run bench -- audio loading
import Table from 'cli-table3';
import { installN8n, NEWEST } from '../test/n8n/install.mts';
import { type TestSandbox, spawnSandbox } from '../test/support/sandbox.mts';
import { archiver } from './archiver.mts';
import { audio } from './audio.mts';
import { type Row, verdictOf } from './figures.mts';
import { far } from './far.mts';
import { idlePoll } from './idle-poll.mts';
import { memory, type Point, time } from './lists.mts';
import { loading } from './loading.mts';
import { page } from './page.mts';
import { rateLimit } from './rate-limit.mts';
import { meaning } from './meaning.mts';
import { report } from './report.mts';
import { server } from './server.mts';

type Part = (sandbox: TestSandbox) => Promise<Row[] | { rows: Row[]; points: Point[] }>;

const ofNodes: Record<string, Part> = {
	time,
	far,
	memory,
	'rate-limit': rateLimit,
	'idle-poll': idlePoll,
	audio,
	loading,
};
const ofServer: Record<string, Part> = { meaning, server, archiver, page };
const parts = { ...ofNodes, ...ofServer };

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in parts));
if (unknown.length > 0) {
	console.error(`No part "${unknown[0]}"; there are ${Object.keys(parts).join(', ')}.`);
	process.exit(1);
}

await installN8n(NEWEST);
const began = Date.now();
const sandbox = await spawnSandbox(['--days', '1']);
const rows: Row[] = [];
const serverRows: Row[] = [];
const points: Point[] = [];
try {
	for (const [name, part] of Object.entries(parts)) {
		if (asked.length > 0 && !asked.includes(name)) continue;
		const started = Date.now();
		const measured = await part(sandbox);
		const to = name in ofServer ? serverRows : rows;
		to.push(...('rows' in measured ? measured.rows : measured));
		if ('points' in measured) points.push(...measured.points);
		console.log(`${name}: ${Math.round((Date.now() - started) / 1000)} s`);
	}
} finally {
	await sandbox.close();
}
const table = new Table({
	head: ['What', 'Figure', 'From', 'Goal', ''],
	colWidths: [38, 32, 46, 18, 20],
	wordWrap: true,
	style: { head: [], border: [] },
});
for (const row of [...rows, ...serverRows])
	table.push([row.what, row.figure, row.from, row.goal, verdictOf(row)]);
console.log(table.toString());
const minutes = ((Date.now() - began) / 60_000).toFixed(1);
if (asked.length === 0) await report(rows, serverRows, points, `${minutes} minutes`);

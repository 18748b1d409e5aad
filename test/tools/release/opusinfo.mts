// Lets opusinfo (Debian's opus-tools) check audio that the node Lifelog Audio has stored. Not part
// of `npm test`, which needs nothing but Node.js.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLab } from '../../support/lab.mts';
import { workflowWith } from '../../support/workflow.mts';

const startTime = '2026-03-20T09:00:00Z';
const endTime = '2026-03-20T09:03:00Z';

const folder = await mkdtemp(join(tmpdir(), 'opusinfo-'));
const { sandbox, engine, close } = await startLab(undefined, { binaryMode: 'filesystem' });
const { control } = sandbox;
try {
	await control.reset({ empty: true, now: '2026-03-20T20:00:00Z' });
	await control.addLifelog({ startTime, endTime });
	const workflow = workflowWith('lifelogAudio', {
		source: 'timeRange',
		start: startTime,
		end: endTime,
	});
	const { items, binary, error } = await engine.runWorkflow(workflow);
	const [item] = items('Node');
	if (item === undefined) throw new Error(error?.message ?? 'No file came');

	const file = join(folder, String(item.json.fileName));
	await writeFile(file, await binary(item, 'data'));
	const {
		status,
		stdout,
		stderr,
		error: missing,
	} = spawnSync('opusinfo', [file], {
		encoding: 'utf8',
	});
	if (missing) throw missing;
	const report = stdout + stderr;
	const streams = report.match(/^New logical stream/gm)?.length ?? 0;
	const complaints = report.split('\n').filter((line) => /warning|error/i.test(line));
	console.log(`opusinfo read ${streams} Opus streams in ${item.json.fileName}, status ${status}`);
	for (const complaint of complaints) console.log(complaint);
	if (status !== 0 || streams === 0 || complaints.length > 0) process.exitCode = 1;
} finally {
	await close();
	await rm(folder, { recursive: true });
}

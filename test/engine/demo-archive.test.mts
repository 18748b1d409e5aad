// The archive with which the demo ends, and that it ends.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { archiveDay } from '../../demo/archive.mts';
import { type Lab, startLab } from '../support/lab.mts';

const DAY = '2026-03-19';

let lab: Lab;
let sandbox: Lab['sandbox'];
let engine: Lab['engine'];
const folder = mkdtempSync(join(tmpdir(), 'lifelog-demo-'));

beforeAll(async () => {
	const now = '2026-03-20T20:00:00Z';
	lab = await startLab(1);
	({ sandbox, engine } = lab);
	await sandbox.control.reset({ now, days: 2, perDay: 10 });
});
afterAll(async () => {
	await lab.close();
	rmSync(folder, { recursive: true });
});

test('is one, with all of the day but most of its audio', async () => {
	const { control } = sandbox;
	const ofDay = (time: string) => time.startsWith(DAY);
	const lifelogs = (await control.lifelogs()).filter(({ startTime }) => ofDay(startTime));
	const own = (await control.chats()).filter(({ owner }) => owner === 'self');
	const chats = own.filter(({ createdAt }) => ofDay(createdAt));
	expect([lifelogs.length, chats.length > 0]).toEqual([10, true]);
	const [startMs, endMs] = [lifelogs[3].startTime, lifelogs[3].endTime].map(Date.parse);
	const run = async (...[workflow, input]: Parameters<Parameters<typeof archiveDay>[0]>) => {
		const result = await engine.runWorkflow(workflow, { input });
		expect(result.error).toBeUndefined();
		return result;
	};
	const stored = await archiveDay(run, folder, DAY, { startMs, endMs });
	expect(stored).toEqual({
		lifelogs: lifelogs.length,
		chats: chats.length,
		audioBytes: expect.any(Number),
		files: 2 * lifelogs.length + chats.length + 2,
	});
	expect(stored.audioBytes).toBeGreaterThan(100_000);

	const { stdout } = spawnSync(process.execPath, ['check-archive/main.mts', folder, '--json'], {
		encoding: 'utf8',
	});
	const { findings } = JSON.parse(stdout) as { findings: Array<{ kind: string }> };
	expect(findings.map(({ kind }) => kind)).toEqual(['incomplete']);
});

test('the demo ends where the nodes cannot be loaded, too', () => {
	const cwd = mkdtempSync(join(tmpdir(), 'lifelog-demo-'));
	copyFileSync('package.json', join(cwd, 'package.json'));
	symlinkSync(resolve('node_modules'), join(cwd, 'node_modules'));
	const { status, stderr } = spawnSync(process.execPath, [resolve('demo', 'demo.mts')], {
		...{ cwd, encoding: 'utf8' as const, env: { ...process.env, LIFELOG_API_KEY: undefined } },
		// Only what hangs meets it.
		timeout: 120_000,
	});
	rmSync(cwd, { recursive: true });
	expect(stderr).toMatch(/^\nThe demo failed: Cannot find module .*Lifelog\.node\.js'/);
	expect(status).toBe(1);
});

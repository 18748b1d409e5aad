// The example Full archive with the folder it comes with, in an n8n whose settings are its defaults.
import assert from 'node:assert/strict';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import { NEWEST, OLDEST } from '../install.mts';
import { assertArchived, makeFolders, onDisk } from '../support/archive.mts';
import { BY_HAND, RUN_TIMEOUT_MS, yesterday } from '../support/archive-lab.mts';
import { importExample, readExample, runExample } from '../support/examples.mts';
import { useLab } from '../support/lab.mts';
import { runProgram } from '../support/processes.mts';
import type { SavedWorkflow } from '../support/rest.mts';

const root = resolve(import.meta.dirname, '../../..');
const COMMAND = /node -e ".*"/;

for (const version of [OLDEST, NEWEST]) {
	describe(`n8n ${version}`, () => {
		const lab = useLab({ version, sandbox: ['--days', '1'] });
		const home = () => lab().userFolder;
		const day = yesterday();
		let workflow: SavedWorkflow;

		/** How a run ends: its error, if there is one. */
		async function run({ id }: SavedWorkflow): Promise<string | undefined> {
			await lab().sandbox.control.clearRequests();
			// 2.0 runs a workflow from another only when that is published.
			if (version === OLDEST) await lab().rest.activate(id);
			const { error } = await runExample(lab(), workflow, BY_HAND, RUN_TIMEOUT_MS);
			if (version === OLDEST) await lab().rest.deactivate(id);
			return error?.message;
		}

		before(async () => {
			const { control } = lab().sandbox;
			await control.reset({ empty: true, dialect: { rateLimit: { max: 1_000_000 } } });
			for (const time of ['08:00:00', '19:00:00']) {
				const at = Date.parse(`${day}T${time}Z`);
				await control.addLifelog({
					startTime: new Date(at).toISOString(),
					endTime: new Date(at + 20_000).toISOString(),
				});
			}
			await control.addChat({ createdAt: `${day}T12:00:00.000Z` });
			await control.addChat({ createdAt: `${day}T20:30:00.000Z`, globalPromptId: 'recap' });
			workflow = await importExample(lab(), 'full-archive');
		});

		test('a missing folder: the first failure names it, and the command that creates it', async () => {
			const message = String(await run(workflow));
			assert.match(message, /^Could not store report\.json: .*The folder \.n8n-files is missing/);
			assert.deepEqual(await lab().sandbox.control.requests(), []);
			const [command] = COMMAND.exec(message)!;
			const { nodes } = await readExample('full-archive');
			const notes = nodes.map(({ parameters }) => String(parameters.content));
			const readme = await readFile(join(root, 'examples', 'README.md'), 'utf8');
			for (const text of [notes.join('\n'), readme]) assert.equal(COMMAND.exec(text)![0], command);
			await runProgram('sh', ['-c', command], { cwd: home() });
		});

		test('a folder created by that command contains the archive', async () => {
			const folder = join(home(), '.n8n-files');
			assert.equal(await run(workflow), undefined);
			await assertArchived(lab().sandbox, onDisk(folder), { days: [day] });
			assert.equal(await run(workflow), undefined);
			assert.equal((await lab().sandbox.control.requests()).length, 3);
		});

		test('a missing folder of a day: the failure names it', async () => {
			const folder = join(home(), '.n8n-files');
			const lacking = `audio/pendant/${day.replaceAll('-', '/')}`;
			for (const each of ['days', lacking]) await rm(join(folder, each), { recursive: true });
			const message = String(await run(workflow));
			assert.ok(message.includes(`The folder .n8n-files/${lacking} is missing`), message);
			await runProgram('sh', ['-c', COMMAND.exec(message)![0]], { cwd: home() });
			assert.equal(await run(workflow), undefined);
			await assertArchived(lab().sandbox, onDisk(folder), { days: [day] });
		});

		test('a folder that n8n may not write to: the failure names it, and the setting that allows it', async () => {
			const folder = join(home(), 'elsewhere');
			await mkdir(folder);
			await makeFolders(folder, day, day);
			workflow = await importExample(lab(), 'full-archive', { settings: { folder } });
			const message = String(await run(workflow));
			assert.ok(message.includes(`The folder ${folder} is missing, or n8n may not write to it`));
			assert.match(message, /N8N_RESTRICT_FILE_ACCESS_TO/);
			assert.deepEqual(await lab().sandbox.control.requests(), []);
		});
	});
}

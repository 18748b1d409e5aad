// An archive that another user began: continued when the folder was given away, and until then an
// error that names what can't be written.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { tryLock } from '../../../server/archive/lock.mts';
import { runCommand } from '../../support/archiveCommand.mts';
import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { temporaryFolder } from '../sources.mts';

const OTHER = 1000;
const FIRST_DAY = '2026-03-07';
const isRoot = process.getuid?.() === 0;
const isWindows = process.platform === 'win32';

let sandbox: TestSandbox;
let folder: string;

beforeAll(async () => {
	sandbox = await startSandbox({ days: 4, now: '2026-03-10T15:00:00Z' });
	await sandbox.control.dialect({ rateLimit: { max: 10_000 } });
});
afterAll(async () => await sandbox.close());

beforeEach(() => {
	folder = join(temporaryFolder(), 'archive');
	chmodSync(join(folder, '..'), 0o777);
});

/** Archives lifelogs and chats up to a day, as another user if one is given. */
async function archive(user: number | undefined, last = '2026-03-09') {
	const args = [
		...['archive', folder, '--url', sandbox.url, '--rate-limit', '10000'],
		...['--only', 'lifelogs,chats', '--from', FIRST_DAY, '--to', last, '--quiet'],
	];
	const key = { LIFELOG_API_KEY: sandbox.apiKey };
	if (user === undefined) {
		const { status, stderr } = await runCommand(args, key);
		return { status, stderr };
	}
	const child = spawn(process.execPath, ['server/lifelog-server.cjs', ...args], {
		...{ stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...key } },
		...{ uid: user, gid: user },
	});
	const [stderr, [status]] = await Promise.all([text(child.stderr!), once(child, 'close')]);
	return { status: status as number | null, stderr };
}

const days = () => readdirSync(join(folder, 'days')).map((name) => name.slice(0, 10));

/** Gives everything below a path to another user, or only the folders. */
function giveAway(path: string, withFiles = true) {
	const isFolder = lstatSync(path).isDirectory();
	if (isFolder || withFiles) chownSync(path, OTHER, OTHER);
	if (isFolder) for (const name of readdirSync(path)) giveAway(join(path, name), withFiles);
}

const asRoot = isRoot ? test : test.skip;
const asUser = isRoot || isWindows ? test.skip : test;

asRoot('user 1000 continues what root began, once the folder is theirs', async () => {
	expect(await archive(undefined, FIRST_DAY)).toEqual({ status: 0, stderr: '' });
	const before = readdirSync(folder, { recursive: true });
	expect(await archive(OTHER)).toEqual({
		status: 2,
		stderr: `${folder} can't be written by user 1000, who runs this (EACCES). Run sudo chown -R 1000 "${folder}"\n`,
	});
	expect(readdirSync(folder, { recursive: true })).toEqual(before);
	chownSync(folder, OTHER, OTHER);
	expect(await archive(OTHER)).toMatchObject({
		status: 2,
		stderr: expect.stringContaining(
			`${join(folder, '.lifelog-run.lock')} can't be written by user`,
		),
	});
	giveAway(folder);
	expect(await archive(OTHER)).toEqual({ status: 0, stderr: '' });
	expect(days().sort()).toEqual([FIRST_DAY, '2026-03-08', '2026-03-09']);
	// root again, as in a container without --user.
	expect(await archive(undefined)).toEqual({ status: 0, stderr: '' });
});

asRoot("files of root's in folders of user 1000 are no obstacle, but for the locks", async () => {
	expect((await archive(undefined, FIRST_DAY)).status).toBe(0);
	giveAway(folder, false);
	expect((await archive(OTHER)).stderr).toContain('.lifelog-run.lock can');
	for (const name of ['run', 'write']) {
		chownSync(join(folder, `.lifelog-${name}.lock`), OTHER, OTHER);
	}
	expect(await archive(OTHER)).toEqual({ status: 0, stderr: '' });
	expect(days()).toHaveLength(3);
});

asRoot('a lock that cannot be written is held by nobody', () => {
	const parent = join(folder, '..');
	tryLock(parent, 'run')!.release();
	chmodSync(join(parent, '.lifelog-run.lock'), 0o644);
	const program = `
		process.setuid(${OTHER});
		import('./server/archive/lock.mts').then(({ tryLock }) => tryLock(${JSON.stringify(parent)}, 'run'));
	`;
	const { status, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
	expect([status, stderr]).toEqual([1, expect.stringContaining('EACCES')]);
});

asUser('a folder that the user may not write is named', async () => {
	expect((await archive(undefined, FIRST_DAY)).status).toBe(0);
	const path = join(folder, 'lifelogs', '2026');
	chmodSync(path, 0o555);
	const { status, stderr } = await archive(undefined);
	chmodSync(path, 0o755);
	expect([status, stderr]).toEqual([
		2,
		expect.stringContaining(`${path} can't be written by user`),
	]);
	expect(await archive(undefined)).toEqual({ status: 0, stderr: '' });
});

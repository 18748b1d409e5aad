// Names of files in an archive that `archive` writes, of IDs that file systems may take for one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { archiving, checkFolder, runCommand } from '../../support/archiveCommand.mts';
import { newestManifests } from '../../support/manifests.mts';
import { type TestSandbox, startSandbox } from '../../support/sandbox.mts';
import { temporaryFolder } from '../sources.mts';

const DAY = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
const AT = `${DAY}T10:00:00.000Z`;
const LONG = 'Ax'.repeat(120);

let sandbox: TestSandbox;
let folder: string;

beforeAll(async () => {
	sandbox = await startSandbox({ days: 1 });
	await sandbox.control.reset({ empty: true, dialect: { rateLimit: { max: 1_000_000 } } });
	folder = join(temporaryFolder(), 'archive');
});
afterAll(async () => await sandbox.close());

async function archive(): Promise<Record<'lifelogs' | 'chats', Record<string, string[]>>> {
	const { status } = await runCommand(...archiving(sandbox, folder));
	expect(status).toBe(0);
	expect(await checkFolder(folder, sandbox)).toMatchObject({ isComplete: true });
	const { lifelogs, chats } = newestManifests(folder).get(DAY)!;
	const namesOf = (entries: Record<string, { files: { path: string }[] }>) =>
		Object.fromEntries(
			Object.entries(entries).map(([id, { files }]) => [id, files.map(({ path }) => path)]),
		);
	const paths = [...Object.values(lifelogs), ...Object.values(chats)].flatMap(({ files }) => files);
	expect(new Set(paths.map(({ path }) => path.toLowerCase())).size).toBe(paths.length);
	for (const [id, { files }] of Object.entries({ ...lifelogs, ...chats })) {
		const json = files.find(({ path }) => path.endsWith('.json'))!;
		expect(JSON.parse(readFileSync(join(folder, json.path), 'utf8'))).toMatchObject({ id });
	}
	return { lifelogs: namesOf(lifelogs), chats: namesOf(chats) };
}

test('IDs that differ only by case, and long ones, have names of their own that stay', async () => {
	for (const id of ['abc', 'ABC', LONG, LONG.toLowerCase()]) {
		await sandbox.control.addLifelog({ id, startTime: AT, endTime: AT });
		await sandbox.control.addChat({ id: `c${id}`, createdAt: AT });
	}
	const first = await archive();
	expect(Object.keys(first.lifelogs).slice(0, 2)).toEqual(['ABC', 'abc']);
	expect(first.lifelogs.abc[0]).toMatch(/_abc-2\.json$/);
	expect(first.chats.cabc[0]).toMatch(/_cabc-2\.json$/);

	await sandbox.control.addLifelog({ id: 'aBc', startTime: AT, endTime: AT });
	await sandbox.control.addLifelog({ id: 'abc-2', startTime: AT, endTime: AT });
	await sandbox.control.updateLifelog('abc', { title: 'Another title' });
	const second = await archive();
	expect(second.lifelogs).toMatchObject(first.lifelogs);
	expect(second.lifelogs.aBc[0]).toMatch(/_aBc-3\.json$/);
	expect(second.lifelogs['abc-2'][0]).toMatch(/_abc-2-2\.json$/);
});

import {
	existsSync,
	readdirSync,
	readFileSync,
	renameSync,
	unlinkSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeDraft } from '../../../server/archive/commit.mts';
import { clearDrafts } from '../../../server/archive/drafts.mts';
import { tryLock } from '../../../server/archive/lock.mts';
import { writeArchive } from '../../support/archive.mts';
import { startEmbeddings } from '../../support/embeddings.mts';
import { lifelogOf } from '../../support/invented.mts';
import { spawnLifelogServer } from '../../support/lifelogServer.mts';
import { lifelogsNamedIn } from '../../support/manifests.mts';
import { until } from '../../support/soon.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

const allow = ['--allow-delete'];
const remove = (server: SpawnedServer, id: string) =>
	ask(server, `/v1/lifelogs/${id}`, { method: 'DELETE' });

const many = Array.from({ length: 120 }, (_, n) =>
	lifelogOf(`n${n}`, new Date(Date.UTC(2026, 2, 1 + Math.floor(n / 40), 0, n % 40)).toISOString()),
);

/** The files below a folder that have some bytes, whatever they are called. */
function filesWith(folder: string, words: string): string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map(({ parentPath, name }) => join(parentPath, name))
		.filter((path) => readFileSync(path).toString('latin1').toLowerCase().includes(words))
		.map((path) => path.slice(folder.length + 1));
}

describe('two servers with --allow-delete on one folder', () => {
	test('the second one serves, refuses deletes and says so until the first one stops', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs: many.slice(0, 2) });
		const index = ['--index', join(temporaryFolder(), 'index')];
		const first = await startLifelogServer(folder, allow);
		const second = await startLifelogServer(folder, [...allow, ...index]);
		expect(second.log).toEqual([
			expect.stringContaining(
				'Another lifelog-server with --allow-delete, --allow-changes or --inbox serves this archive',
			),
		]);
		const refused = await remove(second, 'n0');
		expect(refused.status).toBe(403);
		expect((await refused.json()).error).toContain('Another lifelog-server');
		expect((await ask(second, '/v1/lifelogs/n0')).status).toBe(200);
		expect((await remove(first, 'n0')).status).toBe(200);
		expect(lifelogsNamedIn(folder)).toEqual(['n1']);
		await until(async () => (await ask(second, '/v1/lifelogs/n0')).status === 404);
		await Promise.all([first.close(), second.close()]);
		const third = await startLifelogServer(folder, [...allow, ...index]);
		expect((await remove(third, 'n1')).status).toBe(200);
		await third.close();
		expect(lifelogsNamedIn(folder)).toEqual([]);
	});

	test('a killed server leaves no lock', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs: many.slice(0, 1) });
		const { child, exited, ready } = spawnLifelogServer(folder, allow);
		await ready;
		child.kill('SIGKILL');
		await exited;
		const next = await startLifelogServer(folder, allow);
		expect((await remove(next, 'n0')).status).toBe(200);
		await next.close();
	});

	test('a delete waits while another program writes to the archive', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs: many.slice(0, 2) });
		const server = await startLifelogServer(folder, allow);
		const lock = tryLock(folder, 'write')!;
		let isDone = false;
		const deleted = remove(server, 'n0').finally(() => (isDone = true));
		await sleep(500);
		expect([isDone, lifelogsNamedIn(folder)]).toEqual([false, ['n0', 'n1']]);
		lock.release();
		expect((await deleted).status).toBe(200);
		expect(lifelogsNamedIn(folder)).toEqual(['n1']);
		await server.close();
	});
});

describe('a delete', () => {
	test('that was interrupted is finished by the next start with --allow-delete, and reported by others', async () => {
		const folder = temporaryFolder();
		const [day] = await writeArchive(folder, { lifelogs: many.slice(0, 2) });
		const manifest = JSON.parse(readFileSync(join(folder, day), 'utf8'));
		const paths: string[] = manifest.lifelogs.n0.files.map(({ path }: { path: string }) => path);
		delete manifest.lifelogs.n0;
		const draft = await writeDraft(folder, JSON.stringify(manifest));
		// What a killed process leaves: the journal, and nothing of it done.
		const journal = join(folder, '.lifelog-journal.json');
		writeFileSync(
			journal,
			JSON.stringify([{ rename: draft, to: day }, ...paths.map((path) => ({ remove: path }))]),
		);
		const reader = await startLifelogServer(folder);
		expect(reader.log).toEqual([
			expect.stringContaining('A change of the archive was interrupted'),
		]);
		await reader.close();
		expect(lifelogsNamedIn(folder)).toEqual(['n0', 'n1']);
		const server = await startLifelogServer(folder, allow);
		expect(lifelogsNamedIn(folder)).toEqual(['n1']);
		for (const path of paths) expect(existsSync(join(folder, path))).toBe(false);
		expect((await ask(server, '/v1/lifelogs/n0')).status).toBe(404);
		await server.close();
		await clearDrafts(folder);
	});

	test('leaves no words after a kill, also in the index', async () => {
		const folder = temporaryFolder();
		const word = 'xylophonics';
		const contents = [{ type: 'paragraph' as const, content: `We heard ${word}.` }];
		const spoken = lifelogOf('n0', many[0].startTime, { contents });
		const [day] = await writeArchive(folder, { lifelogs: [spoken, many[1]] });
		const { child, exited, ready } = spawnLifelogServer(folder, allow);
		await ready;
		child.kill('SIGKILL');
		await exited;
		expect(filesWith(folder, word).join()).toContain('.lifelog-index.sqlite');
		// As the journal finishes it that a killed server leaves.
		const manifest = JSON.parse(readFileSync(join(folder, day), 'utf8'));
		const deletedAt = new Date().toISOString();
		for (const { path } of manifest.lifelogs.n0.files) unlinkSync(join(folder, path));
		Object.assign(manifest.lifelogs.n0, { files: [], deletedAt });
		writeFileSync(join(folder, day), JSON.stringify(manifest));
		const server = await startLifelogServer(folder, allow);
		expect((await ask(server, '/v1/lifelogs/n0')).status).toBe(404);
		expect(filesWith(folder, word)).toEqual([]);
		await server.close();
	});

	test('leaves no words of the lifelog in any file, while the server runs and after it stops', async () => {
		const embeddings = await startEmbeddings();
		const folder = temporaryFolder();
		const words = ['xylophonics', 'quetzalcoatlus'];
		const about = (id: string, minute: number, word: string) =>
			lifelogOf(id, new Date(Date.UTC(2026, 2, 1, 8, minute)).toISOString(), {
				title: `The ${word} of ${id}`,
				markdown: `# ${word}`,
				contents: [{ type: 'paragraph', content: `We heard ${word} again and again.` }],
			});
		const startMs = Date.UTC(2026, 2, 1, 8);
		const audio = [{ startMs, endMs: startMs + 3_600_000, content: Buffer.from('OggS') }];
		const own = [about('a', 0, words[0]), about('b', 20, words[1])];
		await writeArchive(folder, { lifelogs: [...own, ...many], audio });
		const args = [...allow, '--embeddings-url', embeddings.url, '--embeddings-model', 'words'];
		const server = await startLifelogServer(folder, args);
		await until(() => server.log.some((line) => line.endsWith('122 of 122 lifelogs read')));
		// A later version has other words; those of the one before are deleted with it.
		const later = { ...about('b', 20, 'nothing'), updatedAt: '2026-03-09T00:00:00.000Z' };
		await writeArchive(folder, { lifelogs: [own[0], later, ...many], audio });
		await until(async () => /nothing/.test(await (await ask(server, '/v1/lifelogs/b')).text()));
		for (const id of ['a', 'b']) expect((await remove(server, id)).status).toBe(200);
		for (const word of words) expect(filesWith(folder, word)).toEqual([]);
		expect(server.log.findLast((line) => line.startsWith('Deleted'))).toMatch(
			/^Deleted a lifelog: lifelogs\/2026\/03\/01\/\S+_b\.json, .*_b\.md\. Its audio stays, because the files can contain other lifelogs: audio\/pendant\/\S+\.ogg$/,
		);
		expect(server.log.join('\n')).not.toMatch(/xylo|quetz/);
		// A search for a similar word is not told of it either.
		const similar = await (await ask(server, '/v1/lifelogs?search=xylophonicz')).json();
		expect(similar.data.lifelogs).toHaveLength(10);
		await server.close();
		for (const word of words) expect(filesWith(folder, word)).toEqual([]);
		await embeddings.close();
	});

	test('removes nothing outside of the archive, whatever paths a day manifest names', async () => {
		const folder = temporaryFolder();
		const outside = temporaryFolder();
		writeFileSync(join(outside, 'kept.json'), 'kept');
		const [day] = await writeArchive(folder, { lifelogs: many.slice(0, 2) });
		const manifest = JSON.parse(readFileSync(join(folder, day), 'utf8'));
		const server = await startLifelogServer(folder, allow);
		const more = [`../${outside.split('/').at(-1)}/kept.json`, `${outside}/kept.json`, 'days'];
		for (const path of more)
			manifest.lifelogs.n0.files.push({ path, bytes: 4, sha256: '0'.repeat(64) });
		writeFileSync(join(folder, 'draft'), JSON.stringify(manifest));
		renameSync(join(folder, 'draft'), join(folder, day));
		expect((await remove(server, 'n0')).status).toBe(200);
		expect(readFileSync(join(outside, 'kept.json'), 'utf8')).toBe('kept');
		expect(lifelogsNamedIn(folder)).toEqual(['n1']);
		await server.close();
	});
});

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import timers, { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Folder } from '../../../server/archive/folder.mts';
import { Serving } from '../../../server/index/serving.mts';
import { ArchiveStore } from '../../../server/index/archiveStore.mts';
import { UnavailableError } from '../../../server/util/errors.mts';
import { EmbeddingsEndpoint } from '../../../server/index/embeddings.mts';
import { Meaning } from '../../../server/index/meaning.mts';
import { writeArchive } from '../../support/archive.mts';
import { startEmbeddings } from '../../support/embeddings.mts';
import { lifelogOf } from '../../support/invented.mts';
import { serverKey, spawnLifelogServer } from '../../support/lifelogServer.mts';
import { until } from '../../support/soon.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

const secret = 'Saffron';
const count = 300;
const lifelogs = Array.from({ length: count }, (_, n) =>
	lifelogOf(`n${n}`, new Date(Date.UTC(2026, 0, 1 + Math.floor(n / 30), n % 30)).toISOString(), {
		contents: [{ type: 'paragraph', content: `${secret} and word${n}. `.repeat(200) }],
	}),
);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	jest.restoreAllMocks();
	for (const close of closing.splice(0).reverse()) await close();
});

/** Overwrites pages of a file as a broken disk would. */
function damage(path: string, isHit: (page: number) => boolean): void {
	const bytes = readFileSync(path);
	for (let page = 0; page * 4096 < bytes.length; page += 1) {
		if (isHit(page)) bytes.fill(7, page * 4096, (page + 1) * 4096);
	}
	writeFileSync(path, bytes);
}

/** Everything a server lists, page after page; the first status that isn't 200 ends it. */
async function listAll(server: SpawnedServer): Promise<{ status: number; ids: string[] }> {
	const ids: string[] = [];
	let cursor = '';
	do {
		const response = await ask(server, `/v1/lifelogs?limit=25${cursor}`);
		const body = await response.text();
		if (response.status !== 200) {
			expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
			expect(body).not.toContain(secret);
			return { status: response.status, ids };
		}
		const { data, meta } = JSON.parse(body);
		ids.push(...data.lifelogs.map(({ id }: { id: string }) => id));
		cursor = meta.lifelogs.nextCursor ? `&cursor=${meta.lifelogs.nextCursor}` : '';
	} while (cursor !== '');
	return { status: 200, ids };
}

describe('a damaged index', () => {
	test('is rebuilt while requests are answered 503, if the damage is found while serving', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		const index = join(folder, '.lifelog-index.sqlite');
		await (await startLifelogServer(folder)).close();
		const db = new DatabaseSync(index);
		const rows = db.prepare(`SELECT pageno FROM dbstat WHERE name = 'body'`).all();
		db.close();
		// What a start reads stays as it is.
		const pages = new Set(rows.slice(10).map(({ pageno }) => Number(pageno) - 1));
		damage(index, (page) => pages.has(page));
		// The rebuild is held until everything is seen that is answered meanwhile.
		const free = join(temporaryFolder(), 'free');
		const server = await startLifelogServer(folder, [], {
			...{ LIFELOG_SERVER_KEY: serverKey, TEST_HELD: '/2026/01/05/' },
			TEST_FREE: free,
			NODE_OPTIONS: `--import=${pathToFileURL('test/support/heldDisk.mts').href}`,
		});
		const first = await listAll(server);
		expect(first.status).toBe(503);
		expect(first.ids.length).toBeLessThan(count);
		expect((await fetch(`${server.url}/health`)).status).toBe(200);
		const ready = await fetch(`${server.url}/ready`);
		const body = { status: 'index damaged', done: expect.any(Number), total: expect.any(Number) };
		expect([ready.status, await ready.json()]).toEqual([503, body]);
		expect(ready.headers.get('retry-after')).toMatch(/^\d+$/);
		writeFileSync(free, '');
		await until(async () => (await fetch(`${server.url}/ready`)).ok);
		expect((await listAll(server)).ids).toHaveLength(count);
		const found = await (await ask(server, '/v1/lifelogs?search=word113')).json();
		expect(found.data.lifelogs.map(({ id }: { id: string }) => id)).toEqual(['n113']);
		const refused =
			/^Request [0-9a-f]{8}: GET \/v1\/lifelogs 503 failed: The index of the server is damaged/;
		expect(server.log.filter((line) => refused.test(line))).toHaveLength(1);
		expect(server.log.filter((line) => !refused.test(line))).toEqual([
			expect.stringMatching(/is damaged \(.*\), and is being rebuilt$/),
			expect.stringMatching(/has been rebuilt$/),
		]);
		expect(server.log.join()).not.toContain(secret);
		await server.close();
	});

	test('is rebuilt while requests are answered 503, if the damage is found at the start', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		const first = await startLifelogServer(folder);
		const { port } = new URL(first.url);
		await first.close();
		damage(join(folder, '.lifelog-index.sqlite'), (page) => page > 0);
		const { ready } = spawnLifelogServer(folder, ['--port', port]);
		const statuses: number[] = [];
		let isReady = false;
		ready.then(
			() => (isReady = true),
			() => (isReady = true),
		);
		while (!isReady) {
			const answer = await ask(first, '/v1/lifelogs?limit=1').catch(() => undefined);
			if (answer) statuses.push(answer.status);
			await sleep(2);
		}
		expect(new Set(statuses)).toContain(503);
		const server = await ready;
		expect((await listAll(server)).ids).toHaveLength(count);
		await server.close();
	});

	test('with an unreadable row says so without quoting it, by REST and MCP', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		const index = join(folder, '.lifelog-index.sqlite');
		await (await startLifelogServer(folder)).close();
		const db = new DatabaseSync(index);
		db.exec(`UPDATE body SET contents = replace(contents, '"type"', '"ty') WHERE number = 7`);
		db.exec('DELETE FROM body WHERE number = 8');
		const ids = db.prepare('SELECT id FROM entry WHERE number IN (7, 8)').all();
		db.close();
		for (const [nth, { id }] of ids.entries()) {
			const server = await startLifelogServer(folder);
			const response =
				nth === 0
					? await ask(server, '/mcp', {
							method: 'POST',
							headers: {
								'content-type': 'application/json',
								accept: 'application/json, text/event-stream',
							},
							body: JSON.stringify({
								jsonrpc: '2.0',
								id: 1,
								method: 'tools/call',
								params: { name: 'get_transcript', arguments: { id } },
							}),
						})
					: await ask(server, `/v1/lifelogs/${id}`);
			const body = await response.text();
			expect(body).toContain('is damaged and is being rebuilt: try again in 10 seconds');
			expect(body).not.toContain(secret);
			await until(async () => (await fetch(`${server.url}/ready`)).ok);
			expect((await ask(server, `/v1/lifelogs/${id}`)).status).toBe(200);
			const [why] = server.log.filter((line) => !line.startsWith('Request '));
			expect(why).toContain('a row is unreadable');
			await server.close();
			const again = new DatabaseSync(index);
			again.exec('DELETE FROM body WHERE number = 8');
			again.close();
		}
	});

	test('is rebuilt at most once an hour, and the log says when', async () => {
		const { setTimeout: pause } = timers;
		jest
			.spyOn(timers, 'setTimeout')
			.mockImplementation((ms, ...rest) => pause(ms! > 60_000 ? 1000 : ms, ...rest));
		const { serving, log, spoil } = await heal();
		spoil();
		expect(() => serving.current().getLifelog('n1')).toThrow(UnavailableError);
		await until(() => serving.served !== undefined);
		spoil();
		expect(() => serving.current().getLifelog('n1')).toThrow('try again in');
		await until(() => log.length === 3);
		expect(log[2]).toMatch(
			/is damaged again \(.*\)\. Nothing is served until it is rebuilt in 60 min/,
		);
		expect(serving.served).toBeUndefined();
		expect(() => serving.current().counts()).toThrow(UnavailableError);
		await until(() => serving.served !== undefined);
		expect(serving.current().getLifelog('n1')).toMatchObject({ id: 'n1' });
		expect(log).toHaveLength(5);
	});

	test("doesn't request embeddings again, unless the vectors are damaged", async () => {
		const embeddings = await startEmbeddings();
		closing.push(() => embeddings.close());
		const { serving, log, folder, spoil, index } = await heal({ embeddingsUrl: embeddings.url });
		const asked = () =>
			embeddings.asked.flatMap(({ input }) => input).filter((text) => text.startsWith('Title'))
				.length;
		await serving.served!.meaning!.idle();
		const before = asked();
		expect(before).toBeGreaterThan(count);
		spoil();
		expect(() => serving.current().getLifelog('n1')).toThrow(UnavailableError);
		await until(() => serving.served !== undefined);
		await serving.served!.meaning!.idle();
		expect(asked()).toBe(before);
		expect(log).toEqual([
			expect.stringMatching(/^The index .* is being rebuilt$/),
			expect.stringMatching(/has been rebuilt$/),
		]);
		expect((await serving.current().searchLifelogs('word17', {}, 3))[0].id).toBe('n17');

		// What is deleted while there is no index has no vectors after it.
		await serving.close();
		rmSync(index);
		for (const name of readdirSync(join(folder, 'days')).slice(1))
			rmSync(join(folder, 'days', name));
		const later = await heal({ embeddingsUrl: embeddings.url, folder });
		await later.serving.served!.meaning!.idle();
		await later.serving.close();
		const db = new DatabaseSync(`${index}.vectors`);
		expect(db.prepare('SELECT count(*) AS n FROM meant').get()).toEqual({ n: 24 });
		db.close();

		damage(`${index}.vectors`, (page) => page > 0);
		const bought = asked();
		const last = await heal({ embeddingsUrl: embeddings.url, folder });
		await until(() => last.serving.served !== undefined);
		await last.serving.served!.meaning!.idle();
		expect(asked()).toBeGreaterThan(bought + 24);
		expect(last.log[0]).toMatch(/^The vectors of .* is being rebuilt$/);
		expect(log.join()).not.toContain('vectors');
	});
});

/** Serves an archive of its own, whose index heals itself. */
async function heal({
	embeddingsUrl,
	folder = '',
}: {
	embeddingsUrl?: string;
	folder?: string;
} = {}) {
	if (folder === '') {
		folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
	}
	const index = join(folder, '.lifelog-index.sqlite');
	const archive = await Folder.open(folder);
	const log: string[] = [];
	const tell = (line: string) => log.push(line);
	const serving = new Serving({
		...{ index, log: tell, onProgress: () => {} },
		serve: (rows) => {
			const model = { url: embeddingsUrl ?? '', model: 'words', key: undefined };
			const meaning = embeddingsUrl
				? new Meaning(new EmbeddingsEndpoint(model), rows, () => {})
				: undefined;
			const options = { allowDelete: true, onProblem: tell, meaning };
			return { store: new ArchiveStore(archive, rows, options), meaning };
		},
	});
	closing.push(() => serving.close());
	await serving.begin();
	void serving.heal();
	/** Has the next question find damage, as a disk that breaks would. */
	const spoil = () => {
		const file = readFileSync(index);
		const wal = statSync(`${index}-wal`).size;
		expect(wal).toBeGreaterThanOrEqual(0);
		writeFileSync(index, file.fill(7, 4096));
		writeFileSync(`${index}-wal`, '');
	};
	return { serving, log, folder, index, spoil };
}

test('the server answers and can be stopped while removed days are taken out of the index', async () => {
	const folder = temporaryFolder();
	// They are taken out day by day: of 300 days 99 show that it has begun and not ended.
	const daily = Array.from({ length: count }, (_, n) =>
		lifelogOf(`n${n}`, new Date(Date.UTC(2025, 0, 1 + n)).toISOString()),
	);
	await writeArchive(folder, { lifelogs: daily });
	const server = await startLifelogServer(folder);
	closing.push(server.close);
	const days = join(folder, 'days');
	const names = readdirSync(days);
	// One stays: a folder without any day is one without its drive.
	for (const name of names.slice(1)) rmSync(join(days, name));
	const counts: number[] = [];
	await until(async () => {
		const response = await ask(server, '/v1/lifelogs?limit=100&includeContents=false');
		counts.push((await response.json()).data.lifelogs.length);
		return counts.at(-1)! < 100;
	}, 1);
	expect(counts.at(-1)).toBeGreaterThan(0);
	await server.close();
	closing.pop();
});

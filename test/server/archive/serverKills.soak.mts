// lifelog-server, killed while it creates, changes, deletes and indexes.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifelog } from '../../../lifelog/api.ts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { writeArchive } from '../../support/archive.mts';
import { findingsIn } from '../../support/findings.mts';
import { lifelogOf } from '../../support/invented.mts';
import { spawnLifelogServer } from '../../support/lifelogServer.mts';
import { lifelogsNamedIn, newestManifests } from '../../support/manifests.mts';
import { until } from '../../support/soon.mts';
import { line, talk } from '../people/client.mts';
import { WordsClient } from '../words/client.mts';

const allow = ['--allow-changes', '--allow-delete'];
const threeDays = Array.from({ length: 120 }, (_, n) =>
	lifelogOf(`n${n}`, new Date(Date.UTC(2026, 2, 1 + Math.floor(n / 40), 0, n % 40)).toISOString()),
);
const fortyDays = Array.from({ length: 40 }, (_, day) =>
	Array.from({ length: 25 }, (__, n) =>
		lifelogOf(`${day}-${n}`, new Date(Date.UTC(2026, 0, 1 + day, 8, n)).toISOString()),
	),
).flat();

async function send(server: SpawnedServer, method: string, path: string, body: unknown) {
	const headers = { 'content-type': 'application/json' };
	const response = await ask(server, path, { method, headers, body: JSON.stringify(body) });
	const { data } = (await response.json()) as { data: { lifelog: Lifelog } };
	return { status: response.status, lifelog: data.lifelog };
}

const create = (server: SpawnedServer, body: unknown) => send(server, 'POST', '/v1/lifelogs', body);

const list = async (server: SpawnedServer): Promise<Lifelog[]> =>
	(await (await ask(server, '/v1/lifelogs?limit=100')).json()).data.lifelogs;

test('a server that is killed while it creates and changes lifelogs leaves each complete or unchanged', async () => {
	const folder = temporaryFolder();
	const asked = (n: number) => ({
		transcript: [{ text: `Number ${n}.`, speaker: 'S', start: 0, end: 1 }],
		startTime: Date.UTC(2026, 2, 1 + (n % 2), 8, n),
		externalId: `n${n}`,
	});
	const answered = new Set<number>();
	for (let kill = 0; kill < 5; kill += 1) {
		const { child, exited, ready } = spawnLifelogServer(folder, allow);
		const running = await ready;
		const numbers = Array.from({ length: 12 }, (_, n) => kill * 12 + n);
		const asking = numbers.map(async (n) => {
			const made = await create(running, asked(n)).catch(() => undefined);
			if (made?.status !== 201) return;
			answered.add(n);
			const title = { title: `Title ${n}` };
			await send(running, 'PATCH', `/v1/lifelogs/${made.lifelog.id}`, title).catch(() => undefined);
		});
		while (answered.size <= kill * 2) await sleep(5);
		await sleep(7 * kill);
		child.kill('SIGKILL');
		await exited;
		await Promise.all(asking);
	}
	const server = await startLifelogServer(folder, allow);
	expect(existsSync(join(folder, '.lifelog-journal.json'))).toBe(false);
	const there = new Set((await list(server)).map(({ startTime: from }) => Date.parse(from)));
	for (const n of answered) expect(there).toContain(asked(n).startTime);
	expect(await findingsIn(folder)).toEqual([]);
	// A client without an answer tries again.
	for (let n = 0; n < 60; n += 1) {
		const { status } = await create(server, asked(n));
		expect(status).toBe(there.has(asked(n).startTime) ? 200 : 201);
	}
	expect(await list(server)).toHaveLength(60);
	await server.close();
});

test('a delete during which the server is killed is complete after the next start, or has no effect', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, { lifelogs: threeDays });
	const left = new Set(threeDays.map(({ id }) => id));
	for (let kill = 0; kill < 5; kill += 1) {
		const { child, exited, ready } = spawnLifelogServer(folder, allow);
		const server = await ready;
		const answered: string[] = [];
		const ids = [...left].slice(0, 20);
		const asking = ids.map(async (id) => {
			const response = await ask(server, `/v1/lifelogs/${id}`, { method: 'DELETE' }).catch(
				() => undefined,
			);
			if (response?.status === 200) answered.push(id);
		});
		await until(() => answered.length > kill);
		await sleep(7 * kill);
		child.kill('SIGKILL');
		await exited;
		await Promise.all(asking);
		for (const id of answered) left.delete(id);
		const after = await startLifelogServer(folder, allow);
		const ids2 = lifelogsNamedIn(folder);
		expect(existsSync(join(folder, '.lifelog-journal.json'))).toBe(false);
		// What was answered is gone; what was begun may be, too, and then all of it.
		for (const id of answered) expect(ids2).not.toContain(id);
		const files = readdirSync(join(folder, 'lifelogs'), { recursive: true })
			.map((name) => /_(n\d+)\.(json|md)$/.exec(String(name))?.[1])
			.filter((id) => id !== undefined);
		expect([...new Set(files)].sort()).toEqual(ids2);
		for (const id of [...left]) if (!ids2.includes(id)) left.delete(id);
		const { data } = await (await ask(after, '/v1/lifelogs?limit=100')).json();
		expect(data.lifelogs.length).toBe(Math.min(100, ids2.length));
		await after.close();
	}
});

test('the first index is complete even if the server was killed at any moment while building it', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, { lifelogs: fortyDays });
	const index = join(folder, '.lifelog-index.sqlite');
	const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
	for (const bytes of [1, 200_000, 600_000]) {
		const { child, exited, ready } = spawnLifelogServer(folder);
		let isReady = false;
		ready.then(
			() => (isReady = true),
			() => {},
		);
		await until(() => isReady || sizeOf(index) + sizeOf(`${index}-wal`) >= bytes);
		child.kill('SIGKILL');
		await exited;
	}
	const server = await startLifelogServer(folder);
	expect(server.log).toEqual([]);
	const found = new Set<string>();
	let cursor = '';
	do {
		const response = await ask(server, `/v1/lifelogs?limit=100${cursor}`);
		const { data, meta } = await response.json();
		for (const { id } of data.lifelogs) found.add(id);
		const next = meta.lifelogs.nextCursor;
		cursor = next ? `&cursor=${next}` : '';
	} while (cursor !== '');
	expect(found.size).toBe(fortyDays.length);
	const search = await (await ask(server, '/v1/lifelogs?search="39-24"')).json();
	expect(search.data.lifelogs.map(({ id }: { id: string }) => id)).toEqual(['39-24']);
	await server.close();
});

test('a replacement during which the server is killed is finished by the same words, or taken back', async () => {
	const folder = temporaryFolder();
	const lifelogs = Array.from({ length: 200 }, (_, n) =>
		talk(`n${n}`, new Date(Date.UTC(2026, 0, 1 + Math.floor(n / 2), 8, n % 2)).toISOString(), [
			line('Anna', `The quick carbon ${n}.`),
		]),
	);
	await writeArchive(folder, { lifelogs });
	const answers = async (client: WordsClient) =>
		(await client.list({ limit: '25', search: 'carbon' })).map((each) => ({
			...each,
			updatedAt: undefined,
		}));
	const first = await startLifelogServer(folder, allow);
	const before = await answers(new WordsClient(first));
	await first.close();
	let partly = 0;
	for (let kill = 0; kill < 6; kill += 1) {
		const isTakenBack = kill % 2 === 1;
		const { child, exited, ready } = spawnLifelogServer(folder, allow);
		const client = new WordsClient(await ready);
		if (isTakenBack) await client.replace('quick carbon', 'QuickCarbon');
		const [made] = await client.replacements();
		const asking = isTakenBack
			? client.takeBack(made.id).catch(() => undefined)
			: client.replace('quick carbon', 'QuickCarbon').catch(() => undefined);
		await until(async () => {
			const [found] = await client.replacements();
			return found !== undefined && !found.isDone;
		}, 1);
		await sleep(40 * (kill >> 1));
		child.kill('SIGKILL');
		await exited;
		await asking;
		const after = await startLifelogServer(folder, allow);
		const again = new WordsClient(after);
		for (const { lifelogs: entries } of newestManifests(folder).values()) {
			const isReplaced = Object.values(entries).map(({ edited }) => edited?.lines !== undefined);
			expect(new Set(isReplaced).size).toBe(1);
		}
		const [left] = await again.replacements();
		if (left && !left.isDone && left.lifelogsDone < 200) partly += 1;
		// The same words do the rest of what was interrupted.
		if (!isTakenBack && left && !left.isDone) {
			const { replacement } = await again.replace('quick carbon', 'QuickCarbon');
			const { id, createdAt } = left;
			expect(replacement).toMatchObject({ id, createdAt, lifelogs: 200, lines: 200, isDone: true });
		}
		for (const { id } of await again.replacements()) expect(await again.takeBack(id)).toBe(200);
		expect(await again.preview('quick carbon', 'x')).toMatchObject({ lifelogs: 200, lines: 200 });
		expect(await answers(again)).toEqual(before);
		expect(await findingsIn(folder)).toEqual([]);
		await after.close();
	}
	expect(partly).toBeGreaterThan(0);
});

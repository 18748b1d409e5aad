// lifelog-server tells webhooks what happens: a real receiver, and another implementation of the signature.
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifelog } from '../../../lifelog/api.ts';
import { writeArchive } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { changeDay, editLifelog, makeLifelog } from '../../support/manifests.mts';
import { posixTest } from '../../support/platform.mts';
import { until } from '../../support/soon.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import {
	inShort,
	listed,
	register,
	say,
	send,
	startReceiver,
	type Received,
	type Receiver,
} from './receiver.mts';

const allow = ['--allow-changes', '--allow-delete'];

let receiver: Receiver;
let server: SpawnedServer | undefined;
beforeEach(async () => {
	receiver = await startReceiver();
});
afterEach(async () => {
	await server?.close();
	server = undefined;
	await receiver.close();
});

/** Starts a server that tells the receiver. */
async function begin(folder: string, ...args: string[]): Promise<SpawnedServer> {
	server = await startLifelogServer(folder, [...allow, '--webhook-pauses', '0.1', ...args]);
	return server;
}

async function restart(folder: string, whileStopped: () => unknown = () => {}) {
	await server?.close();
	server = undefined;
	await whileStopped();
	return await begin(folder);
}

/** Everything that came once so much has come, and nothing more for a while. */
async function all(count: number): Promise<Received[]> {
	await until(() => receiver.received.length >= count);
	return receiver.received;
}

/** Says something that is told after all that came before, and waits until it is. */
async function settled(): Promise<Received[]> {
	const last = await say(server!, `The end ${receiver.received.length}.`);
	await until(() => receiver.received.some(({ data }) => data.id === last));
	return receiver.received.filter(({ data }) => data.id !== last);
}

const daysAgo = (days: number, more: Partial<Lifelog> = {}) => {
	const startTime = new Date(Date.now() - days * 86_400_000).toISOString();
	return lifelogOf(`from-${days}-days-ago`, startTime, more);
};

/** A time is only told: it depends on what else runs. At most 4 s for the server, 10 s for others. */
function tellTime(what: string, sinceMs: number): void {
	const ms = receiver.received[0].atMs - sinceMs;
	process.stdout.write(`events: ${what} is told after ${(ms / 1000).toFixed(1)} s\n`);
}

describe('what happens to a lifelog', () => {
	test('is told within seconds: created, updated, deleted', async () => {
		const running = await begin(temporaryFolder());
		await register(running, receiver);
		const saidMs = Date.now();
		const id = await say(running, 'Water the tomatoes.');
		await all(1);
		tellTime('what the server wrote', saidMs);
		await send(running, 'PATCH', `/v1/lifelogs/${id}`, { isStarred: true });
		await all(2);
		await ask(running, `/v1/lifelogs/${id}`, { method: 'DELETE' });
		const [created, updated, deleted] = await all(3);
		expect(inShort(receiver.received)).toEqual([
			`lifelog.created ${id}`,
			`lifelog.updated ${id}`,
			`lifelog.deleted ${id}`,
		]);
		for (const { isSigned, headers, body } of receiver.received) {
			expect(isSigned).toBe(true);
			expect(headers['content-type']).toBe('application/json');
			expect(body).not.toMatch(/tomatoes|Anna/);
		}
		expect(created.data).toEqual({
			...{ id, startTime: '2026-03-01T09:00:00.000Z', source: 'api' },
			updatedAt: expect.any(String),
		});
		expect(updated.data.updatedAt! > created.data.updatedAt!).toBe(true);
		expect(deleted.data.startTime).toBe('2026-03-01T09:00:00.000Z');
		// The same, for those who can't be called.
		expect(await listed(running)).toEqual(
			receiver.received.map(({ id: event, type, timestamp, data }) => ({
				...{ id: event, type, timestamp, data },
			})),
		);
	});

	test('is told when another program wrote it', async () => {
		const folder = temporaryFolder();
		const running = await begin(folder);
		await register(running, receiver);
		const [recent, old] = [daysAgo(2), daysAgo(8)];
		const writtenMs = Date.now();
		await writeArchive(folder, { lifelogs: [recent, old] });
		await all(1);
		tellTime('what another program wrote', writtenMs);
		const day = old.startTime.slice(0, 10);
		editLifelog(folder, day, old.id, { title: 'Another', at: new Date().toISOString() });
		await all(2);
		expect(inShort(await settled())).toEqual([
			`lifelog.created ${recent.id}`,
			`lifelog.updated ${old.id}`,
		]);
		expect(receiver.received[0].data.source).toBe('service');
	});

	test('is one event if it happens within two seconds', async () => {
		const running = await begin(temporaryFolder());
		await register(running, receiver);
		const id = await say(running, 'Once.');
		await send(running, 'PATCH', `/v1/lifelogs/${id}`, { title: 'One' });
		await send(running, 'PATCH', `/v1/lifelogs/${id}`, { title: 'Two' });
		const gone = await say(running, 'Gone at once.');
		await ask(running, `/v1/lifelogs/${gone}`, { method: 'DELETE' });
		const events = await settled();
		expect(inShort(events)).toEqual([`lifelog.created ${id}`, `lifelog.deleted ${gone}`]);
		const response = await ask(running, `/v1/lifelogs/${id}`);
		expect(events[0].data.updatedAt).toBe((await response.json()).data.lifelog.updatedAt);
	});

	test('is one update if it moves to another day', async () => {
		const folder = temporaryFolder();
		const before = lifelogOf('moving', '2026-03-01T23:50:00.000Z');
		await writeArchive(folder, { lifelogs: [before] });
		const running = await begin(folder);
		await register(running, receiver);
		const after = { ...before, startTime: '2026-03-02T00:10:00.000Z' };
		await writeArchive(folder, { lifelogs: [after] });
		changeDay(folder, '2026-03-01', (file) => ({ ...file, lifelogs: {} }));
		await all(1);
		const [event, ...others] = await settled();
		expect([event.type, event.data.startTime]).toEqual(['lifelog.updated', after.startTime]);
		expect(others).toEqual([]);
	});

	test('is told only as the types say', async () => {
		const running = await begin(temporaryFolder());
		const types = ['lifelog.deleted', 'recording.failed'];
		const { webhook } = await register(running, receiver, { types });
		expect(webhook.types).toEqual(types);
		const id = await say(running, 'Only the end.');
		await send(running, 'PATCH', `/v1/lifelogs/${id}`, { isStarred: true });
		await ask(running, `/v1/lifelogs/${id}`, { method: 'DELETE' });
		expect(inShort(await all(1))).toEqual([`lifelog.deleted ${id}`]);
	});
});

describe('nothing is told', () => {
	const lifelogs = [daysAgo(0.1), daysAgo(1), daysAgo(2), daysAgo(3)];

	/** An archive that a server has served that tells a receiver. */
	async function served(): Promise<string> {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		await makeLifelog(folder, { ...daysAgo(0.2), id: 'made-0123456789' });
		const running = await begin(folder);
		await register(running, receiver);
		return folder;
	}

	const index = (folder: string, ...suffixes: string[]) => {
		for (const suffix of suffixes) {
			rmSync(join(folder, `.lifelog-index.sqlite${suffix}`), { force: true });
		}
	};

	test('of what is there at the first start', async () => {
		await served();
		expect(await settled()).toEqual([]);
	});

	test('of what was there when the index is rebuilt', async () => {
		const folder = await served();
		await restart(folder, () => index(folder, '', '-wal', '.vectors'));
		expect(await settled()).toEqual([]);
	});

	test('of an archive that was restored', async () => {
		const folder = await served();
		// Another machine, to which only the archive was copied.
		await restart(folder, () =>
			index(folder, '', '-wal', '.vectors', '.events', '.events-wal', '.key', '.session'),
		);
		await register(server!, receiver);
		expect(await settled()).toEqual([]);
	});

	test('of a day that is gone, and of one that is there again', async () => {
		const folder = await served();
		const name = readdirSync(join(folder, 'days')).sort().at(-1)!;
		const path = join(folder, 'days', name);
		const content = readFileSync(path);
		rmSync(path);
		await until(() => server!.log.some((line) => line.includes('no longer in the folder')));
		writeFileSync(path, content);
		expect(await settled()).toEqual([]);
	});

	test('of a drive that is unplugged, also at a start, and plugged in again', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		const index = ['--index', join(temporaryFolder(), 'index.sqlite')];
		await register(await begin(folder, ...index), receiver);
		renameSync(join(folder, 'days'), join(folder, 'away'));
		await until(() => server!.log.some((line) => line.startsWith('Cannot look for new days')));
		await server!.close();
		await begin(folder, ...index);
		expect((await listed(server!)).length).toBe(0);
		renameSync(join(folder, 'away'), join(folder, 'days'));
		await until(async () => (await fetch(`${server!.url}/ready`)).ok);
		expect(await settled()).toEqual([]);
	});

	test('of a day that cannot be read, also if the index is rebuilt meanwhile', async () => {
		const folder = await served();
		const name = readdirSync(join(folder, 'days')).sort().at(-1)!;
		const path = join(folder, 'days', name);
		const content = readFileSync(path);
		writeFileSync(path, '{');
		await until(() => server!.log.some((line) => line.includes("isn't a day manifest")));
		await restart(folder, () => index(folder, '', '-wal', '.vectors'));
		writeFileSync(path, content);
		await until(async () => {
			const { data } = await (await ask(server!, '/v1/lifelogs?limit=100')).json();
			return data.lifelogs.length === lifelogs.length + 1;
		});
		expect(await settled()).toEqual([]);
	});

	test('of a lifelog that the service no longer has', async () => {
		const folder = await served();
		const [{ id, startTime }] = lifelogs;
		const goneAt = new Date().toISOString();
		changeDay(folder, startTime.slice(0, 10), (file) => ({
			...file,
			lifelogs: { ...file.lifelogs, [id]: { ...file.lifelogs[id], goneAt } },
		}));
		expect(await settled()).toEqual([]);
	});
});

test('what happened while the server was stopped is told by the next start', async () => {
	const folder = temporaryFolder();
	// On another day than the later one, at any time of the day.
	const recent = daysAgo(2);
	await writeArchive(folder, { lifelogs: [recent] });
	await register(await begin(folder), receiver);
	const later = daysAgo(0.1);
	await restart(folder, async () => {
		await writeArchive(folder, { lifelogs: [later] });
		const day = recent.startTime.slice(0, 10);
		changeDay(folder, day, (file) => {
			const deletedAt = new Date().toISOString();
			const tombstone = { ...file.lifelogs[recent.id], files: [], deletedAt };
			return { ...file, lifelogs: { ...file.lifelogs, [recent.id]: tombstone } };
		});
	});
	expect(inShort(await all(2)).sort()).toEqual([
		`lifelog.created ${later.id}`,
		`lifelog.deleted ${recent.id}`,
	]);
});

posixTest('only the owner can read the events', async () => {
	const folder = temporaryFolder();
	const running = await begin(folder);
	await register(running, receiver);
	const names = readdirSync(folder).filter((name) => name.includes('.events'));
	expect(names.length).toBeGreaterThan(0);
	for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

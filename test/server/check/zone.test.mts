// Times without an offset are in UTC (docs/reference/archive.md), wherever an archive is read.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Chat, Lifelog } from '../../../lifelog/api.ts';
import { writeDay } from '../../support/archive.mts';
import { serverKey, startLifelogServer } from '../../support/lifelogServer.mts';

const TZ = 'America/New_York';
const at = '2026-03-01T22:30:00';
const chat: Chat = {
	...{ id: 'c', summary: null, createdAt: at, startedAt: at, visibility: 'private' },
	messages: [{ id: '1', text: 'Hi', createdAt: at, user: { role: 'user', name: null } }],
};
const lifelog: Lifelog = {
	...{ id: 'a', title: 'A', markdown: null, contents: [], isStarred: false },
	...{ startTime: at, endTime: at, updatedAt: at },
};

let root: string;

beforeAll(async () => {
	root = await mkdtemp(join(tmpdir(), 'archive-'));
	await writeDay(root, { day: '2026-03-01', lifelogs: [lifelog], chats: [chat] });
});
afterAll(async () => await rm(root, { recursive: true }));

test('the check finds nothing, in the folder and at a service that writes times so', async () => {
	const service = createServer(({ url }, response) => {
		const name = url!.startsWith('/v1/chats') ? 'chats' : 'lifelogs';
		const data = { chats: [chat], lifelogs: [lifelog] };
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify({ data: { [name]: data[name] }, meta: {} }));
	});
	await once(service.listen(0, '127.0.0.1'), 'listening');
	const address = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
	const { stdout } = await promisify(execFile)(
		process.execPath,
		['server/lifelog-server.cjs', 'check', root, '--service', '--json', '--until', '2026-12-31'],
		{ env: { ...process.env, TZ, LIFELOG_API_KEY: 'key', LIFELOG_BASE_URL: address } },
	).catch((error: unknown) => error as { stdout: string });
	service.close().closeAllConnections();
	expect(JSON.parse(stdout)).toMatchObject({ findings: [], atService: 2, isComplete: true });
});

test('lifelog-server serves them in UTC', async () => {
	const env = { TZ, LIFELOG_SERVER_KEY: serverKey };
	const { url, apiKey, close } = await startLifelogServer(root, [], env);
	const ask = async (path: string) => {
		const response = await fetch(url + path, { headers: { 'X-API-Key': apiKey } });
		return ((await response.json()) as { data: object }).data;
	};
	const served = [await ask('/v1/chats/c'), await ask('/v1/lifelogs/a')];
	await close();
	const time = '2026-03-01T22:30:00.000Z';
	expect(served).toMatchObject([{ chat: { createdAt: time } }, { lifelog: { startTime: time } }]);
});

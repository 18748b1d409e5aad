// The ways to fill an archive on the page: from the service, and from the app's export.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WaysAnswer } from '../../../server/http/pageApi/answers.mts';
import { checkFolder, contentsOf, runCommand } from '../../support/archiveCommand.mts';
import { addLifelog, dayAgo } from '../../support/lived.mts';
import { serverKey, spawnLifelogServer } from '../../support/lifelogServer.mts';
import { freePorts } from '../../support/ports.mts';
import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { until } from '../../support/soon.mts';
import { buildPage, send, type Answer } from '../../support/web.mts';
import { writeZip, type ZipFile } from '../../support/zip.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

const SERVICE_KEY = 'sandbox-key';

let sandbox: TestSandbox;
let folder: string;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
	buildPage();
	sandbox = await startSandbox({ days: 1, apiKey: SERVICE_KEY });
});
beforeEach(async () => {
	await sandbox.control.reset({ empty: true });
	await sandbox.control.faults([]);
	folder = temporaryFolder();
});
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => await sandbox.close());

/** A lifelog on each of some days, the last of which is yesterday. */
async function live(days: number): Promise<void> {
	for (let ago = days; ago > 0; ago -= 1) await addLifelog(sandbox, dayAgo(ago), '08:15:00');
}

/** A server, and what the page sends to it once somebody has signed in. */
async function starts(url = sandbox.url, args: string[] = []) {
	const server = await startLifelogServer(folder, ['--service-url', url, ...args]);
	let isOpen = true;
	const close = async () => {
		if (isOpen) await server.close();
		isOpen = false;
	};
	closing.push(close);
	const { headers, call, ways } = await signsIn(server);
	/** Waits for a state of archiving. */
	const archivingIs = async (...states: WaysAnswer['archiving']['state'][]) => {
		await until(async () => states.includes((await ways()).archiving.state));
		return (await ways()).archiving;
	};
	const archive = (key?: string) => call('POST', '/web/archiving', { key });
	return { ...server, close, headers, call, ways, archive, archivingIs };
}

/** What the page sends to a server once somebody has signed in. */
async function signsIn({ url }: SpawnedServer) {
	const ofPage = { 'x-lifelog-page': '1', origin: url };
	const signedIn = await send(url, '/session', {
		...{ method: 'POST', headers: ofPage, body: { key: serverKey } },
	});
	const cookie = signedIn.headers['set-cookie']![0].split(';')[0];
	const headers = { ...ofPage, cookie };
	const call = (method: string, path: string, body?: object): Promise<Answer> =>
		send(url, path, { method, headers, body });
	const ways = async () => (await call('GET', '/web/ways')).json() as WaysAnswer;
	return { url, headers, call, ways };
}

/** Uploads a zip, or as much of it as is given, and returns the status. */
async function upload(
	{ url, headers }: Pick<SpawnedServer, 'url'> & { headers: Record<string, string> },
	zip: Buffer,
	bytes = zip.length,
): Promise<{ status: Promise<number | undefined>; interrupt: () => void }> {
	const sent = request(`${url}/web/importing`, {
		method: 'POST',
		headers: { ...headers, 'content-type': 'application/zip', 'content-length': bytes },
	});
	const status = new Promise<number | undefined>((resolve) => {
		sent.once('response', (response) => {
			response.resume();
			resolve(response.statusCode);
		});
		sent.once('error', () => resolve(undefined));
	});
	await new Promise<void>((resolve) => sent.write(zip, () => resolve()));
	if (bytes === zip.length) sent.end();
	return { status, interrupt: () => sent.destroy() };
}

/** The paths below a folder whose files have a text in them. */
function filesWith(text: string, root: string): string[] {
	return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => {
		const full = join(root, path);
		return statSync(full).isFile() && readFileSync(full, 'latin1').includes(text);
	});
}

describe('archiving the service', () => {
	test('fills an empty archive, which the page shows as it grows', async () => {
		await live(3);
		const server = await starts();
		expect(await server.ways()).toMatchObject({
			service: new URL(sandbox.url).host,
			archiving: { state: 'idle', progress: null, hasKey: false },
		});
		expect((await server.call('GET', '/web/session')).json()).toMatchObject({ canFill: true });
		const begun = await server.archive(` ${SERVICE_KEY}\n`);
		expect([begun.status, begun.json().archiving.state]).toEqual([202, 'running']);
		const { progress, ...ended } = await server.archivingIs('complete', 'failed');
		expect(ended).toEqual({
			...{ state: 'complete', waitsUntil: null, message: null },
			...{ problems: [], problemsCount: 0, hasKey: false },
		});
		expect(progress).toMatchObject({ daysDone: 3, daysToDo: 3, lifelogs: 3, secondsLeft: 0 });
		await until(async () => (await server.call('GET', '/web/days')).json().days.length === 3);
		expect(await checkFolder(folder, sandbox)).toMatchObject({ isComplete: true, lifelogs: 3 });
		expect(filesWith(SERVICE_KEY, folder)).toEqual([]);
		expect(server.log.join('\n')).not.toContain(SERVICE_KEY);
		// Once more, for what is new.
		await addLifelog(sandbox, dayAgo(2), '19:00:00');
		await server.archive(SERVICE_KEY);
		expect(await server.archivingIs('complete', 'failed')).toMatchObject({
			progress: { daysDone: 1, lifelogs: 1 },
		});
	});

	test('is stopped, and goes on without the key, or after a restart with it', async () => {
		await live(6);
		const slow = { path: '/v1/download-audio', times: 1_000_000, delayMs: 150 };
		await sandbox.control.faults([slow]);
		let server = await starts();
		await server.archive(SERVICE_KEY);
		await until(async () => ((await server.ways()).archiving.progress?.daysDone ?? 0) > 0);
		const again = await server.archive(SERVICE_KEY);
		expect([again.status, again.json()]).toEqual([409, { error: 'It is being archived already' }]);
		const { status } = await upload(server, Buffer.from('any'));
		expect(await status).toBe(409);
		await server.call('DELETE', '/web/archiving');
		const stopped = await server.archivingIs('unfinished', 'complete');
		expect(stopped).toMatchObject({ state: 'unfinished', message: null, hasKey: true });
		const done = stopped.progress!.daysDone;
		expect(done).toBeLessThan(6);

		expect((await server.archive()).status).toBe(202);
		await until(async () => ((await server.ways()).archiving.progress?.daysDone ?? 0) > 0);
		await server.close();
		await sandbox.control.faults([]);
		server = await starts();
		expect((await server.ways()).archiving).toMatchObject({ state: 'unfinished', hasKey: false });
		const without = await server.archive();
		expect([without.status, without.json()]).toEqual([
			...[400, { error: 'The API key is missing. Enter it again' }],
		]);
		await server.archive(SERVICE_KEY);
		const { progress } = await server.archivingIs('complete', 'failed');
		expect(progress!.daysDone).toBeLessThanOrEqual(6 - done);
		expect(await checkFolder(folder, sandbox)).toMatchObject({ isComplete: true, lifelogs: 6 });
	});

	test('says that the key is wrong, and forgets it', async () => {
		await live(1);
		const server = await starts();
		await server.archive('another-key');
		expect(await server.archivingIs('failed')).toMatchObject({
			message:
				'The service refuses the API key. Copy it again from the developer settings of the app',
			hasKey: false,
		});
		const empty = await server.archive('a key with blanks');
		expect([empty.status, empty.json().error]).toEqual([
			400,
			'The API key is empty, or not a key. Copy it again from the developer settings of the app',
		]);
		await server.archive(SERVICE_KEY);
		await server.archivingIs('complete');
	});

	test('waits as long as the service asks for, and says so', async () => {
		await live(1);
		await sandbox.control.faults([
			{ path: '/v1/lifelogs', status: 429, headers: { 'retry-after': '2' }, body: {} },
		]);
		const server = await starts();
		await server.archive(SERVICE_KEY);
		await until(async () => (await server.ways()).archiving.waitsUntil !== null);
		const { waitsUntil } = (await server.ways()).archiving;
		expect(Math.abs(Date.parse(waitsUntil!) - Date.now())).toBeLessThan(3_000);
		expect(await server.archivingIs('complete', 'failed')).toMatchObject({
			...{ state: 'complete', waitsUntil: null },
		});
		await sandbox.control.faults([
			{ path: '/v1/lifelogs', status: 429, headers: { 'retry-after': '3600' }, body: {} },
		]);
		await server.archive(SERVICE_KEY);
		expect(await server.archivingIs('failed')).toMatchObject({
			message: expect.stringMatching(
				/^The rate limit blocks requests for 60 minutes\. Run it again/,
			),
			hasKey: true,
		});
	});

	test('says that there is no network, and keeps the key', async () => {
		const [port] = await freePorts(1);
		const server = await starts(`http://127.0.0.1:${port}`);
		await server.archive(SERVICE_KEY);
		expect(await server.archivingIs('failed')).toMatchObject({
			message: "The service can't be read: nothing listens at that address (ECONNREFUSED)",
			hasKey: true,
		});
		expect(server.log).toEqual([expect.stringMatching(/^Archiving failed: The service can't/)]);
	});

	test('lists what is missing', async () => {
		await live(2);
		await sandbox.control.faults([
			{ path: '/v1/download-audio', times: 1_000_000, status: 400, body: { error: 'no' } },
		]);
		const server = await starts();
		await server.archive(SERVICE_KEY);
		const { problems, problemsCount } = await server.archivingIs('unfinished');
		expect(problemsCount).toBeGreaterThan(1);
		expect(problems[0]).toMatchObject({ day: dayAgo(1), what: expect.stringMatching(/^audio/) });
	});
});

const MARKDOWN = '# Garden\n\n## Outside\n\n- Anna (1/30/26 5:23 PM): First the garden.\n';
const EXPORT: ZipFile[] = [
	{ name: 'lifelogs/2026/01/30/2026-01-30_17h23m00s_Garden.md', content: MARKDOWN, deflate: true },
	{ name: 'lifelogs/2026/01/31/nothing.md', content: 'no lifelog' },
	{ name: 'meetings/a.json', content: '{}' },
];

function zipOf(files: ZipFile[]): Buffer {
	const path = join(temporaryFolder(), 'export.zip');
	writeZip(path, files);
	return readFileSync(path);
}

/** What an upload may leave in the folder. */
const leftIn = (archive: string) => readdirSync(join(archive, '.lifelog-drafts'));

describe('importing an export', () => {
	const importingIs = async (
		{ ways }: Awaited<ReturnType<typeof signsIn>>,
		...states: string[]
	) => {
		await until(async () => states.includes((await ways()).importing.state));
		return (await ways()).importing;
	};

	test('does what the command does, and says what could not be read', async () => {
		const zip = zipOf(EXPORT);
		const server = await starts(undefined, ['--timezone', 'Europe/Berlin']);
		const { status } = await upload(server, zip);
		expect(await status).toBe(202);
		const { imported, ...state } = await importingIs(server, 'ended', 'failed');
		expect(state).toEqual({
			state: 'ended',
			...{ room: expect.any(Number), bytes: expect.any(Number), message: null },
			...{ done: 2, total: 2 },
		});
		expect(imported).toMatchObject({
			added: { lifelogs: 1, chats: 0, audio: 0 },
			passedOver: { meetings: 1 },
			unreadCount: 1,
			unread: [{ path: 'lifelogs/2026/01/31/nothing.md', problem: expect.any(String) }],
		});
		expect(leftIn(folder)).toEqual([]);
		await until(async () => (await server.call('GET', '/web/days')).json().days.length === 1);

		const other = temporaryFolder();
		const path = join(temporaryFolder(), 'export.zip');
		writeFileSync(path, zip);
		await runCommand(['import', path, other, '--timezone', 'Europe/Berlin']);
		expect(contentsOf(folder)).toEqual(contentsOf(other));
	});

	test("refuses a zip that isn't an export, and doesn't say where it was", async () => {
		const server = await starts();
		const messageOf = async (zip: Buffer) => {
			const { status } = await upload(server, zip);
			expect(await status).toBe(202);
			return (await importingIs(server, 'failed')).message;
		};
		expect(await messageOf(Buffer.from('no zip at all'))).toMatch(
			/^The file isn't a complete zip: /,
		);
		expect(await messageOf(zipOf([{ name: 'photos/a.jpg', content: 'a' }]))).toMatch(
			/^The file isn't an export: /,
		);
		expect(leftIn(folder)).toEqual([]);
		const { status } = await server.call('POST', '/web/importing', { a: 1 });
		expect(status).toBe(415);
	});

	test('leaves nothing of an upload that is interrupted', async () => {
		const server = await starts();
		const zip = zipOf(EXPORT);
		const { interrupt } = await upload(server, zip.subarray(0, 100), zip.length);
		await importingIs(server, 'receiving');
		interrupt();
		expect(await importingIs(server, 'failed')).toMatchObject({
			message: expect.stringMatching(/^The upload was interrupted, so nothing was imported\./),
		});
		expect(leftIn(folder)).toEqual([]);
		expect(await (await upload(server, zip)).status).toBe(202);
		await importingIs(server, 'ended');
	});

	test.each(['stopped', 'killed'])(
		'is reported as interrupted after the server was %s, until the next one ends',
		async (how) => {
			const zip = zipOf(EXPORT);
			if (how === 'stopped') {
				const server = await starts();
				await upload(server, zip.subarray(0, 100), zip.length);
				await importingIs(server, 'receiving');
				await server.close();
				expect(leftIn(folder)).toEqual([]);
			} else {
				const { child, exited, ready } = spawnLifelogServer(folder, ['--service-url', sandbox.url]);
				const server = await signsIn(await ready);
				await upload(server, zip.subarray(0, 100), zip.length);
				await importingIs(server, 'receiving');
				await until(() => existsSync(join(folder, '.lifelog-drafts')) && leftIn(folder).length > 0);
				child.kill('SIGKILL');
				await exited;
				expect(leftIn(folder)).toHaveLength(1);
			}
			for (let start = 1; start <= 2; start += 1) {
				const server = await starts();
				expect(await importingIs(server, 'failed')).toMatchObject({
					message: expect.stringMatching(/^The import was interrupted\. Upload the export again/),
				});
				const { interrupt } = await upload(server, zip.subarray(0, 100), zip.length);
				await importingIs(server, 'receiving');
				interrupt();
				await importingIs(server, 'failed');
				expect(leftIn(folder)).toEqual([]);
				await server.close();
			}
			const server = await starts();
			expect(await (await upload(server, zip)).status).toBe(202);
			await importingIs(server, 'ended');
			await server.close();
			await importingIs(await starts(), 'idle');
		},
	);

	test('is reported as interrupted by a stop only if something is missing', async () => {
		const zip = zipOf(EXPORT.slice(0, 1));
		for (const afterMs of [0, 5, 10, 20, 40, 80]) {
			folder = temporaryFolder();
			const server = await starts();
			expect(await (await upload(server, zip)).status).toBe(202);
			await sleep(afterMs);
			await server.close();
			const again = await starts();
			const days = existsSync(join(folder, 'days')) ? readdirSync(join(folder, 'days')) : [];
			const { state } = (await again.ways()).importing;
			expect([afterMs, days.length, state]).toEqual([
				afterMs,
				days.length,
				days.length > 0 ? 'idle' : 'failed',
			]);
			await again.close();
		}
	});

	test('takes none that the disk has no room for', async () => {
		const server = await starts();
		const { interrupt } = await upload(server, Buffer.from('PK'), 1e15);
		expect(await importingIs(server, 'failed')).toMatchObject({
			message: expect.stringMatching(/^The disk of the archive is almost full/),
		});
		interrupt();
		expect(existsSync(join(folder, '.lifelog-drafts'))).toBe(false);
	});

	test('takes one at a time, and removes what a killed server has left', async () => {
		const left = join(folder, '.lifelog-drafts', 'left');
		mkdirSync(left, { recursive: true });
		writeFileSync(join(left, 'half'), 'half of a zip');
		const server = await starts();
		const zip = zipOf(EXPORT);
		const first = await upload(server, zip.subarray(0, 100), zip.length);
		await importingIs(server, 'receiving');
		expect(await (await upload(server, zip)).status).toBe(409);
		expect((await server.archive(SERVICE_KEY)).status).toBe(409);
		// Another server of the same folder imports, and leaves this one its upload.
		const index = join(temporaryFolder(), 'index');
		const other = await starts(undefined, ['--index', index]);
		expect(await (await upload(other, zip)).status).toBe(202);
		await importingIs(other, 'ended');
		expect(existsSync(left)).toBe(false);
		expect(leftIn(folder)).toHaveLength(1);
		first.interrupt();
		await importingIs(server, 'failed');
		expect(leftIn(folder)).toEqual([]);
	});
});

describe('both are for those who have signed in', () => {
	test('and not for clients with a key, nor for other pages', async () => {
		const server = await starts();
		for (const [method, path] of [
			['POST', '/web/archiving'],
			['DELETE', '/web/archiving'],
			['POST', '/web/importing'],
		]) {
			const withKey = await ask(server, path, { method });
			expect([path, withKey.status]).toEqual([path, 403]);
			expect((await withKey.json()).error).toMatch(/^Only the page can do this\./);
			const nobody = await send(server.url, path, { method });
			expect([path, nobody.status]).toEqual([path, 401]);
			const { cookie } = server.headers;
			const foreign = await send(server.url, path, { method, headers: { cookie } });
			expect([path, foreign.status]).toEqual([path, 403]);
		}
		expect((await ask(server, '/web/ways')).status).toBe(200);
		expect((await server.ways()).archiving.state).toBe('idle');
	});

	test('and not there with --read-only', async () => {
		const server = await starts(undefined, ['--read-only']);
		expect((await server.call('GET', '/web/session')).json()).toMatchObject({ canFill: false });
		expect((await server.archive(SERVICE_KEY)).status).toBe(404);
		expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual([]);
	});
});

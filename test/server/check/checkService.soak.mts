// An archive against a service: what is new, has changed or is gone there.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkArchive, type Progress } from '../../../server/check/check.mts';
import type { Finding } from '../../../server/check/findings.mts';
import { serviceAddress } from '../../../server/cli/readers.mts';
import type { Chat, Lifelog } from '../../../lifelog/api.ts';
import { fingerprintOf } from '../../../server/archive/fingerprint.mts';
import { writeDay } from '../../support/archive.mts';
import { startSandbox, type TestSandbox, type StoredChat } from '../../support/sandbox.mts';

const NOW = '2026-03-10T15:00:00Z';
const YESTERDAY = '2026-03-09';

let sandbox: TestSandbox;
let root: string;
let waits: number[];

beforeAll(async () => {
	sandbox = await startSandbox({ days: 4, now: NOW });
});
afterAll(async () => await sandbox.close());

beforeEach(async () => {
	waits = [];
	await sandbox.control.reset({ days: 4, now: NOW, dialect: { rateLimit: { max: 10_000 } } });
	root = await mkdtemp(join(tmpdir(), 'archive-'));
	const lifelogs = await sandbox.control.lifelogs();
	const chats = await ownChats();
	const days = [
		...lifelogs.map(({ startTime }) => startTime.slice(0, 10)),
		...chats.map(({ createdAt }) => createdAt.slice(0, 10)),
	];
	for (const day of new Set(days)) {
		if (day > YESTERDAY) continue;
		await writeDay(root, {
			day,
			lifelogs: lifelogs.filter(({ startTime }) => startTime.startsWith(day)),
			chats: chats.filter(({ createdAt }) => createdAt.startsWith(day)) as Chat[],
		});
	}
	await sandbox.control.clearRequests();
});
afterEach(async () => await rm(root, { recursive: true }));

const ownChats = async (): Promise<StoredChat[]> =>
	(await sandbox.control.chats()).filter(({ owner }) => owner === 'self');
const archived = async (): Promise<Lifelog[]> =>
	(await sandbox.control.lifelogs()).filter(({ startTime }) => startTime < '2026-03-10');

async function check(
	{ url, key = sandbox.apiKey, until = YESTERDAY } = {} as Partial<{
		url: string;
		key: string;
		until: string;
	}>,
) {
	const findings: Finding[] = [];
	const progress: Progress = {
		days: () => {},
		read: () => {},
		wait: (seconds) => void waits.push(seconds),
	};
	const summary = await checkArchive(
		{ folder: root, access: { apiKey: key, baseUrl: url ?? sandbox.url }, until },
		(finding) => void findings.push(finding),
		progress,
	);
	return { ...summary, findings };
}

const about = ({ kind, id, message }: Finding) => `${kind}: ${id} ${message}`;

test('finds nothing if nothing has changed', async () => {
	const { findings, isComplete, atService } = await check();
	expect(findings).toEqual([]);
	expect(isComplete).toBe(true);
	const chats = (await ownChats()).filter(({ createdAt }) => createdAt < '2026-03-10');
	expect(atService).toBe((await archived()).length + chats.length);
});

test('reads only lists without contents, page by page', async () => {
	const count = (await sandbox.control.lifelogs()).length;
	await check();
	const requests = await sandbox.control.requests();
	expect(requests.map(({ path }) => path)).toEqual([
		...Array.from({ length: Math.ceil(count / 100) }, () => '/v1/lifelogs'),
		'/v1/chats',
	]);
	for (const { query, path } of requests.filter(({ path }) => path === '/v1/lifelogs')) {
		expect([path, query]).toEqual([
			path,
			expect.objectContaining({
				includeContents: 'false',
				includeMarkdown: 'false',
				includeHeadings: 'false',
			}),
		]);
	}
});

test('names entries that are new, changed, starred, moved or gone', async () => {
	const [edited, starred, moved, deleted] = await archived();
	const [answered, forgotten] = await ownChats();
	const { updateLifelog, deleteLifelog, addLifelog, updateChat, deleteChat, addChat } =
		sandbox.control;
	await updateLifelog(edited.id, { title: 'New', updatedAt: NOW });
	const isStarred = !starred.isStarred;
	await updateLifelog(starred.id, { isStarred, updatedAt: starred.updatedAt });
	const startTime = '2026-03-08T12:00:00.000Z';
	await updateLifelog(moved.id, { startTime, updatedAt: moved.updatedAt });
	await deleteLifelog(deleted.id);
	const late = await addLifelog({ startTime: '2026-03-08T12:34:00Z', title: 'Late' });
	const messages = [...answered.messages, ...answered.messages];
	await updateChat(answered.id, { messages });
	await deleteChat(forgotten.id);
	const asked = await addChat({ createdAt: '2026-03-08T12:00:00Z' });
	const day = (iso: string) => iso.slice(0, 10);

	const { findings, counts, isComplete } = await check();
	expect(findings.map(about).sort()).toEqual(
		[
			`changed: ${edited.id} was updated at 2026-03-10T15:00:00.000Z, in the archive ${new Date(edited.updatedAt).toISOString()}`,
			`changed: ${starred.id} was ${isStarred ? '' : 'un'}starred`,
			`changed: ${moved.id} began on ${day(moved.startTime)} when it was archived`,
			`gone: ${deleted.id} was removed from the service, but isn't marked as removed in the archive`,
			`new: ${late.id} is a lifelog that the archive does not have`,
			`changed: ${answered.id} has ${messages.length} messages, in the archive ${answered.messages.length}`,
			`gone: ${forgotten.id} was removed from the service, but isn't marked as removed in the archive`,
			`new: ${asked.id} is a chat that the archive does not have`,
		].sort(),
	);
	expect(counts).toMatchObject({ new: 2, changed: 4, gone: 2 });
	expect(isComplete).toBe(false);
});

test("an impossible time in the archive differs from the service's time", async () => {
	const [{ id, startTime, updatedAt }] = await archived();
	const days = join(root, 'days');
	const name = (await readdir(days)).find((each) => each.startsWith(startTime.slice(0, 10)))!;
	const day = JSON.parse(await readFile(join(days, name), 'utf8'));
	const impossible = '2026-13-01T00:00:00.000Z';
	day.lifelogs[id].updatedAt = impossible;
	await rm(join(days, name));
	await writeFile(join(days, `${day.day}_${fingerprintOf(day)}.json`), JSON.stringify(day));
	expect((await check()).findings.map(({ kind, message }) => `${kind}: ${message}`)).toEqual([
		expect.stringMatching(
			/^broken: was updated at .*, but its day manifest says 2026-13-01T00:00:00.000Z$/,
		),
		`changed: was updated at ${new Date(updatedAt).toISOString()}, in the archive ${impossible}`,
	]);
});

test("an entry that is marked as gone isn't reported", async () => {
	const [{ id, updatedAt, isStarred, startTime }] = await archived();
	await sandbox.control.deleteLifelog(id);
	const day = startTime.slice(0, 10);
	const goneAt = '2026-03-10T00:00:00.000Z';
	const left = (await archived()).filter((each) => each.startTime.startsWith(day));
	const chats = (await ownChats()).filter(({ createdAt }) => createdAt.startsWith(day)) as Chat[];
	// The day as it was archived again afterwards; the files of what is gone stay as they are.
	const before = (await check()).findings;
	expect(before.map(({ kind }) => kind)).toEqual(['gone']);
	const [old] = (await readdir(join(root, 'days'))).filter((name) => name.startsWith(day));
	const said = JSON.parse(await readFile(join(root, 'days', old), 'utf8'));
	const path = await writeDay(root, { day, lifelogs: left, chats });
	const now = JSON.parse(await readFile(join(root, path), 'utf8'));
	now.lifelogs[id] = { updatedAt, isStarred, files: said.lifelogs[id].files, goneAt };
	now.lifelogs[id].updatedAt = said.lifelogs[id].updatedAt;
	now.archivedAt = '2026-04-02T00:00:00.000Z';
	await writeFile(join(root, path), JSON.stringify(now));
	expect((await check()).findings).toEqual([]);
});

test("days after the last complete day aren't compared", async () => {
	const today = (await sandbox.control.lifelogs()).filter(({ startTime }) =>
		startTime.startsWith('2026-03-10'),
	);
	expect(today.length).toBeGreaterThan(0);
	const { findings } = await check({ until: '2026-03-10' });
	expect(findings.filter(({ kind }) => kind === 'new').length).toBeGreaterThanOrEqual(today.length);
});

test('a service with pages of ten, short pages and empty pages is read completely', async () => {
	await sandbox.control.dialect({ limit: { max: 10, above: 'reject' }, pages: 'emptyBetween' });
	expect((await check()).findings).toEqual([]);
	await sandbox.control.dialect({ limit: { max: 10, above: 'clamp' }, pages: 'short' });
	expect((await check()).findings).toEqual([]);
});

test('the rate limit is waited for, and temporary failures are retried', async () => {
	await sandbox.control.faults([
		{ path: '/v1/lifelogs', status: 429, body: { error: 'slow down', retryAfter: '1' } },
		{ path: '/v1/lifelogs', status: 429, headers: { 'retry-after': '0' }, body: {} },
		{ path: '/v1/lifelogs', status: 503 },
		{ path: '/v1/chats', reset: 'before' },
	]);
	expect((await check()).findings).toEqual([]);
	expect(waits).toEqual([1, 1]);
});

test.each([
	['a refused key', { key: 'wrong' }, /refuses the API key \(401\)\. Check LIFELOG_API_KEY/],
	['nobody there', { url: 'http://127.0.0.1:1' }, /127\.0\.0\.1:1 cannot be reached: /],
])(
	"%s is reported, and the archive isn't reported as complete",
	async (_what, options, message) => {
		await expect(check(options)).rejects.toThrow(message);
	},
);

test.each(['http://example.com', 'ftp://example.com', 'nonsense', 'https://me@example.com'])(
	"the key isn't sent to %s",
	async (address) => {
		const { code, stderr } = await command(address, 'secret');
		expect([code, stderr]).toEqual([2, expect.stringMatching(/^LIFELOG_BASE_URL /)]);
		expect(stderr).not.toContain('secret');
	},
);

test.each(['abc\nsecret', 'abc\u0001secret', 'schlüssel-secret'])(
	"a key that can't be sent in a header is refused, and not quoted: %j",
	async (key) => {
		const { code, stderr } = await command(sandbox.url, key);
		expect([code, stderr]).toEqual([2, expect.stringContaining('not a key')]);
		expect(stderr).not.toContain('secret');
		expect(await sandbox.control.requests()).toEqual([]);
	},
);

test('slashes and the version at the end of the address are accepted', () => {
	expect(serviceAddress('https://example.com/v1/')).toBe('https://example.com');
	expect(serviceAddress(' https://example.com// ')).toBe('https://example.com');
	expect(serviceAddress('http://localhost:8787/api/v1')).toBe('http://localhost:8787/api');
});

describe('a service with unexpected answers', () => {
	let server: Server;
	let answer: { status: number; body: string; headers?: Record<string, string> };
	let keys: unknown[];

	beforeEach(async () => {
		keys = [];
		server = createServer((request, response) => {
			keys.push(request.headers['x-api-key']);
			response.writeHead(answer.status, answer.headers).end(answer.body);
		});
		await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	});
	afterEach(() => server.close());

	const list = (entries: object[], nextCursor?: string) =>
		JSON.stringify({ data: { lifelogs: entries }, meta: { lifelogs: { nextCursor } } });

	test.each([
		['a page of HTML', { status: 200, body: '<html>' }, /isn't a list of lifelogs/],
		['JSON of another shape', { status: 200, body: '[]' }, /isn't a list of lifelogs/],
		['an entry without an ID', { status: 200, body: list([{}]) }, /isn't a list of lifelogs/],
		['an entry without a time', { status: 200, body: list([{ id: 'x' }]) }, /no times for/],
		['the same cursor for ever', { status: 200, body: list([], 'x') }, /does not end/],
		[
			'a redirect',
			{ status: 302, body: '', headers: { location: 'https://example.com' } },
			/redirects to another address \(302\)/,
		],
		[
			'a refusal that quotes the key',
			{ status: 400, body: JSON.stringify({ error: 'What is s3cret?' }) },
			/refuses the list of lifelogs \(400\): What is …\?$/,
		],
	])('%s', async (_what, given, message) => {
		answer = given;
		const { port } = server.address() as AddressInfo;
		await expect(check({ url: `http://127.0.0.1:${port}`, key: 's3cret' })).rejects.toThrow(
			message,
		);
		expect(new Set(keys)).toEqual(new Set(['s3cret']));
	});

	const clear = '\u001b[2J\u009b2J\n\u202e';
	const shown = '\ufffd[2J\ufffd2J\ufffd\ufffd';
	test.each([
		[
			{ status: 400, body: JSON.stringify({ error: `No ${clear}` }) },
			`refuses the list of lifelogs (400): No ${shown}\n`,
		],
		[{ status: 200, body: list([{ id: clear }]) }, `no times for the lifelog ${shown}.\n`],
	])('control characters in its text are replaced', async (given, message) => {
		answer = given;
		const { port } = server.address() as AddressInfo;
		const { code, stderr } = await command(`http://127.0.0.1:${port}`, 's3cret');
		expect(code).toBe(2);
		expect(stderr).toContain(message);
		expect(stderr.split('\n')).toHaveLength(2);
	});
});

/** Carries out the command as it is typed. */
async function command(url: string, key: string) {
	const env = { ...process.env, LIFELOG_API_KEY: key, LIFELOG_BASE_URL: url };
	const args = ['server/lifelog-server.cjs', 'check', root, '--service', '--until', YESTERDAY];
	const run = promisify(execFile)(process.execPath, args, { env });
	return (await run.catch((error: unknown) => error)) as {
		code?: number;
		stdout: string;
		stderr: string;
	};
}

test('the command asks the service with --service', async () => {
	const { id } = await sandbox.control.addLifelog({ startTime: '2026-03-08T12:34:00Z' });
	const { code, stdout } = await command(sandbox.url, sandbox.apiKey);
	expect(code).toBe(1);
	expect(stdout).toContain(
		`new         2026-03-08  ${id} is a lifelog that the archive does not have\n`,
	);
	expect(stdout).toMatch(
		/^Compared with \d+ lifelogs and chats of the service, up to 2026-03-09\.$/m,
	);
	expect(stdout).toContain('The archive is not complete: 1 new.');
	expect(stdout).not.toContain(sandbox.apiKey);
});

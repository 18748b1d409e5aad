// lifelog-server archive of what lists say too little about: no time of an update, a change without
// one, or no sign of a change at all.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Lifelog } from '../../../lifelog/api.ts';
import { archiving, checkFolder, contentsOf, runCommand } from '../../support/archiveCommand.mts';
import { addLifelog as addTo, dayAgo } from '../../support/lived.mts';
import { startLifelogServer } from '../../support/lifelogServer.mts';
import { changeDay, manifestOf as manifestIn } from '../../support/manifests.mts';
import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { serve, type Served } from '../../support/serve.mts';
import { ask, temporaryFolder } from '../sources.mts';

const UNLIMITED = { rateLimit: { max: 1_000_000 } };

let sandbox: TestSandbox;
let service: Served;
let folder: string;
/** What the service returns otherwise than the sandbox, by ID. */
let otherwise: Map<string, (lifelog: Lifelog) => object>;

beforeAll(async () => {
	sandbox = await startSandbox({ days: 1 });
	const changed = (lifelog: Lifelog) => otherwise.get(lifelog.id)?.(lifelog) ?? lifelog;
	service = await serve(async ({ url, headers }, response) => {
		const key = { 'x-api-key': String(headers['x-api-key']) };
		const answer = await fetch(sandbox.url + url, { headers: key });
		const type = answer.headers.get('content-type') ?? '';
		let body = Buffer.from(await answer.arrayBuffer());
		if (url!.startsWith('/v1/lifelogs') && answer.ok) {
			const { data, meta } = JSON.parse(body.toString());
			if (data.lifelogs) data.lifelogs = data.lifelogs.map(changed);
			if (data.lifelog) data.lifelog = changed(data.lifelog);
			body = Buffer.from(JSON.stringify({ data, meta }));
		}
		response.writeHead(answer.status, { 'content-type': type }).end(body);
	});
});
afterAll(async () => {
	await service.close();
	await sandbox.close();
});
beforeEach(async () => {
	await sandbox.control.reset({ empty: true, dialect: UNLIMITED });
	folder = join(temporaryFolder(), 'archive');
	otherwise = new Map();
});

const addLifelog = async (id: string, day: string, time: string) =>
	await addTo(sandbox, day, time, { id });
const manifestOf = (day: string) => manifestIn(folder, day);

/** Archives to the end, and returns the paths that were requested, without the lists. */
async function archive(...args: string[]): Promise<string[]> {
	await sandbox.control.clearRequests();
	const from = { url: service.url, apiKey: sandbox.apiKey };
	const { status, stderr } = await runCommand(...archiving(from, folder, ...args));
	expect([stderr, status]).toEqual([expect.any(String), 0]);
	const requests = await sandbox.control.requests();
	return requests
		.filter(({ path, query }) => !/^\/v1\/(lifelogs|chats)$/.test(path) || query.date !== undefined)
		.map(({ path, query }) => (query.date ? `${path}?date=${query.date}` : path));
}

const checked = async () => await checkFolder(folder, { ...sandbox, url: service.url });

/** A text that isn't a time of an archive, or nothing. */
const noTime = fc.oneof(
	fc.constantFrom(undefined, null, '', 'soon', 0, {}, '2026-02-30T10:00:00Z', '+012026-01-01'),
	fc.string().filter((text) => !/\d{2}/.test(text)),
);

test('a lifelog without updatedAt is saved, and its end is in the manifest, in check and on the server', async () => {
	const forms = fc.sample(noTime, 30);
	const day = dayAgo(3);
	for (const [nth, updatedAt] of forms.entries()) {
		const id = `l${nth}`;
		await addLifelog(id, day, `10:${String(nth).padStart(2, '0')}:00`);
		otherwise.set(id, (lifelog) => ({ ...lifelog, updatedAt }));
	}
	await archive();
	const { lifelogs, isComplete } = manifestOf(day);
	expect([Object.keys(lifelogs).length, isComplete]).toEqual([forms.length, true]);
	expect(await checked()).toMatchObject({ findings: [], isComplete: true });
	const server = await startLifelogServer(folder);
	const { data } = await (await ask(server, `/v1/lifelogs?date=${day}&limit=100`)).json();
	await server.close();
	expect(data.lifelogs).toHaveLength(forms.length);
	for (const { id, endTime, updatedAt } of data.lifelogs as Lifelog[]) {
		expect(Date.parse(lifelogs[id].updatedAt)).toBe(Date.parse(endTime));
		expect(updatedAt).toBe(endTime);
	}
});

test('one without updatedAt is read again in each run for 31 days, and stored if it has changed', async () => {
	for (const days of [33, 3]) {
		await addLifelog(`undated${days}`, dayAgo(days), '10:00:00');
		await addLifelog(`dated${days}`, dayAgo(days), '12:00:00');
		otherwise.set(`undated${days}`, (lifelog) => ({ ...lifelog, updatedAt: undefined }));
	}
	await archive();
	const before = contentsOf(folder);
	for (let run = 0; run < 2; run++) {
		expect(await archive()).toEqual(['/v1/lifelogs/undated3']);
		// Not even the manifest is written, because late audio is asked for by the time in it.
		expect(contentsOf(folder)).toEqual(before);
	}
	otherwise.set('undated3', (lifelog) => ({
		...lifelog,
		updatedAt: undefined,
		markdown: 'Other words',
	}));
	expect(await archive()).toEqual(['/v1/lifelogs/undated3']);
	const [{ path }] = manifestOf(dayAgo(3)).lifelogs.undated3.files;
	expect(JSON.parse(readFileSync(join(folder, path), 'utf8')).markdown).toBe('Other words');
	expect(await checked()).toMatchObject({ findings: [], isComplete: true });
});

test('another title or end is noticed though updatedAt is the same, and the manifest has no words', async () => {
	const said = fc.record({
		title: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('Tea', 'Tea ', 'tea', '')),
		seconds: fc.integer({ min: 1, max: 5 }),
	});
	const pairs = fc.sample(fc.tuple(said, fc.oneof(said, fc.constant(undefined))), 40);
	const day = dayAgo(33);
	const returns = (id: string, { title, seconds }: { title: string; seconds: number }) =>
		otherwise.set(id, (lifelog) => {
			const endTime = new Date(Date.parse(lifelog.startTime) + seconds * 1000).toISOString();
			return { ...lifelog, title, endTime };
		});
	for (const [nth, [first]] of pairs.entries()) {
		await addLifelog(`l${nth}`, day, `10:${String(nth).padStart(2, '0')}:00`);
		returns(`l${nth}`, first);
	}
	await archive();
	expect(await archive()).toEqual([]);
	const text = JSON.stringify(manifestOf(day));
	for (const [{ title }] of pairs.filter(([{ title }]) => title.length > 5)) {
		expect(text).not.toContain(title);
	}
	const changed = new Set<string>();
	for (const [nth, [first, second]] of pairs.entries()) {
		if (!second) continue;
		returns(`l${nth}`, second);
		const isSame = first.title === second.title && first.seconds === second.seconds;
		if (!isSame) changed.add(`l${nth}`);
	}
	const found = (await checked()).findings.map(({ kind, id }) => `${kind} ${id}`);
	expect(found.sort()).toEqual([...changed].map((id) => `changed ${id}`).sort());
	const before = manifestOf(day).lifelogs;
	await archive();
	const after = manifestOf(day).lifelogs;
	const stored = Object.keys(after).filter((id) => after[id].listed !== before[id].listed);
	expect(new Set(stored)).toEqual(changed);
	expect(await checked()).toMatchObject({ findings: [], isComplete: true });
	expect(await archive()).toEqual([]);
});

test("title and end aren't compared with a manifest that doesn't have them", async () => {
	const day = dayAgo(33);
	await addLifelog('l', day, '10:00:00');
	await archive();
	changeDay(folder, day, (file) => {
		delete file.lifelogs.l.listed;
		return file;
	});
	otherwise.set('l', (lifelog) => ({ ...lifelog, title: 'Another' }));
	expect((await checked()).findings).toEqual([]);
	expect(await archive()).toEqual([]);
});

test('--again reads a day whose lists show no change', async () => {
	for (const days of [32, 33]) await addLifelog(`l${days}`, dayAgo(days), '10:00:00');
	await sandbox.control.addChat({ id: 'c', createdAt: `${dayAgo(33)}T12:00:00.000Z` });
	await archive();
	const before = contentsOf(folder);
	const rename = (lifelog: Lifelog) => ({
		...lifelog,
		contents: lifelog.contents.map((node) => ({ ...node, speakerName: 'Anna' })),
	});
	for (const days of [32, 33]) otherwise.set(`l${days}`, rename);
	expect(await archive()).toEqual([]);
	const requests = await archive('--again', dayAgo(33));
	expect(requests.filter((path) => !path.includes('audio')).sort()).toEqual([
		'/v1/chats/c',
		'/v1/lifelogs/l33',
	]);
	const after = contentsOf(folder);
	expect(Object.keys(after)).toEqual(Object.keys(before));
	const changed = Object.keys(after).filter((path) => after[path] !== before[path]);
	const text = changed.filter((path) => path.startsWith('lifelogs/'));
	expect(text.length).toBeGreaterThan(0);
	for (const path of changed) expect(path).not.toContain(dayAgo(32));
	expect(after[text.find((path) => path.endsWith('.json'))!]).toContain('Anna');
	expect(await checked()).toMatchObject({ findings: [], isComplete: true });
});

test.each([
	['no day', ['--again', '2026-02-30'], /--again must be a day/],
	['today', ['--again', dayAgo(0)], /isn't over yet/],
	['a day outside of the others', ['--again', dayAgo(9), '--from', dayAgo(5)], /isn't in the days/],
	['--watch', ['--again', dayAgo(9), '--watch', '5'], /can't be used together/],
])('--again with %s is refused', async (_what, args, message) => {
	const { status, stderr } = await runCommand(...archiving(sandbox, folder, ...args));
	expect([status, stderr]).toEqual([2, expect.stringMatching(message)]);
});

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import { Folder } from '../../../server/archive/folder.mts';
import type { DayManifest } from '../../../server/archive/layout.mts';
import { addTo, draftLifelog } from '../../../server/archive/additions.mts';
import { changeDays } from '../../../server/archive/changeDays.mts';
import { clearDrafts, withDrafts } from '../../../server/archive/drafts.mts';
import { fingerprintOf } from '../../../server/archive/fingerprint.mts';
import { writeArchive } from '../../support/archive.mts';
import { findingsIn } from '../../support/findings.mts';
import { lifelogOf } from '../../support/invented.mts';
import { spawnLifelogServer } from '../../support/lifelogServer.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

const allow = ['--allow-changes', '--allow-delete'];
let folder: string;
let server: SpawnedServer;
/** A day of each test's own. */
let day: string;
let startTime: string;
let tests = 0;

beforeAll(async () => {
	folder = temporaryFolder();
	server = await startLifelogServer(folder, allow);
});
beforeEach(() => {
	day = new Date(Date.UTC(2026, 0, (tests += 1))).toISOString().slice(0, 10);
	startTime = `${day}T09:04:12.500+01:00`;
});
afterAll(() => server.close());

async function restart(args = allow): Promise<void> {
	await server.close();
	server = await startLifelogServer(folder, args);
}

interface Answer {
	status: number;
	lifelog: Lifelog;
	error: string;
	body: { data?: { lifelog: Lifelog | null; status?: string } };
}

async function send(method: string, path: string, body?: unknown, to = server): Promise<Answer> {
	const response = await ask(to, path, {
		method,
		...(body !== undefined && {
			headers: { 'content-type': 'application/json' },
			body: typeof body === 'string' ? body : JSON.stringify(body),
		}),
	});
	const answer = await response.json();
	return {
		status: response.status,
		lifelog: answer.data?.lifelog,
		error: answer.error,
		body: answer,
	};
}
const create = (body: unknown, to = server) => send('POST', '/v1/lifelogs', body, to);
const change = (id: string, body: unknown) => send('PATCH', `/v1/lifelogs/${id}`, body);
const get = (id: string) => send('GET', `/v1/lifelogs/${id}`);
const list = async (query: string): Promise<Lifelog[]> =>
	(await (await ask(server, `/v1/lifelogs?${query}`)).json()).data.lifelogs;

const tomatoes = [
	{ text: 'Did the tomatoes get any water? It is dry.', speaker: 'SPEAKER_00', start: 0, end: 2.4 },
	{ text: 'Not yet, the hose is leaking.', speaker: 'SPEAKER_01', start: 2.6, end: 4.1 },
];

/** The manifest of the test's day. */
function manifest(): DayManifest {
	const names = readdirSync(join(folder, 'days')).filter((name) => name.startsWith(day));
	expect(names).toHaveLength(1);
	return JSON.parse(readFileSync(join(folder, 'days', names[0]), 'utf8'));
}

describe('creating a lifelog', () => {
	test('returns it like the service, and serves and finds it immediately', async () => {
		const before = Date.now();
		const { status, lifelog } = await create({
			transcript: tomatoes,
			startTime,
			timezone: 'Europe/Berlin',
		});
		expect(status).toBe(201);
		const title = 'Did the tomatoes get any water?';
		const node = (type: string, content: string, from: number, to: number, more = {}) => ({
			...{ type, content, startOffsetMs: from, endOffsetMs: to, children: [] },
			startTime: `${day}T09:04:${(12.5 + from / 1000).toFixed(3)}+01:00`,
			endTime: `${day}T09:04:${(12.5 + to / 1000).toFixed(3)}+01:00`,
			...more,
		});
		expect(lifelog).toEqual({
			...{ id: expect.stringMatching(/^made-[0-9a-f]{20}$/), title, isStarred: false },
			markdown: `# ${title}\n\n> SPEAKER_00: ${tomatoes[0].text}\n\n> SPEAKER_01: ${tomatoes[1].text}`,
			contents: [
				node('heading1', title, 0, 4100),
				node('blockquote', tomatoes[0].text, 0, 2400, {
					...{ speakerName: 'SPEAKER_00', speakerIdentifier: null },
				}),
				node('blockquote', tomatoes[1].text, 2600, 4100, {
					...{ speakerName: 'SPEAKER_01', speakerIdentifier: null },
				}),
			],
			startTime,
			endTime: `${day}T09:04:16.600+01:00`,
			updatedAt: expect.any(String),
		});
		expect(Date.parse(lifelog.updatedAt)).toBeGreaterThanOrEqual(before);
		const query = `date=${day}&timezone=Europe/Berlin`;
		expect(await list(query)).toEqual([lifelog]);
		expect(await list(`${query}&search=leaking`)).toEqual([lifelog]);
	});

	test("writes it to the archive as a lifelog that the service doesn't have", async () => {
		await writeArchive(folder, { lifelogs: [lifelogOf('s1', `${day}T07:00:00Z`)] });
		const { lifelog } = await create({ transcript: tomatoes, startTime, externalId: 'garden/1' });
		const written = manifest();
		const entry = written.lifelogs[lifelog.id];
		expect(entry).toMatchObject({
			updatedAt: lifelog.updatedAt,
			isStarred: false,
			goneAt: expect.any(String),
			madeHere: { source: 'api', externalId: 'garden/1' },
		});
		const { s1, ...made } = written.lifelogs;
		expect(Object.keys(made)).toEqual([lifelog.id]);
		// So that archiving compares as before.
		expect(fingerprintOf(written)).toBe(fingerprintOf({ ...written, lifelogs: { s1 } }));
		const place = `lifelogs/${day.replaceAll('-', '/')}/${day}_08h04m12s_${lifelog.id}`;
		expect(entry.files.map(({ path }) => path)).toEqual([`${place}.json`, `${place}.md`]);
		expect(readFileSync(join(folder, `${place}.md`), 'utf8')).toContain(
			'\n**Speaker 2** (08:04:15): Not yet, the hose is leaking.\n',
		);
		expect(await findingsIn(folder)).toEqual([]);
	});

	test('writes the times of its Markdown in the zone of --timezone', async () => {
		await restart([...allow, '--timezone', 'Asia/Kathmandu']);
		const { lifelog } = await create({ transcript: tomatoes, startTime });
		const { files } = manifest().lifelogs[lifelog.id];
		const text = readFileSync(join(folder, files[1].path), 'utf8');
		expect(text).toContain('**Speaker 2** (13:49:15): Not yet, the hose is leaking.');
		expect(text).toContain('\ntimezone: "Asia/Kathmandu"\n');
		expect(text).toContain('\nsource: "lifelog-server"\n');
	});

	test('survives a restart and a rebuild of the index', async () => {
		const { lifelog } = await create({ transcript: tomatoes, startTime });
		await server.close();
		rmSync(join(folder, '.lifelog-index.sqlite'));
		server = await startLifelogServer(folder, allow);
		expect((await get(lifelog.id)).lifelog).toEqual({ ...lifelog, ...utc(lifelog) });
	});

	test('twice with the same external ID, at once or later, is one lifelog', async () => {
		const body = { transcript: tomatoes, startTime, externalId: '__proto__' };
		const answers = await Promise.all([create(body), create(body), create(body)]);
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
		const again = await create({ ...body, startTime: '2025-03-05T00:00:00Z', title: 'Other' });
		expect(again.status).toBe(200);
		for (const { lifelog } of [...answers, again]) expect(lifelog).toEqual(answers[0].lifelog);
		await restart();
		expect((await create(body)).status).toBe(200);
		expect(await list(`date=${day}`)).toHaveLength(1);
	});

	test.each(['', ' \t', null])(
		'with the external ID %j stores no external ID',
		async (externalId) => {
			const answers = [
				await create({ transcript: tomatoes, startTime, externalId }),
				await create({ transcript: tomatoes, startTime: `${day}T10:00:00Z`, externalId }),
			];
			expect(answers.map(({ status }) => status)).toEqual([201, 201]);
			expect(manifest().lifelogs[answers[0].lifelog.id].madeHere).toEqual({ source: 'api' });
		},
	);

	test('treats null like a missing field', async () => {
		const nothing = { title: null, endTime: null, timezone: null };
		const { status, lifelog } = await create({ transcript: tomatoes, startTime, ...nothing });
		expect([status, lifelog.startTime]).toEqual([201, `${day}T08:04:12.500Z`]);
		await change(lifelog.id, { isStarred: true });
		const changed = await change(lifelog.id, { title: 'Hose', isStarred: null, speakers: null });
		expect(changed.lifelog).toMatchObject({ title: 'Hose', isStarred: true });
	});

	test('twice with the same words at the same time is one lifelog, at another time another lifelog', async () => {
		const first = await create({ transcript: tomatoes, startTime });
		expect((await create({ transcript: tomatoes, startTime })).body).toEqual(first.body);
		const other = await create({ transcript: tomatoes, startTime: `${day}T10:00:00Z` });
		expect(other.status).toBe(201);
		// The same time alone makes nothing the same.
		const third = [{ ...tomatoes[0], end: 4.1, text: 'Somebody else heard this.' }];
		expect((await create({ transcript: third, startTime })).status).toBe(201);
		expect(await list(`date=${day}`)).toHaveLength(3);
	});

	test('while another program writes to the same day loses nothing of either', async () => {
		const archive = await Folder.open(folder);
		const other = async (n: number): Promise<void> => {
			const lifelog = lifelogOf(`other${n}`, `${day}T2${n % 4}:${10 + n}:00Z`);
			await withDrafts(archive.root, async (drafts) => {
				const added = await draftLifelog(drafts, lifelog, 'UTC');
				await changeDays(archive, [day], (days) => addTo(days.get(day)!, { lifelogs: [added] }));
			});
		};
		const numbers = [0, 1, 2, 3, 4, 5, 6, 7];
		const others = numbers.reduce((last, n) => last.then(() => other(n)), Promise.resolve());
		const mine = numbers.map((n) =>
			create({ transcript: tomatoes, startTime: `${day}T08:0${n}:00Z` }),
		);
		await others;
		for (const { status } of await Promise.all(mine)) expect(status).toBe(201);
		expect(Object.keys(manifest().lifelogs)).toHaveLength(16);
		expect(readdirSync(join(folder, '.lifelog-drafts'))).toEqual([]);
	});

	test("isn't harmed while another program clears the drafts of killed ones", async () => {
		const idsOfDay = async () =>
			(await list(`date=${day}&timezone=UTC&limit=100`)).map(({ id }) => id);
		const before = await idsOfDay();
		let isDone = false;
		const clearing = (async () => {
			while (!isDone) {
				await clearDrafts(folder);
				await sleep(20);
			}
		})();
		const answers: Answer[] = [];
		for (let nth = 0; nth < 60; nth++) {
			const start = new Date(Date.parse(startTime) + nth * 60_000).toISOString();
			answers.push(await create({ transcript: tomatoes, startTime: start }));
		}
		isDone = true;
		await clearing;
		for (const { status } of answers) expect(status).toBe(201);
		const ids = (await idsOfDay()).filter((id) => !before.includes(id)).sort();
		expect(answers.map(({ lifelog }) => lifelog?.id).sort()).toEqual(ids);
		expect(await findingsIn(folder)).toEqual([]);
	});

	test("whose file can't be read replaces nothing", async () => {
		const body = { transcript: tomatoes, startTime, externalId: 'unreadable' };
		const { lifelog } = await create(body);
		const { path } = manifest().lifelogs[lifelog.id].files[0];
		const json = readFileSync(join(folder, path), 'utf8');
		await server.close();
		writeFileSync(join(folder, path), `${json} `);
		rmSync(join(folder, '.lifelog-index.sqlite'));
		server = await startLifelogServer(folder, allow);
		const again = await create(body);
		expect([again.status, again.error]).toEqual([409, expect.stringContaining('cannot be read')]);
		expect(readFileSync(join(folder, path), 'utf8')).toBe(`${json} `);
		writeFileSync(join(folder, path), json);
		expect(await findingsIn(folder)).toEqual([]);
	});

	test.each<[string, (segments: object[]) => unknown]>([
		['a list', (segments) => segments],
		['verbose_json', (segments) => ({ segments })],
		['Omi', (transcript_segments) => ({ transcript_segments })],
	])('keeps all words of %s with missing times', async (_name, form) => {
		const [first, second] = tomatoes;
		const transcript = form([
			{ ...first, end: null },
			{ ...second, end: null },
			{ ...first, start: null, end: 7 },
			{ ...second, start: 8, end: null },
		]);
		const endTime = `${day}T09:04:22.500+01:00`;
		const { status, lifelog, error } = await create({ transcript, startTime, endTime });
		expect([status, error]).toEqual([201, undefined]);
		const lines = lifelog.contents.filter(({ type }) => type === 'blockquote');
		expect(lines.map(({ startOffsetMs, endOffsetMs }) => [startOffsetMs, endOffsetMs])).toEqual([
			...[
				[0, 2600],
				[2600, 8000],
				[2600, 7000],
				[8000, 10_000],
			],
		]);
	});

	test.each([
		['WebVTT', 'WEBVTT\n\n00:00.000 --> 00:02.000\n<v Ren&eacute;e>{\\an8}It&#39;s <i>late</i>.'],
		[
			'SRT',
			'1\n00:00:00,000 --> 00:00:02,000\n<v Renée>{\\an8}It&#39;s <font color="red">late</font>.',
		],
	])('of %s without its tags', async (_name, transcript) => {
		const { lifelog } = await create({ transcript, startTime });
		expect(lifelog.markdown).toBe("# It's late.\n\n> Renée: It's late.");
	});

	test('from Omi keeps its title, time, wearer and ID', async () => {
		const omi = JSON.parse(
			readFileSync(
				join(process.cwd(), 'test/server/recordings/transcripts/omi-webhook.json'),
				'utf8',
			),
		);
		day = '2026-03-01';
		const { status, lifelog } = await create({ transcript: omi });
		expect(status).toBe(201);
		expect(lifelog).toMatchObject({
			title: 'A leaking garden hose',
			startTime: '2026-03-01T08:04:12.384Z',
			endTime: '2026-03-01T08:04:30.384Z',
		});
		expect(lifelog.contents[1]).toMatchObject({ speakerName: 'You', speakerIdentifier: 'user' });
		expect(manifest().lifelogs[lifelog.id].madeHere).toEqual({
			source: 'api',
			externalId: 'memory_tomatoes1',
		});
		expect((await create({ transcript: JSON.stringify(omi) })).status).toBe(200);
	});

	test.each([
		['finished_at', {}, `T10:09:25.384Z`],
		['created_at', { finished_at: null }, `T10:10:08.910Z`],
	])('from Omi without a start begins before %s', async (_name, times, expected) => {
		const omi = JSON.parse(
			readFileSync(
				join(process.cwd(), 'test/server/recordings/transcripts/omi-webhook.json'),
				'utf8',
			),
		);
		const { created_at, ...more } = { ...omi, id: day, started_at: null };
		const transcript = {
			...more,
			created_at: `${day}T10:10:15.910559+00:00`,
			finished_at: `${day}T10:09:32.384323`,
			...times,
		};
		expect(created_at).toBeDefined();
		const { status, lifelog } = await create({ transcript, timezone: 'UTC' });
		expect([status, lifelog?.startTime]).toEqual([201, day + expected]);
		expect((await create({ transcript })).status).toBe(200);
	});

	test('from Omi with another start ends with its last words', async () => {
		const omi = JSON.parse(
			readFileSync(
				join(process.cwd(), 'test/server/recordings/transcripts/omi-webhook.json'),
				'utf8',
			),
		);
		const answer = await create({ transcript: omi, startTime, externalId: 'earlier' });
		const { contents, endTime } = answer.lifelog;
		expect(endTime).toBe(contents.at(-1)!.endTime);
	});

	test('takes a title, sanitizes it and shortens it', async () => {
		const title = ` \u202e${'Tomatoes and more '.repeat(20)}\n`;
		const { lifelog } = await create({ transcript: tomatoes, startTime, title });
		expect([...lifelog.title].length).toBeLessThanOrEqual(200);
		expect(lifelog.title).toMatch(/^Tomatoes and more .*…$/);
		expect(lifelog.contents[0].content).toBe(lifelog.title);
	});

	test.each([
		['2026-03-29 02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
		['2026-10-25 02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
		['2026-10-25T02:30:00+01:00', 'Europe/Berlin', '2026-10-25T01:30:00.000Z'],
		['2026-03-01 09:00', undefined, '2026-03-01T09:00:00.000Z'],
		['2026-03-01T09:00:00.123456Z', 'Asia/Tokyo', '2026-03-01T09:00:00.123Z'],
		[1772352252500, 'Asia/Tokyo', '2026-03-01T08:04:12.500Z'],
		['20260301T090412Z', 'Asia/Tokyo', '2026-03-01T09:04:12.000Z'],
		['20260301T090412.5+0100', 'Asia/Tokyo', '2026-03-01T08:04:12.500Z'],
		['20260301T0904', 'Europe/Berlin', '2026-03-01T08:04:00.000Z'],
		// A `+` that a form has decoded.
		['2026-03-01T09:04:12 01:00', 'Asia/Tokyo', '2026-03-01T08:04:12.000Z'],
		['2026-03-01 09:04 0530', undefined, '2026-03-01T03:34:00.000Z'],
	])('begins at %s in %s', async (time, timezone, expected) => {
		// Each is a lifelog of its own, whatever else began then.
		const externalId = `${time} ${timezone}`;
		const { lifelog } = await create({
			transcript: tomatoes,
			startTime: time,
			timezone,
			externalId,
		});
		expect(new Date(lifelog.startTime).toISOString()).toBe(expected);
	});

	test('of 10,000 segments, out of order and overlapping, is served in order', async () => {
		const transcript = Array.from({ length: 10_000 }, (_, n) => {
			const at = (n * 7919) % 10_000;
			const said = { text: `Word number ${at}.`, speaker: `S${at % 3}` };
			// What isn't read counts for the size of the body only.
			return { ...said, start: at * 2, end: at * 2 + 3, words: 'x'.repeat(1000) };
		});
		const { status, lifelog } = await create({ transcript, startTime });
		expect(status).toBe(201);
		const offsets = lifelog.contents.slice(1).map(({ startOffsetMs }) => startOffsetMs);
		expect(offsets).toEqual(Array.from({ length: 10_000 }, (_, n) => n * 2000));
		expect(await findingsIn(folder)).toEqual([]);
	});
});

/** The times of a lifelog in UTC. */
function utc({ startTime: from, endTime, updatedAt }: Lifelog) {
	const iso = (time: string) => new Date(time).toISOString();
	return { startTime: iso(from), endTime: iso(endTime), updatedAt: iso(updatedAt) };
}

describe("a lifelog that can't be created is refused, and nothing is written", () => {
	const valid = { transcript: tomatoes, startTime: '2026-11-01T08:04:12Z' };
	const everything = () =>
		readdirSync(folder, { recursive: true, encoding: 'utf8' })
			.filter((path) => !path.includes('index.sqlite'))
			.sort();

	test.each<[string, unknown, number, RegExp]>([
		['a list', [], 400, /body|object/],
		['no transcript', { startTime: valid.startTime }, 400, /transcript/],
		['no start', { transcript: tomatoes }, 400, /startTime is missing\. Send it/],
		['a start that is no time', { ...valid, startTime: 'yesterday' }, 400, /startTime "yesterday"/],
		['a 30 February', { ...valid, startTime: '2026-02-30T08:00:00Z' }, 400, /startTime/],
		['the year 9999', { ...valid, startTime: '9999-12-31T23:59:59Z' }, 400, /in the future/],
		['a 30 February in digits', { ...valid, startTime: '20260230T080000Z' }, 400, /startTime/],
		['an hour 25 in digits', { ...valid, startTime: '20260301T250000' }, 400, /startTime/],
		['a year of five digits', { ...valid, startTime: '+010000-01-01T00:00:00Z' }, 400, /startTime/],
		['the day after tomorrow', { ...valid, startTime: Date.now() + 2 * 86_400_000 }, 400, /future/],
		['1999', { ...valid, startTime: '1999-12-31' }, 400, /before the year 2000/],
		[
			'an end before the start',
			{ ...valid, endTime: '2026-11-01T08:00:00Z' },
			400,
			/endTime is before/,
		],
		[
			'an end two days and more after the start',
			{ ...valid, startTime: '2026-10-01T08:00:00Z', endTime: '2026-10-03T08:00:01Z' },
			400,
			/endTime is more than 48 hours after/,
		],
		['an unknown zone', { ...valid, timezone: 'Mars/Olympus' }, 400, /timezone/],
		['a title that is a number', { ...valid, title: 5 }, 400, /^title must be string or null$/],
		['a start that is a list', { ...valid, startTime: [1772352252500] }, 400, /startTime must be/],
		['an external ID that is a number', { ...valid, externalId: 7 }, 400, /externalId must be/],
		['a transcript that is null', { ...valid, transcript: null }, 400, /transcript/],
		[
			'a wrong segment',
			{ ...valid, transcript: [...tomatoes, { text: 'a', start: 5, end: 4 }] },
			400,
			/segment 3 ends before it starts/,
		],
		['JSON that is cut', '{"transcript": [', 400, /JSON/i],
		[
			'a body of 17 MiB',
			{ ...valid, transcript: 'x'.repeat(17 * 2 ** 20) },
			413,
			/larger than 16 MiB/,
		],
	])('%s', async (_name, body, status, problem) => {
		const before = everything();
		const answer = await create(body);
		expect([answer.status, answer.error]).toEqual([status, expect.stringMatching(problem)]);
		expect(everything()).toEqual(before);
	});

	test('a body that is too large, also if the client reads the answer only after sending everything', async () => {
		const { hostname, port } = new URL(server.url);
		const socket = connect(Number(port), hostname).pause();
		const head = [
			'POST /v1/lifelogs HTTP/1.1',
			`host: ${hostname}`,
			`x-api-key: ${server.apiKey}`,
			'content-type: application/json',
			`content-length: ${17 * 2 ** 20}`,
		];
		socket.write(`${head.join('\r\n')}\r\n\r\n`);
		await sleep(200);
		await promisify((end: () => void) => socket.write('x'.repeat(17 * 2 ** 20), end))();
		expect(await text(socket)).toMatch(/^HTTP\/1.1 413 .*larger than 16 MiB/s);
	});

	test('without --allow-changes, which the error names, and deletes need their own option', async () => {
		const { lifelog } = await create({ ...valid, startTime });
		await restart(['--allow-delete']);
		for (const { status, error } of [
			await create(valid),
			await change(lifelog.id, { title: 'x' }),
		]) {
			expect([status, error]).toEqual([403, expect.stringContaining('--allow-changes')]);
		}
		await restart(['--allow-changes']);
		const { status, error } = await send('DELETE', `/v1/lifelogs/${lifelog.id}`);
		expect([status, error]).toEqual([403, expect.stringContaining('--allow-delete')]);
		expect((await change(lifelog.id, { title: 'x' })).status).toBe(200);
		await restart();
	});

	test('by the second server on a folder', async () => {
		const index = ['--index', join(temporaryFolder(), 'index')];
		const second = await startLifelogServer(folder, [...allow, ...index]);
		const { status, error } = await create(valid, second);
		expect([status, error]).toEqual([403, expect.stringContaining('Another lifelog-server')]);
		await second.close();
	});

	test('without a key', async () => {
		const { status } = await create(valid, { ...server, apiKey: 'wrong' });
		expect(status).toBe(401);
	});

	const onLinux = process.platform === 'linux' ? test : test.skip;
	onLinux('on a full disk, and no draft is left behind', async () => {
		await server.close();
		const { child, ready } = spawnLifelogServer(folder, allow);
		server = await ready;
		const limit = (bytes: string) =>
			spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);
		expect(limit('70000').status).toBe(0);
		const long = Array.from({ length: 1000 }, (_, n) => ({ text: `w${n}`, start: n, end: n }));
		const { status, error } = await create({ transcript: long, startTime });
		limit('unlimited');
		expect([status, error]).toEqual([
			507,
			expect.stringContaining('The disk of the server is full'),
		]);
		expect(readdirSync(join(folder, '.lifelog-drafts'))).toEqual([]);
		expect((await create({ transcript: long, startTime })).status).toBe(201);
		expect(await findingsIn(folder)).toEqual([]);
	});
});

describe('changing a lifelog', () => {
	const names = (nodes: ContentNode[]) =>
		nodes.flatMap(({ speakerName }) => (speakerName ? [speakerName] : []));

	test('changes title, star and names, moves updatedAt, and survives a restart', async () => {
		const { lifelog } = await create({ transcript: tomatoes, startTime });
		const changed = await change(lifelog.id, {
			title: 'The garden',
			isStarred: true,
			speakers: { SPEAKER_00: 'Anna' },
		});
		expect(changed.status).toBe(200);
		expect(changed.lifelog).toMatchObject({ title: 'The garden', isStarred: true });
		expect(changed.lifelog.contents[0].content).toBe('The garden');
		expect(changed.lifelog.markdown).toMatch(/^# The garden\n\n> Anna: Did/);
		expect(names(changed.lifelog.contents)).toEqual(['Anna', 'SPEAKER_01']);
		expect(changed.lifelog.updatedAt > lifelog.updatedAt).toBe(true);
		// By the current names.
		const again = await change(lifelog.id, { speakers: { Anna: 'Ben', SPEAKER_01: 'Anna' } });
		expect(names(again.lifelog.contents)).toEqual(['Ben', 'Anna']);
		expect(manifest().lifelogs[lifelog.id]).toMatchObject({
			...{ updatedAt: lifelog.updatedAt, isStarred: false },
			edited: {
				...{ title: 'The garden', isStarred: true, at: again.lifelog.updatedAt },
				speakers: { SPEAKER_00: 'Ben', SPEAKER_01: 'Anna' },
			},
		});
		expect(await list(`date=${day}&isStarred=true`)).toEqual([again.lifelog]);
		expect(await list(`date=${day}&search="the garden"`)).toEqual([again.lifelog]);
		expect(await findingsIn(folder)).toEqual([]);
		await server.close();
		rmSync(join(folder, '.lifelog-index.sqlite'));
		server = await startLifelogServer(folder, allow);
		expect((await get(lifelog.id)).lifelog).toEqual(again.lifelog);
	});

	test('of the service keeps the values of the service, too', async () => {
		const stored = lifelogOf('s2', `${day}T07:00:00Z`);
		const [before] = await writeArchive(folder, { lifelogs: [stored] });
		const { lifelog } = await change('s2', { title: 'Mine', speakers: { Anna: 'Eva' } });
		expect(lifelog).toMatchObject({
			title: 'Mine',
			markdown: expect.stringMatching(/^# Mine\n\n> Eva: /),
		});
		expect(Date.parse(lifelog.updatedAt)).toBeGreaterThan(Date.parse(stored.updatedAt));
		// The same name, so the same fingerprint.
		expect(existsSync(join(folder, before))).toBe(true);
		expect(manifest().lifelogs.s2).toMatchObject({ updatedAt: stored.updatedAt, isStarred: false });
		expect(await findingsIn(folder)).toEqual([]);
	});

	test('with versions on two days uses the one that the service changed last', async () => {
		const [from, to] = [`${day}T23:00:00Z`, `${day}T23:30:00Z`].map(Date.parse);
		const next = new Date(from + 7_200_000).toISOString();
		const old = lifelogOf('s4', new Date(from).toISOString(), { title: 'Old' });
		const updatedAt = new Date(to).toISOString();
		await writeArchive(folder, { lifelogs: [old] });
		await change('s4', { title: 'Mine' });
		await writeArchive(folder, { lifelogs: [lifelogOf('s4', next, { updatedAt, title: 'New' })] });
		while ((await get('s4')).lifelog.title === 'Mine') await sleep(100);
		expect((await get('s4')).lifelog).toMatchObject({ title: 'New', updatedAt });
	});

	test('moves updatedAt at each change, even if it is later than the clock', async () => {
		const updatedAt = new Date(Date.now() + 3_600_000).toISOString();
		await writeArchive(folder, {
			lifelogs: [lifelogOf('s3', `${day}T07:00:00Z`, { updatedAt })],
		});
		const first = await change('s3', { isStarred: true });
		const second = await change('s3', { isStarred: false });
		expect(first.lifelog.updatedAt > updatedAt).toBe(true);
		expect(second.lifelog.updatedAt > first.lifelog.updatedAt).toBe(true);
	});

	test('can give two speakers one name, and then renames both', async () => {
		const { lifelog } = await create({ transcript: tomatoes, startTime });
		await change(lifelog.id, { speakers: { SPEAKER_00: 'Anna', SPEAKER_01: 'Anna' } });
		const both = await change(lifelog.id, { speakers: { Anna: 'Eva' } });
		expect(names(both.lifelog.contents)).toEqual(['Eva', 'Eva']);
		const back = await change(lifelog.id, { speakers: { Eva: 'SPEAKER_00' } });
		expect(names(back.lifelog.contents)).toEqual(['SPEAKER_00', 'SPEAKER_00']);
	});

	test.each<[string, unknown, number, RegExp]>([
		['nothing', {}, 400, /fewer than 1|nothing to change/],
		['a list', [], 400, /object/],
		['only what there is not', { contents: [] }, 400, /nothing to change/],
		['an empty title', { title: '\u202e ' }, 400, /title/],
		['a long title', { title: 'x'.repeat(201) }, 400, /title/],
		['a star that is none', { isStarred: 'maybe' }, 400, /isStarred/],
		['a star in quotes', { isStarred: 'true' }, 400, /isStarred must be boolean or null/],
		['nothing but null', { title: null, isStarred: null }, 400, /nothing to change/],
		['no new name', { speakers: { SPEAKER_00: null } }, 400, /must be string/],
		['a name that is none', { speakers: { SPEAKER_00: {} } }, 400, /SPEAKER_00/],
		['an empty name', { speakers: { SPEAKER_00: '\u0007' } }, 400, /speakers/],
		[
			'an unknown speaker',
			{ title: 'x', speakers: { Anna: 'Eva' } },
			400,
			/nobody is called "Anna".*"SPEAKER_00", "SPEAKER_01"/,
		],
		[
			'a property of every object',
			{ speakers: { toString: 'Eva' } },
			400,
			/nobody is called "toString"/,
		],
		['__proto__', '{"speakers":{"__proto__":"Eva"}}', 400, /./],
	])('to %s is refused', async (_name, body, status, problem) => {
		const { lifelog } = await create({ transcript: tomatoes, startTime });
		const answer = await change(lifelog.id, body);
		expect([answer.status, answer.error]).toEqual([status, expect.stringMatching(problem)]);
		expect(manifest().lifelogs[lifelog.id].edited).toBeUndefined();
	});

	test("that doesn't exist returns 404", async () => {
		for (const id of ['made-0', '__proto__', '..%2F..%2Fetc']) {
			expect((await change(id, { title: 'x' })).status).toBe(404);
		}
	});
});

test("a deleted lifelog isn't created again, even after a rebuild of the index", async () => {
	const body = { transcript: tomatoes, startTime, externalId: 'garden' };
	const { lifelog } = await create(body);
	tombstone(lifelog.id);
	await restart();
	expect((await get(lifelog.id)).status).toBe(404);
	for (const rebuilt of [false, true]) {
		if (rebuilt) {
			await server.close();
			rmSync(join(folder, '.lifelog-index.sqlite'));
			server = await startLifelogServer(folder, allow);
		}
		const again = await create(body);
		expect([again.status, again.body]).toEqual([
			200,
			{ data: { lifelog: null, status: 'deleted' } },
		]);
	}
	expect(await list(`date=${day}`)).toEqual([]);
});

/** Leaves of a lifelog what a delete leaves. */
function tombstone(id: string): void {
	const written = manifest();
	const { files, ...entry } = written.lifelogs[id];
	for (const { path } of files) rmSync(join(folder, path));
	const name = readdirSync(join(folder, 'days')).find((each) => each.startsWith(day))!;
	written.lifelogs[id] = { ...entry, files: [], deletedAt: new Date().toISOString() };
	writeFileSync(join(folder, 'days', name), JSON.stringify(written));
}

// The examples that store files as they come: audio to S3, lifelogs as they happen, what is starred.
import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import { dayOf, DAY_MS, HOUR_MS, makeFolders } from '../support/archive.mts';
import { importExample, readExample, repeat, runExample } from '../support/examples.mts';
import { startInternet, type Internet } from '../support/internet.mts';
import { startLab, type Lab } from '../support/lab.mts';
import type { Execution, SavedWorkflow } from '../support/rest.mts';
import { startS3, type S3 } from '../support/s3.mts';
import { temporaryFolder } from '../support/server.mts';
import { readSrt, readVtt } from '../support/subtitles.mts';
import { anotherPoll, pollTimes, whenEmitted } from '../support/trigger.mts';

const MINUTE_MS = 60_000;
const DROPBOX = 'content.dropboxapi.com';

let lab: Lab;
let s3: S3;
let internet: Internet;
let disk: Awaited<ReturnType<typeof temporaryFolder>>;

before(async () => {
	s3 = await startS3();
	disk = await temporaryFolder('lifelog-files');
	internet = await startInternet({
		'api.dropboxapi.com': () => ({ root_info: { root_namespace_id: '1' } }),
		[DROPBOX]: () => ({ id: 'id:1', '.tag': 'file' }),
	});
	lab = await startLab({
		sandbox: ['--days', '3'],
		env: { ...internet.env, N8N_RESTRICT_FILE_ACCESS_TO: disk.path },
	});
	await lab.rest.createCredential('s3', s3.credential, 'S3 account');
	const signedIn = { access_token: 'dropbox-token', token_type: 'bearer', expires_in: 14_400 };
	await lab.rest.createCredential(
		'dropboxOAuth2Api',
		{ clientId: 'id', clientSecret: 'secret', oauthTokenData: signedIn },
		'Dropbox account',
	);
	// What the tests fetch to compare with is not to be waited for.
	await lab.sandbox.control.dialect({ rateLimit: { max: 10_000 } });
});
after(async () => {
	await lab?.close();
	await internet?.close();
	await s3?.close();
	await disk?.remove();
});

/** The audio between two instants as the service sends it; empty where there is none. */
async function audio(startMs: number, endMs: number): Promise<Buffer> {
	const { url, apiKey } = lab.sandbox;
	const query = `startMs=${startMs}&endMs=${endMs}`;
	const response = await fetch(`${url}/v1/download-audio?${query}`, {
		headers: { 'x-api-key': apiKey },
	});
	if (response.status === 404) return Buffer.alloc(0);
	assert.equal(response.status, 200);
	return Buffer.from(await response.arrayBuffer());
}

/** The audio of a lifelog, of which the node asks for whole milliseconds. */
const audioOf = async ({ startTime, endTime }: Lifelog) =>
	await audio(Date.parse(startTime), Date.parse(endTime));

/** The ranges of audio that were asked for since the log was cleared, and answered with audio. */
async function audioRequests(): Promise<Array<[number, number]>> {
	const requests = await lab.sandbox.control.requests();
	return requests
		.filter(({ path, status }) => path === '/v1/download-audio' && status === 200)
		.map(({ query }) => new URLSearchParams(query as never))
		.map((query) => [Number(query.get('startMs')), Number(query.get('endMs'))]);
}

const compact = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
const pathOfAudio = (startMs: number, endMs: number) =>
	`audio/pendant/${new Date(startMs).toISOString().slice(0, 10).replaceAll('-', '/')}/audio_${compact(startMs)}_${compact(endMs)}.ogg`;

beforeEach(async () => await lab.sandbox.control.faults([]));

describe('the audio archive in S3', () => {
	let workflow: SavedWorkflow;
	let now: number;
	let started: number;

	before(async () => {
		// So that nothing becomes old enough while the tests run.
		started = Date.now();
		now = started - 3 * HOUR_MS;
		await lab.sandbox.control.reset({
			days: 3,
			now: new Date(now).toISOString(),
			dialect: { rateLimit: { max: 10_000 } },
		});
		workflow = await importExample(lab, 'audio-archive-s3', {
			settings: { bucket: s3.bucket, lookBackDays: 1 },
		});
	});

	/** The range that was asked for, of each file; names are of whole seconds. */
	const asked = new Map<string, [number, number]>();

	/** Runs it once; gives what it downloaded: how many bytes, of which ranges. */
	async function run(): Promise<Execution & { ranges: Array<[number, number]>; bytes: number }> {
		await lab.sandbox.control.clearRequests();
		s3.forgetWrites();
		const execution = await runExample(lab, workflow, 'Every hour');
		const ranges = await audioRequests();
		let bytes = 0;
		for (const [startMs, endMs] of ranges) {
			bytes += (await audio(startMs, endMs)).length;
			asked.set(`lifelog/${pathOfAudio(startMs, endMs)}`, [startMs, endMs]);
		}
		return { ...execution, ranges, bytes };
	}

	/** Checks that the lifelogs of the days looked at are stored, each moment once, byte by byte. */
	async function assertStored(): Promise<void> {
		const stored: Array<[number, number]> = [];
		for (const key of await s3.keys()) {
			const [start, end] = asked.get(key)!;
			assert.ok((await s3.object(key)).equals(await audio(start, end)), key);
			stored.push([start, end]);
		}
		stored.sort(([a], [b]) => a - b);
		for (const [index, [start]] of stored.entries()) {
			const isOnce = index === 0 || start > stored[index - 1][1] - 1000;
			assert.ok(isOnce, `${compact(start)} is there twice`);
		}
		const since = started - 24 * HOUR_MS + 10 * MINUTE_MS;
		for (const { startTime, endTime } of await lab.sandbox.control.lifelogs()) {
			const [from, to] = [startTime, endTime].map(Date.parse);
			if (from < since) continue;
			let reached = from;
			for (const [start, end] of stored) {
				if (start <= reached && end > reached) reached = end;
			}
			assert.ok(reached >= to, `${startTime} to ${endTime}`);
		}
	}

	test('stores exactly the bytes of the audio', async () => {
		const { error, bytes } = await run();
		assert.equal(error, undefined);
		await assertStored();
		const writes = s3.writes();
		assert.ok(writes.length > 20);
		assert.equal(new Set(writes).size, writes.length);
		let whole = 0;
		for (const key of writes) whole += (await s3.object(key)).length;
		assert.equal(bytes, whole);
	});

	test('downloads nothing if there is no new audio, even if titles were edited', async () => {
		const edited = (await lab.sandbox.control.lifelogs()).at(-3)!;
		await lab.sandbox.control.updateLifelog(edited.id, { title: 'Edited' });
		const { error, ranges } = await run();
		assert.equal(error, undefined);
		assert.deepEqual(ranges, []);
		assert.deepEqual(s3.writes(), []);
		const lists = (await lab.sandbox.control.requests()).length;
		assert.ok(lists <= 3, `${lists} requests`);
	});

	test('downloads late uploads and audio that has grown, at most 1.2 times its bytes', async () => {
		const lifelogs = await lab.sandbox.control.lifelogs();
		const [late, growing] = gapsIn(lifelogs, now - 16 * HOUR_MS, 6 * MINUTE_MS);
		const endTime = new Date(growing.from + 5 * MINUTE_MS).toISOString();
		await lab.sandbox.control.updateLifelog(growing.before.id, { endTime });
		await lab.sandbox.control.addLifelog({
			title: 'Late',
			startTime: new Date(late.from + MINUTE_MS).toISOString(),
			endTime: new Date(late.from + 5 * MINUTE_MS).toISOString(),
		});
		const { error, ranges, bytes } = await run();
		assert.equal(error, undefined);
		assert.equal(ranges.length, 2);
		const added =
			(await audio(late.from + MINUTE_MS, late.from + 5 * MINUTE_MS)).length +
			(await audio(growing.from, Date.parse(endTime))).length;
		assert.ok(bytes <= 1.2 * added, `${bytes} bytes for ${added} new ones`);
		await assertStored();
	});

	test("a range that always fails is named, doesn't delay others, and is requested again", async () => {
		const lifelogs = await lab.sandbox.control.lifelogs();
		const added = gapsIn(lifelogs, now - 16 * HOUR_MS, 6 * MINUTE_MS).map(({ from }) => {
			return Math.ceil(from / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
		});
		for (const from of added) {
			const [startTime, endTime] = [from, from + MINUTE_MS].map((ms) => new Date(ms).toISOString());
			await lab.sandbox.control.addLifelog({ title: 'Late', startTime, endTime });
		}
		const [first, second] = added;
		const path = `/v1/download-audio?startMs=${first}`;
		await lab.sandbox.control.faults([{ path, status: 504, times: 1000 }]);
		const failed = await run();
		assert.equal(failed.status, 'error');
		const [day, time] = new Date(first).toISOString().split('T');
		assert.match(
			String(failed.error?.message),
			new RegExp(
				`^Everything else is stored. The next run requests again: ${day}T${time.slice(0, 8)}.*to `,
			),
		);
		assert.deepEqual(s3.writes(), [`lifelog/${pathOfAudio(second, second + MINUTE_MS)}`]);
		await lab.sandbox.control.faults([]);
		const { error } = await run();
		assert.equal(error, undefined);
		assert.deepEqual(s3.writes(), [`lifelog/${pathOfAudio(first, first + MINUTE_MS)}`]);
		await assertStored();
	});

	test('is accepted by n8n as an active workflow', async () => {
		await lab.rest.activate(workflow.id);
		await lab.rest.deactivate(workflow.id);
	});
});

/** Two stretches of time without a recording, the lifelog before each, and where it ends (whole seconds). */
function gapsIn(lifelogs: Lifelog[], since: number, lengthMs: number) {
	const gaps: Array<{ from: number; before: Lifelog }> = [];
	for (const [index, before] of lifelogs.slice(0, -1).entries()) {
		const from = Math.ceil(Date.parse(before.endTime) / 1000) * 1000;
		const isLong = Date.parse(lifelogs[index + 1].startTime) - from > lengthMs;
		if (Date.parse(before.startTime) > since && isLong) gaps.push({ from, before });
	}
	assert.ok(gaps.length >= 2);
	return gaps.slice(0, 2);
}

/** The paths and bytes that were uploaded to Dropbox since so many requests. */
const uploads = (since = 0) =>
	internet
		.sent(DROPBOX)
		.slice(since)
		.map(({ path, bytes, headers }) => {
			const { pathname, searchParams } = new URL(path, 'https://content.dropboxapi.com');
			assert.equal(pathname, '/2/files/upload');
			assert.equal(headers.authorization, 'Bearer dropbox-token');
			const { path: name, mode } = JSON.parse(searchParams.get('arg')!);
			assert.equal(mode, 'overwrite');
			return { name: String(name), bytes };
		});

/** A lifelog that was recorded lately and has settled, as the trigger sees it. */
async function record(more: Partial<Lifelog> = {}): Promise<Lifelog> {
	const begin = Math.floor(Date.now() / 1000) * 1000 - 25 * MINUTE_MS;
	return await lab.sandbox.control.addLifelog({
		...{ title: 'A walk: to the "sea"', startTime: new Date(begin).toISOString() },
		endTime: new Date(begin + 4 * MINUTE_MS).toISOString(),
		updatedAt: new Date(Date.now() - 6 * MINUTE_MS).toISOString(),
		contents: [
			{ type: 'heading1', content: 'A walk: to the "sea"' },
			...['Look [there] -->', 'Where?'].map((content, index) => ({
				...{ type: 'blockquote', content, startOffsetMs: index * 2000 },
				...{ endOffsetMs: index * 2000 + 1500, speakerName: index ? 'Anna' : 'You' },
				speakerIdentifier: index ? null : ('user' as const),
			})),
		],
		...more,
	});
}

/** Waits until so much was stored by an active workflow; an execution of it that failed ends that. */
async function whenStored(
	{ id }: SavedWorkflow,
	read: () => Promise<string[]> | string[],
	count: number,
): Promise<void> {
	await whenEmitted(async () => {
		const failed = (await lab.rest.executions(id)).find(({ status }) => status === 'error');
		if (failed) throw (await lab.rest.execution(failed.id)).error;
		return (await read()).map((name) => ({ name }));
	}, count);
}

/** The items that the runs of an active workflow began with. */
async function triggered(workflow: SavedWorkflow, trigger: string): Promise<IDataObject[]> {
	const items: IDataObject[] = [];
	for (const { id } of await lab.rest.executions(workflow.id)) {
		items.push(...(await lab.rest.execution(id)).json(trigger));
	}
	return items;
}

describe('the archive as it happens', () => {
	const ZONE = 'America/St_Johns';
	const trigger = 'Lifelog';
	let workflow: SavedWorkflow;
	let lifelog: Lifelog;
	let expected: string[];
	const inFolder = async () => {
		const entries = await readdir(disk.path, { recursive: true, withFileTypes: true });
		const files = entries.filter((entry) => entry.isFile());
		return files.map((each) => join(each.parentPath, each.name).slice(disk.path.length + 1)).sort();
	};

	/** What a user sets: the folder. */
	async function settings() {
		const { nodes } = await readExample('archive-as-it-happens');
		const { parameters } = nodes.find(({ name }) => name === 'Write to folder')!;
		const fileName = String(parameters.fileName).replace(
			'=/home/node/.n8n-files/lifelog/',
			`=${disk.path}/`,
		);
		return { 'Write to folder': { fileName }, [trigger]: { pollTimes } };
	}

	before(async () => {
		await makeFolders(disk.path, dayOf(Date.now() - DAY_MS), dayOf(Date.now() + DAY_MS));
		await lab.sandbox.control.reset({ days: 3, dialect: { rateLimit: { max: 10_000 } } });
		workflow = await importExample(lab, 'archive-as-it-happens', {
			parameters: await settings(),
			// Kept, to be looked at and repeated.
			timezone: ZONE,
		});
		await lab.rest.activate(workflow.id);
	});
	after(async () => await lab.rest.deactivate(workflow.id));

	test('stores a lifelog minutes after it was recorded, under the names of an archive', async () => {
		await lab.sandbox.control.clearRequests();
		lifelog = await record();
		await whenStored(workflow, inFolder, 3);
		const begin = Date.parse(lifelog.startTime);
		const day = lifelog.startTime.slice(0, 10);
		const [hours, minutes, seconds] = lifelog.startTime.slice(11, 19).split(':');
		const name = `lifelogs/${day.replaceAll('-', '/')}/${day}_${hours}h${minutes}m${seconds}s_${lifelog.id}`;
		expected = [pathOfAudio(begin, begin + 4 * MINUTE_MS), `${name}.json`, `${name}.md`].sort();
		assert.deepEqual(await inFolder(), expected);
	});

	test('stores it completely, byte by byte', async () => {
		await anotherPoll();
		const [sound, json, markdown] = await Promise.all(
			expected.map(async (name) => await readFile(join(disk.path, name))),
		);
		assert.ok(sound.equals(await audioOf(lifelog)));
		const { url, apiKey } = lab.sandbox;
		const response = await fetch(`${url}/v1/lifelogs/${lifelog.id}?includeContents=true`, {
			headers: { 'x-api-key': apiKey },
		});
		const { data } = await response.json();
		assert.deepEqual(inMs(JSON.parse(String(json))), inMs(data.lifelog));
		const said = [...String(markdown).matchAll(/^\*\*(.+)\*\* \(.+?\): (.+)$/gm)];
		assert.deepEqual(
			said.map(([, who, words]) => [who, words]),
			[
				['You', 'Look \\[there\\] -->'],
				['Anna', 'Where?'],
			],
		);
	});

	test('stores the text again under the same names after an edited title, but not the audio', async () => {
		const before = await stat(join(disk.path, expected[1]));
		const updatedAt = new Date(Date.now() - 5.5 * MINUTE_MS).toISOString();
		await lab.sandbox.control.updateLifelog(lifelog.id, { title: 'Edited', updatedAt });
		await whenEmitted(async () => {
			const { mtimeMs } = await stat(join(disk.path, expected[1]));
			return mtimeMs > before.mtimeMs ? [{}] : [];
		}, 1);
		await anotherPoll();
		assert.equal(JSON.parse(await readFile(join(disk.path, expected[1]), 'utf8')).title, 'Edited');
		assert.deepEqual(await inFolder(), expected);
		assert.equal((await audioRequests()).length, 2, 'one by the workflow, one by this test');
	});

	test('can store in a cloud drive by replacing one node, under the same names', async () => {
		const drive = await importExample(lab, 'archive-as-it-happens', {
			parameters: await settings(),
			enabled: { 'Write to folder': false, 'Store in Dropbox': true },
			timezone: ZONE,
		});
		const stored = await Promise.all(
			expected.map(async (name) => await readFile(join(disk.path, name))),
		);
		const item = (await lab.sandbox.control.lifelogs()).find(({ id }) => id === lifelog.id);
		const run = await repeat(lab, drive, trigger, [item as unknown as IDataObject]);
		assert.equal(run.error, undefined);
		const sent = uploads().sort((a, b) => (a.name < b.name ? -1 : 1));
		assert.deepEqual(
			sent.map(({ name }) => name),
			expected.map((name) => `/Lifelog/${name}`),
		);
		assert.ok(sent[0].bytes.equals(stored[0]));
		assert.ok(sent[2].bytes.equals(stored[2]));
	});
});

/** Times as epoch ms, as they may be written in several ways. */
function inMs(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(inMs);
	if (value === null || typeof value !== 'object') return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, each]) => [
			name,
			/Time$|At$/.test(name) ? Date.parse(String(each)) : inMs(each),
		]),
	);
}

describe('a starred lifelog in a drive folder', () => {
	const trigger = 'Starred lifelog';
	let workflow: SavedWorkflow;

	before(async () => {
		workflow = await importExample(lab, 'starred-to-drive', {
			parameters: { [trigger]: { pollTimes } },
			timezone: 'Europe/Berlin',
		});
		await lab.rest.activate(workflow.id);
	});
	after(async () => await lab.rest.deactivate(workflow.id));

	test('has its audio, subtitles and Markdown once', async () => {
		const before = internet.sent(DROPBOX).length;
		const lifelog = await record();
		await anotherPoll();
		assert.deepEqual(uploads(before), []);
		await lab.sandbox.control.updateLifelog(lifelog.id, { isStarred: true });
		await whenStored(workflow, () => uploads(before).map(({ name }) => name), 4);
		await lab.sandbox.control.updateLifelog(lifelog.id, { title: 'Edited' });
		await whenEmitted(async () => await triggered(workflow, trigger), 2);
		await lab.sandbox.control.updateLifelog(lifelog.id, { isStarred: false });
		await lab.sandbox.control.updateLifelog(lifelog.id, { isStarred: true });
		await whenEmitted(async () => await triggered(workflow, trigger), 3);
		await anotherPoll();
		const sent = uploads(before).sort((a, b) => (a.name < b.name ? -1 : 1));
		const berlin = new Date(lifelog.startTime).toLocaleString('sv', { timeZone: 'Europe/Berlin' });
		const folder = `/Lifelog/Starred/${berlin.slice(0, 16).replace(':', '.')} A walk to the sea (${lifelog.id})`;
		assert.deepEqual(
			sent.map(({ name }) => name),
			['md', 'ogg', 'srt', 'vtt'].map((extension) => `${folder}/A walk to the sea.${extension}`),
		);
		const [markdown, sound, srt, vtt] = sent.map(({ bytes }) => bytes);
		assert.match(String(markdown), /^# A walk: to the "sea"$/m);
		assert.ok(sound.equals(await audioOf(lifelog)));
		const times = [
			{ start: 0, end: 1500 },
			{ start: 2000, end: 3500 },
		];
		assert.deepEqual(readSrt(srt), [
			{ ...times[0], text: 'You: Look [there] →' },
			{ ...times[1], text: 'Anna: Where?' },
		]);
		assert.deepEqual(readVtt(vtt), [
			{ ...times[0], text: '<v You>Look [there] --&gt;' },
			{ ...times[1], text: '<v Anna>Where?' },
		]);
		assert.equal((await triggered(workflow, trigger)).length, 3);
	});
});

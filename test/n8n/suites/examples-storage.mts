// The examples that store files: the hourly archive of audio, and the archive of everything.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DateTime } from 'luxon';
import type { Lifelog } from '../../../nodes/shared/api-types.ts';
import { importExample, runExample } from '../support/examples.mts';
import { startLab, type Lab } from '../support/lab.mts';
import type { Execution, SavedWorkflow } from '../support/rest.mts';
import { startS3, type S3 } from '../support/s3.mts';
import { temporaryFolder } from '../support/server.mts';

const HOUR_MS = 3_600_000;

let lab: Lab;
let s3: S3;
let disk: Awaited<ReturnType<typeof temporaryFolder>>;

before(async () => {
	s3 = await startS3();
	disk = await temporaryFolder('lifelog-archive');
	lab = await startLab({
		sandbox: ['--days', '5'],
		env: {
			N8N_RESTRICT_FILE_ACCESS_TO: disk.path,
			// How often n8n deletes what executions that are not kept have left, in minutes; 15 by default.
			EXECUTIONS_DATA_PRUNE_HARD_DELETE_INTERVAL: '0.1',
		},
	});
	await lab.rest.createCredential('s3', s3.credential, 'S3 account');
	// What the tests fetch to compare with is not to be waited for.
	await lab.sandbox.control.dialect({ rateLimit: { max: 10_000 } });
});
after(async () => {
	await lab?.close();
	await s3?.close();
	await disk?.remove();
});

/** The audio between two instants as the service sends it, or undefined. */
async function audio(startMs: number, endMs: number): Promise<Buffer | undefined> {
	const { url, apiKey } = lab.sandbox;
	const query = `startMs=${startMs}&endMs=${endMs}`;
	const response = await fetch(`${url}/v1/download-audio?${query}`, {
		headers: { 'x-api-key': apiKey },
	});
	if (response.status === 404) return undefined;
	assert.equal(response.status, 200);
	return Buffer.from(await response.arrayBuffer());
}

const compact = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
const audioName = (startMs: number, endMs: number) =>
	`audio_${compact(startMs)}_${compact(endMs)}.ogg`;

/** The ranges of a length that a longer one is cut into. */
function cut(startMs: number, endMs: number, lengthMs: number): Array<[number, number]> {
	const ranges: Array<[number, number]> = [];
	for (let from = startMs; from < endMs; from += lengthMs) {
		ranges.push([from, Math.min(from + lengthMs, endMs)]);
	}
	return ranges;
}

describe('the hourly archive of audio in S3', () => {
	let workflow: SavedWorkflow;
	let stored: Set<string>;

	before(async () => {
		workflow = await importExample(lab, 'audio-archive-s3', {
			settings: { bucket: s3.bucket, folder: 'audio' },
		});
	});

	/** Runs it once; gives the hours it looked at, as begins in ms. */
	async function run(): Promise<number[]> {
		const execution = await runExample(lab, workflow, 'Every hour');
		assert.equal(execution.error, undefined);
		const [{ start, end }] = execution.json('Hours to look at');
		return cut(Date.parse(String(start)), Date.parse(String(end)), HOUR_MS).map(([ms]) => ms);
	}
	const key = (hour: number) => `audio/${audioName(hour, hour + HOUR_MS)}`;

	/** Checks that for each hour the service's audio is stored, and nothing where there is none. */
	async function assertStored(hours: number[]): Promise<void> {
		const keys = await s3.keys();
		for (const hour of hours) {
			const expected = await audio(hour, hour + HOUR_MS);
			assert.equal(keys.includes(key(hour)), expected !== undefined, key(hour));
			if (expected) assert.ok((await s3.object(key(hour))).equals(expected), key(hour));
		}
	}

	test('stores the 48 hours that ended six hours ago, byte by byte', async () => {
		const hours = await run();
		const now = Date.now();
		assert.equal(hours.length, 48);
		assert.ok(now - hours.at(-1)! >= 7 * HOUR_MS && now - hours.at(-1)! < 8.1 * HOUR_MS);
		await assertStored(hours);
		stored = new Set(await s3.keys());
		assert.ok(stored.size > 10);
		assert.deepEqual(s3.writes().sort(), [...stored]);
	});

	test('stores nothing twice when it runs again', async () => {
		s3.forgetWrites();
		const hours = await run();
		assert.deepEqual(
			s3.writes().filter((each) => stored.has(each)),
			[],
		);
		await assertStored(hours);
		stored = new Set(await s3.keys());
	});

	test('stores what arrives late, and writes again only what has grown', async () => {
		const [range] = cut(Date.now() - 40 * HOUR_MS, Date.now() - 10 * HOUR_MS, 30 * HOUR_MS);
		const lifelogs = await lab.sandbox.control.lifelogs();
		const grown = gapIn(lifelogs, range, (hour) => stored.has(key(hour)));
		const silent = gapIn(lifelogs, range, (hour) => !stored.has(key(hour)));
		for (const startMs of [grown, silent]) {
			await lab.sandbox.control.addLifelog({
				title: 'Late',
				startTime: new Date(startMs).toISOString(),
				endTime: new Date(startMs + 60_000).toISOString(),
			});
		}
		s3.forgetWrites();
		const hours = await run();
		const expected = [grown, silent].map((ms) => key(ms - (ms % HOUR_MS)));
		const tickedOver = hours
			.map(key)
			.slice(-1)
			.filter((each) => !stored.has(each));
		const writes = s3
			.writes()
			.filter((each) => !tickedOver.includes(each) || expected.includes(each));
		assert.deepEqual(writes.sort(), expected.sort());
		await assertStored(hours);
	});

	test('is accepted by n8n as an active workflow', async () => {
		await lab.rest.activate(workflow.id);
		await lab.rest.deactivate(workflow.id);
	});
});

/** A minute without a recording, inside an hour of the range that is as asked for. */
function gapIn(
	lifelogs: Lifelog[],
	[startMs, endMs]: [number, number],
	isWanted: (hour: number) => boolean,
): number {
	const minute = 60_000;
	const spoken = (from: number) =>
		lifelogs.some(
			({ startTime, endTime }) =>
				Date.parse(startTime) < from + minute && Date.parse(endTime) > from,
		);
	const first = startMs - (startMs % minute);
	for (let from = first; from < endMs; from += minute) {
		if (isWanted(from - (from % HOUR_MS)) && !spoken(from)) return from;
	}
	throw new Error('There is no such minute');
}

describe('the archive of everything', () => {
	const DAY_MS = 24 * HOUR_MS;
	const manually = "When clicking 'Execute workflow'";
	const waitDays = 1;
	let days: string[];

	before(async () => {
		await lab.sandbox.control.reset({ days: 5, dialect: { rateLimit: { max: 10_000 } } });
		const [{ startTime }] = await lab.sandbox.control.lifelogs();
		const [{ createdAt }] = await lab.sandbox.control.chats();
		const first = [startTime, createdAt].sort()[0];
		const last = DateTime.utc().startOf('day').minus({ days: waitDays });
		days = cut(
			DateTime.fromISO(first, { zone: 'utc' }).startOf('day').toMillis(),
			+last + 1,
			DAY_MS,
		).map(([ms]) => new Date(ms).toISOString().slice(0, 10));
		assert.ok(days.length >= 4);
	});

	/** The files of a day as they must be, by name; without the one that says it is done. */
	async function expectedFiles(day: string): Promise<Map<string, Buffer | object>> {
		const startMs = Date.parse(day);
		const { url, apiKey, control } = lab.sandbox;
		const lifelogs: Lifelog[] = [];
		for (let cursor = ''; ;) {
			const query = new URLSearchParams({
				...{ date: day, timezone: 'UTC', direction: 'asc', limit: '25', includeContents: 'true' },
				...(cursor && { cursor }),
			});
			const response = await fetch(`${url}/v1/lifelogs?${query}`, {
				headers: { 'x-api-key': apiKey },
			});
			const { data, meta } = await response.json();
			lifelogs.push(...data.lifelogs);
			cursor = meta.lifelogs.nextCursor;
			if (!cursor) break;
		}
		const chats = (await control.chats()).filter(
			({ owner, createdAt }) => owner === 'self' && createdAt.startsWith(day),
		);
		const files = new Map<string, Buffer | object>([
			[`${day}_lifelogs.json`, lifelogs],
			[
				`${day}_lifelogs.md`,
				Buffer.from(lifelogs.map(({ markdown }) => `${markdown!.trim()}\n`).join('\n')),
			],
			[`${day}_chats.json`, chats.map(({ id }) => id)],
		]);
		for (const [from, to] of cut(startMs, startMs + DAY_MS, 2 * HOUR_MS)) {
			const bytes = await audio(from, to);
			if (bytes) files.set(`${day}_${audioName(from, to)}`, bytes);
		}
		return files;
	}

	/** Checks that every day is there with all of its files, right to the byte, and nothing else. */
	async function assertArchived(
		names: string[],
		read: (name: string) => Promise<Buffer>,
	): Promise<void> {
		const all = new Set<string>();
		for (const day of days) {
			const expected = await expectedFiles(day);
			for (const [name, content] of expected) {
				all.add(name);
				const bytes = await read(name);
				if (Buffer.isBuffer(content)) assert.ok(bytes.equals(content), name);
				else if (name.endsWith('_chats.json')) {
					const chats = JSON.parse(String(bytes)) as Array<{ id: string; messages: object[] }>;
					assert.deepEqual(
						chats.map(({ id }) => id),
						content,
					);
					for (const { messages } of chats) assert.ok(messages.length > 0);
				} else assert.deepEqual(JSON.parse(String(bytes)), content, name);
			}
			const done = JSON.parse(String(await read(`${day}_done.json`)));
			all.add(`${day}_done.json`);
			assert.equal(done.lifelogs, (expected.get(`${day}_lifelogs.json`) as object[]).length);
			assert.equal(done.chats, (expected.get(`${day}_chats.json`) as object[]).length);
			assert.equal(done.audio.length, expected.size - 3);
		}
		assert.deepEqual(names.sort(), [...all].sort());
	}

	const onDisk = async () => await readdir(disk.path);
	const doneDays = async () =>
		(await onDisk()).filter((name) => name.endsWith('_done.json')).map((name) => name.slice(0, 10));
	/** The days of which lifelogs were asked for since the log was cleared. */
	const daysRead = async () =>
		new Set(
			(await lab.sandbox.control.requests())
				.map(({ query }) => new URLSearchParams(query as never).get('date'))
				.filter((date) => date !== null),
		);

	test('killed half way on disk and started again, it has everything, and once', async () => {
		const settings = { folder: disk.path, waitDays };
		const workflow = await importExample(lab, 'full-archive', { settings });
		// Slow enough to be met in the middle of a day.
		await lab.sandbox.control.dialect({ latencyMs: 100 });
		await lab.sandbox.control.clearRequests();
		await lab.rest.run(workflow, manually);
		const deadline = Date.now() + 120_000;
		const isHalfWay = async () => {
			const done = await doneDays();
			return done.length >= 2 && (await daysRead()).size > done.length;
		};
		while (!(await isHalfWay())) {
			assert.ok(Date.now() < deadline, 'It never was half way');
			await sleep(50);
		}
		let finished: string[] = [];
		await lab.restart('kill', async () => {
			finished = (await doneDays()).sort();
			// As if it had been killed while it wrote this file.
			await writeFile(join(disk.path, `${days[finished.length]}_lifelogs.json`), '[{"id": "ha');
		});
		assert.ok(finished.length >= 2 && finished.length < days.length, finished.join());
		assert.deepEqual(finished, days.slice(0, finished.length), 'The oldest come first');

		await lab.sandbox.control.dialect({ latencyMs: 0 });
		await lab.sandbox.control.clearRequests();
		const { status, error } = await runExample(lab, workflow, manually, 120_000);
		assert.equal(error, undefined);
		assert.equal(status, 'success');
		assert.deepEqual([...(await daysRead())].sort(), days.slice(finished.length));
		await assertArchived(await onDisk(), async (name) => await readFile(join(disk.path, name)));
	});

	test('started again when all is done, it writes nothing', async () => {
		const settings = { folder: disk.path, waitDays };
		const workflow = await importExample(lab, 'full-archive', { settings });
		await lab.sandbox.control.clearRequests();
		const { status } = await runExample(lab, workflow, manually);
		assert.equal(status, 'success');
		assert.deepEqual([...(await daysRead())], []);
	});

	test('in S3 it has everything as well, and a day once', async () => {
		s3.forgetWrites();
		const before = await s3.keys();
		const workflow = await importExample(lab, 'full-archive', {
			settings: { bucket: s3.bucket, waitDays },
			enabled: {
				'Days done, on disk': false,
				'Write to disk': false,
				'Days done, in S3': true,
				'Store in S3': true,
			},
		});
		let execution: Execution | undefined;
		for (let run = 0; run < 2; run++) {
			execution = await runExample(lab, workflow, manually, 120_000);
			assert.equal(execution.error, undefined);
		}
		const writes = s3.writes();
		assert.equal(new Set(writes).size, writes.length);
		const names = (await s3.keys())
			.filter((key) => !before.includes(key))
			.map((key) => key.replace('archive/', ''));
		await assertArchived(names, async (name) => await s3.object(`archive/${name}`));
	});

	test('by itself at night it adds what is missing, and leaves no copies in n8n', async () => {
		const [day] = days;
		const done = join(disk.path, `${day}_done.json`);
		await rm(done);
		const often = { interval: [{ field: 'seconds', secondsInterval: 10 }] };
		const workflow = await importExample(lab, 'full-archive', {
			settings: { folder: disk.path, waitDays },
			parameters: { 'Every night': { rule: often } },
		});
		await lab.rest.activate(workflow.id);
		const deadline = Date.now() + 60_000;
		while (!(await doneDays()).includes(day)) {
			assert.ok(Date.now() < deadline, `${day} was not archived again`);
			await sleep(500);
		}
		await lab.rest.deactivate(workflow.id);
		await assertArchived(await onDisk(), async (name) => await readFile(join(disk.path, name)));
		let copies = await copiesInN8n(workflow.id);
		for (; copies.length > 0 && Date.now() < deadline; copies = await copiesInN8n(workflow.id)) {
			await sleep(500);
		}
		assert.deepEqual(copies, []);
	});

	/** What n8n keeps of the files that the executions of a workflow handled. */
	async function copiesInN8n(workflowId: string): Promise<string[]> {
		const names = await readdir(lab.userFolder, { recursive: true });
		return names.filter((name) => name.includes(workflowId) && name.includes('binary_data/'));
	}

	test('takes the days of the Timezone of the workflow, from the day one sets', async () => {
		const folder = join(disk.path, 'elsewhere');
		await mkdir(folder);
		const timezone = 'America/New_York';
		const last = DateTime.now().setZone(timezone).startOf('day').minus({ days: waitDays });
		const day = last.toISODate()!;
		const workflow = await importExample(lab, 'full-archive', {
			settings: { folder, waitDays, firstDay: day },
			timezone,
		});
		const { error } = await runExample(lab, workflow, manually);
		assert.equal(error, undefined);
		const names = (await readdir(folder)).sort();
		assert.ok(names.every((name) => name.startsWith(`${day}_`)));
		const archived = JSON.parse(await readFile(join(folder, `${day}_lifelogs.json`), 'utf8'));
		const [startMs, endMs] = [last.toMillis(), last.plus({ days: 1 }).toMillis()];
		const expected = (await lab.sandbox.control.lifelogs()).filter(
			({ startTime }) => Date.parse(startTime) >= startMs && Date.parse(startTime) < endMs,
		);
		assert.deepEqual(
			archived.map(({ id }: Lifelog) => id),
			expected.map(({ id }) => id),
		);
		const [first, second] = cut(startMs, endMs, 2 * HOUR_MS).map(
			([from, to]) => `${day}_${audioName(from, to)}`,
		);
		const stored = names.filter((name) => name.includes('_audio_'));
		assert.ok(stored[0] === first || stored[0] >= second, stored[0]);
		assert.equal(stored[0].slice(-9), first.slice(-9));
		await rm(folder, { recursive: true });
	});

	test('of an account without anything is nothing, and no error', async () => {
		const folder = join(disk.path, 'empty');
		await mkdir(folder);
		await lab.sandbox.control.reset({ empty: true });
		const workflow = await importExample(lab, 'full-archive', { settings: { folder } });
		const { error } = await runExample(lab, workflow, manually);
		assert.equal(error, undefined);
		assert.deepEqual(await readdir(folder), []);
	});
});

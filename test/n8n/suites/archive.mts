// The example Full archive, its archives compared with the service entry by entry and byte by byte.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, beforeEach, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NEWEST, OLDEST } from '../install.mts';
import {
	assertArchived,
	DAY_MS,
	dayOf,
	daysBetween,
	type Expectation,
	HOUR_MS,
	makeFolders,
	newestDays,
	onDisk,
	sizesIn,
	type Storage,
} from '../support/archive.mts';
import { type Changes, importExample, runExample } from '../support/examples.mts';
import { activateWhile, startLab, type Lab } from '../support/lab.mts';
import { runProgram } from '../support/processes.mts';
import type { Execution, SavedWorkflow } from '../support/rest.mts';
import { startS3, type S3 } from '../support/s3.mts';
import { temporaryFolder } from '../support/server.mts';
import { activateTrigger } from '../support/trigger.mts';

const root = resolve(import.meta.dirname, '../../..');
const BY_HAND = "When clicking 'Execute workflow'";
const UNLIMITED = { rateLimit: { max: 1_000_000 } };
/** Far beyond what it takes: only what hangs is to fail. */
const PATIENCE_MS = 900_000;
/** The version of a day without lifelogs and chats: of no line. */
const NOTHING = 'e3b0c44298fc1c14';

let lab: Lab;
let s3: S3;
let disk: Awaited<ReturnType<typeof temporaryFolder>>;

const start = async (version: string) => {
	const { path } = disk;
	lab = await startLab({
		version,
		sandbox: ['--days', '1'],
		env: {
			// Beside a folder of the tests one in which nobody may write, not even root.
			N8N_RESTRICT_FILE_ACCESS_TO: `${path};/sys`,
			// How often n8n deletes what executions that are not kept have left, in minutes.
			EXECUTIONS_DATA_PRUNE_HARD_DELETE_INTERVAL: '0.1',
		},
	});
	await lab.rest.createCredential('s3', s3.credential, 'S3 account');
};

before(async () => {
	disk = await temporaryFolder('lifelog-archive');
	s3 = await startS3();
});
after(async () => {
	await lab?.close();
	await s3?.close();
	await disk?.remove();
});

const daysAgo = (count: number) => dayOf(Date.now() - count * DAY_MS);
const yesterday = () => daysAgo(1);

/** Nothing at the service, and nothing asked of it. */
async function emptyService(): Promise<void> {
	await lab.sandbox.control.reset({ empty: true, dialect: UNLIMITED });
}

/** Adds a lifelog of half a minute. */
async function addLifelog(day: string, time: string, seconds = 30) {
	const startMs = Date.parse(`${day}T${time}Z`);
	return await lab.sandbox.control.addLifelog({
		title: `At ${time}`,
		startTime: new Date(startMs).toISOString(),
		endTime: new Date(startMs + seconds * 1000).toISOString(),
	});
}

/** A day with two lifelogs, a chat, and one that a scheduled prompt made. */
async function live(day: string): Promise<void> {
	await addLifelog(day, '08:15:00');
	await addLifelog(day, '19:00:01');
	const { control } = lab.sandbox;
	await control.addChat({ createdAt: `${day}T12:00:00.000Z` });
	await control.addChat({ createdAt: `${day}T20:30:00.000Z`, globalPromptId: 'recap' });
}

/** A new folder for an archive of some days, and the example set to it. */
async function newArchive(name: string, [first, last]: [string, string], changes: Changes = {}) {
	const folder = join(disk.path, name);
	await makeFolders(folder, first, last);
	const settings = { folder, ...changes.settings };
	const workflow = await importExample(lab, 'full-archive', { ...changes, settings });
	return { folder, storage: onDisk(folder), workflow };
}

/** Runs it by hand to its end, the requests before being forgotten. */
async function run(workflow: SavedWorkflow): Promise<Execution> {
	await lab.sandbox.control.clearRequests();
	return await runExample(lab, workflow, BY_HAND, PATIENCE_MS);
}

async function succeeds(workflow: SavedWorkflow): Promise<void> {
	const { status, error } = await run(workflow);
	assert.equal(error?.message, undefined);
	assert.equal(status, 'success');
}

async function fails(workflow: SavedWorkflow): Promise<string> {
	const { status, error } = await run(workflow);
	assert.equal(status, 'error');
	return String(error?.message);
}

const requests = async (path: string) =>
	(await lab.sandbox.control.requests()).filter((request) => request.path.startsWith(path));

/** The days of which lifelogs were read with contents since the requests were forgotten. */
async function daysRead(): Promise<string[]> {
	const days = (await requests('/v1/lifelogs'))
		.filter(({ query }) => query.includeContents === 'true')
		.map(({ query }) => String(query.start).slice(0, 10));
	return [...new Set(days)];
}

/** The ranges of audio asked for since the requests were forgotten, by their starts. */
const audioAsked = async () =>
	(await requests('/v1/download-audio')).map(({ query }) => Number(query.startMs));

const reportOf = async ({ read }: Storage) => JSON.parse(String(await read('report.json')));

/** What docs/archive.md's own checker says, alone and against the service. */
async function assertProven(folder: string): Promise<void> {
	const main = join(root, 'check-archive', 'main.mts');
	const env = {
		...process.env,
		LIFELOG_API_KEY: lab.sandbox.apiKey,
		LIFELOG_BASE_URL: lab.sandbox.url,
	};
	const said = await runProgram(process.execPath, [main, folder, '--json'], { env });
	assert.equal(JSON.parse(said).isWhole, true, said);
}

async function assertWhole(folder: string, expectation: Expectation): Promise<void> {
	await assertArchived(lab.sandbox, onDisk(folder), expectation);
	await assertProven(folder);
}

async function until(isSo: () => Promise<boolean | undefined>, what: string): Promise<void> {
	const deadline = Date.now() + PATIENCE_MS;
	while (!(await isSo())) {
		assert.ok(Date.now() < deadline, `${what}: never`);
		await sleep(100);
	}
}

const dayFiles = async (folder: string) => (await readdir(join(folder, 'days'))).sort();

describe(`n8n ${NEWEST}`, () => {
	before(async () => await start(NEWEST));
	after(async () => await lab.close());
	beforeEach(async () => await lab.sandbox.control.faults([]));

	describe('sixty days, a month of them without anything', () => {
		let folder: string;
		let workflow: SavedWorkflow;
		let days: string[];

		before(async () => {
			await emptyService();
			days = daysBetween(daysAgo(60), yesterday());
			for (const day of [...days.slice(0, 15), ...days.slice(45)]) await live(day);
			folder = join(disk.path, 'sixty');
			await mkdir(folder);
			workflow = await importExample(lab, 'full-archive', { settings: { folder } });
		});

		test('in the folders that examples/README.md has made', async () => {
			const readme = await readFile(join(root, 'examples', 'README.md'), 'utf8');
			const [, command] = /```sh\n(node -e .*)\n```/.exec(readme)!;
			await runProgram('sh', ['-c', command], { cwd: folder });
			assert.deepEqual(await onDisk(folder).names(), []);
		});

		test('says how far it is, is killed half way, and then is not thought to go on for ever', async () => {
			await lab.rest.run(workflow, BY_HAND);
			await until(async () => (await dayFiles(folder)).length >= 20, '20 days');
			const report = await readFile(join(folder, 'report.md'), 'utf8');
			assert.match(report, /\nDay \d+ of 60, about \d+ min left\.\n/);
			await lab.restart('kill', async () => {
				// As if it had been killed while it wrote this one.
				await writeFile(
					join(folder, 'days', `${days[(await dayFiles(folder)).length]}_0.json`),
					'{"ver',
				);
			});
			const message = await fails(workflow);
			assert.match(message, /^Another run goes on: .* wait until .*, or delete report\.json\.$/);
			assert.deepEqual(await requests('/'), []);
		});

		test('goes on where it was, with a rate limit of a minute, while a trigger polls', async (t) => {
			// Those that were being written when it was killed are none.
			const done = await newestDays(onDisk(folder));
			await rm(join(folder, 'report.json'));
			const trigger = await activateTrigger(lab, { event: 'lifelogCreatedOrUpdated' }, t);
			const body = { error: 'Too many requests', retryAfter: '60' };
			const limit = { path: '/v1/download-audio', skip: 30, status: 429, body };
			await lab.sandbox.control.faults([limit]);
			await succeeds(workflow).finally(async () => await lab.rest.deactivate(trigger));
			const audio = await requests('/v1/download-audio');
			const limited = audio.findIndex(({ status }) => status === 429);
			const waitedMs = audio[limited + 1].at - audio[limited].at;
			assert.ok(waitedMs >= 59_000, `${waitedMs} ms`);
			assert.deepEqual(
				await daysRead(),
				days.filter((day) => !done.has(day)),
			);
			const polls = await lab.rest.executions(trigger);
			assert.deepEqual(
				polls.filter(({ status }) => status === 'error'),
				[],
			);
			const halfWritten = (await dayFiles(folder)).find((name) => name.endsWith('_0.json'))!;
			await rm(join(folder, 'days', halfWritten));
			await assertWhole(folder, { days });
			const empty = (await dayFiles(folder)).filter((name) => name.endsWith(`_${NOTHING}.json`));
			assert.equal(empty.length, 30);
			const report = await reportOf(onDisk(folder));
			assert.deepEqual(
				[report.isComplete, report.daysInArchive, report.lifelogs, report.chats, report.failed],
				[true, 60, 60, 60, []],
			);
		});

		test('with nothing to do it reads the lists, and nothing else', async () => {
			await succeeds(workflow);
			const light = (await requests('/v1/lifelogs')).map(({ query }) => query.includeContents);
			assert.deepEqual(light, ['false']);
			assert.equal((await requests('/')).length, light.length + 2);
		});

		test('archives again what was uploaded late, edited, starred, continued or deleted', async () => {
			const { control } = lab.sandbox;
			const of = async (day: string) =>
				(await control.lifelogs()).filter(({ startTime }) => startTime.startsWith(day));
			const chatOf = async (day: string) =>
				(await control.chats()).find(({ createdAt }) => createdAt.startsWith(day))!;
			const [late, edited, starred, continued, deleted] = [2, 4, 46, 50, 55].map((at) => days[at]);
			await addLifelog(late, '08:20:00');
			const [first] = await of(edited);
			await control.updateLifelog(first.id, { title: 'Another title' });
			await control.updateLifelog((await of(starred))[0].id, { isStarred: true });
			const { id, messages } = await chatOf(continued);
			await control.updateChat(id, { messages: [...messages, ...messages] });
			const [lost] = await of(deleted);
			await control.deleteLifelog(lost.id);
			const lostChat = await chatOf(deleted);
			await control.deleteChat(lostChat.id);
			await succeeds(workflow);
			assert.deepEqual(await daysRead(), [late, edited, starred, continued, deleted]);
			const startMs = Date.parse(lost.startTime);
			await assertWhole(folder, {
				days,
				gone: [lost.id, lostChat.id],
				kept: [{ startMs, endMs: startMs + 1 }],
			});
			await succeeds(workflow);
			assert.deepEqual(await daysRead(), []);
		});
	});

	describe('where not all can be archived', () => {
		let archive: Awaited<ReturnType<typeof newArchive>>;
		let days: string[];
		let failed: { startMs: number; endMs: number };

		before(async () => {
			await emptyService();
			days = daysBetween(daysAgo(12), daysAgo(10));
			for (const day of days) await live(day);
			const settings = { waitDays: 10 };
			archive = await newArchive('failing', [days[0], days[2]], { settings });
			const startMs = Date.parse(days[1]) + 8 * HOUR_MS;
			failed = { startMs, endMs: startMs + 2 * HOUR_MS };
		});

		const fault = async () =>
			await lab.sandbox.control.faults([
				{ path: `/v1/download-audio?startMs=${failed.startMs}`, status: 504, times: 1_000 },
			]);

		test('audio that answers 504 for good keeps no other day, and is named', async () => {
			await fault();
			const message = await fails(archive.workflow);
			assert.ok(message.startsWith(`Not complete: ${days[1]}. ${days[1]}: audio ${days[1]}T08:00`));
			assert.match(message, /504/);
			await assertArchived(lab.sandbox, archive.storage, { days, failed: [failed] });
			const report = await reportOf(archive.storage);
			assert.deepEqual([report.isComplete, report.daysDone, report.daysToDo], [false, 3, 3]);
			assert.deepEqual(
				report.failed.map(({ day }: { day: string }) => day),
				[days[1]],
			);
			assert.match(String(await archive.storage.read('report.md')), /## Failed\n\n- 20/);
		});

		test('the next run asks for what is not stored of that day, and fails again', async () => {
			await fault();
			assert.match(await fails(archive.workflow), /^Not complete/);
			assert.deepEqual(await daysRead(), []);
			const asked = new Set(await audioAsked());
			assert.equal(asked.size, 11);
			assert.ok([...asked].every((startMs) => dayOf(startMs) === days[1]));
		});

		test('and when it can be had, the archive is whole', async () => {
			await lab.sandbox.control.faults([]);
			await succeeds(archive.workflow);
			assert.deepEqual(await daysRead(), []);
			assert.equal(new Set(await audioAsked()).size, 11);
			await assertArchived(lab.sandbox, archive.storage, { days });
		});

		test('a file of a day that is empty or broken counts as none', async () => {
			const [empty, broken] = await dayFiles(archive.folder).then((names) =>
				[days[0], days[2]].map((day) => names.findLast((name) => name.startsWith(day))!),
			);
			await writeFile(join(archive.folder, 'days', empty), '');
			const text = await readFile(join(archive.folder, 'days', broken), 'utf8');
			await writeFile(join(archive.folder, 'days', broken), text.slice(0, 1000));
			await succeeds(archive.workflow);
			assert.deepEqual(await daysRead(), [days[0], days[2]]);
			await assertArchived(lab.sandbox, archive.storage, { days });
		});

		test('a chat that cannot be read is named, and what is stored of it stays', async () => {
			const { control } = lab.sandbox;
			const chats = await control.chats();
			const { id, messages } = chats.find(({ createdAt }) => createdAt.startsWith(days[1]))!;
			await control.updateChat(id, { messages: [...messages, ...messages] });
			await control.faults([{ path: `/v1/chats/${id}`, status: 500, times: 1_000 }]);
			const message = await fails(archive.workflow);
			assert.ok(message.startsWith(`Not complete: ${days[1]}. ${days[1]}: chat ${id}: `), message);
			const file = (await newestDays(archive.storage)).get(days[1])!;
			assert.deepEqual([file.isComplete, file.failed.length], [false, 1]);
			assert.equal(file.chats[id].messages, messages.length);
			await control.faults([]);
			await succeeds(archive.workflow);
			assert.deepEqual(await daysRead(), [days[1]]);
			await assertArchived(lab.sandbox, archive.storage, { days });
		});

		test('lists that cannot be read end the run, and leave no lock', async () => {
			await lab.sandbox.control.faults([{ path: '/v1/lifelogs', status: 401 }]);
			assert.match(await fails(archive.workflow), /^Not complete\. .*API key/);
			assert.equal((await reportOf(archive.storage)).state, 'ended');
			await succeeds(archive.workflow);
		});

		test('a folder that cannot be written to is noticed before anything is asked for', async () => {
			const settings = { folder: '/sys' };
			const workflow = await importExample(lab, 'full-archive', { settings });
			assert.match(await fails(workflow), /^Could not store report\.json/);
			assert.deepEqual(await requests('/'), []);
		});

		test('a storage that fails later ends the run', async () => {
			const { folder, workflow } = await newArchive('full', [days[0], days[0]], {
				settings: { waitDays: 10 },
			});
			const message = await fails(workflow);
			assert.ok(
				message.startsWith(`Not complete: ${days[1]}. 1 more days were not tried.`),
				message,
			);
			assert.match(message, new RegExp(`Could not store lifelogs/${days[1].replaceAll('-', '/')}`));
			assert.deepEqual(await daysRead(), days.slice(0, 2));
			assert.equal(new Set(await audioAsked()).size, 12);
			assert.equal((await dayFiles(folder)).length, 1);
		});

		test('a day of which one file cannot be stored has no file of its own, and is tried again', async () => {
			const [{ path }] = Object.values(
				(await newestDays(archive.storage)).get(days[1])!.lifelogs,
			).flatMap(({ files }) => files);
			const { folder, storage, workflow } = await newArchive('one', [days[0], days[2]], {
				settings: { waitDays: 10 },
			});
			await mkdir(join(folder, path));
			assert.match(await fails(workflow), new RegExp(`Could not store ${path}`));
			assert.equal((await newestDays(storage)).has(days[1]), false);
			await rmdir(join(folder, path));
			await succeeds(workflow);
			await assertArchived(lab.sandbox, storage, { days });
		});

		test('of two runs at once one archives, and the other says that it does not', async () => {
			const { workflow, storage } = await newArchive('twice', [days[0], days[2]], {
				settings: { waitDays: 10 },
			});
			await lab.sandbox.control.clearRequests();
			const ids = await Promise.all([0, 1].map(async () => await lab.rest.run(workflow, BY_HAND)));
			const both = await Promise.all(
				ids.map(async (id) => await lab.rest.execution(id, PATIENCE_MS)),
			);
			assert.deepEqual(both.map(({ status }) => status).sort(), ['error', 'success']);
			const { error } = both.find(({ status }) => status === 'error')!;
			assert.match(String(error?.message), /^Another run (began|goes on)/);
			const asked = await audioAsked();
			assert.equal(new Set(asked).size, asked.length);
			await assertArchived(lab.sandbox, storage, { days });
		});

		test('a run whose last word is older than the lock does not stop another', async () => {
			const { folder, storage, workflow } = archive;
			const report = await reportOf(storage);
			const said = async (minutesAgo: number) => {
				const updatedAt = new Date(Date.now() - minutesAgo * 60_000).toISOString();
				const text = JSON.stringify({ ...report, state: 'running', updatedAt });
				await writeFile(join(folder, 'report.json'), text);
			};
			await said(29);
			assert.match(await fails(workflow), /^Another run goes on/);
			await said(31);
			await succeeds(workflow);
		});
	});

	describe('what arrives late', () => {
		test('audio that was missing in the last week is asked for again, once a day', async () => {
			await emptyService();
			const day = daysAgo(3);
			await addLifelog(day, '10:00:00');
			await addLifelog(day, '15:00:00');
			const days = daysBetween(day, daysAgo(2));
			const settings = { waitDays: 2 };
			const { folder, storage, workflow } = await newArchive('late', [days[0], days[1]], {
				settings,
			});
			const startMs = Date.parse(day) + 14 * HOUR_MS;
			const missing = { status: 404, body: { error: 'No audio' } };
			await lab.sandbox.control.faults([
				{ path: `/v1/download-audio?startMs=${startMs}`, ...missing },
			]);
			await succeeds(workflow);
			assert.equal((await newestDays(storage)).get(day)!.audio.length, 1);
			await succeeds(workflow);
			assert.deepEqual(await audioAsked(), []);

			for (const name of await dayFiles(folder)) {
				const path = join(folder, 'days', name);
				const file = JSON.parse(await readFile(path, 'utf8'));
				const archivedAt = new Date(Date.now() - 21 * HOUR_MS).toISOString();
				await writeFile(path, JSON.stringify({ ...file, archivedAt }));
			}
			await succeeds(workflow);
			assert.deepEqual(await daysRead(), []);
			assert.equal((await audioAsked()).length, 11 + 12);
			await assertArchived(lab.sandbox, storage, { days });
		});
	});

	describe('days of UTC, whatever the zone of the workflow', () => {
		for (const [timezone, first, last, change] of [
			['Europe/Berlin', '2026-10-24', '2026-10-25', '2026-10-25T01:00:00Z'],
			['Australia/Sydney', '2026-10-03', '2026-10-04', '2026-10-03T16:00:00Z'],
			['America/Santiago', '2026-09-05', '2026-09-06', '2026-09-06T04:00:00Z'],
		] as const) {
			test(`when the clocks change in ${timezone}, and a lifelog goes on over midnight`, async () => {
				await emptyService();
				const hours = [-2, -1, 0, 1, 2].map((hour) => Date.parse(change) + hour * HOUR_MS);
				for (const ms of hours) {
					const [day, time] = new Date(ms).toISOString().split('T');
					await addLifelog(day, time.slice(0, 8), 20);
				}
				// From the last minutes of the one to the first of the other, by UTC and by the clock there.
				await addLifelog(first, '23:58:00', 240);
				const localMidnight = {
					'Europe/Berlin': '21:58:00',
					'Australia/Sydney': '13:58:00',
					'America/Santiago': '03:58:00',
				};
				await addLifelog(last, localMidnight[timezone], 240);
				await lab.sandbox.control.addChat({ createdAt: `${last}T00:00:00.000Z` });
				const waitDays = Math.round((Date.parse(dayOf(Date.now())) - Date.parse(last)) / DAY_MS);
				const settings = { firstDay: first, waitDays };
				const name = timezone.replace('/', '-');
				const archive = await newArchive(name, [first, last], { settings, timezone });
				await succeeds(archive.workflow);
				await assertWhole(archive.folder, { days: [first, last] });
			});
		}
	});

	describe('other storages', () => {
		let days: string[];
		const S3_NODES = { 'List in S3': true, 'Read from S3': true, 'Store in S3': true };

		before(async () => {
			await emptyService();
			days = daysBetween(daysAgo(3), daysAgo(2));
			for (const day of days) await live(day);
		});

		const inS3 = (prefix: string): Storage => ({
			names: async () =>
				(await s3.keys())
					.filter((key) => key.startsWith(`${prefix}/`))
					.map((key) => key.slice(prefix.length + 1)),
			read: async (name) => await s3.object(`${prefix}/${name}`),
		});

		test('S3 alone, and what is there is not stored again', async () => {
			const workflow = await importExample(lab, 'full-archive', {
				settings: { bucket: s3.bucket, prefix: 'all', waitDays: 2 },
				enabled: { 'Read from disk': false, 'Write to disk': false, ...S3_NODES },
			});
			await succeeds(workflow);
			await assertArchived(lab.sandbox, inS3('all'), { days });
			s3.forgetWrites();
			await succeeds(workflow);
			assert.equal((await requests('/')).length, 3);
			assert.deepEqual([...new Set(s3.writes())].sort(), ['all/report.json', 'all/report.md']);
			const [{ id }] = await lab.sandbox.control.lifelogs();
			await lab.sandbox.control.updateLifelog(id, { isStarred: true });
			await succeeds(workflow);
			assert.deepEqual(await daysRead(), [days[0]]);
			await assertArchived(lab.sandbox, inS3('all'), { days });
		});

		test('one that stores alone, with the days on the disk to compare with', async () => {
			const { storage, workflow } = await newArchive('index', [days[0], days[0]], {
				settings: { bucket: s3.bucket, prefix: 'copy', waitDays: 2, keepOnDisk: 'days' },
				enabled: { 'Store in S3': true },
			});
			await succeeds(workflow);
			await assertArchived(lab.sandbox, inS3('copy'), { days });
			const names = await storage.names();
			assert.equal(names.length, 4);
			assert.ok(names.every((name) => /^(days|report)/.test(name)));
			await succeeds(workflow);
			assert.equal((await requests('/')).length, 3);
		});
	});

	describe('published', () => {
		const OFTEN = { rule: { interval: [{ field: 'seconds', secondsInterval: 30 }] } };

		/** Publishes it until a run has ended. */
		async function runByItself(
			t: TestContext,
			{ storage, workflow }: Awaited<ReturnType<typeof newArchive>>,
		) {
			await lab.sandbox.control.clearRequests();
			await activateWhile(t, lab, workflow.id);
			const hasEnded = async () => {
				const report = await reportOf(storage).catch(() => undefined);
				return report?.state === 'ended';
			};
			await until(hasEnded, 'It ended');
			await lab.rest.deactivate(workflow.id);
		}

		test('every night it looks at the last 31 days, and leaves no copies in n8n', async (t) => {
			await emptyService();
			await live(daysAgo(40));
			await live(daysAgo(30));
			const days = [daysAgo(31), daysAgo(30)];
			const archive = await newArchive('nights', [days[0], days[1]], {
				settings: { waitDays: 30 },
				parameters: { 'Every night': OFTEN },
			});
			await runByItself(t, archive);
			const [{ query }] = await requests('/v1/lifelogs');
			assert.equal(String(query.start).slice(0, 10), days[0]);
			await assertArchived(lab.sandbox, archive.storage, { days });
			// What the report says is small, and stays with a run that found another going on.
			const copies = join('workflows', archive.workflow.id);
			await until(async () => {
				const files = await sizesIn(lab.userFolder).catch(() => undefined);
				return files && !files.some(([name, bytes]) => name.includes(copies) && bytes > 50_000);
			}, 'No copies');
		});

		test('a night is not complete while earlier days were never archived', async (t) => {
			await emptyService();
			await live(daysAgo(31));
			const archive = await newArchive('holes', [daysAgo(31), daysAgo(30)], {
				settings: { waitDays: 30, firstDay: daysAgo(33) },
				parameters: { 'Every night': OFTEN },
			});
			await runByItself(t, archive);
			const { isComplete, failed } = await reportOf(archive.storage);
			assert.equal(isComplete, false);
			assert.equal(failed.length, 1);
			assert.match(
				failed[0].message,
				new RegExp(`^2 days, ${daysAgo(33)} to ${daysAgo(32)}, are not archived yet`),
			);
			await assertArchived(lab.sandbox, archive.storage, { days: [daysAgo(31), daysAgo(30)] });
		});

		test('every week at everything', async (t) => {
			await emptyService();
			const day = daysAgo(40);
			await live(day);
			const archive = await newArchive('weeks', [day, day], {
				settings: { waitDays: 40 },
				parameters: { 'Every week': OFTEN },
			});
			await runByItself(t, archive);
			await assertWhole(archive.folder, { days: [day] });
		});
	});

	test('of an account without anything is nothing, and no error', async () => {
		await emptyService();
		const { storage, workflow } = await newArchive('empty', [yesterday(), yesterday()]);
		await succeeds(workflow);
		assert.deepEqual((await storage.names()).sort(), ['report.json', 'report.md']);
	});
});

describe(`n8n ${OLDEST}`, () => {
	before(async () => await start(OLDEST));
	after(async () => await lab.close());

	test('archives as well, once published', async (t) => {
		await emptyService();
		const days = daysBetween(daysAgo(2), yesterday());
		for (const day of days) await live(day);
		const { folder, workflow } = await newArchive('oldest', [days[0], days[1]]);
		await activateWhile(t, lab, workflow.id);
		await succeeds(workflow);
		await assertWhole(folder, { days });
	});
});

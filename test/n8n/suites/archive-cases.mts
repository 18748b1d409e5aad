// The example Full archive where things go wrong or are elsewhere, and by itself. What only its Code
// nodes decide is in test/nodes/full-archive.test.mts and test/tools/full-archive.test.mts.
import assert from 'node:assert/strict';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { NEWEST } from '../install.mts';
import {
	assertArchived,
	DAY_MS,
	dayOf,
	daysBetween,
	HOUR_MS,
	newestDays,
	sizesIn,
	type Storage,
} from '../support/archive.mts';
import {
	BY_HAND,
	RUN_TIMEOUT_MS,
	dayManifests,
	daysAgo,
	reportOf,
	until,
	useArchiveLab,
	yesterday,
	type Archive,
} from '../support/archive-lab.mts';
import { importExample } from '../support/examples.mts';
import { activateWhile } from '../support/lab.mts';
import { startS3, type S3 } from '../support/s3.mts';

const {
	lab,
	emptyService,
	addLifelog,
	live,
	newArchive,
	succeeds,
	fails,
	requests,
	daysRead,
	audioAsked,
	assertWhole,
} = useArchiveLab(NEWEST);

describe('if not everything can be archived', () => {
	let archive: Archive;
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
		await lab().sandbox.control.faults([
			{ path: `/v1/download-audio?startMs=${failed.startMs}`, status: 504, times: 1_000 },
		]);

	test("audio that always answers 504 is named, and doesn't delay other days", async () => {
		await fault();
		const message = await fails(archive.workflow);
		assert.ok(message.startsWith(`Not complete: ${days[1]}. ${days[1]}: audio ${days[1]}T08:00`));
		assert.match(message, /504/);
		await assertArchived(lab().sandbox, archive.storage, { days, failed: [failed] });
		const report = await reportOf(archive.storage);
		assert.deepEqual([report.isComplete, report.daysDone, report.daysToDo], [false, 3, 3]);
		assert.deepEqual(
			report.failed.map(({ day }: { day: string }) => day),
			[days[1]],
		);
		assert.match(String(await archive.storage.read('report.md')), /## Failed\n\n- 20/);
	});

	test('the next run requests only the missing audio of that day, and fails again', async () => {
		await fault();
		assert.match(await fails(archive.workflow), /^Not complete/);
		assert.deepEqual(await daysRead(), []);
		const asked = new Set(await audioAsked());
		assert.equal(asked.size, 11);
		assert.ok([...asked].every((startMs) => dayOf(startMs) === days[1]));
	});

	test('when the audio can be read, the archive is complete', async () => {
		await lab().sandbox.control.faults([]);
		await succeeds(archive.workflow);
		assert.deepEqual(await daysRead(), []);
		assert.equal(new Set(await audioAsked()).size, 11);
		await assertArchived(lab().sandbox, archive.storage, { days });
	});

	test('ignores an empty or broken day manifest', async () => {
		const [empty, broken] = await dayManifests(archive.folder).then((names) =>
			[days[0], days[2]].map((day) => names.findLast((name) => name.startsWith(day))!),
		);
		await writeFile(join(archive.folder, 'days', empty), '');
		const text = await readFile(join(archive.folder, 'days', broken), 'utf8');
		await writeFile(join(archive.folder, 'days', broken), text.slice(0, 1000));
		await succeeds(archive.workflow);
		assert.deepEqual(await daysRead(), [days[0], days[2]]);
		await assertArchived(lab().sandbox, archive.storage, { days });
	});

	test("a chat that can't be read is named, and its stored version stays", async () => {
		const { control } = lab().sandbox;
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
		await assertArchived(lab().sandbox, archive.storage, { days });
	});

	test("lists that can't be read end the run, and leave no lock", async () => {
		await lab().sandbox.control.faults([{ path: '/v1/lifelogs', status: 401 }]);
		assert.match(await fails(archive.workflow), /^Not complete\. .*API key/);
		assert.equal((await reportOf(archive.storage)).state, 'ended');
		await succeeds(archive.workflow);
	});

	test("a folder that can't be written to is reported before any request", async () => {
		const settings = { folder: '/sys' };
		const workflow = await importExample(lab(), 'full-archive', { settings });
		assert.match(await fails(workflow), /^Could not store report\.json/);
		assert.deepEqual(await requests('/'), []);
	});

	test('a storage that fails later ends the run', async () => {
		const { folder, workflow } = await newArchive('full', [days[0], days[0]], {
			settings: { waitDays: 10 },
		});
		const message = await fails(workflow);
		assert.ok(message.startsWith(`Not complete: ${days[1]}. 1 more days were not tried.`), message);
		assert.match(message, new RegExp(`Could not store lifelogs/${days[1].replaceAll('-', '/')}`));
		assert.deepEqual(await daysRead(), days.slice(0, 2));
		assert.equal(new Set(await audioAsked()).size, 12);
		assert.equal((await dayManifests(folder)).length, 1);
	});

	test("a day with a file that can't be stored has no manifest, and is retried", async () => {
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
		await assertArchived(lab().sandbox, storage, { days });
	});

	test("if two runs start at once, one archives, and the other says that it doesn't", async () => {
		const { workflow, storage } = await newArchive('twice', [days[0], days[2]], {
			settings: { waitDays: 10 },
		});
		await lab().sandbox.control.clearRequests();
		const ids = await Promise.all([0, 1].map(async () => await lab().rest.run(workflow, BY_HAND)));
		const both = await Promise.all(
			ids.map(async (id) => await lab().rest.execution(id, RUN_TIMEOUT_MS)),
		);
		assert.deepEqual(both.map(({ status }) => status).sort(), ['error', 'success']);
		const { error } = both.find(({ status }) => status === 'error')!;
		assert.match(String(error?.message), /^Another run (began|goes on|is active)/);
		const asked = await audioAsked();
		assert.equal(new Set(asked).size, asked.length);
		await assertArchived(lab().sandbox, storage, { days });
	});

	test('a run whose last report is older than lockMinutes does not block another run', async () => {
		const { folder, storage, workflow } = archive;
		const report = await reportOf(storage);
		const said = async (minutesAgo: number) => {
			const updatedAt = new Date(Date.now() - minutesAgo * 60_000).toISOString();
			const text = JSON.stringify({ ...report, state: 'running', updatedAt });
			await writeFile(join(folder, 'report.json'), text);
		};
		await said(29);
		assert.match(await fails(workflow), /^Another run is active/);
		await said(31);
		await succeeds(workflow);
	});
});

test("days are in UTC, whatever the workflow's time zone, also if the clocks change", async () => {
	await emptyService();
	const days = ['2026-10-03', '2026-10-04'];
	const change = Date.parse('2026-10-03T16:00:00Z');
	for (const hour of [-2, -1, 0, 1, 2]) {
		const [day, time] = new Date(change + hour * HOUR_MS).toISOString().split('T');
		await addLifelog(day, time.slice(0, 8), 20);
	}
	// Over midnight, by UTC and by the clock there.
	await addLifelog(days[0], '23:58:00', 240);
	await addLifelog(days[1], '13:58:00', 240);
	await lab().sandbox.control.addChat({ createdAt: `${days[1]}T00:00:00.000Z` });
	const waitDays = Math.round((Date.parse(dayOf(Date.now())) - Date.parse(days[1])) / DAY_MS);
	const { folder, workflow } = await newArchive('clocks', [days[0], days[1]], {
		settings: { firstDay: days[0], waitDays },
		timezone: 'Australia/Sydney',
	});
	await succeeds(workflow);
	await assertWhole(folder, { days });
});

describe('other storages', () => {
	let days: string[];
	let s3: S3;
	const S3_NODES = { 'List in S3': true, 'Read from S3': true, 'Store in S3': true };

	before(async () => {
		s3 = await startS3();
		await lab().rest.createCredential('s3', s3.credential, 'S3 account');
		await emptyService();
		days = daysBetween(daysAgo(3), daysAgo(2));
		for (const day of days) await live(day);
	});
	after(async () => await s3?.close());

	const inS3 = (prefix: string): Storage => ({
		names: async () =>
			(await s3.keys())
				.filter((key) => key.startsWith(`${prefix}/`))
				.map((key) => key.slice(prefix.length + 1)),
		read: async (name) => await s3.object(`${prefix}/${name}`),
	});

	test("only S3, and stored files aren't stored again", async () => {
		const workflow = await importExample(lab(), 'full-archive', {
			settings: { bucket: s3.bucket, prefix: 'all', waitDays: 2 },
			enabled: { 'Read from disk': false, 'Write to disk': false, ...S3_NODES },
		});
		await succeeds(workflow);
		await assertArchived(lab().sandbox, inS3('all'), { days });
		s3.forgetWrites();
		await succeeds(workflow);
		assert.equal((await requests('/')).length, 3);
		assert.deepEqual([...new Set(s3.writes())].sort(), ['all/report.json', 'all/report.md']);
		const [{ id }] = await lab().sandbox.control.lifelogs();
		await lab().sandbox.control.updateLifelog(id, { isStarred: true });
		await succeeds(workflow);
		assert.deepEqual(await daysRead(), [days[0]]);
		await assertArchived(lab().sandbox, inS3('all'), { days });
	});

	test('a storage that can only write, with the day manifests on the disk', async () => {
		const { storage, workflow } = await newArchive('index', [days[0], days[0]], {
			settings: { bucket: s3.bucket, prefix: 'copy', waitDays: 2, keepOnDisk: 'days' },
			enabled: { 'Store in S3': true },
		});
		await succeeds(workflow);
		await assertArchived(lab().sandbox, inS3('copy'), { days });
		const names = await storage.names();
		assert.equal(names.length, 4);
		assert.ok(names.every((name) => /^(days|report)/.test(name)));
		await succeeds(workflow);
		assert.equal((await requests('/')).length, 3);
	});
});

describe('a published workflow', () => {
	const OFTEN = { rule: { interval: [{ field: 'seconds', secondsInterval: 10 }] } };

	/** Publishes it until a run has ended. */
	async function runByItself(t: TestContext, { storage, workflow }: Archive) {
		await lab().sandbox.control.clearRequests();
		await activateWhile(t, lab(), workflow.id);
		const hasEnded = async () => {
			const report = await reportOf(storage).catch(() => undefined);
			return report?.state === 'ended';
		};
		await until(hasEnded, 'It ended');
		await lab().rest.deactivate(workflow.id);
	}

	test('checks the last 31 days every night, and leaves no copies in n8n', async (t) => {
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
		await assertArchived(lab().sandbox, archive.storage, { days });
		// What the report says is small, and stays with a run that found another going on.
		const copies = join('workflows', archive.workflow.id);
		await until(async () => {
			const files = await sizesIn(lab().userFolder).catch(() => undefined);
			return files && !files.some(([name, bytes]) => name.includes(copies) && bytes > 50_000);
		}, 'No copies');
	});

	test('checks all days every week', async (t) => {
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

test('archives nothing of an account without data, without an error', async () => {
	await emptyService();
	const { storage, workflow } = await newArchive('empty', [yesterday(), yesterday()]);
	await succeeds(workflow);
	assert.deepEqual((await storage.names()).sort(), ['report.json', 'report.md']);
});

// The example Full archive over weeks of days, its archives compared with the service entry by entry and byte by byte.
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import { NEWEST } from '../install.mts';
import { daysBetween, newestDays, onDisk } from '../support/archive.mts';
import {
	BY_HAND,
	dayManifests,
	daysAgo,
	reportOf,
	RUN_TIMEOUT_MS,
	until,
	useArchiveLab,
	yesterday,
} from '../support/archive-lab.mts';
import { importExample } from '../support/examples.mts';
import { runProgram } from '../support/processes.mts';
import { type SavedWorkflow } from '../support/rest.mts';
import { activateTrigger } from '../support/trigger.mts';

const root = resolve(import.meta.dirname, '../../..');

const DAYS = 24;
/** So many days have no data: the second third. */
const EMPTY = DAYS / 3;

/** The version of a day without lifelogs and chats: of no line. */
const NOTHING = 'e3b0c44298fc1c14';

const {
	lab,
	archives,
	emptyService,
	addLifelog,
	live,
	succeeds,
	fails,
	requests,
	daysRead,
	assertWhole,
} = useArchiveLab(NEWEST);

describe('24 days, some of them without data', () => {
	let folder: string;
	let workflow: SavedWorkflow;
	let days: string[];

	before(async () => {
		await emptyService();
		days = daysBetween(daysAgo(DAYS), yesterday());
		for (const day of [...days.slice(0, -2 * EMPTY), ...days.slice(-EMPTY)]) await live(day);
		folder = join(archives(), 'weeks');
		workflow = await importExample(lab(), 'full-archive', { settings: { folder } });
	});

	test('uses the folders that the command in examples/README.md creates', async () => {
		const readme = await readFile(join(root, 'examples', 'README.md'), 'utf8');
		const [, command] = /```sh\n(node -e .*)\n```/.exec(readme)!;
		await runProgram('sh', ['-c', command.replaceAll('.n8n-files', folder)]);
		assert.deepEqual(await onDisk(folder).names(), []);
	});

	test("reports its progress, is killed halfway, and then doesn't block other runs forever", async () => {
		// The service holds back later on: however slow the machine is, it's killed before the end.
		const held = { path: '/v1/download-audio', skip: 120, times: 10_000, delayMs: RUN_TIMEOUT_MS };
		await lab().sandbox.control.faults([held]);
		await lab().rest.run(workflow, BY_HAND);
		await until(async () => (await dayManifests(folder)).length >= EMPTY, 'Some days');
		const report = await readFile(join(folder, 'report.md'), 'utf8');
		assert.match(report, new RegExp(`\\nDay \\d+ of ${DAYS}, about \\d+ min left\\.\\n`));
		await lab().restart('kill', async () => {
			// As if it had been killed while it wrote this one.
			await writeFile(
				join(folder, 'days', `${days[(await dayManifests(folder)).length]}_0.json`),
				'{"ver',
			);
		});
		const message = await fails(workflow);
		assert.match(message, /^Another run is active: .* wait until .*, or delete report\.json\.$/);
		assert.deepEqual(await requests('/'), []);
	});

	test('continues where it was, with a rate limit of a minute, while a trigger polls', async (t) => {
		// Those that were being written when it was killed are none.
		const done = await newestDays(onDisk(folder));
		await rm(join(folder, 'report.json'));
		const trigger = await activateTrigger(lab(), { event: 'lifelogCreatedOrUpdated' }, t);
		const body = { error: 'Too many requests', retryAfter: '60' };
		const limit = { path: '/v1/download-audio', skip: 30, status: 429, body };
		await lab().sandbox.control.faults([limit]);
		await succeeds(workflow).finally(async () => await lab().rest.deactivate(trigger));
		const audio = await requests('/v1/download-audio');
		const limited = audio.findIndex(({ status }) => status === 429);
		// Two more were on their way.
		const waitedMs = audio[limited + 3].at - audio[limited].at;
		assert.ok(waitedMs >= 59_000, `${waitedMs} ms`);
		assert.deepEqual(
			await daysRead(),
			days.filter((day) => !done.has(day)),
		);
		const polls = await lab().rest.executions(trigger);
		assert.deepEqual(
			polls.filter(({ status }) => status === 'error'),
			[],
		);
		const halfWritten = (await dayManifests(folder)).find((name) => name.endsWith('_0.json'))!;
		await rm(join(folder, 'days', halfWritten));
		await assertWhole(folder, { days });
		const empty = (await dayManifests(folder)).filter((name) => name.endsWith(`_${NOTHING}.json`));
		assert.equal(empty.length, EMPTY);
		const report = await reportOf(onDisk(folder));
		assert.deepEqual(
			[report.isComplete, report.daysInArchive, report.lifelogs, report.chats, report.failed],
			[true, DAYS, 2 * (DAYS - EMPTY), 2 * (DAYS - EMPTY), []],
		);
	});

	test('with nothing to do, reads only the lists', async () => {
		await succeeds(workflow);
		const light = (await requests('/v1/lifelogs')).map(({ query }) => query.includeContents);
		assert.deepEqual(light, ['false']);
		assert.equal((await requests('/')).length, light.length + 2);
	});

	test('archives late uploads, edits, stars, continued chats and deletes', async () => {
		const { control } = lab().sandbox;
		const of = async (day: string) =>
			(await control.lifelogs()).filter(({ startTime }) => startTime.startsWith(day));
		const chatOf = async (day: string) =>
			(await control.chats()).find(({ createdAt }) => createdAt.startsWith(day))!;
		const [late, edited, starred, continued, deleted] = [2, 4, 17, 19, 21].map((at) => days[at]);
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

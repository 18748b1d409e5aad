// The example Full archive and the command `lifelog-server archive`, each continuing what the other began.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import { liveFor } from '../../support/inventedLife.mts';
import { NEWEST } from '../install.mts';
import {
	assertArchived,
	daysBetween,
	type DayManifest,
	HOUR_MS,
	makeFolders,
	newestDays,
	onDisk,
} from '../support/archive.mts';
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

const root = resolve(import.meta.dirname, '../../..');
const { lab, archives, addLifelog, succeeds, fails, requests, assertProven, assertWhole } =
	useArchiveLab(NEWEST);

/** Who archives. */
type Writer = 'example' | 'command';

const DAYS = 9;
const days = daysBetween(daysAgo(DAYS), yesterday());
/** How many days old the last day of the first half is. */
const HALF = 5;

/**
 * Who archives the first half of the days, the rest, and what has changed since. The suite archive has
 * the example alone.
 */
const archivesToCompare: Record<string, Writer[]> = {
	'command-only': ['command', 'command', 'command'],
	'begun-by-example': ['example', 'command', 'example'],
	'begun-by-command': ['command', 'example', 'command'],
};
const names = Object.keys(archivesToCompare);
const folderOf = (name: string) => join(archives(), name);

/** Starts the command; resolves when it has ended. */
async function runCommand(folder: string, options: string[] = []) {
	const child = startCommand(folder, options);
	const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
	return { code: code as number, stderr };
}

function startCommand(folder: string, options: string[]) {
	const { url, apiKey } = lab().sandbox;
	const program = join(root, 'server', 'lifelog-server.cjs');
	const args = [program, 'archive', folder, '--url', url, '--quiet', '--rate-limit', '100000'];
	return spawn(process.execPath, [...args, ...options], {
		env: { ...process.env, LIFELOG_API_KEY: apiKey },
		stdio: ['ignore', 'ignore', 'pipe'],
	});
}

/** Archives all days but the last ones, which are left for later. */
async function archive(writer: Writer, folder: string, waitDays = 1): Promise<void> {
	if (writer === 'example') {
		await succeeds(await importExample(lab(), 'full-archive', { settings: { folder, waitDays } }));
	} else {
		await lab().sandbox.control.clearRequests();
		const { code, stderr } = await runCommand(folder, ['--to', daysAgo(waitDays)]);
		assert.deepEqual([code, stderr], [0, '']);
	}
}

/** The names of the files of an archive that count. */
async function filesOf(folder: string): Promise<string[]> {
	const all = await onDisk(folder).names();
	return all.filter((name) => !/^(\.|report\.)/.test(name)).sort();
}

/** A manifest without the times at which it was written. */
function withoutWriting(json: string): object {
	const { archivedAt, ...file } = JSON.parse(json) as DayManifest;
	assert.ok(!Number.isNaN(Date.parse(archivedAt)));
	for (const entry of [...Object.values(file.lifelogs), ...Object.values(file.chats)]) {
		if (entry.goneAt === undefined) continue;
		assert.ok(entry.goneAt <= archivedAt);
		entry.goneAt = 'by then';
	}
	return file;
}

async function assertSame(folder: string, expected: string): Promise<void> {
	const [files, found] = [await filesOf(expected), await filesOf(folder)];
	const inOne = [...files, ...found].filter(
		(name) => !(files.includes(name) && found.includes(name)),
	);
	assert.deepEqual(inOne, [], folder);
	const [one, other] = [onDisk(folder), onDisk(expected)];
	for (const name of files) {
		const [content, wanted] = [await one.read(name), await other.read(name)];
		const where = `${name} of ${folder}`;
		if (!name.startsWith('days/')) assert.ok(content.equals(wanted), where);
		else assert.deepEqual(withoutWriting(String(content)), withoutWriting(String(wanted)), where);
	}
}

const assertAllSame = async () => {
	for (const name of names.slice(1)) await assertSame(folderOf(name), folderOf(names[0]));
};

/** Audio that the service does not have for now, of a day whose late uploads are over. */
const lateAudio = () => ({
	path: `/v1/download-audio?startMs=${Date.parse(days[1]) + 8 * HOUR_MS}`,
	status: 404,
	body: { error: 'No audio for the requested range' },
	times: 1_000,
});
const isOn = (day: string) => (entry: { startTime: string }) => entry.startTime.startsWith(day);

describe('half of the days archived by one, the rest by the other', () => {
	before(async () => {
		const { control } = lab().sandbox;
		await liveFor(DAYS, daysAgo(0), control);
		for (const day of [days[3], days[6]]) {
			for (const { id } of (await control.lifelogs()).filter(isOn(day))) {
				await control.deleteLifelog(id);
			}
			for (const { id, createdAt } of await control.chats()) {
				if (createdAt.startsWith(day)) await control.deleteChat(id);
			}
		}
		for (const name of names) await makeFolders(folderOf(name), days[0], yesterday());
	});

	for (const [name, writers] of Object.entries(archivesToCompare)) {
		test(`${name}: the first half by the ${writers[0]}`, async () => {
			await lab().sandbox.control.faults([lateAudio()]);
			await archive(writers[0], folderOf(name), HALF);
			assert.deepEqual(
				[...(await newestDays(onDisk(folderOf(name)))).keys()].sort(),
				days.slice(0, -HALF + 1),
			);
		});
		test(`${name}: the rest by the ${writers[1]}`, async () => {
			await lab().sandbox.control.faults([lateAudio()]);
			await archive(writers[1], folderOf(name));
		});
	}

	test('the archives are the same as if the command had archived everything', async () => {
		await assertAllSame();
		const read = await newestDays(onDisk(folderOf(names[0])));
		assert.deepEqual([...read.keys()].sort(), days);
		const chats = [...read.values()].flatMap((file) => Object.values(file.chats));
		for (const isScheduled of [true, false]) {
			assert.ok(chats.some((chat) => chat.isScheduled === isScheduled));
		}
		for (const day of [days[3], days[6]]) {
			const { lifelogs, chats: ofDay, missingAudio } = read.get(day)!;
			assert.deepEqual([lifelogs, ofDay], [{}, {}]);
			assert.ok(missingAudio.length > 0);
		}
	});

	test('they are the same again after the service has changed', async () => {
		const { control } = lab().sandbox;
		const [ofLate, edited, starred, deleted] = [1, 2, 4, 5].map((at) => days[at]);
		const lifelogs = await control.lifelogs();
		const at = (day: string, nth: number) => lifelogs.filter(isOn(day))[nth];
		const chats = (await control.chats()).filter(({ owner }) => owner === 'self');
		await control.faults([]);
		// Not the lifelog whose audio was missing.
		await control.updateLifelog(at(ofLate, -1 + lifelogs.filter(isOn(ofLate)).length).id, {
			title: 'Another title',
		});
		await control.updateLifelog(at(edited, 2).id, { title: 'One more “title”' });
		await control.updateLifelog(at(starred, 3).id, { isStarred: true });
		await control.deleteLifelog(at(deleted, 1).id);
		await control.deleteLifelog(at(deleted, 4).id);
		const [continued, lost] = [chats.at(0)!, chats.at(-1)!];
		await control.updateChat(continued.id, {
			messages: [...continued.messages, ...continued.messages],
		});
		await control.deleteChat(lost.id);
		await addLifelog(days[6], '10:30:00');
		for (const [name, writers] of Object.entries(archivesToCompare)) {
			await archive(writers[2], folderOf(name));
		}
		await assertAllSame();
		const gone = [at(deleted, 1), at(deleted, 4)];
		for (const name of names) {
			await assertWhole(folderOf(name), {
				days,
				gone: [...gone.map(({ id }) => id), lost.id],
				kept: gone.map(({ startTime, endTime }) => ({
					startMs: Date.parse(startTime),
					endMs: Date.parse(endTime),
				})),
			});
		}
	});

	for (const [name, next] of [
		['command-only', 'example'],
		['begun-by-example', 'command'],
		['begun-by-command', 'example'],
	] as const) {
		test(`${name}: then the ${next} has nothing to do`, async () => {
			const manifests = await dayManifests(folderOf(name));
			await archive(next, folderOf(name));
			assert.deepEqual(await dayManifests(folderOf(name)), manifests);
			const asked = (await requests('/')).map(({ path }) => path.split('?')[0]).sort();
			assert.deepEqual(asked, ['/v1/chats', '/v1/chats', '/v1/lifelogs']);
			const [{ query }] = await requests('/v1/lifelogs');
			assert.equal(query.includeContents, 'false');
			assert.equal((await reportOf(onDisk(folderOf(name)))).isComplete, true);
		});
	}
});

describe('one is killed halfway, and the other continues', () => {
	const lastDays = days.slice(-4);
	const [byCommand, byExample] = ['killed-command', 'killed-example'];
	const exampleIn = async (folder: string) =>
		await importExample(lab(), 'full-archive', { settings: { folder, firstDay: lastDays[0] } });
	const hasDay = (folder: string) => async () =>
		(await reportOf(onDisk(folder)).catch(() => undefined))?.daysDone > 0;

	before(async () => {
		await lab().sandbox.control.faults([]);
		for (const name of [byCommand, byExample]) {
			await makeFolders(folderOf(name), lastDays[0], yesterday());
		}
	});

	test("the command: the example doesn't start while it runs, and continues after it", async () => {
		const folder = folderOf(byCommand);
		const command = startCommand(folder, ['--from', lastDays[0], '--rate-limit', '20']);
		const ended = once(command, 'close');
		await until(hasDay(folder), 'A day');
		const workflow = await exampleIn(folder);
		assert.match(await fails(workflow), /^Another run is active: /);
		command.kill('SIGKILL');
		await ended;
		assert.ok((await dayManifests(folder)).length < lastDays.length);
		await rm(join(folder, 'report.json'));
		await succeeds(workflow);
		// Full archive leaves alone what the killed command was writing; its next run removes it.
		assert.deepEqual(await runCommand(folder, ['--from', lastDays[0]]), { code: 0, stderr: '' });
	});

	test("the example: the command doesn't start while it runs, and continues after it", async () => {
		const folder = folderOf(byExample);
		// The service holds back after some days: it's killed before the end.
		const held = { path: '/v1/download-audio', skip: 30, times: 10_000, delayMs: RUN_TIMEOUT_MS };
		await lab().sandbox.control.faults([held]);
		await lab().rest.run(await exampleIn(folder), BY_HAND);
		await until(hasDay(folder), 'A day');
		const from = ['--from', lastDays[0]];
		const beside = await runCommand(folder, from);
		assert.match(beside.stderr, /^Full archive in n8n has been writing to this archive since /);
		assert.equal(beside.code, 2);
		await lab().restart('kill');
		await lab().sandbox.control.faults([]);
		assert.ok((await dayManifests(folder)).length < lastDays.length);
		assert.deepEqual(await runCommand(folder, [...from, '--force']), { code: 0, stderr: '' });
	});

	test('both archives are the same, and match the service', async () => {
		await assertSame(folderOf(byExample), folderOf(byCommand));
		await assertArchived(lab().sandbox, onDisk(folderOf(byCommand)), { days: lastDays });
		for (const name of [byCommand, byExample]) await assertProven(folderOf(name), false);
	});
});

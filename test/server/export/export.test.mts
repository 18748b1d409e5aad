// lifelog-server export, as it is typed: Markdown of each lifelog, into a folder in which others write.
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import type { Exported } from '../../../server/export/report.mts';
import { writeLifelog } from '../../../lifelog/files/formats.ts';
import { runCommand, startCommand } from '../../support/archiveCommand.mts';
import { store, writeArchive, writeDay } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { newestManifests } from '../../support/manifests.mts';
import { line, PeopleClient, talk } from '../people/client.mts';
import { until } from '../../support/soon.mts';
import { startLifelogServer, temporaryFolder } from '../sources.mts';
import {
	change,
	deleteFrom,
	exported,
	filesIn,
	FIRST,
	inventArchive,
	nothing,
	retitle,
	SECOND,
	statesIn,
	ZONE,
} from './exporting.mts';

let archive: string;
let folder: string;
beforeEach(async () => ({ archive, folder } = await inventArchive()));

const append = (path: string, words = '\nMine.\n') =>
	writeFileSync(join(folder, path), readFileSync(join(folder, path), 'utf8') + words);

/** Files that aren't the export's, in its folders, too. */
function someoneElses(): Record<string, string> {
	const own = {
		'Inbox.md': '# Mine',
		'2026/2026-03/2026-03-01 My diary.md': 'Mine, too',
		'.obsidian/app.json': '{}',
	};
	for (const [path, content] of Object.entries(own)) {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), content);
	}
	return own;
}

describe('what is written', () => {
	test('has the titles, names and stars of the owner, in local time, as the server serves it', async () => {
		const server = await startLifelogServer(archive, ['--allow-changes']);
		try {
			const client = new PeopleClient(server);
			await client.edit('garden', { title: 'Beans', isStarred: true });
			await client.edit('garden', { speakers: { SPEAKER_01: 'Sam' } });
			await client.change({ person: 'Anna', name: 'Anna Meier' });
			// The server runs on: it has the archive's locks.
			expect(await exported(archive, folder)).toEqual({ ...nothing(2), written: 2 });
			const files = filesIn(folder);
			const beans = '2026/2026-03/2026-03-01 09.00 Beans.md';
			expect(Object.keys(files)).toEqual([beans, SECOND]);
			expect(files[beans]).toContain('\n**Anna Meier** (09:00:00): Tomatoes?\n');
			expect(files[beans]).toContain('\n**Sam** (09:00:00): Too dark.\n');
			expect(files[SECOND]).toContain('\n**Speaker 2** (00:30:00): Too dark.\n');
			expect(parse(files[beans].split('---\n')[1])).toMatchObject({
				...{ title: 'Beans', date: '2026-03-01', id: 'garden', starred: true, timezone: ZONE },
				...{ start: '2026-03-01T09:00:00', end: '2026-03-01T09:10:00' },
				speakers: ['Anna Meier', 'Sam'],
			});
			for (const [id, path] of [
				['garden', beans],
				['call', SECOND],
			]) {
				const served = await client.get(id);
				expect(files[path]).toBe(writeLifelog(served, 'markdown', ZONE)!.content);
			}
		} finally {
			await server.close();
		}
	});

	test('is what is served, if several days name a lifelog', async () => {
		const moved = (startTime: string, updatedAt: string) =>
			lifelogOf('moved', startTime, { title: `At ${updatedAt}`, updatedAt });
		const days = [
			moved('2026-03-03T10:00:00.000Z', '2026-03-05T00:00:00.000Z'),
			moved('2026-03-04T10:00:00.000Z', '2026-03-04T12:00:00.000Z'),
		];
		for (const lifelog of days) {
			await writeDay(archive, { day: lifelog.startTime.slice(0, 10), lifelogs: [lifelog] });
		}
		await exported(archive, folder);
		const server = await startLifelogServer(archive);
		const { title } = await new PeopleClient(server).get('moved').finally(server.close);
		expect(title).toBe('At 2026-03-05T00:00:00.000Z');
		const written = Object.values(filesIn(folder)).filter((text) => text.includes('id: "moved"'));
		expect(written).toHaveLength(1);
		expect(written[0]).toContain(title);
	});

	test('leaves the archive untouched', async () => {
		const before = statesIn(archive);
		const names = readdirSync(archive).sort();
		await exported(archive, folder);
		await exported(archive, folder, '--form', 'app-export');
		expect(statesIn(archive)).toEqual(before);
		expect(readdirSync(archive).sort()).toEqual(names);
	});

	test('is said in words', async () => {
		const say = async () => (await runCommand(['export', archive, folder])).stdout;
		expect(await say()).toBe('2 lifelogs: 2 files written.\n');
		expect(await say()).toBe('2 lifelogs: nothing new.\n');
		const [path] = Object.keys(filesIn(folder));
		append(path);
		expect(await say()).toBe(
			`2 lifelogs: nothing new.\nLeft as they are: 1 file.\n  ${path} was changed since it was exported\n`,
		);
	});
});

describe('a second export', () => {
	test('writes nothing if nothing changed, and only what did', async () => {
		await exported(archive, folder);
		const before = statesIn(folder);
		expect(await exported(archive, folder)).toEqual(nothing(2));
		expect(statesIn(folder)).toEqual(before);
		await change(archive, (client) => client.edit('call', { isStarred: true }));
		expect(await exported(archive, folder)).toMatchObject({ written: 1, removed: 0 });
		const after = statesIn(folder);
		expect(after[FIRST]).toBe(before[FIRST]);
		expect(after[SECOND]).toContain('starred: true');
	});

	test('writes only the lifelogs in which somebody was renamed', async () => {
		const alone = talk('alone', '2026-03-05T08:00:00.000Z', [line('Bea', 'Hm.')]);
		await writeArchive(archive, { lifelogs: [alone] });
		await exported(archive, folder);
		const before = statesIn(folder);
		await change(archive, (client) => client.change({ person: 'Bea', name: 'Beatrice' }));
		expect(await exported(archive, folder)).toMatchObject({ written: 1 });
		expect(statesIn(folder)[FIRST]).toBe(before[FIRST]);
	});

	test('renames a file with the title', async () => {
		await exported(archive, folder);
		await retitle(archive, 'Beans');
		expect(await exported(archive, folder)).toMatchObject({ written: 1, kept: [] });
		const beans = '2026/2026-03/2026-03-01 09.00 Beans.md';
		expect(Object.keys(filesIn(folder))).toEqual([beans, SECOND]);
		await retitle(archive, 'BEANS');
		await exported(archive, folder);
		expect(Object.keys(filesIn(folder))).toEqual([beans.replace('Beans', 'BEANS'), SECOND]);
		expect(await exported(archive, folder)).toEqual(nothing(2));
	});

	test('removes what was deleted from the archive, and writes again what was removed here', async () => {
		const others = someoneElses();
		await exported(archive, folder);
		await deleteFrom(archive, 'garden');
		rmSync(join(folder, SECOND));
		expect(await exported(archive, folder)).toMatchObject({ lifelogs: 1, removed: 1, written: 1 });
		const files = filesIn(folder);
		expect(Object.keys(files).sort()).toEqual([...Object.keys(others), SECOND].sort());
		expect(files).toMatchObject(others);
		// No word of it is left.
		const state = readFileSync(join(folder, '.lifelog-export/files.json'), 'utf8');
		expect(state).not.toContain('garden');
	});
});

describe('a file that was changed since', () => {
	const mine = (path: string, problem: unknown) => ({ kept: [{ path, problem }] });
	const changedSince = 'was changed since it was exported';

	test.each<[string, () => Promise<unknown>, unknown]>([
		['is the same', async () => {}, changedSince],
		['has another title', () => retitle(archive, 'Beans'), changedSince],
		[
			'has other names',
			() => change(archive, (c) => c.change({ person: 'Anna', name: 'A' })),
			changedSince,
		],
		[
			'was deleted',
			() => deleteFrom(archive, 'garden'),
			`${changedSince}. Its lifelog was deleted`,
		],
	])('stays and is named if its lifelog %s', async (_how, alter, problem) => {
		await exported(archive, folder);
		append(FIRST);
		const before = statesIn(folder)[FIRST];
		await alter();
		for (let time = 1; time <= 2; time += 1) {
			expect(await exported(archive, folder)).toMatchObject({
				...{ status: 0, removed: 0 },
				...mine(FIRST, problem),
			});
			expect(statesIn(folder)[FIRST]).toBe(before);
			const ofIt = Object.values(filesIn(folder)).filter((text) => text.includes('id: "garden"'));
			expect(ofIt).toHaveLength(1);
		}
	});

	test('stays also if it is changed while the export runs', async () => {
		await exported(archive, folder);
		await change(archive, (client) => client.edit('garden', { isStarred: true }));
		const [free, reached] = ['free', 'reached'].map((name) => join(temporaryFolder(), name));
		const running = startCommand(['export', archive, folder, '--timezone', ZONE], {
			NODE_OPTIONS: `--import ${pathToFileURL('test/support/heldDisk.mts').href}`,
			...{ TEST_HELD: '.lifelog-export/drafts', TEST_FREE: free, TEST_REACHED: reached },
		});
		await until(() => existsSync(reached));
		append(FIRST);
		const before = statesIn(folder)[FIRST];
		writeFileSync(free, '');
		const { status, stdout } = await running.ended;
		expect({ status, stdout }).toEqual({
			...{ status: 0 },
			stdout: `2 lifelogs: nothing new.\nLeft as they are: 1 file.\n  ${FIRST} ${changedSince}\n`,
		});
		expect(statesIn(folder)[FIRST]).toBe(before);
	});

	test('stays and is named if size and time are as before, also when it would be renamed', async () => {
		await exported(archive, folder);
		const path = join(folder, FIRST);
		const { atime, mtime } = statSync(path);
		writeFileSync(path, readFileSync(path, 'utf8').replace('Tomatoes', 'TOMATOES'));
		utimesSync(path, atime, mtime);
		await retitle(archive, 'Beans');
		for (let time = 1; time <= 2; time += 1) {
			expect(await exported(archive, folder)).toMatchObject({
				...{ status: 0, written: 0 },
				...mine(FIRST, changedSince),
			});
			expect(Object.keys(filesIn(folder))).toEqual([FIRST, SECOND]);
		}
	});

	test('is written again once it was moved away', async () => {
		await exported(archive, folder);
		append(FIRST);
		await retitle(archive, 'Beans');
		await exported(archive, folder);
		renameSync(join(folder, FIRST), join(folder, 'Mine.md'));
		expect(await exported(archive, folder)).toMatchObject({ written: 1, kept: [] });
		const beans = '2026/2026-03/2026-03-01 09.00 Beans.md';
		expect(Object.keys(filesIn(folder))).toEqual([beans, SECOND, 'Mine.md']);
	});

	test('stays if something else has replaced the file', async () => {
		await exported(archive, folder);
		rmSync(join(folder, FIRST));
		mkdirSync(join(folder, FIRST));
		await deleteFrom(archive, 'garden');
		expect(await exported(archive, folder)).toMatchObject({ removed: 0, kept: [{ path: FIRST }] });
		expect(existsSync(join(folder, FIRST))).toBe(true);
	});
});

describe('a file that cannot be removed', () => {
	/** Exports while another program has the first file open. */
	const withLocked = async () => {
		const command = ['export', archive, folder, '--json', '--timezone', ZONE];
		const { status, stdout } = await startCommand(command, {
			NODE_OPTIONS: `--import ${pathToFileURL('test/support/lockedFile.mts').href}`,
			TEST_LOCKED: 'Planning the garden',
		}).ended;
		return { status, ...(JSON.parse(stdout) as Exported) };
	};
	const locked = {
		...{
			status: 1,
			failed: [{ path: FIRST, problem: expect.stringContaining("can't be removed") }],
		},
	};

	test('is named, and removed later, as the new one is then', async () => {
		await exported(archive, folder);
		await retitle(archive, 'Beans');
		const beans = FIRST.replace('Planning the garden', 'Beans');
		expect(await withLocked()).toMatchObject(locked);
		expect(Object.keys(filesIn(folder))).toEqual([beans, FIRST, SECOND]);
		await deleteFrom(archive, 'garden');
		expect(await withLocked()).toMatchObject({ ...locked, removed: 1 });
		expect(await exported(archive, folder)).toMatchObject({ status: 0, removed: 1 });
		expect(Object.keys(filesIn(folder))).toEqual([SECOND]);
	});

	test('leaves no lifelog twice, also if the name is as before again', async () => {
		await exported(archive, folder);
		await retitle(archive, 'Beans');
		await withLocked();
		await retitle(archive, 'Planning the garden');
		expect(await exported(archive, folder)).toMatchObject({ status: 0, failed: [] });
		expect(Object.keys(filesIn(folder))).toEqual([FIRST, SECOND]);
		expect(await exported(archive, folder)).toEqual(nothing(2));
	});
});

describe("somebody else's files", () => {
	test('stay, also one of the same name', async () => {
		const others = { ...someoneElses(), [FIRST]: 'A note of mine' };
		writeFileSync(join(folder, FIRST), others[FIRST]);
		expect(await exported(archive, folder)).toMatchObject({ written: 2, kept: [] });
		const files = filesIn(folder);
		expect(files).toMatchObject(others);
		const beside = FIRST.replace('.md', '-2.md');
		expect(files[beside]).toContain('id: "garden"');
		// It keeps its name.
		rmSync(join(folder, FIRST));
		expect(await exported(archive, folder)).toEqual(nothing(2));
	});

	test('are those of an export of whose work nothing is known: equal ones are taken over', async () => {
		await exported(archive, folder);
		append(SECOND);
		const before = filesIn(folder);
		// As a program does that syncs no hidden folders.
		rmSync(join(folder, '.lifelog-export'), { recursive: true });
		for (let time = 1; time <= 2; time += 1) {
			expect((await exported(archive, folder)).kept.map(({ path }) => path)).toEqual([SECOND]);
			expect(filesIn(folder)).toEqual(before);
		}
		await deleteFrom(archive, 'garden');
		expect(await exported(archive, folder)).toMatchObject({ removed: 1 });
	});

	test('and a lifelog that is only missing in the archive stay', async () => {
		await exported(archive, folder);
		const before = statesIn(folder);
		const other = join(temporaryFolder(), 'archive');
		await writeArchive(other, { lifelogs: [lifelogOf('other', '2026-04-01T08:00:00.000Z')] });
		const { removed, written, kept } = await exported(other, folder);
		expect({ removed, written }).toEqual({ removed: 0, written: 1 });
		expect(kept.map(({ path }) => path).sort()).toEqual([FIRST, SECOND]);
		expect(statesIn(folder)).toMatchObject(before);
	});
});

test('a full disk is said, and the next export goes on', async () => {
	await exported(archive, folder);
	await retitle(archive, 'Beans');
	const before = statesIn(folder);
	const disk = join(temporaryFolder(), 'disk');
	writeFileSync(disk, 'ENOSPC');
	const { status, stderr } = await runCommand(['export', archive, folder], {
		...{ NODE_OPTIONS: `--import ${pathToFileURL('test/support/failingDisk.mts').href}` },
		TEST_DISK: disk,
	});
	expect({ status, stderr }).toEqual({
		...{ status: 1 },
		stderr: 'The disk is full. Make room, and run it again. Stored files are kept (ENOSPC)\n',
	});
	expect(statesIn(folder)).toEqual(before);
	expect(await exported(archive, folder)).toMatchObject({ status: 0, written: 1 });
});

describe('files of the archive that cannot be read', () => {
	test('are named, and what was exported of them stays', async () => {
		await exported(archive, folder);
		const before = filesIn(folder);
		const [path] = newestManifests(archive).get('2026-03-01')!.lifelogs.garden.files;
		await store(archive, path.path, '{}');
		await change(archive, (client) => client.edit('call', { isStarred: true }));
		// Nothing of it changed, so it isn't read.
		expect((await exported(archive, folder)).status).toBe(0);
		const { status, failed } = await exported(archive, folder, '--timezone', 'UTC');
		expect({ status, failed: failed.map((each) => each.path) }).toEqual({
			...{ status: 1, failed: [path.path] },
		});
		expect(filesIn(folder)[FIRST]).toBe(before[FIRST]);
	});

	test('are named if they are day manifests', async () => {
		await exported(archive, folder);
		const before = statesIn(folder);
		const [name] = readdirSync(join(archive, 'days'));
		await writeArchive(archive, { lifelogs: [lifelogOf('new', '2026-03-09T08:00:00.000Z')] });
		writeFileSync(join(archive, 'days', name), '{"version": 1');
		expect(await exported(archive, folder)).toMatchObject({
			...{ status: 1, written: 1, removed: 0, kept: [] },
			failed: [{ path: `days/${name}`, problem: "isn't a day manifest" }],
		});
		expect(statesIn(folder)).toMatchObject(before);
	});
});

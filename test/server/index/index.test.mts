import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	chmodSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Folder } from '../../../server/archive/folder.mts';
import { Serving } from '../../../server/index/serving.mts';
import { ArchiveStore } from '../../../server/index/archiveStore.mts';
import { openIndex } from '../../../server/index/database.mts';
import { Rows } from '../../../server/index/rows.mts';
import { writeArchive } from '../../support/archive.mts';
import { failingFile } from '../../support/failingFile.mts';
import { chatOf, lifelogOf } from '../../support/invented.mts';
import { temporaryFolder } from '../sources.mts';
import { posixTest } from '../../support/platform.mts';

let folder: string;
const open: Archive[] = [];

beforeEach(() => {
	folder = temporaryFolder();
});
afterEach(() => {
	for (const { close } of open.splice(0)) close();
});

/** An archive with its index, as a server has it, looked through when the test wants it. */
interface Archive {
	store: ArchiveStore;
	log: string[];
	close: () => void;
}

async function serve(
	index = join(folder, '.lifelog-index.sqlite'),
	allowDelete = false,
): Promise<Archive> {
	const db = openIndex(index);
	const log: string[] = [];
	const onProblem = (path: string, reason: string) => log.push(`${path} ${reason}`);
	const store = new ArchiveStore(await Folder.open(folder), new Rows(db), {
		allowDelete,
		onProblem,
	});
	const archive = { store, log, close: () => db.close() };
	open.push(archive);
	await store.refresh();
	return archive;
}

const everything = { direction: 'asc', limit: 2000 } as const;
const listed = ({ store }: Archive) => store.listLifelogs({}, everything);
const idsOf = (archive: Archive) => listed(archive).map(({ id }) => id);
const found = async ({ store }: Archive, search: string) =>
	(await store.searchLifelogs(search, {}, 10)).map(({ id }) => id);

const day1 = ['a', 'b', 'c'].map((id, hour) => lifelogOf(id, `2026-03-01T0${hour}:00:00Z`));
const day2 = [lifelogOf('d', '2026-03-02T08:00:00Z')];
const jsonPath = (id: string, day = '2026-03-01') => {
	const inner = join('lifelogs', day.replaceAll('-', '/'));
	const name = readdirSync(join(folder, inner)).find((file) => file.endsWith(`_${id}.json`));
	return join(inner, String(name));
};

describe('a change in the folder', () => {
	test("a new day is served, and a removed day isn't served anymore", async () => {
		await writeArchive(folder, { lifelogs: day1 });
		const archive = await serve();
		expect(idsOf(archive)).toEqual(['a', 'b', 'c']);
		const [path] = await writeArchive(folder, {
			lifelogs: day2,
			chats: [chatOf('q', '2026-03-02T20:00:00Z')],
		});
		await archive.store.refresh();
		expect(idsOf(archive).includes('d')).toBe(true);
		expect(archive.store.getChat('q')).toMatchObject({ id: 'q' });
		rmSync(join(folder, path));
		await archive.store.refresh();
		expect(!idsOf(archive).includes('d')).toBe(true);
		expect(archive.store.getChat('q')).toBeUndefined();
		expect(idsOf(archive)).toEqual(['a', 'b', 'c']);
		expect(archive.log).toEqual([]);
	});

	test('a new or repaired day manifest is found immediately, without reading the other days', async () => {
		await writeArchive(folder, { lifelogs: day1 });
		const archive = await serve();
		rmSync(join(folder, jsonPath('b')));
		await archive.store.refreshIfDue();
		expect(idsOf(archive)).toEqual(['a', 'b', 'c']);
		const [path] = await writeArchive(folder, { lifelogs: day2 });
		const whole = readFileSync(join(folder, path));
		writeFileSync(join(folder, path), whole.subarray(0, 100));
		await archive.store.refreshIfDue();
		expect(archive.log).toEqual([expect.stringContaining(path)]);
		writeFileSync(join(folder, path), whole);
		await archive.store.refreshIfDue();
		expect(idsOf(archive)).toEqual(['a', 'b', 'c', 'd']);
		rmSync(join(folder, path));
		await archive.store.refreshIfDue();
		expect(idsOf(archive)).toEqual(['a', 'b', 'c']);
	});

	test('an empty folder is served, and so are the days that are added later', async () => {
		const archive = await serve();
		expect(idsOf(archive)).toEqual([]);
		await writeArchive(folder, { lifelogs: day1 });
		await archive.store.refresh();
		expect(idsOf(archive).length === 3).toBe(true);
	});

	test('if a day has several manifests, the one archived last counts', async () => {
		const changed = { ...day1[1], title: 'Another title', updatedAt: '2026-03-05T00:00:00.000Z' };
		await writeArchive(folder, { lifelogs: day1, archivedAt: '2026-03-04T00:00:00Z' });
		const archive = await serve();
		await writeArchive(folder, {
			lifelogs: [day1[0], changed],
			archivedAt: '2026-03-06T00:00:00Z',
		});
		await archive.store.refresh();
		expect(idsOf(archive).length === 2).toBe(true);
		expect(listed(archive)[1]).toMatchObject({ id: 'b', title: 'Another title' });
		expect(await found(archive, 'another')).toEqual(['b']);
		expect(readdirSync(join(folder, 'days'))).toHaveLength(2);
	});

	test('serves the newest version of an ID that is on two days, then the other one', async () => {
		const moved = {
			...day1[2],
			startTime: '2026-02-28T23:59:00.000Z',
			updatedAt: '2026-03-09T00:00:00.000Z',
		};
		await writeArchive(folder, { lifelogs: day1 });
		const [path] = await writeArchive(folder, { lifelogs: [{ ...moved, title: 'Moved' }] });
		const archive = await serve();
		expect(listed(archive).map(({ id, title }) => [id, title])).toEqual([
			['c', 'Moved'],
			['a', 'Title of a'],
			['b', 'Title of b'],
		]);
		expect(await found(archive, 'moved')).toEqual(['c']);
		rmSync(join(folder, path));
		await archive.store.refresh();
		expect(idsOf(archive).join() === 'a,b,c').toBe(true);
		expect(await found(archive, 'moved')).toEqual([]);
	});

	test('files that no day manifest names are ignored', async () => {
		await writeArchive(folder, { lifelogs: day1 });
		const stray = lifelogOf('stray', '2026-03-01T09:00:00Z');
		writeFileSync(join(folder, 'lifelogs/2026/03/01/stray.json'), JSON.stringify(stray));
		writeFileSync(join(folder, 'days/notes.json'), '{}');
		const archive = await serve();
		expect(idsOf(archive)).toEqual(['a', 'b', 'c']);
		expect(archive.store.getLifelog('stray')).toBeUndefined();
		expect(archive.log).toEqual([]);
	});

	test('times with an offset or without milliseconds are read like other times', async () => {
		const times = {
			startTime: '2026-03-01T10:30:00+01:00',
			endTime: '2026-03-01T10:40:00+01:00',
			updatedAt: '2026-03-01T09:50:00Z',
		};
		await writeArchive(folder, {
			lifelogs: [...day1, { ...lifelogOf('z', '2026-03-01T09:30:00Z'), ...times }],
		});
		const archive = await serve();
		expect(
			archive.store
				.listLifelogs(
					{ from: '2026-03-01T09:30:00.000Z', before: '2026-03-01T09:30:00.001Z' },
					everything,
				)
				.map(({ id }) => id),
		).toEqual(['z']);
		expect(listed(archive).at(-1)!.startTime).toBe('2026-03-01T09:30:00.000Z');
	});
});

describe('incomplete files', () => {
	test.each<[string, (path: string) => void]>([
		['cut off', (path) => writeFileSync(path, readFileSync(path).subarray(0, -20))],
		['empty', (path) => writeFileSync(path, '')],
		[
			'of the same size with another word',
			(path) => {
				writeFileSync(path, readFileSync(path, 'utf8').replace('Title of b', 'Title of x'));
			},
		],
		['missing', (path) => rmSync(path)],
	])(
		'a lifelog that is %s is reported and left out, and served when it is complete',
		async (_how, spoil) => {
			await writeArchive(folder, { lifelogs: day1 });
			const path = jsonPath('b');
			const whole = readFileSync(join(folder, path));
			spoil(join(folder, path));
			const archive = await serve();
			expect(idsOf(archive)).toEqual(['a', 'c']);
			expect(archive.log).toEqual([expect.stringContaining(path)]);
			expect(archive.log.join()).not.toMatch(/Title|talk about/);
			writeFileSync(join(folder, path), whole);
			await archive.store.refresh();
			expect(idsOf(archive).includes('b')).toBe(true);
			expect(archive.log).toHaveLength(1);
		},
	);

	test.each([
		['no JSON', '{"id": "b", "title": "a secret'],
		['JSON of something else', '["a secret"]'],
		['a lifelog without a time', JSON.stringify({ ...day1[1], startTime: 'a secret' })],
		['another lifelog', JSON.stringify({ ...day1[1], id: 'other', title: 'a secret' })],
		['nodes that are none', JSON.stringify({ ...day1[1], contents: [null, 'a secret'] })],
	])('%s is reported and left out, even with the right checksum', async (_what, content) => {
		await writeArchive(folder, { lifelogs: day1 });
		const path = jsonPath('b');
		writeFileSync(join(folder, path), content);
		nameAnew(path);
		const archive = await serve();
		expect(idsOf(archive)).toEqual(['a', 'c']);
		expect(archive.log).toEqual([expect.stringContaining(path)]);
		expect(archive.log.join()).not.toContain('secret');
	});

	test.each([
		[
			'its contents',
			(depth: number) =>
				`[${'{"type":"p","content":"x","children":['.repeat(depth)}${']}'.repeat(depth)}]`,
		],
		[
			'a field of theirs',
			(depth: number) =>
				`[{"type":"p","content":"x","more":${'['.repeat(depth)}${']'.repeat(depth)}}]`,
		],
	])(
		"a lifelog that is nested too deep, in %s, doesn't affect the others",
		async (_where, contents) => {
			await writeArchive(folder, { lifelogs: day1 });
			const path = jsonPath('b');
			const lifelog = JSON.parse(readFileSync(join(folder, path), 'utf8'));
			const json = JSON.stringify({ ...lifelog, contents: 'nested' });
			for (const depth of [100_000, 3_000, 1_000]) {
				writeFileSync(join(folder, path), json.replace('"nested"', contents(depth)));
				nameAnew(path);
				const archive = await serve(join(temporaryFolder(), 'index'));
				expect(idsOf(archive)).toEqual(['a', 'c']);
				expect(archive.log).toEqual([expect.stringContaining(`${path} isn't a lifelog`)]);
			}
		},
	);

	test('a lifelog stays served while its file is rewritten', async () => {
		await writeArchive(folder, { lifelogs: day1, archivedAt: '2026-03-04T00:00:00Z' });
		const archive = await serve();
		const changed = { ...day1[1], title: 'Changed', updatedAt: '2026-03-05T00:00:00.000Z' };
		const path = jsonPath('b');
		await writeArchive(folder, {
			lifelogs: [day1[0], changed, day1[2]],
			archivedAt: '2026-03-06T00:00:00Z',
		});
		const whole = readFileSync(join(folder, path));
		writeFileSync(join(folder, path), whole.subarray(0, 40));
		await archive.store.refresh();
		expect(archive.log).not.toEqual([]);
		expect(listed(archive).map(({ title }) => title)).toEqual(day1.map(({ title }) => title));
		writeFileSync(join(folder, path), whole);
		await archive.store.refresh();
		expect(listed(archive)[1].title === 'Changed').toBe(true);
	});

	test('a lifelog stays served while a day manifest is rewritten and an older one exists', async () => {
		await writeArchive(folder, {
			lifelogs: day1.slice(0, 2),
			archivedAt: '2026-03-04T00:00:00Z',
		});
		const [path] = await writeArchive(folder, {
			lifelogs: day1,
			archivedAt: '2026-03-06T00:00:00Z',
		});
		const archive = await serve();
		const whole = readFileSync(join(folder, path));
		writeFileSync(join(folder, path), whole.subarray(0, 100));
		await archive.store.refresh();
		expect(archive.log).toEqual([expect.stringContaining(path)]);
		expect(idsOf(archive)).toEqual(['a', 'b', 'c']);
		writeFileSync(join(folder, path), whole);
		await archive.store.refreshIfDue();
		expect(idsOf(archive)).toEqual(['a', 'b', 'c']);
		writeFileSync(join(folder, path), 'broken for good');
		await archive.store.refreshIfDue();
		await writeArchive(folder, { lifelogs: day1.slice(1), archivedAt: '2026-03-07T00:00:00Z' });
		await archive.store.refreshIfDue();
		expect(idsOf(archive)).toEqual(['b', 'c']);
	});

	test.each([
		['empty', ''],
		['half', '{"version": 1, "day": "2026-03-02", "lifelogs": {'],
		['of another day', JSON.stringify({ version: 1, day: '2026-03-03' })],
		['of another version', JSON.stringify({ version: 2, day: '2026-03-02' })],
	])('a day manifest that is %s is ignored until it is complete', async (_how, content) => {
		await writeArchive(folder, { lifelogs: day1 });
		const [path] = await writeArchive(folder, { lifelogs: day2 });
		const whole = readFileSync(join(folder, path));
		writeFileSync(join(folder, path), content);
		const archive = await serve();
		expect(idsOf(archive)).toEqual(['a', 'b', 'c']);
		expect(archive.log).toEqual([expect.stringContaining(path)]);
		writeFileSync(join(folder, path), whole);
		await archive.store.refresh();
		expect(idsOf(archive).length === 4).toBe(true);
	});
});

describe("files that temporarily can't be read", () => {
	afterEach(() => jest.restoreAllMocks());

	const spoil = async (method: 'stat' | 'readFile', path: string) =>
		await failingFile(join(folder, path), method);

	test.each(['stat', 'readFile'] as const)(
		'only that lifelog is reported and left out, and it is served when it can be read: %s',
		async (method) => {
			await writeArchive(folder, { lifelogs: day1 });
			await writeArchive(folder, { lifelogs: day2 });
			const path = jsonPath('b');
			const failed = await spoil(method, path);
			const archive = await serve();
			expect(idsOf(archive)).toEqual(['a', 'c', 'd']);
			expect(archive.log).toEqual([`${path} cannot be read`]);
			// Each look in between is a cheap one.
			const before = failed();
			for (let n = 0; n < 3; n += 1) await archive.store.refreshIfDue();
			expect(failed()).toBe(before);
			await archive.store.refresh();
			expect(failed()).toBeGreaterThan(before);
			expect(archive.log).toHaveLength(1);
			jest.restoreAllMocks();
			await archive.store.refresh();
			expect(idsOf(archive)).toEqual(['a', 'b', 'c', 'd']);
		},
	);

	test('a lifelog that was left out is served after a restart', async () => {
		await writeArchive(folder, { lifelogs: day1 });
		await spoil('stat', jsonPath('b'));
		(await serve()).close();
		open.length = 0;
		jest.restoreAllMocks();
		expect(idsOf(await serve())).toEqual(['a', 'b', 'c']);
	});

	test("a day manifest or an audio file doesn't affect the other days", async () => {
		const [first] = await writeArchive(folder, { lifelogs: day1 });
		const startMs = Date.parse('2026-03-02T08:00:00Z');
		const audio = [{ startMs, endMs: startMs + 1000, content: Buffer.from('audio') }];
		const [second] = await writeArchive(folder, { lifelogs: day2, audio });
		const day = JSON.parse(readFileSync(join(folder, second), 'utf8'));
		const [{ path }] = day.audio;
		await spoil('readFile', first);
		const archive = await serve();
		expect(archive.log).toEqual([`${first} cannot be read`]);
		expect(idsOf(archive)).toEqual(['d']);
		jest.restoreAllMocks();
		await spoil('stat', path);
		const other = await serve(join(temporaryFolder(), 'index'));
		expect(other.log).toEqual([`${path} cannot be read`]);
		expect(other.store.counts()).toMatchObject({ lifelogs: 4, audioFiles: 0 });
		jest.restoreAllMocks();
		await archive.store.refresh();
		expect(idsOf(archive)).toEqual(['a', 'b', 'c', 'd']);
		await other.store.refresh();
		expect(other.store.counts()).toMatchObject({ lifelogs: 4, audioFiles: 1 });
	});
});

/** Makes the newest manifest of the day say of a file what it is now. */
function nameAnew(path: string): void {
	const [name] = readdirSync(join(folder, 'days'));
	const day = JSON.parse(readFileSync(join(folder, 'days', name), 'utf8'));
	const content = readFileSync(join(folder, path));
	const sha256 = createHash('sha256').update(content).digest('hex');
	for (const { files } of Object.values<{ files: { path: string }[] }>(day.lifelogs)) {
		for (const file of files)
			if (file.path === path) Object.assign(file, { bytes: content.length, sha256 });
	}
	writeFileSync(join(folder, 'days', name), JSON.stringify(day));
}

describe('a delete', () => {
	const index = () => join(folder, '.lifelog-index.sqlite');
	const later = { archivedAt: '2026-03-06T00:00:00Z' };

	test("doesn't hide a lifelog that was just archived", async () => {
		await writeArchive(folder, { lifelogs: day1.slice(0, 2), archivedAt: '2026-03-04T00:00:00Z' });
		const archive = await serve(index(), true);
		await writeArchive(folder, { lifelogs: day1, ...later });
		expect(await archive.store.deleteLifelog('a')).toBe(true);
		expect(idsOf(archive)).toEqual(['b', 'c']);
		expect(readdirSync(join(folder, 'days'))).toHaveLength(1);
	});

	test('is refused while a day manifest is being written, and removes no file', async () => {
		const moved = { ...day1[0], startTime: '2026-02-28T23:59:00.000Z' };
		await writeArchive(folder, { lifelogs: [moved], archivedAt: '2026-03-04T00:00:00Z' });
		await writeArchive(folder, { lifelogs: day1.slice(0, 2), archivedAt: '2026-03-04T00:00:00Z' });
		const archive = await serve(index(), true);
		const [path] = await writeArchive(folder, { lifelogs: day1, ...later });
		const whole = readFileSync(join(folder, path));
		writeFileSync(join(folder, path), whole.subarray(0, 100));
		await expect(archive.store.deleteLifelog('a')).rejects.toThrow(`${path} can't be read`);
		expect(readdirSync(join(folder, 'days'))).toHaveLength(3);
		readFileSync(join(folder, jsonPath('a', '2026-02-28')));
		writeFileSync(join(folder, path), whole);
		expect(await archive.store.deleteLifelog('a')).toBe(true);
		expect(idsOf(archive)).toEqual(['b', 'c']);
	});
});

describe('files outside of the folder', () => {
	const secret = JSON.stringify(lifelogOf('b', '2026-03-01T01:00:00Z', { title: 'From outside' }));
	let outside: string;
	beforeEach(() => {
		outside = temporaryFolder();
		writeFileSync(join(outside, 'b.json'), secret);
	});

	/** Points the day's lifelog `b` to another path, with the right size and checksum. */
	function pointTo(path: string): void {
		const [name] = readdirSync(join(folder, 'days'));
		const day = JSON.parse(readFileSync(join(folder, 'days', name), 'utf8'));
		const sha256 = createHash('sha256').update(secret).digest('hex');
		day.lifelogs.b.files = [{ path, bytes: Buffer.byteLength(secret), sha256 }];
		writeFileSync(join(folder, 'days', name), JSON.stringify(day));
	}

	test.each([
		['an absolute path', () => join(outside, 'b.json')],
		['a path upwards', () => `lifelogs/../../${basename(outside)}/b.json`],
		['a path upwards in the middle', () => `lifelogs/2026/../../../${basename(outside)}/b.json`],
		['backslashes', () => `lifelogs\\..\\..\\${basename(outside)}\\b.json`],
		['a zero byte', () => `lifelogs/b.json\0.json`],
		['another folder of the archive', () => `b.json`],
		['nothing', () => ''],
	])('%s is not followed', async (_what, path) => {
		await writeArchive(folder, { lifelogs: day1 });
		pointTo(path());
		const archive = await serve();
		expect(idsOf(archive)).toEqual(['a', 'c']);
		expect(archive.log).toHaveLength(1);
	});

	test('does not follow a symbolic link to a file, to a folder or for a complete day', async () => {
		await writeArchive(folder, { lifelogs: day1 });
		mkdirSync(join(folder, 'lifelogs/links'), { recursive: true });
		symlinkSync(join(outside, 'b.json'), join(folder, 'lifelogs/links/b.json'));
		pointTo('lifelogs/links/b.json');
		const archive = await serve();
		expect(idsOf(archive)).toEqual(['a', 'c']);
		symlinkSync(outside, join(folder, 'lifelogs/away'));
		pointTo('lifelogs/away/b.json');
		await archive.store.refresh();
		expect(idsOf(archive)).toEqual(['a', 'c']);
		expect(archive.log.join('\n')).toMatch(/symbolic link[^]*out of the archive/);
		symlinkSync(join(outside, 'b.json'), join(folder, 'days/2026-03-04_0123456789abcdef.json'));
		await archive.store.refresh();
		expect(archive.log).toHaveLength(3);
	});

	posixTest(
		'a pipe or a folder in the place of a file is left out, without waiting for it',
		async () => {
			await writeArchive(folder, { lifelogs: day1 });
			mkdirSync(join(folder, 'lifelogs/b.json'));
			pointTo('lifelogs/b.json');
			spawnSync('mkfifo', [join(folder, 'days/2026-03-04_0123456789abcdef.json')]);
			const archive = await serve();
			expect(idsOf(archive)).toEqual(['a', 'c']);
			expect(archive.log).toHaveLength(2);
		},
	);

	test('an ID that looks like a path finds nothing', async () => {
		await writeArchive(folder, { lifelogs: day1 });
		const archive = await serve();
		for (const id of ['../../etc/passwd', '..', '.lifelog-index.sqlite', '%00', jsonPath('a')]) {
			expect(archive.store.getLifelog(id)).toBeUndefined();
		}
	});
});

describe('the index', () => {
	test("is used at the next start, and unchanged days aren't read again", async () => {
		await writeArchive(folder, { lifelogs: day1 });
		(await serve()).close();
		open.length = 0;
		// As long as no day changes nobody looks at what it names.
		rmSync(join(folder, jsonPath('b')));
		expect(idsOf(await serve())).toEqual(['a', 'b', 'c']);
	});

	test.each<[string, (index: string) => void]>([
		['of another version', (index) => sql(index, 'PRAGMA user_version = 999')],
		['cut off', (index) => writeFileSync(index, readFileSync(index).subarray(0, 5000))],
		[
			'overwritten behind its beginning',
			(index) => writeFileSync(index, readFileSync(index).fill(7, 16, 100)),
		],
		[
			'overwritten where its tables are listed',
			(index) => writeFileSync(index, readFileSync(index).fill(7, 100, 4096)),
		],
		['empty', (index) => writeFileSync(index, '')],
	])('is rebuilt if it is %s', async (_how, spoil) => {
		await writeArchive(folder, { lifelogs: day1 });
		const index = join(folder, '.lifelog-index.sqlite');
		(await serve()).close();
		open.length = 0;
		spoil(index);
		const archive = await Folder.open(folder);
		const options = { allowDelete: false, onProblem: () => {} };
		const serving = new Serving({
			...{ index, log: () => {}, onProgress: () => {} },
			serve: (rows) => ({ store: new ArchiveStore(archive, rows, options), meaning: undefined }),
		});
		await serving.begin();
		await serving.heal();
		expect(
			serving
				.current()
				.listLifelogs({}, everything)
				.map(({ id }) => id),
		).toEqual(['a', 'b', 'c']);
		await serving.close();
	});

	posixTest('can be read only by its owner, even after a rebuild', async () => {
		const modes = () =>
			readdirSync(folder)
				.filter((name) => name.startsWith('.lifelog-index'))
				.map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
		const index = join(folder, '.lifelog-index.sqlite');
		const ofOwner = [
			['.lifelog-index.sqlite', 0o600],
			['.lifelog-index.sqlite-wal', 0o600],
			['.lifelog-index.sqlite.vectors', 0o600],
			['.lifelog-index.sqlite.vectors-wal', 0o600],
		];
		await writeArchive(folder, { lifelogs: [lifelogOf('a', '2026-03-01T08:00:00Z')] });
		const archive = await serve();
		expect(modes()).toEqual(ofOwner);
		archive.close();
		open.splice(0);
		const db = new DatabaseSync(index);
		db.exec('PRAGMA user_version = 1');
		db.close();
		chmodSync(index, 0o644);
		await serve();
		expect(modes()).toEqual(ofOwner);
	});

	test("doesn't replace a file that isn't an index", async () => {
		const index = join(folder, 'thesis.txt');
		writeFileSync(index, 'My life so far');
		await expect(serve(index)).rejects.toThrow(
			"isn't an index of lifelog-server: choose another file with --index",
		);
		expect(readFileSync(index, 'utf8')).toBe('My life so far');
		const other = join(folder, 'other.sqlite');
		sql(other, 'CREATE TABLE mine (a); INSERT INTO mine VALUES (1)');
		await expect(serve(other)).rejects.toThrow('is a database of another program');
		expect(sql(other, 'SELECT a FROM mine')).toEqual([{ a: 1 }]);
	});

	test("doesn't replace a database of another program, even a broken one", async () => {
		const other = join(folder, 'other.sqlite');
		for (const pragma of ['', 'PRAGMA application_id = 7;']) {
			sql(other, `${pragma} CREATE TABLE mine (a); INSERT INTO mine VALUES (1)`);
			const broken = readFileSync(other).fill(7, 100, 4096);
			writeFileSync(other, broken);
			await expect(serve(other)).rejects.toThrow('is a database of another program');
			expect(readFileSync(other).equals(broken)).toBe(true);
			rmSync(other);
		}
	});

	test('reports a folder in its place, with what to do', async () => {
		await expect(serve(temporaryFolder())).rejects.toThrow(
			"isn't an index of lifelog-server: choose another file with --index",
		);
	});

	posixTest("doesn't change a pipe in its place, or its permissions", async () => {
		const pipe = join(folder, 'pipe');
		spawnSync('mkfifo', ['-m', '644', pipe]);
		await expect(serve(pipe)).rejects.toThrow(
			"isn't an index of lifelog-server: choose another file with --index",
		);
		expect(statSync(pipe).mode & 0o777).toBe(0o644);
	});

	test('is used by one server at a time', async () => {
		await writeArchive(folder, { lifelogs: day1 });
		await serve();
		await expect(serve()).rejects.toThrow('is in use by another lifelog-server');
		expect(idsOf(await serve(join(temporaryFolder(), 'index')))).toEqual(['a', 'b', 'c']);
	});

	test('keeps serving on a full disk, and continues when there is room', async () => {
		await writeArchive(folder, { lifelogs: day1 });
		const index = join(temporaryFolder(), 'index');
		const db = openIndex(index);
		const store = new ArchiveStore(await Folder.open(folder), new Rows(db), {
			allowDelete: false,
			onProblem: () => {},
		});
		await store.refresh();
		const { page_count } = db.get('PRAGMA page_count')!;
		db.exec(`PRAGMA max_page_count = ${Number(page_count)}`);
		const long = 'word '.repeat(100_000);
		await writeArchive(folder, {
			lifelogs: [lifelogOf('d', '2026-03-02T08:00:00Z', { markdown: long })],
		});
		await expect(store.refresh()).rejects.toThrow('full');
		const ids = () => store.listLifelogs({}, everything).map(({ id }) => id);
		expect(ids()).toEqual(['a', 'b', 'c']);
		db.exec('PRAGMA max_page_count = 1000000');
		await store.refresh();
		expect(ids()).toEqual(['a', 'b', 'c', 'd']);
		db.close();
	});

	test('keeps serving while the folder is missing, and continues when it is back', async () => {
		await writeArchive(folder, { lifelogs: day1 });
		const archive = await serve(join(temporaryFolder(), 'index'));
		renameSync(folder, `${folder}-away`);
		await expect(archive.store.refresh()).rejects.toThrow("The archive's folder is missing");
		expect(idsOf(archive)).toEqual(['a', 'b', 'c']);
		renameSync(`${folder}-away`, folder);
		await writeArchive(folder, { lifelogs: day2 });
		await archive.store.refresh();
		expect(idsOf(archive)).toEqual(['a', 'b', 'c', 'd']);
	});

	function sql(path: string, text: string): object[] {
		const db = new DatabaseSync(path);
		try {
			if (text.startsWith('SELECT'))
				return db
					.prepare(text)
					.all()
					.map((row) => ({ ...row }));
			db.exec(text);
			return [];
		} finally {
			db.close();
		}
	}
});

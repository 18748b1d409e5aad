// Exports that are made to fill the disk, and imports that are killed. What is made to fill the memory is
// in test/server/import/importMemory.soak.mts.
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Folder, maxBytes } from '../../../server/archive/folder.mts';
import { withDrafts } from '../../../server/archive/drafts.mts';
import { importExport } from '../../../server/import/import.mts';
import { ImportedDay, saveDays } from '../../../server/import/importedDay.mts';
import { startCommand } from '../../support/archiveCommand.mts';
import { findingsIn } from '../../support/findings.mts';
import { chatOf, lifelogOf } from '../../support/invented.mts';
import { writeOgg } from '../../support/ogg.mts';
import { posixTest } from '../../support/platform.mts';
import { until } from '../../support/soon.mts';
import {
	audioFolder,
	chat,
	imported,
	lifelog,
	MiB,
	noon,
	plan,
	said,
	zipped,
} from '../../support/importLimits.mts';
import type { ZipFile } from '../../support/zip.mts';
import { temporaryFolder } from '../sources.mts';

/** Every file of an archive but its locks, and what is in it. */
function contentsOf(root: string): Record<string, string> {
	const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
	const files = paths.filter((path) => statSync(join(root, path)).isFile());
	return Object.fromEntries(
		files
			.filter((path) => !path.endsWith('.lock'))
			.map((path) => [path, readFileSync(join(root, path), 'latin1')]),
	);
}

describe('the disk', () => {
	/** The disk has much room for a while, in questions, and then just these bytes. */
	const room = async (bytes: number, questions = 0) => {
		const stats = { ...(await fs.statfs('.')), bsize: 1 };
		const free = jest.spyOn(fs, 'statfs').mockResolvedValue({ ...stats, bavail: bytes });
		for (let n = 0; n < questions; n += 1) free.mockResolvedValueOnce({ ...stats, bavail: 1e12 });
		return free;
	};
	const packets = Array.from({ length: 500 }, (_, n) => {
		const packet = Buffer.alloc(400, n);
		packet[0] = 0xf8;
		return packet;
	});
	const recording: ZipFile = {
		name: `${audioFolder}/2025-12-03_12h00m00s.ogg`,
		content: writeOgg({ serial: 1, preSkip: 0, packets, perPage: 50 }),
	};

	// Windows gives the zip as much of its disk as it says it has.
	posixTest('without room for an export refuses it before anything is written', async () => {
		const { bavail, bsize } = await fs.statfs(temporaryFolder());
		const large = { name: `${audioFolder}/2025-12-03_14h00m00s.ogg`, zeros: bavail * bsize };
		const zip = zipped([plan, large]);
		const fresh = join(temporaryFolder(), 'archive');
		const refused = imported(zip, fresh);
		expect(refused.stderr).toMatch(/has \d[\d.]* GB of files, and the disk .* Make room, or/);
		expect(refused.status).toBe(2);
		expect(existsSync(fresh)).toBe(false);

		const archive = temporaryFolder();
		await importExport(zipped([plan]), archive);
		const before = contentsOf(archive);
		expect(imported(zip, archive).status).toBe(2);
		expect(contentsOf(archive)).toEqual(before);
	});

	test('files that are already in the archive need no room', async () => {
		const zip = zipped([plan, recording]);
		const archive = temporaryFolder();
		await importExport(zip, archive);
		const free = await room(1e9);
		const { known, unread } = await importExport(zip, archive).finally(() => free.mockRestore());
		expect([known, unread]).toEqual([{ lifelogs: 1, chats: 0, audio: 1 }, []]);
	});

	test.each([
		['a lifelog', plan, 1],
		['its Markdown', plan, 2],
		['audio', recording, 1],
	])(
		'that gets full ends the import before %s, and the archive stays intact',
		async (_what, file, questions) => {
			const archive = temporaryFolder();
			const first = { ...plan, name: 'lifelogs/2025/12/02/2025-12-02_12h00m00s_First.md' };
			first.content = said.replaceAll(/Ms=(\d+)/g, (_, ms) => `Ms=${Number(ms) - 86_400_000}`);
			await importExport(zipped([first]), archive);
			const before = contentsOf(archive);
			const free = await room(1e9 + 10, questions);
			const importing = importExport(zipped([first, file]), archive);
			await expect(importing.finally(() => free.mockRestore())).rejects.toThrow(
				'1 GB must stay free. The archive is intact. Make room, then import again',
			);
			expect(contentsOf(archive)).toEqual(before);
			expect(readdirSync(archive)).not.toContain('.lifelog-drafts');
			expect(await findingsIn(archive)).toEqual([]);
		},
	);
});

test('a file that unpacks to more than 100 times its size is named, the rest is imported', async () => {
	const bomb = { ...lifelog('Bomb', '\n'.repeat(2.5 * MiB)), deflate: true };
	const archive = temporaryFolder();
	const { added, unread } = await importExport(zipped([bomb, plan]), archive);
	expect(unread).toEqual([
		{ path: bomb.name, problem: 'unpacks to more than 100 times its size in the zip' },
	]);
	expect(added.lifelogs).toBe(1);
	// What people say over and over again is no bomb.
	const often = { ...lifelog('Often', `# Often\n\n${'Yes. '.repeat(MiB / 8)}`), deflate: true };
	expect((await importExport(zipped([often]), archive)).added.lifelogs).toBe(1);
	expect(await findingsIn(archive)).toEqual([]);
});

test.each<[string, ZipFile[]]>([
	['the same bytes', [plan, { ...lifelog('Again', said), offset: 0 }]],
	['a part of the same bytes', [plan, { ...lifelog('Again', said), offset: 110 }]],
])(
	'a zip whose files have %s is refused, and the archive stays unchanged',
	async (_what, files) => {
		const archive = temporaryFolder();
		await importExport(zipped([{ ...lifelog('Before', said.replace('Plan', 'Before')) }]), archive);
		const before = contentsOf(archive);
		const { status, stderr } = imported(zipped(files), archive);
		expect(stderr).toBe(
			"Files in the zip overlap, which no export has. Nothing was imported. Download the export again, from the service's app\n",
		);
		expect(status).toBe(2);
		expect(contentsOf(archive)).toEqual(before);
	},
);

test("a file that the server couldn't read isn't written", async () => {
	const archive = temporaryFolder();
	const opened = await Folder.open(archive);
	const large = 'x'.repeat(maxBytes);
	const problem = 'would create a file larger than 64 MiB';
	const created = '2025-12-03T20:00:00.000Z';
	const chatToAdd = { ...chatOf('q', created), summary: large };
	const lifelogToAdd = lifelogOf('a', created, { title: large });
	await withDrafts(archive, async (drafts) => {
		const day = await ImportedDay.open(opened, drafts, '2025-12-03', 'UTC');
		await expect(day.addChat(chatToAdd, false)).rejects.toThrow(problem);
		await expect(day.addLifelog(lifelogToAdd)).rejects.toThrow(problem);
		expect(await saveDays(opened, [day])).toEqual([]);
	});
	expect(existsSync(join(archive, 'days'))).toBe(false);
});

test('a day has at most 10,000 entries, so that its manifest can be read', async () => {
	const archive = temporaryFolder();
	await importExport(zipped([plan]), archive);
	const [name] = readdirSync(join(archive, 'days'));
	const manifest = JSON.parse(readFileSync(join(archive, 'days', name), 'utf8'));
	const [entry] = Object.values(manifest.lifelogs);
	for (let n = 0; n < 9998; n += 1) manifest.lifelogs[`x${n}`] = entry;
	writeFileSync(join(archive, 'days', name), JSON.stringify(manifest));
	const later = (n: number) => chat(`${n}`, '0');
	const { added, unread } = await importExport(zipped([later(1), later(2)]), archive);
	expect(added.chats).toBe(1);
	expect(unread).toEqual([
		{ path: later(2).name, problem: 'belongs to 2025-12-03, which has 10,000 entries already' },
	]);
});

test('files of many days are saved one after another', async () => {
	const archive = temporaryFolder();
	const files = Array.from({ length: 250 }, (_, n) => {
		const startMs = noon - n * 86_400_000;
		// No name that says the day.
		return { name: `lifelogs/${n}.md`, content: `> [1](#startMs=${startMs}&endMs=${startMs}): A` };
	});
	const days = () =>
		existsSync(join(archive, 'days')) ? readdirSync(join(archive, 'days')).length : 0;
	const saved: number[] = [];
	const { added } = await importExport(zipped(files), archive, 'UTC', () => saved.push(days()));
	expect(added.lifelogs).toBe(250);
	expect(Math.max(...saved)).toBeGreaterThanOrEqual(200);
	expect(days()).toBe(250);
	expect(await findingsIn(archive)).toEqual([]);
});

test("a recorder whose name can't be a folder is named, and the rest is imported", async () => {
	const name = `audio/${'x'.repeat(300)}/2025/12/03/2025-12-03_12h00m00s.ogg`;
	const { added, unread } = await importExport(zipped([{ name }, plan]), temporaryFolder());
	expect(unread.map(({ problem }) => problem)).toEqual(['is not in the folder of a recorder']);
	expect(added.lifelogs).toBe(1);
});

test('drafts of a killed import are named by check and removed by the next import', async () => {
	const archive = temporaryFolder();
	await importExport(zipped([plan]), archive);
	const source = temporaryFolder();
	for (let n = 0; n < 1000; n += 1) {
		const path = join(source, `lifelogs/2025/12/04/2025-12-04_12h00m00s_${n}.md`);
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, `# ${n}\n`);
	}
	const drafts = () => {
		const path = join(archive, '.lifelog-drafts');
		const names = existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
		return names.filter((name) => /^\w+[/\\]\w+$/.test(name));
	};
	const { child } = startCommand(['import', source, archive]);
	await until(async () => drafts().length > 0);
	// What is being written is no fault.
	expect(await findingsIn(archive)).toEqual([]);
	child.kill('SIGKILL');
	await once(child, 'exit');
	const left = drafts();
	expect(left.length).toBeGreaterThan(0);
	const found = await findingsIn(archive);
	expect(found.map(({ kind, path }) => [kind, path]).sort()).toEqual(
		left.map((name) => ['left over', `.lifelog-drafts/${name.replaceAll('\\', '/')}`]).sort(),
	);
	expect(found[0].message).toBe(
		'was being written when a run was killed: the next archive or import removes it',
	);
	await importExport(zipped([plan]), archive);
	expect(drafts()).toEqual([]);
	expect(await findingsIn(archive)).toEqual([]);
});

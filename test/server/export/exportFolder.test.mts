// lifelog-server export and the folder: names, links, and where it refuses to write.
import {
	existsSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sameName } from '../../../lifelog/names.ts';
import { runCommand, startCommand } from '../../support/archiveCommand.mts';
import { writeArchive } from '../../support/archive.mts';
import { ARABIC, EMOJI, LONG, MARKUP } from '../../support/days.mts';
import { lifelogOf } from '../../support/invented.mts';
import { posixTest } from '../../support/platform.mts';
import { until } from '../../support/soon.mts';
import { temporaryFolder } from '../sources.mts';
import {
	change,
	deleteFrom,
	exported,
	filesIn,
	FIRST,
	inventArchive,
	nothing,
	SECOND,
	statesIn,
} from './exporting.mts';

let archive: string;
let folder: string;
beforeEach(async () => ({ archive, folder } = await inventArchive()));

describe('names', () => {
	const HOSTILE = [
		...['../../../etc/passwd', '..', '.hidden', 'CON', 'a/b\\c:d*e?f"g<h>i|j', 'tab\there\nline'],
		...[
			'trailing dots...',
			' ',
			'',
			'[[link]] #tag ^block',
			'\u202Egnp.exe',
			'x\u0000y',
			'%2e%2e%2f',
		],
		...[LONG, 'ü'.repeat(300), '日本語'.repeat(100), EMOJI.repeat(40), ARABIC, MARKUP],
		...[
			'Straße',
			'STRASSE',
			'straße',
			'e\u0301te\u0301',
			'été',
			'ÉTÉ',
			'x\u200By',
			'xy',
			'x-2',
			'x',
			'X',
		],
	];

	test('are such that every file system takes them, each its own, and the same each time', async () => {
		const lifelogs = HOSTILE.map((title, nth) =>
			lifelogOf(`hostile${nth}`, '2026-03-07T12:00:00.000Z', { title, contents: [] }),
		);
		await writeArchive(archive, { lifelogs });
		const count = lifelogs.length + 2;
		expect(await exported(archive, folder)).toEqual({ ...nothing(count), written: count });
		const paths = Object.keys(filesIn(folder));
		expect(paths).toHaveLength(count);
		expect(new Set(paths.map(sameName)).size).toBe(count);
		for (const path of paths) {
			const parts = path.split('/');
			const name = parts.at(-1)!;
			expect(parts.slice(0, -1)).toEqual(['2026', '2026-03']);
			expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
			expect(name).toMatch(/^2026-03-0\d \d\d\.\d\d( .*[^ .]|-\d+)?\.md$/);
			expect(name).not.toMatch(/[<>:"/\\|?*#^[\]\p{Cc}\p{Bidi_Control}]/u);
			expect(name).toBe(name.normalize('NFC'));
		}
		const again = join(temporaryFolder(), 'again');
		await exported(archive, again);
		expect(filesIn(again)).toEqual(filesIn(folder));
	});

	test('that are taken end with a number, which stays when the other is gone', async () => {
		const twins = ['twin1', 'twin2'].map((id) =>
			lifelogOf(id, '2026-03-07T12:00:10.000Z', { title: 'Twins' }),
		);
		await writeArchive(archive, { lifelogs: twins });
		await exported(archive, folder);
		const [first, second] = ['Twins', 'Twins-2'].map(
			(name) => `2026/2026-03/2026-03-07 13.00 ${name}.md`,
		);
		expect(filesIn(folder)[first]).toContain('id: "twin1"');
		await deleteFrom(archive, 'twin1');
		await exported(archive, folder);
		expect(filesIn(folder)[first]).toBeUndefined();
		expect(filesIn(folder)[second]).toContain('id: "twin2"');
		expect(await exported(archive, folder)).toEqual(nothing(3));
	});

	test('follow the time zone', async () => {
		await exported(archive, folder);
		await exported(archive, folder, '--timezone', 'UTC');
		expect(Object.keys(filesIn(folder))).toEqual([
			FIRST.replace('09.00', '08.00'),
			'2026/2026-03/2026-03-01 23.30 Call with Anna.md',
		]);
	});
});

describe('links in the folder', () => {
	let outside: string;
	beforeEach(() => {
		outside = temporaryFolder();
		mkdirSync(folder);
	});

	posixTest('lead no file out of it', async () => {
		symlinkSync(outside, join(folder, '2026'));
		const { status, failed, written } = await exported(archive, folder);
		expect({ status, written }).toEqual({ status: 1, written: 0 });
		expect(failed).toEqual([
			{ path: FIRST, problem: 'belongs in a folder that is a link to another place' },
			{ path: SECOND, problem: 'belongs in a folder that is a link to another place' },
		]);
		expect(readdirSync(outside)).toEqual([]);
	});

	posixTest('remove no file outside of it', async () => {
		await exported(archive, folder);
		renameSync(join(folder, '2026'), join(outside, '2026'));
		symlinkSync(join(outside, '2026'), join(folder, '2026'));
		await deleteFrom(archive, 'garden');
		await change(archive, (client) => client.edit('call', { title: 'Other' }));
		expect(await exported(archive, folder)).toMatchObject({ removed: 0, written: 0 });
		expect(Object.keys(filesIn(outside))).toEqual([FIRST, SECOND]);
	});

	posixTest('are never written through', async () => {
		const target = join(outside, 'target.md');
		writeFileSync(target, 'Mine');
		mkdirSync(dirname(join(folder, FIRST)), { recursive: true });
		symlinkSync(target, join(folder, FIRST));
		expect(await exported(archive, folder)).toMatchObject({ written: 2 });
		expect(readFileSync(target, 'utf8')).toBe('Mine');
		expect(lstatSync(join(folder, FIRST)).isSymbolicLink()).toBe(true);
		expect(filesIn(folder)[FIRST.replace('.md', '-2.md')]).toContain('id: "garden"');
	});

	posixTest('within it are followed', async () => {
		mkdirSync(join(folder, 'Lifelogs'));
		symlinkSync('Lifelogs', join(folder, '2026'));
		expect(await exported(archive, folder)).toMatchObject({ written: 2, kept: [] });
		expect(readdirSync(join(folder, 'Lifelogs/2026-03'))).toHaveLength(2);
	});

	test("and a file in a folder's place stop no other lifelog", async () => {
		const later = lifelogOf('later', '2027-01-05T08:00:00.000Z');
		await writeArchive(archive, { lifelogs: [later] });
		writeFileSync(join(folder, '2026'), 'Mine');
		const { status, written, failed } = await exported(archive, folder);
		expect({ status, written }).toEqual({ status: 1, written: 1 });
		expect(failed.map(({ path }) => path)).toEqual([FIRST, SECOND]);
	});
});

describe('an export is refused', () => {
	const refusal = async (...args: string[]) => {
		const { status, stdout, stderr } = await runCommand(['export', ...args]);
		expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
		return stderr;
	};

	test('into the archive, a folder of it or one around it', async () => {
		const before = readdirSync(archive).sort();
		const link = join(temporaryFolder(), 'link');
		symlinkSync(archive, link, 'junction');
		const around = dirname(archive);
		for (const to of [archive, join(archive, 'new/one'), around, dirname(around), link]) {
			expect(await refusal(archive, to)).toBe(
				`${to} is the archive's folder, inside of it or around it. Export to another folder\n`,
			);
		}
		expect(await refusal(link, join(archive, 'x'))).toContain("the archive's folder");
		expect(readdirSync(archive).sort()).toEqual(before);
	});

	test('of a folder that is not an archive', async () => {
		const empty = temporaryFolder();
		expect(await refusal(join(empty, 'none'), folder)).toContain('There is no folder');
		expect(await refusal(empty, folder)).toContain('has no day of an archive');
		expect(existsSync(folder)).toBe(false);
	});

	test('while people.json is broken: every name would change', async () => {
		await exported(archive, folder);
		const before = statesIn(folder);
		writeFileSync(join(archive, 'people.json'), '{"people": [');
		expect(await refusal(archive, folder)).toBe(
			"Nothing was exported, because people.json in the archive isn't a list of people. Repair it, or move it away\n",
		);
		expect(statesIn(folder)).toEqual(before);
	});

	test.each([
		['{"version": 1, "files": {', 'is damaged'],
		['{"version": 2}', 'was written by a later version'],
		[
			'{"version": 1, "lifelogs": {}, "files": {"../x.md": {"id": "x", "sha256": []}}}',
			'is damaged',
		],
	])('if what is known of the folder is %s', async (json, problem) => {
		await exported(archive, folder);
		writeFileSync(join(folder, '.lifelog-export/files.json'), json);
		const before = statesIn(folder);
		expect(await refusal(archive, folder)).toContain(problem);
		expect(statesIn(folder)).toEqual(before);
	});

	test('if its own folder is something else', async () => {
		mkdirSync(folder);
		symlinkSync(temporaryFolder(), join(folder, '.lifelog-export'), 'junction');
		expect(await refusal(archive, folder)).toContain("isn't a folder. Move it away");
	});

	test('into a file', async () => {
		const file = join(temporaryFolder(), 'file');
		writeFileSync(file, 'Mine');
		for (const to of [file, join(file, 'below')]) {
			expect(await refusal(archive, to)).toBe(
				'There is a file where the folder should be. Choose another folder\n',
			);
		}
		expect(readFileSync(file, 'utf8')).toBe('Mine');
	});

	test('with options that contradict each other', async () => {
		expect(await refusal(archive, folder, '--form', 'app-export', '--audio')).toBe(
			'--audio needs --form markdown\n',
		);
		expect(await refusal(archive)).toContain('Give the archive and the folder to write to');
	});

	test('while another one writes to the folder', async () => {
		const [free, reached] = ['free', 'reached'].map((name) => join(temporaryFolder(), name));
		const first = startCommand(['export', archive, folder], {
			NODE_OPTIONS: `--import ${pathToFileURL('test/support/heldDisk.mts').href}`,
			...{ TEST_HELD: '.lifelog-export/drafts', TEST_FREE: free, TEST_REACHED: reached },
		});
		await until(() => existsSync(reached));
		expect(await refusal(archive, folder)).toBe(
			`Another export is writing to ${folder}. Export again when it has ended\n`,
		);
		writeFileSync(free, '');
		expect((await first.ended).status).toBe(0);
		expect(Object.keys(filesIn(folder))).toHaveLength(2);
	});
});

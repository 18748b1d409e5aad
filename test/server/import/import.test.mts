import { spawnSync } from 'node:child_process';
import {
	appendFileSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Lifelog } from '../../../lifelog/api.ts';
import { importCommand } from '../../../server/cli/import.mts';
import { importExport } from '../../../server/import/import.mts';
import { writeLifelog } from '../../../lifelog/files/formats.ts';
import { appExportPath } from '../../../lifelog/names.ts';
import { parseLifelog } from '../../../server/archive/entries.mts';
import { readLifelog } from '../../../server/import/lifelogFile.mts';
import { writeArchive } from '../../support/archive.mts';
import { failingFile } from '../../support/failingFile.mts';
import { findingsIn } from '../../support/findings.mts';
import { startLabAt } from '../../support/lab.mts';
import { chatOf, lifelogOf } from '../../support/invented.mts';
import { readOgg, writeOgg } from '../../support/ogg.mts';
import { workflowWith } from '../../support/workflow.mts';
import { writeZip, type ZipFile } from '../../support/zip.mts';
import { ask, startLifelogServer, temporaryFolder } from '../sources.mts';

const noon = Date.parse('2025-12-03T12:00:00Z');
const second = 1000;

const folder = 'lifelogs/2025/12/03';
const weekly = `${folder}/2025-12-03_12h00m00s_Weekly-plan.md`;
const night = 'lifelogs/2025/12/04/2025-12-04_00h10m00s_At-night.md';

const said = (speaker: number | string, from: number, to: number, words: string) =>
	`> [${speaker}](#startMs=${noon + from}&endMs=${noon + to}): ${words}`;
const markdown = [
	'# Weekly plan',
	'## The budget',
	said(8, 793, 6_793, 'We need the numbers.'),
	said(1, 39_793, 64_793, 'Tomorrow, then.'),
	'### And the rest',
	said(8, 70_000, 75_000, 'Fine.'),
].join('\n\n');
const atNight = `# At night\r\n\r\n> [3](#startMs=${noon + 43_800_500}&endMs=${noon + 43_860_000}): Good night.\r\n`;

const conversation: ZipFile[] = [
	{ name: weekly, content: `${markdown}\n`, deflate: true },
	{ name: night, content: atNight },
];

/** Packets of 20 ms, each of its own. */
const packets = (first: number, seconds: number) =>
	Array.from({ length: seconds * 50 }, (_, n) => {
		const packet = Buffer.alloc(40, 7);
		packet[0] = 0xf8;
		packet.writeUInt32LE(first * 50 + n, 1);
		return packet;
	});
const recording = (first: number, seconds: number) =>
	writeOgg({ serial: first, preSkip: 0, packets: packets(first, seconds), perPage: 50 });
const audioName = (recorder: string, at: number) =>
	`audio/${recorder}/2025/12/03/2025-12-03_12h0${Math.floor(at / 60)}m${String(at % 60).padStart(2, '0')}s.ogg`;

/** Writes files as an export's folder. */
function unpacked(files: ZipFile[]): string {
	const root = temporaryFolder();
	for (const { name, content = '' } of files) {
		mkdirSync(dirname(join(root, name)), { recursive: true });
		writeFileSync(join(root, name), content);
	}
	return root;
}

function zipped(files: Iterable<ZipFile>): string {
	const path = join(temporaryFolder(), 'export.zip');
	writeZip(path, files);
	return path;
}

/** Every file of a folder, with what is in it and when that was written. */
function filesOf(root: string): Record<string, string> {
	const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
	return Object.fromEntries(
		paths
			.filter((path) => statSync(join(root, path)).isFile() && !/^\.lifelog-\w+\.lock$/.test(path))
			.map((path) => [
				path,
				`${statSync(join(root, path)).mtimeMs} ${readFileSync(join(root, path), 'latin1')}`,
			]),
	);
}

/** What the files of the days name, by their paths. */
const namesOf = (root: string) =>
	Object.keys(filesOf(root)).filter((path) => !path.startsWith('days/') && !/index/.test(path));

const idIn = (path: string) => /_(export-\w+)\.md$/.exec(path)![1];

/** Carries out the command as it is typed. */
function spawned(env: Record<string, string>, ...args: string[]) {
	const command = ['server/lifelog-server.cjs', 'import', ...args];
	return spawnSync(process.execPath, command, {
		encoding: 'utf8',
		env: { ...process.env, ...env },
	});
}

/** Carries out the command within this process. */
async function run(...args: string[]) {
	const written = { stdout: '', stderr: '' };
	const spies = (['stdout', 'stderr'] as const).map((name) =>
		jest.spyOn(process[name], 'write').mockImplementation((text) => {
			written[name] += String(text);
			return true;
		}),
	);
	const status = await importCommand(args).finally(() => spies.forEach((spy) => spy.mockRestore()));
	return { status, ...written };
}

describe('a lifelog of an export', () => {
	const lifelog = readLifelog(`${markdown}\n`, weekly);
	const at = (ms: number) => new Date(noon + ms).toISOString();

	test('has its times and no star, and its end as updatedAt', () => {
		expect(lifelog).toMatchObject({
			title: 'Weekly plan',
			startTime: at(793),
			endTime: at(75_000),
			updatedAt: at(75_000),
			isStarred: false,
		});
		expect(lifelog.id).toMatch(/^export-[0-9a-f]{20}$/);
		expect(readLifelog(`${markdown}\n`, weekly).id).toBe(lifelog.id);
		expect(readLifelog(`${markdown}\n`, night).id).not.toBe(lifelog.id);
	});

	test.each([
		['# C#', 'C#'],
		['# Plan ##', 'Plan'],
		['# Plan #2', 'Plan #2'],
		['#   Plan   ', 'Plan'],
		['# #', 'Untitled'],
	])('%j has the title %j', (line, title) => {
		expect(readLifelog(`${line}\n${said(1, 0, 1, 'Yes.')}`, `${folder}/x.md`).title).toBe(title);
	});

	test('is read in linear time', () => {
		const before = process.cpuUsage();
		for (const text of [
			`# ${' '.repeat(200_000)}\u2028x`,
			`${said(1, 0, 1, '')}${' '.repeat(200_000)}\u2028x`,
			`## A\n${'###### B\n'.repeat(100_000)}`,
			`---\n${Array.from({ length: 100_000 }, (_, n) => `k${n}: v\n`).join('')}---\n# A`,
			`---\n${'['.repeat(200_000)}\n---\n# A`,
		]) {
			readLifelog(text, weekly);
		}
		// What is linear takes a fraction of a second, what is quadratic minutes.
		expect(process.cpuUsage(before).user / 1_000_000).toBeLessThan(20);
	});

	test('has headings and utterances, each with its time and speaker', () => {
		const rows = lifelog.contents.map((node) => [
			node.type,
			node.content,
			node.startOffsetMs,
			node.endOffsetMs,
			node.speakerName,
			node.speakerIdentifier,
		]);
		expect(rows).toEqual([
			['heading1', 'Weekly plan', 0, 74_207, undefined, undefined],
			['heading2', 'The budget', 0, 74_207, undefined, undefined],
			['blockquote', 'We need the numbers.', 0, 6_000, 'Speaker 8', null],
			['blockquote', 'Tomorrow, then.', 39_000, 64_000, 'Speaker 1', 'user'],
			['heading3', 'And the rest', 69_207, 74_207, undefined, undefined],
			['blockquote', 'Fine.', 69_207, 74_207, 'Speaker 8', null],
		]);
		for (const { startTime, startOffsetMs } of lifelog.contents) {
			expect(Date.parse(startTime!)).toBe(Date.parse(lifelog.startTime) + startOffsetMs!);
		}
	});

	test.each<[string, string, Partial<Lifelog>]>([
		[
			'nothing was said',
			'# Only a title\n',
			{ title: 'Only a title', startTime: at(0), endTime: at(0) },
		],
		['it has no title', said(2, 0, 1000, 'Hm.'), { title: 'Weekly plan', endTime: at(1000) }],
		['it was said before its name says', said(2, -90_000, 5, 'Oh'), { startTime: at(-90_000) }],
		['its lines end as in Windows', '# A\r\n\r\n## B\r\n', { markdown: '# A\n\n## B' }],
		[
			'words go on in a next line',
			`${said(2, 0, 9, 'One')}\n> two\n`,
			{ markdown: '> Speaker 2: One\ntwo' },
		],
		[
			'other text stands in it',
			'# A\n\nJust\ntext\n\n\\# not a title',
			{ markdown: '# A\n\nJust\ntext\n\n# not a title' },
		],
		[
			'its speakers have names',
			`---\nspeakers: { 1: "You", 2: "Anna" }\n---\n\n${said(2, 0, 9, 'Hi')}`,
			{ markdown: '> Anna: Hi' },
		],
		['a speaker is a name', said('Anna B.', 0, 9, 'Hi'), { markdown: '> Anna B.: Hi' }],
		[
			'its front matter is broken',
			`---\n{{\n---\n${said(2, 0, 9, 'Hi')}`,
			{ markdown: '> Speaker 2: Hi' },
		],
	])('is read when %s', (_when, text, expected) => {
		expect(readLifelog(text, weekly)).toMatchObject(expected);
	});

	test.each([
		['notes.md', '# A\n', "doesn't say when it was"],
		[`${folder}/2025-13-03_12h00m00s_A.md`, '# A\n', "doesn't say when it was"],
		[weekly, '> [1](#startMs=5&endMs=9): A', 'has an impossible time'],
		[weekly, `> [1](#startMs=${'9'.repeat(30)}&endMs=9): A`, 'has an impossible time'],
	])('%s is refused if it has no time', (path, text, message) => {
		expect(() => readLifelog(text, path)).toThrow(message);
	});
});

test('a zip and its folder make the same complete archive, and a second import changes nothing', async () => {
	const chat = { ...chatOf('q', '2025-12-03T20:00:00.000Z'), isScheduled: undefined };
	const files: ZipFile[] = [
		...conversation,
		{ name: 'chats/2025/12/03/2025-12-03_20h00m00s_q.json', content: JSON.stringify(chat) },
		{ name: audioName('pendant', 0), content: recording(0, 3) },
		{ name: 'meetings/2025/12/03/Standup/meeting.json', content: '{}' },
		{ name: 'lifelogs/2025/.DS_Store', content: 'x' },
	];
	const around = files.map((file) => ({
		...file,
		name: `data-export_2025-12-07_11-47-23/${file.name}`,
	}));
	const ofZip = temporaryFolder();
	const ofFolder = temporaryFolder();
	const first = spawned({}, zipped([...around, { name: '__MACOSX/lifelogs/2025/._x.md' }]), ofZip);
	expect(first).toMatchObject({ status: 0, stderr: '' });
	expect(first.stdout).toContain('Imported: 2 lifelogs, 1 chat, 1 audio file, on 2 days.');
	expect(first.stdout).toContain('no place for it: meetings/ (1 file).');
	// What it says is to be typed as it stands, here in a checkout.
	expect(first.stdout).toContain(`Serve it: npm run server -- serve ${ofZip}\n`);
	expect((await run(unpacked(files), ofFolder)).status).toBe(0);
	expect(namesOf(ofFolder)).toEqual(namesOf(ofZip));
	for (const path of namesOf(ofZip)) {
		expect(readFileSync(join(ofFolder, path))).toEqual(readFileSync(join(ofZip, path)));
	}
	expect(await findingsIn(ofZip)).toEqual([]);
	// The Markdown is what every archive has.
	const stored = namesOf(ofZip).find((path) => /12h00m00s_export-.*\.md$/.test(path))!;
	const written = readFileSync(join(ofZip, stored), 'utf8');
	expect(written).toContain('\n**Speaker 8** (12:00:00): We need the numbers.\n');
	expect(readLifelog(written, stored)).toMatchObject({ title: 'Weekly plan', id: idIn(stored) });

	const before = filesOf(ofZip);
	for (const path of [zipped(files), unpacked(around)]) {
		const again = await run(path, ofZip);
		expect(again.status).toBe(0);
		expect(again.stdout).toContain('Nothing new.');
		expect(again.stdout).toContain('already: 2 lifelogs, 1 chat, 1 audio file');
		expect(filesOf(ofZip)).toEqual(before);
	}
});

test('an imported archive is served, and Get Many reads it like the service', async () => {
	const archive = temporaryFolder();
	await importExport(zipped(conversation), archive);
	const server = await startLifelogServer(archive);
	const { engine, close } = await startLabAt(server);
	try {
		const parameters = {
			operation: 'getMany',
			output: 'raw',
			returnAll: true,
			options: { includeContents: true },
		};
		const result = await engine.runWorkflow(workflowWith('lifelog', parameters));
		expect(result.error).toBeUndefined();
		const items = result.items('Node').map(({ json }) => json as unknown as Lifelog);
		expect(items.map(({ title }) => title)).toEqual(['At night', 'Weekly plan']);
		expect(items[1]).toMatchObject({ isStarred: false, id: expect.stringMatching(/^export-/) });
		const { contents } = readLifelog(markdown, weekly);
		expect(items[1].contents.map(({ content, startOffsetMs }) => [content, startOffsetMs])).toEqual(
			contents.map(({ content, startOffsetMs }) => [content, startOffsetMs]),
		);
		expect(items[1].contents.map(({ startTime }) => Date.parse(startTime!))).toEqual(
			contents.map(({ startTime }) => Date.parse(startTime!)),
		);
		const found = await (await ask(server, '/v1/lifelogs?search=numbers')).json();
		expect(found.data.lifelogs).toHaveLength(1);
		expect(server.log).toEqual([]);
	} finally {
		await close();
	}
});

describe('files of an archive or of Export', () => {
	const lifelog = lifelogOf('abc', '2025-12-03T12:00:00.250Z', {
		isStarred: true,
		contents: [
			{ type: 'heading1', content: 'Title of abc' },
			...['Yes.', 'No #1 [x].'].map((content, nth) => ({
				...{
					type: 'blockquote',
					content,
					startOffsetMs: nth * 5500,
					endOffsetMs: nth * 5500 + 700,
				},
				...(nth === 0
					? { speakerName: 'Anna' }
					: { speakerName: 'Sam', speakerIdentifier: 'user' as const }),
			})),
		],
	});
	const nameOf = (extension: string) => `${folder}/2025-12-03_12h00m00s_abc.${extension}`;
	const filesIn = (zone: string): ZipFile[] =>
		(['json', 'markdown'] as const).map((format) => {
			const { content, extension } = writeLifelog(lifelog, format, zone)!;
			return { name: nameOf(extension.slice(1)), content };
		});
	const importedFrom = async (files: ZipFile[], ...options: string[]) => {
		const archive = temporaryFolder();
		const { status, stdout } = await run(zipped(files), archive, ...options);
		expect(stdout).toContain('Imported: 1 lifelog, 0 chats, 0 audio files, on 1 day.');
		expect(status).toBe(0);
		expect(await findingsIn(archive)).toEqual([]);
		const read = (extension: string) => readFileSync(join(archive, nameOf(extension)), 'utf8');
		const again = await run(zipped(files), archive, ...options);
		expect(again.stdout).toContain('Nothing new.');
		return { json: JSON.parse(read('json')) as Lifelog, markdown: read('md') };
	};
	const lines = ({ contents }: Lifelog) =>
		contents.map(({ content, speakerName, speakerIdentifier, startOffsetMs }) => [
			...[content, speakerName ?? null, speakerIdentifier ?? null],
			Math.floor((startOffsetMs ?? 0) / second),
		]);

	test('of which the JSON is beside the Markdown are exact', async () => {
		const { json, markdown: written } = await importedFrom(filesIn('UTC'));
		expect(json).toEqual(parseLifelog(JSON.stringify(lifelog)));
		expect(written).toContain('**Sam** (12:00:05): No \\#1 \\[x\\].');
	});

	test('of which there is only the Markdown keep ID, star, words, speakers and seconds', async () => {
		const markdownOnly = filesIn('Asia/Tokyo').slice(1);
		const { json, markdown: written } = await importedFrom(
			markdownOnly,
			'--timezone',
			'Asia/Tokyo',
		);
		expect(json).toMatchObject({ id: 'abc', isStarred: true, title: 'Title of abc' });
		expect(json.startTime).toBe('2025-12-03T12:00:00.000Z');
		expect(json.endTime).toBe('2025-12-03T12:10:00.000Z');
		expect(lines(json)).toEqual(lines(lifelog));
		expect(written).toBe(String(markdownOnly[0].content));
	});

	test('as the app has them keep words, seconds and who the wearer is', async () => {
		const { content, startMs } = writeLifelog(lifelog, 'appExport', 'UTC')!;
		const name = `${appExportPath(startMs, lifelog.title)}.md`;
		expect(lines(readLifelog(String(content), name))).toEqual(lines(lifelog));
	});

	test('of an archive of an earlier version are read', () => {
		const old = `---\nspeakers: { 1: "Sam", 2: "Anna" }\n---\n\n# C\\* \\[x]\n\n${said(2, 250, 950, 'Yes.')}\n\n\\# an aside\n`;
		const read = readLifelog(old, nameOf('md'));
		expect(read.title).toBe('C* [x]');
		expect(lines(read)).toEqual([
			['C* [x]', null, null, 0],
			['Yes.', 'Anna', null, 0],
			['# an aside', null, null, 0],
		]);
	});

	test('that Obsidian or a person changed are read', () => {
		const changed = `---\ntitle: A: b\ndate: 2025-12-03\nstart: 2025-12-03T21:00\ntags:\n  - x: [\nstarred: false\nid: abc\ntimezone: Asia/Tokyo\nwearer: Sam\n---\n# Plan\n\n**Sam** (21:00:07): Yes\nand no.\n\n**Unknown** (21:00:09): Hm`;
		expect(() => readLifelog(changed, 'x.md')).toThrow("doesn't say when it was");
		const read = readLifelog(changed.replace('A: b', '"A: b"'), 'x.md');
		expect(read).toMatchObject({ id: 'abc', title: 'Plan', startTime: '2025-12-03T12:00:00.000Z' });
		expect(lines(read)).toEqual([
			['Plan', null, null, 0],
			['Yes\nand no.', 'Sam', 'user', 7],
			['Hm', null, null, 9],
		]);
	});

	test('that a program gave long properties are read', () => {
		const names = Array.from({ length: 5000 }, (_, nth) => `Person ${nth}`);
		const long = `---\naliases: [${names}]\nid: abc\nstart: 2025-12-03T12:00:00Z\n---\n# Plan`;
		expect(readLifelog(long, 'x.md')).toMatchObject({ id: 'abc', title: 'Plan' });
	});

	test.each([
		['json', '{"id":"abc"}', "isn't the JSON of a lifelog"],
		['json', JSON.stringify({ ...lifelog, id: '..' }), "isn't the JSON of a lifelog"],
		['json', JSON.stringify({ ...lifelog, startTime: '1999-01-01' }), 'has an impossible time'],
		['json', JSON.stringify({ ...lifelog, id: 'x'.repeat(1001) }), 'has an ID that is too long'],
		['json', '['.repeat(1000), 'is nested too deep'],
		['md', '---\nstart: 1999-01-01T00:00:00\n---\n# A', 'has an impossible time'],
		['md', '---\nstart: 2025-12-03T12:00:00\n---\n**A** (99:00:00): B', 'has an impossible time'],
	])('a %s that says %j is named', async (extension, content, problem) => {
		const name = nameOf(extension);
		const { unread } = await importExport(zipped([{ name, content }]), temporaryFolder());
		expect(unread).toEqual([{ path: name, problem }]);
	});

	test('an ID that is a property of every object is imported like any other ID', async () => {
		const ids = ['__proto__', 'constructor'];
		const files = ids.map((id, nth) => ({
			name: `${folder}/${id}.json`,
			content: JSON.stringify({ ...lifelogOf(id, `2025-12-03T1${nth}:00:00Z`) }),
		}));
		const archive = temporaryFolder();
		expect((await importExport(zipped(files), archive)).added.lifelogs).toBe(2);
		expect((await importExport(zipped(files), archive)).known.lifelogs).toBe(2);
		expect(await findingsIn(archive)).toEqual([]);
	});

	test('a time zone that is none is refused', async () => {
		const { status, stderr } = await run('a', 'b', '--timezone', 'Mars');
		expect([status, stderr]).toEqual([
			2,
			'--timezone must be a name such as Europe/Berlin, not Mars\n',
		]);
	});
});

describe('an archive that has days of the service', () => {
	const same = readLifelog(markdown, weekly);
	const ofService = (more: Partial<Lifelog> = {}) =>
		lifelogOf('abc', same.startTime, {
			...same,
			id: 'abc',
			title: 'Edited',
			isStarred: true,
			...more,
		});

	test.each<[string, Partial<Lifelog>]>([
		['the same time', { contents: [] }],
		['its time to the second', { contents: [], startTime: new Date(noon).toISOString() }],
		['what was said in it at the same time', { startTime: '2025-12-03T11:30:00.000Z' }],
	])('keeps its own lifelog with %s, and adds the missing lifelogs', async (_what, more) => {
		const archive = temporaryFolder();
		const [day] = await writeArchive(archive, { lifelogs: [ofService(more)] });
		const before = filesOf(archive);
		const other = {
			name: `${folder}/2025-12-03_15h00m00s_Other.md`,
			content: said(2, 10_800_000, 10_900_000, 'Else'),
		};
		const { added, known } = await importExport(zipped([...conversation, other]), archive);
		expect([added.lifelogs, known.lifelogs]).toEqual([2, 1]);
		expect(await findingsIn(archive)).toEqual([]);
		// The version is what the service has of the day, so Full archive finds it as it was.
		const { [day]: _old, ...files } = before;
		expect(filesOf(archive)).toMatchObject(files);
		const now = JSON.parse(readFileSync(join(archive, day), 'utf8'));
		expect(now.lifelogs.abc).toEqual(JSON.parse(_old.slice(_old.indexOf('{'))).lifelogs.abc);
		const [imported] = Object.keys(now.lifelogs).filter((id) => id !== 'abc');
		expect(now.lifelogs[imported]).toMatchObject({
			isStarred: false,
			goneAt: now.lifelogs[imported].goneAt,
		});
		const again = filesOf(archive);
		await importExport(zipped([...conversation, other]), archive);
		expect(filesOf(archive)).toEqual(again);
	});

	test('keeps its chats, and the failures and missing audio of a day', async () => {
		const archive = temporaryFolder();
		const chat = chatOf('q', '2025-12-03T20:00:00.000Z');
		const [day] = await writeArchive(archive, { chats: [chat] });
		const file = JSON.parse(readFileSync(join(archive, day), 'utf8'));
		file.missingAudio = [{ startMs: noon - second, endMs: noon + 9 * second }];
		file.failed = [{ what: 'audio', message: 'HTTP 504' }];
		writeFileSync(join(archive, day), JSON.stringify(file));
		const shorter = { ...chat, messages: [chat.messages[0]] };
		const { added } = await importExport(
			zipped([
				{ name: 'chats/q.json', content: JSON.stringify(shorter) },
				{ name: audioName('pendant', 0), content: recording(0, 3) },
			]),
			archive,
		);
		expect(added).toEqual({ lifelogs: 0, chats: 0, audio: 1 });
		const now = JSON.parse(readFileSync(join(archive, day), 'utf8'));
		expect(now.chats).toEqual(file.chats);
		expect(now.failed).toEqual(file.failed);
		expect(now.missingAudio).toEqual([
			{ startMs: noon - second, endMs: noon },
			{ startMs: noon + 3 * second, endMs: noon + 9 * second },
		]);
	});

	test("isn't changed if the day manifest is broken or a run is active", async () => {
		const archive = temporaryFolder();
		const [day] = await writeArchive(archive, { lifelogs: [ofService()] });
		truncateSync(join(archive, day), 20);
		const { status, stdout } = await run(zipped(conversation), archive);
		expect(status).toBe(1);
		expect(stdout).toContain(`${weekly} belongs to 2025-12-03, whose day manifest can't be read`);
		expect(readdirSync(join(archive, 'days'))).toHaveLength(2);
		const report = { state: 'running', updatedAt: new Date().toISOString() };
		writeFileSync(join(archive, 'report.json'), JSON.stringify(report));
		expect(await run(zipped(conversation), archive)).toMatchObject({
			status: 2,
			stderr: expect.stringContaining('Full archive in n8n has been writing to this archive'),
		});
	});

	test.each([
		['file', "belongs to 2025-12-03, whose day manifest can't be read"],
		['lifelog', 'belongs to a day of which a lifelog in the archive cannot be read'],
	])("isn't changed if a %s of a day temporarily can't be read", async (what, problem) => {
		const archive = temporaryFolder();
		await writeArchive(archive, { lifelogs: [ofService()] });
		const more = [ofService(), { ...ofService(), id: 'later', title: 'Later' }];
		const [newest] = await writeArchive(archive, { lifelogs: more });
		const before = filesOf(archive);
		const lifelog = Object.keys(before).find((path) => /^lifelogs\/.*\.json$/.test(path))!;
		await failingFile(join(archive, what === 'file' ? newest : lifelog), 'readFile');
		const { unread } = await importExport(zipped(conversation.slice(0, 1)), archive);
		jest.restoreAllMocks();
		expect(unread).toEqual([{ path: weekly, problem }]);
		expect(filesOf(archive)).toEqual(before);
	});

	test('is written to if a report of an active run is too old or from the future', async () => {
		for (const days of [-1, 1]) {
			const archive = temporaryFolder();
			const updatedAt = new Date(Date.now() + days * 86_400_000).toISOString();
			writeFileSync(join(archive, 'report.json'), JSON.stringify({ state: 'running', updatedAt }));
			expect((await importExport(zipped(conversation), archive)).added.lifelogs).toBe(2);
		}
	});
});

test.each([
	['the API gives it', chatOf('q', '2025-12-03T20:00:00.000Z')],
	[
		'words and roles stand beside each other',
		{
			summary: 'Summary of q',
			createdAt: '2025-12-03T20:00:00Z',
			messages: [
				{ role: 'user', content: 'What was that?' },
				{ role: 'assistant', content: 'A day.' },
			],
		},
	],
	[
		'its ID is as long as a file name can hold',
		{ ...chatOf('q', '2025-12-03T20:00:00.000Z'), id: 'q'.repeat(229) },
	],
	[
		'its ID is a word of JavaScript',
		{ ...chatOf('q', '2025-12-03T20:00:00.000Z'), id: 'constructor' },
	],
	[
		'its times are numbers',
		{
			summary: 'Summary of q',
			createdAt: noon,
			startedAt: noon,
			messages: [
				{ role: 'user', content: 'What was that?', createdAt: noon },
				{ role: 'assistant', content: 'A day.', createdAt: noon },
			],
		},
	],
])('a chat is read if %s', async (_how, value) => {
	const archive = temporaryFolder();
	await importExport(
		zipped([{ name: 'chats/2025/12/03/x.json', content: JSON.stringify(value) }]),
		archive,
	);
	expect(await findingsIn(archive)).toEqual([]);
	const server = await startLifelogServer(archive);
	const { data } = await (await ask(server, '/v1/chats')).json();
	await server.close();
	expect(data.chats).toHaveLength(1);
	expect(data.chats[0]).toMatchObject({
		summary: 'Summary of q',
		messages: [
			{ text: 'What was that?', user: { role: 'user' } },
			{ text: 'A day.', user: { role: 'assistant' } },
		],
	});
});

describe('audio of an export', () => {
	const packetsOf = (file: Buffer) =>
		readOgg(file)
			.flatMap((page) => page.packets)
			.filter((packet) => !/^Opus(Head|Tags)/.test(packet.toString('latin1', 0, 8)))
			.map((packet) => packet.readUInt32LE(1));

	test('is served file after file, each packet once, whatever seconds the names have', async () => {
		const archive = temporaryFolder();
		// One ends in the second in which the next one begins; two overlap by five seconds.
		const files = [
			{ name: audioName('pendant', 0), content: recording(0, 5) },
			{ name: audioName('pendant', 4), content: recording(5, 5) },
			{ name: audioName('pendant', 20), content: recording(20, 10) },
			{ name: audioName('mobile', 25), content: recording(100, 10) },
			{ name: `audio/pendant/2025/12/03/${noon + 60 * second}.ogg`, content: recording(60, 2) },
		];
		const { added, unread } = await importExport(zipped(files), archive);
		expect([added.audio, unread]).toEqual([5, []]);
		expect(await findingsIn(archive)).toEqual([]);
		const before = filesOf(archive);
		expect((await importExport(unpacked(files), archive)).added.audio).toBe(0);
		expect(filesOf(archive)).toEqual(before);

		const server = await startLifelogServer(archive);
		const response = await ask(
			server,
			`/v1/download-audio?startMs=${noon}&endMs=${noon + 90 * second}`,
		);
		const heard = packetsOf(Buffer.from(await response.arrayBuffer()));
		await server.close();
		const row = (first: number, seconds: number) =>
			Array.from({ length: seconds * 50 }, (_, n) => first * 50 + n);
		// Four packets lead into a cut, and are not heard.
		const lead = row(105, 5)[0];
		const expected = [...row(0, 10), ...row(20, 10), ...row(105, 5), ...row(60, 2)];
		expect(heard.filter((packet) => packet < 100 * 50 || packet >= lead)).toEqual(expected);
		expect(heard.length - expected.length).toBeLessThanOrEqual(4);
	});

	test('over midnight is added once, to the days on which its files begin', async () => {
		const archive = temporaryFolder();
		const files = [
			{ name: 'audio/pendant/2025/12/03/2025-12-03_23h59m00s.ogg', content: recording(0, 90) },
			{ name: 'audio/mobile/2025/12/03/2025-12-03_23h59m20s.ogg', content: recording(200, 120) },
			{ name: 'audio/mobile/2025/12/04/2025-12-04_00h00m10s.ogg', content: recording(400, 100) },
		];
		const { added, days, unread } = await importExport(zipped(files), archive);
		expect([added.audio, days, unread]).toEqual([3, 2, []]);
		expect(await findingsIn(archive)).toEqual([]);
		expect(namesOf(archive)).toEqual([
			'audio/mobile/2025/12/04/audio_20251204T000030Z_20251204T000120Z.ogg',
			'audio/mobile/2025/12/04/audio_20251204T000120Z_20251204T000150Z.ogg',
			'audio/pendant/2025/12/03/audio_20251203T235900Z_20251204T000030Z.ogg',
		]);
		const before = filesOf(archive);
		expect((await importExport(unpacked(files), archive)).added.audio).toBe(0);
		expect(filesOf(archive)).toEqual(before);
	});

	test.each<[string, string | Buffer, string]>([
		['audio/pendant/2025/12/03/one.ogg', recording(0, 1), 'has no start time in its name'],
		[audioName('pendant', 0), recording(0, 1).subarray(0, 900), 'ends in the middle of a page'],
		[audioName('pendant', 0), 'no audio at all, but text of some length', "isn't Ogg"],
		[audioName('a pendant', 0), recording(0, 1), 'is not in the folder of a recorder'],
	])("%s is reported if it isn't usable", async (name, content, problem) => {
		const archive = temporaryFolder();
		const { unread } = await importExport(zipped([{ name, content }, ...conversation]), archive);
		expect(unread).toEqual([{ path: name, problem: expect.stringContaining(problem) }]);
		expect(await findingsIn(archive)).toEqual([]);
	});
});

describe("a file that can't be read", () => {
	const link = 0o120777;
	const evil: [string, ZipFile, string][] = [
		['leads out', { name: '../lifelogs/2025-12-03_12h00m00s_A.md' }, 'leads out of its folder'],
		['leads out later', { name: 'lifelogs/../../2025-12-03_12h00m00s_A.md' }, 'leads out'],
		['is absolute', { name: '/lifelogs/2025-12-03_12h00m00s_A.md' }, 'has an absolute path'],
		['is of a drive', { name: 'C:/lifelogs/2025-12-03_12h00m00s_A.md' }, 'has an absolute path'],
		['has a backslash', { name: 'lifelogs\\..\\..\\A.md' }, 'has a backslash'],
		[
			'is a link',
			{ name: `${folder}/2025-12-03_13h00m00s_L.md`, content: '/etc/passwd', mode: link },
			'is a link',
		],
		[
			'is encrypted',
			{ name: `${folder}/2025-12-03_13h00m00s_E.md`, deflate: true, flags: 0x801 },
			'is encrypted',
		],
		[
			'is packed otherwise',
			{ name: `${folder}/2025-12-03_13h00m00s_M.md`, method: 14 },
			'uses an unsupported compression method',
		],
		[
			'has a another checksum',
			{ name: `${folder}/2025-12-03_13h00m00s_C.md`, content: '# A', crc: 1 },
			'has a different checksum',
		],
		[
			'is broken',
			{ name: `${folder}/2025-12-03_13h00m00s_B.md`, content: 'never deflated', method: 8 },
			'cannot be unpacked',
		],
		[
			'is no text',
			{ name: `${folder}/2025-12-03_13h00m00s_T.md`, content: Buffer.from([0x23, 0xff, 0xfe]) },
			"isn't UTF-8 text",
		],
		['is no chat', { name: 'chats/2025/12/03/x.json', content: '[]' }, "isn't the JSON of a chat"],
		[
			'has an endless ID',
			{
				name: 'chats/2025/12/03/x.json',
				content: JSON.stringify({ id: 'ü'.repeat(1001), createdAt: noon, messages: [] }),
			},
			'has an ID that is too long',
		],
		[
			'is too large',
			{ name: `${folder}/2025-12-03_13h00m00s_Z.md`, zeros: 70 << 20 },
			'is too large',
		],
	];

	test.each(evil)(
		'that %s is named, the rest is imported, and the exit code is 1',
		async (_how, file, problem) => {
			const archive = join(temporaryFolder(), 'archive');
			const { status, stdout } = await run(zipped([file, ...conversation]), archive);
			expect(stdout).toContain('Not read: 1 file.');
			expect(stdout).toContain(`  ${file.name} ${problem}`);
			expect(stdout).toContain('Imported: 2 lifelogs');
			expect(status).toBe(1);
			expect(readdirSync(dirname(archive))).toEqual(['archive']);
			expect(await findingsIn(archive)).toEqual([]);
		},
	);

	test('control characters in its name are replaced in the output', async () => {
		const name = `${folder}/2025-12-03_13h00m00s_\u001b[2J\u009b\u202e.md`;
		const path = zipped([{ name, content: Buffer.from([0xff]) }, ...conversation]);
		const { stdout } = await run(path, temporaryFolder());
		expect(stdout).toContain("13h00m00s_\ufffd[2J\ufffd\ufffd.md isn't UTF-8 text\n");
	});

	test('makes the exit code 2 if nothing else was imported', async () => {
		const { status, stdout } = await run(zipped([evil[0][1]]), temporaryFolder());
		expect([status, stdout]).toEqual([2, expect.stringContaining('Nothing new.')]);
	});

	test('an ID that is a property of every object is imported like any other ID', async () => {
		const ids = ['__proto__', 'constructor', 'toString'];
		const files = ids.map((id) => ({
			name: `chats/2025/12/03/${id}.json`,
			content: JSON.stringify({ id, createdAt: noon, messages: [] }),
		}));
		const archive = temporaryFolder();
		const { added } = await importExport(zipped(files), archive);
		expect(added.chats).toBe(3);
		const { known } = await importExport(zipped(files), archive);
		expect(known.chats).toBe(3);
		const server = await startLifelogServer(archive);
		const answers = await Promise.all(ids.map((id) => ask(server, `/v1/chats/${id}`)));
		await server.close();
		expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
		expect(await findingsIn(archive)).toEqual([]);
	});

	test('a link at the path of a new file is replaced and not followed', async () => {
		const archive = temporaryFolder();
		await importExport(zipped(conversation), archive);
		const outside = join(temporaryFolder(), 'diary.txt');
		writeFileSync(outside, 'mine');
		const written = namesOf(archive);
		for (const path of written) {
			rmSync(join(archive, path));
			symlinkSync(outside, join(archive, path));
		}
		rmSync(join(archive, 'days'), { recursive: true });
		await importExport(zipped(conversation), archive);
		expect(readFileSync(outside, 'utf8')).toBe('mine');
		expect(await findingsIn(archive)).toEqual([]);
	});

	test.each(['lifelogs', 'lifelogs/2025', 'lifelogs/2025/12/03'])(
		'nothing is written through a link to a folder outside of the archive: %s',
		async (path) => {
			const archive = temporaryFolder();
			const outside = temporaryFolder();
			mkdirSync(dirname(join(archive, path)), { recursive: true });
			symlinkSync(outside, join(archive, path));
			const { unread } = await importExport(zipped(conversation.slice(0, 1)), archive);
			expect(unread).toEqual([
				{
					path: weekly,
					problem: 'belongs in a folder that is outside of the archive, because of a link',
				},
			]);
			expect(readdirSync(outside)).toEqual([]);
		},
	);

	test('links in a folder are named and not followed', async () => {
		const outside = unpacked(conversation);
		const root = unpacked([conversation[1]]);
		symlinkSync(join(outside, 'lifelogs', '2025', '12', '03'), join(root, 'lifelogs', 'more'));
		symlinkSync(join(outside, weekly), join(root, 'lifelogs', '2025-12-03_12h00m00s_A.md'));
		const { added, unread } = await importExport(root, temporaryFolder());
		expect(added.lifelogs).toBe(1);
		expect(unread.map(({ path }) => path).sort()).toEqual([
			'lifelogs/2025-12-03_12h00m00s_A.md',
			'lifelogs/more',
		]);
	});

	test.each<[string, () => [string, string], string]>([
		['a file that is not there', () => ['/none.zip', temporaryFolder()], 'There is no /none.zip'],
		['no zip', () => [__filename, temporaryFolder()], "isn't a complete zip"],
		[
			'half a zip',
			() => {
				const path = zipped(conversation);
				truncateSync(path, statSync(path).size - 100);
				return [path, temporaryFolder()];
			},
			"isn't a complete zip",
		],
		[
			'a folder of other things',
			() => [unpacked([{ name: 'a/b.txt' }]), temporaryFolder()],
			"isn't an export",
		],
		[
			'an archive in place of the export',
			() => [unpacked([...conversation, { name: 'days/2025-12-03.json' }]), temporaryFolder()],
			'is an archive already',
		],
		[
			'an archive inside of the export',
			() => {
				const path = unpacked(conversation);
				return [path, join(path, 'archive')];
			},
			'must be another folder',
		],
		['an archive that is a file', () => [zipped(conversation), __filename], 'cannot be the folder'],
	])('%s is reported, with the exit code 2', async (_what, make, message) => {
		const { status, stderr } = await run(...make());
		expect(stderr).toContain(message);
		expect(stderr).not.toContain('    at ');
		expect(status).toBe(2);
	});

	test('wrong arguments are reported', async () => {
		expect((await run('one')).stderr).toContain('Give the export and the archive');
		expect((await run('--help')).stdout).toContain('Usage: npm run server -- import');
	});
});

test('an entry that was edited between two exports in one folder is added once and complete', async () => {
	const archive = temporaryFolder();
	const chat = (id: string, words: string) =>
		JSON.stringify({ ...chatOf(id, '2025-12-03T20:00:00.000Z'), summary: words });
	const exported = (words: string) =>
		Array.from({ length: 20 }, (_, n) => [
			{
				name: `${folder}/2025-12-03_12h00m00s_${n}.md`,
				content: `# ${words}\n\n${said(1, n * second, n * 2000 + 5000, 'Yes.')}\n`,
			},
			{ name: `chats/2025/12/03/${n}.json`, content: chat(`c${n}`, words) },
		]).flat();
	const within = (top: string, files: ZipFile[]) =>
		files.map((file) => ({ ...file, name: `${top}/${file.name}` }));
	const root = unpacked([
		...within('november', exported('long '.repeat(40_000))),
		...within('december', exported('short')),
	]);
	const { added, known } = await importExport(root, archive);
	expect(await findingsIn(archive)).toEqual([]);
	expect(added).toEqual({ lifelogs: 20, chats: 20, audio: 0 });
	expect(known).toEqual(added);
	const before = filesOf(archive);
	await importExport(root, archive);
	expect(filesOf(archive)).toEqual(before);
});

test('a chat whose times have no offset is added once, whatever the time zone of the machine', () => {
	const chat = chatOf('q', '2025-12-03T20:00:00.000Z');
	const local = { ...chat, createdAt: '2025-12-03T20:00:00', startedAt: '2025-12-03 20:00:00' };
	const archive = temporaryFolder();
	const root = unpacked([{ name: 'chats/q.json', content: JSON.stringify(local) }]);
	for (const TZ of ['America/New_York', 'Asia/Tokyo']) spawned({ TZ }, root, archive);
	expect(namesOf(archive)).toEqual(['chats/2025/12/03/2025-12-03_20h00m00s_q.json']);
});

test('an interrupted import is completed by the next one', async () => {
	const archive = temporaryFolder();
	const zip = zipped(conversation);
	await importExport(zip, archive);
	const before = filesOf(archive);
	const day = Object.keys(before).find((path) => path.startsWith('days/2025-12-03'))!;
	rmSync(join(archive, day));
	appendFileSync(join(archive, namesOf(archive)[0]), 'half written');
	expect((await importExport(zip, archive)).added.lifelogs).toBe(1);
	expect(await findingsIn(archive)).toEqual([]);
	expect(namesOf(archive)).toEqual(Object.keys(before).filter((path) => !path.startsWith('days/')));
});

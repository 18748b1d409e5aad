// Fields that a later version wrote: every writer keeps those that it doesn't know.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Lifelog } from '../../../lifelog/api.ts';
import { writeLifelog } from '../../../lifelog/files/formats.ts';
import { appExportPath } from '../../../lifelog/names.ts';
import type { ArchiveStore } from '../../../server/index/archiveStore.mts';
import { contentsOf } from '../../support/archiveCommand.mts';
import { openStore } from '../../support/archiveStore.mts';
import { checkHere, Commands } from '../../support/commands.mts';
import { runFullArchive } from '../../support/fullArchive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { changeDay, type DayManifest, newestManifests } from '../../support/manifests.mts';
import { type TestSandbox, startSandbox } from '../../support/sandbox.mts';
import { makeTones } from '../../support/tones.mts';
import { temporaryFolder } from '../sources.mts';

const DAY_MS = 86_400_000;
const day = new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10);
const later = { laterText: 'kept', laterList: [{ deep: null }], constructor: 'also a name' };

/** A line that is corrected here, of words that the service may have again. */
const corrected = {
	...{ startOffsetMs: 0, was: 'Recorded.', text: 'Corrected twice.', speaker: 'Berta' },
	...{
		typed: 'Typed once.',
		replaced: [{ id: 'r1', heard: 'Typed once', right: 'Corrected twice' }],
	},
	...later,
};

let sandbox: TestSandbox;
let commands: Commands;
let folder: string;
let edited: Lifelog;
let other: Lifelog;
let chatId: string;

const addLifelog = async (hour: string) =>
	await sandbox.control.addLifelog({
		...{ title: `At ${hour}`, startTime: `${day}T${hour}:00:00.000Z` },
		endTime: `${day}T${hour}:10:00.000Z`,
	});

/** Adds fields to an object; as JSON has them, in which any name is one. */
const withLater = <Value extends object>(value: Value): Value => ({ ...value, ...later });
const mapValues = <Value extends object>(values: Record<string, Value>) =>
	Object.fromEntries(Object.entries(values).map(([id, value]) => [id, withLater(value)]));

beforeAll(async () => {
	sandbox = await startSandbox({ days: 1 });
	commands = new Commands(sandbox);
});
afterAll(async () => {
	await commands.close();
	await sandbox.close();
});
beforeEach(async () => {
	await sandbox.control.reset({ empty: true, dialect: { rateLimit: { max: 1_000_000 } } });
	folder = join(temporaryFolder(), 'archive');
	mkdirSync(join(folder, 'days'), { recursive: true });
	[edited, other] = [await addLifelog('08'), await addLifelog('09')];
	chatId = (await sandbox.control.addChat({ createdAt: `${day}T12:00:00.000Z`, owner: 'self' })).id;
	expect(await commands.archive(folder)).toMatchObject({ status: 0 });
	changeDay(folder, day, (file) => {
		const edit = withLater({ title: 'Edited', lines: [corrected], at: new Date().toISOString() });
		const lifelogs = mapValues(file.lifelogs);
		return withLater({
			...{ ...file, chats: mapValues(file.chats) },
			lifelogs: { ...lifelogs, [edited.id]: { ...lifelogs[edited.id], edited: edit } },
		});
	});
});

const manifest = (): DayManifest => newestManifests(folder).get(day)!;

async function byServer(
	change: (store: ArchiveStore) => Promise<unknown>,
	onProblem?: (path: string) => void,
): Promise<void> {
	const { store, close } = await openStore(folder, join(temporaryFolder(), 'index'), {
		onProblem,
	});
	try {
		await store.refresh();
		await change(store);
	} finally {
		close();
	}
}

/** What the service says changes, so that the day is written anew. */
async function changeService(): Promise<void> {
	for (const { id } of [edited, other]) {
		await sandbox.control.updateLifelog(id, { title: 'Of the service', isStarred: true });
	}
	const message = { role: 'user' as const, text: 'More', createdAt: `${day}T12:30:00.000Z` };
	const [chat] = await sandbox.control.chats();
	await sandbox.control.updateChat(chatId, {
		messages: [...chat.messages, { ...chat.messages[0], ...message }],
	});
}

/** Imports a lifelog of the day. */
async function importing() {
	const from = temporaryFolder();
	const lifelog = lifelogOf('new', `${day}T16:00:00.000Z`);
	const { content, startMs } = writeLifelog(lifelog, 'appExport', 'UTC')!;
	const path = join(from, `${appExportPath(startMs, 'New')}.md`);
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, content);
	return await commands.import(from, folder);
}

async function recordOne(store: ArchiveStore): Promise<void> {
	const path = join(temporaryFolder(), 'recording.opus');
	await makeTones(path, { seconds: 2 });
	const startTime = `${day}T18:00:00.000Z`;
	const lifelogs = [lifelogOf('recorded', startTime)];
	await store.addRecording({ path, startMs: Date.parse(startTime) }, lifelogs, undefined);
}

test.each<[string, () => Promise<void>]>([
	['an edit', () => byServer((store) => store.changeLifelog(edited.id, { title: 'Again' }))],
	[
		'a new text of a lifelog',
		() =>
			byServer((store) =>
				store.rewriteLifelog(edited.id, (stored) => ({ ...stored, title: 'New' }), {
					replacesTitle: false,
				}),
			),
	],
	[
		'a title that replaces an edited one',
		() =>
			byServer((store) =>
				store.rewriteLifelog(edited.id, (stored) => stored, { replacesTitle: true }),
			),
	],
	['a delete of another lifelog', () => byServer((store) => store.deleteLifelog(other.id))],
	[
		'a new lifelog',
		() =>
			byServer((store) =>
				store.createLifelog(lifelogOf('made', `${day}T20:00:00.000Z`), { source: 'api' }),
			),
	],
	['a recording', () => byServer(recordOne)],
	['an import', async () => expect((await importing()).output).toContain('Imported: 1 lifelog,')],
	[
		'archive',
		async () => {
			await changeService();
			expect(await commands.archive(folder)).toMatchObject({ status: 0 });
		},
	],
	[
		'Full archive',
		async () => {
			await changeService();
			await runFullArchive(folder, sandbox);
		},
	],
])('%s keeps the fields of a later version', async (_name, write) => {
	const { archivedAt } = manifest();
	await write();
	const now = manifest();
	expect(now.archivedAt > archivedAt).toBe(true);
	expect(now).toMatchObject(later);
	expect(now.lifelogs[edited.id]).toMatchObject({ ...later, edited: later });
	expect(now.lifelogs[edited.id].edited!.lines).toEqual([corrected]);
	expect(now.chats[chatId]).toMatchObject(later);
	expect((await checkHere(folder)).findings).toEqual([]);
});

describe('a delete', () => {
	test('removes the fields of a later version from the lifelog, because they may have words of it', async () => {
		await byServer((store) => store.deleteLifelog(edited.id));
		expect(JSON.stringify(manifest().lifelogs[edited.id])).not.toMatch(/later|kept/);
		expect(JSON.stringify(manifest())).not.toMatch(/Recorded|Corrected|Typed/);
	});

	test.each<[string, () => Promise<unknown>]>([
		['archive', () => commands.archive(folder)],
		['Full archive', () => runFullArchive(folder, sandbox)],
	])('and %s keeps the fields that a later version gave the tombstone', async (_name, write) => {
		await byServer((store) => store.deleteLifelog(edited.id));
		changeDay(folder, day, (file) => ({ ...file, lifelogs: mapValues(file.lifelogs) }));
		await changeService();
		await write();
		const entry = manifest().lifelogs[edited.id];
		expect(entry).toMatchObject({ ...later, deletedAt: expect.any(String), isStarred: true });
	});
});

describe('a day that a later version has written', () => {
	const make = (): string => {
		const [name] = readdirSync(join(folder, 'days')).filter((each) => each.startsWith(day));
		const path = join(folder, 'days', name);
		writeFileSync(path, readFileSync(path, 'utf8').replace('"version": 1', '"version": 2'));
		return path;
	};

	test.each<[string, () => Promise<unknown>, string]>([
		[
			'a delete',
			() =>
				byServer(
					(store) => store.deleteLifelog(edited.id),
					() => {},
				),
			'',
		],
		[
			'an edit',
			() =>
				byServer(
					(store) => store.changeLifelog(edited.id, { title: 'Again' }),
					() => {},
				),
			'',
		],
		[
			'a new lifelog',
			() =>
				byServer(
					async (store) => {
						const made = lifelogOf('made', `${day}T20:00:00.000Z`);
						const created = store.createLifelog(made, { source: 'api' });
						await expect(created).rejects.toMatchObject({ statusCode: 409 });
					},
					() => {},
				),
			'',
		],
		[
			'an import',
			async () => (await importing()).output,
			`belongs to ${day}, whose day manifest can't be read`,
		],
		[
			'archive',
			async () => {
				await changeService();
				return JSON.stringify(await commands.archive(folder));
			},
			'it is left as it is, because one of its files in days/ was written by a later version',
		],
		[
			'Full archive',
			async () => {
				await changeService();
				return await runFullArchive(folder, sandbox).catch(String);
			},
			`${day} was written by a later version of lifelog-server, and is left as it is`,
		],
	])('is left as it is by %s', async (_name, write, message) => {
		const path = make();
		const before = contentsOf(folder);
		expect(String(await write())).toContain(message);
		expect(readFileSync(path, 'utf8')).toContain('"version": 2');
		expect(contentsOf(folder)).toEqual(before);
	});
});

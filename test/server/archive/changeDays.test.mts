// The one writer of an archive, by itself.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addTo, draftLifelog } from '../../../server/archive/additions.mts';
import { changeDays, type Day, LostDraftError } from '../../../server/archive/changeDays.mts';
import { clearDrafts, Drafts, withDrafts } from '../../../server/archive/drafts.mts';
import { Folder } from '../../../server/archive/folder.mts';
import { nameOfDay } from '../../../server/archive/layout.mts';
import { ImportedDay, saveDays } from '../../../server/import/importedDay.mts';
import { contentsOf } from '../../support/archiveCommand.mts';
import { writeArchive } from '../../support/archive.mts';
import { openStore } from '../../support/archiveStore.mts';
import { findingsIn } from '../../support/findings.mts';
import { lifelogOf } from '../../support/invented.mts';
import { newestManifests } from '../../support/manifests.mts';
import { temporaryFolder } from '../sources.mts';

const [DAY, NEXT_DAY] = ['2026-03-01', '2026-03-02'];
let folder: Folder;

beforeEach(async () => {
	const root = join(temporaryFolder(), 'archive');
	mkdirSync(join(root, 'days'), { recursive: true });
	folder = await Folder.open(root);
	await writeArchive(root, {
		lifelogs: [lifelogOf('a', `${DAY}T08:00:00Z`), lifelogOf('b', `${NEXT_DAY}T08:00:00Z`)],
	});
});

const manifests = () => readdirSync(join(folder.root, 'days')).sort();
const idsOf = (day: string) => Object.keys(newestManifests(folder.root).get(day)!.lifelogs);
const inEvery = (days: Map<string, Day>) =>
	[...days.values()].map((day) => ({ ...day.newest!, archivedAt: day.archivedAt }));

/** Adds a lifelog as another program does. */
const addOne = async (id: string, startTime: string) =>
	await withDrafts(folder.root, async (drafts) => {
		const lifelogs = [await draftLifelog(drafts, lifelogOf(id, startTime), 'UTC')];
		const day = startTime.slice(0, 10);
		await changeDays(folder, [day], (days) => addTo(days.get(day)!, { lifelogs }));
	});

test('a change of several days is done as a whole, or not at all', async () => {
	const before = contentsOf(folder.root);
	const lost = changeDays(folder, [DAY, NEXT_DAY], (days) => ({
		manifests: inEvery(days).map((file) => ({ ...file, isComplete: false })),
		files: [{ draft: '.lifelog-drafts/lost', path: 'lifelogs/lost.json' }],
	}));
	await expect(lost).rejects.toThrow(LostDraftError);
	await clearDrafts(folder.root);
	expect(contentsOf(folder.root)).toEqual(before);
	await changeDays(folder, [DAY, NEXT_DAY], (days) => ({ manifests: inEvery(days) }));
	expect(await findingsIn(folder.root)).toEqual([]);
});

test('a manifest that no reader would accept is refused', async () => {
	const before = contentsOf(folder.root);
	const invalid = changeDays(folder, [DAY], (days) => ({
		manifests: inEvery(days).map((file) => ({ ...file, archivedAt: 'soon' })),
	}));
	await expect(invalid).rejects.toThrow(`The day manifest of ${DAY} would be invalid`);
	await clearDrafts(folder.root);
	expect(contentsOf(folder.root)).toEqual(before);
});

test('of older manifests go those of a day that was not over, and those that name what is deleted', async () => {
	const [whole] = manifests().filter((name) => name.startsWith(DAY));
	const put = async (archivedAt: string, updatedAt: string) => {
		const [newest] = [...newestManifests(folder.root).values()].filter(({ day }) => day === DAY);
		const { a } = newest.lifelogs;
		const file = { ...newest, lifelogs: { a: { ...a, updatedAt } }, archivedAt };
		const content = JSON.stringify(file);
		// Beside the others, as a version before has left it.
		await changeDays(folder, [], () => ({
			files: [{ path: `days/${nameOfDay(file)}`, content }],
		}));
		return nameOfDay(file);
	};
	const early = await put(`${DAY}T12:00:00.000Z`, `${DAY}T09:00:00.000Z`);
	await addOne('c', `${DAY}T10:00:00Z`);
	expect(manifests()).not.toContain(early);
	expect(manifests()).toContain(whole);
	const older = await put('2026-03-03T00:00:00.000Z', `${DAY}T09:30:00.000Z`);
	const { store, close } = await openStore(folder.root, join(temporaryFolder(), 'index'));
	await store.deleteLifelog('c');
	expect(manifests()).toContain(older);
	await store.deleteLifelog('a');
	expect(manifests().filter((name) => name.startsWith(DAY))).toHaveLength(1);
	close();
	expect(await findingsIn(folder.root)).toEqual([]);
});

test('drafts of a process that lives are neither cleared nor reported', async () => {
	const drafts = await Drafts.open(folder.root);
	const { draft } = await drafts.write('text');
	await clearDrafts(folder.root);
	expect(readFileSync(join(folder.root, draft), 'utf8')).toBe('text');
	expect(await findingsIn(folder.root)).toEqual([]);
	await drafts.close();
	expect(existsSync(join(folder.root, draft))).toBe(false);
	await clearDrafts(folder.root);
	expect(existsSync(join(folder.root, '.lifelog-drafts'))).toBe(false);
});

test('drafts without a process are reported and cleared', async () => {
	const left = join('.lifelog-drafts', 'of-nobody');
	mkdirSync(join(folder.root, left), { recursive: true });
	await changeDays(folder, [], () => ({
		files: [{ path: '.lifelog-drafts/of-nobody/text', content: 'text' }],
	}));
	expect(await findingsIn(folder.root)).toMatchObject([
		{ kind: 'left over', path: '.lifelog-drafts/of-nobody/text' },
	]);
	await clearDrafts(folder.root);
	expect(await findingsIn(folder.root)).toEqual([]);
});

test('an import keeps what was added to a day since it was opened, and adds nothing twice', async () => {
	await withDrafts(folder.root, async (drafts) => {
		const day = await ImportedDay.open(folder, drafts, DAY, 'UTC');
		for (const [id, hour] of [
			['new', 12],
			['same-id', 14],
			['same-time', 16],
		] as const) {
			expect(await day.addLifelog(lifelogOf(id, `${DAY}T${hour}:00:00Z`))).toBe(true);
		}
		await addOne('same-id', `${DAY}T14:00:00Z`);
		await addOne('other', `${DAY}T16:00:00Z`);
		await addOne('later', `${DAY}T20:00:00Z`);
		expect(await saveDays(folder, [day])).toEqual([DAY]);
	});
	expect(idsOf(DAY).sort()).toEqual(['a', 'later', 'new', 'other', 'same-id']);
	expect(await findingsIn(folder.root)).toEqual([]);
});

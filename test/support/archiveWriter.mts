// Changes an archive without an end, as a lifelog-server does, until it is killed: what, the folder, an
// index of its own, the first number, and a recording. Writes a line for each change that is done.
import { openStore } from './archiveStore.mts';
import { lifelogOf } from './invented.mts';
import { clearDrafts } from '../../server/archive/drafts.mts';

const [what, folder, index, first, recording] = process.argv.slice(2);
/** The next one is tried after one that failed for the reason that a test has chosen. */
const { TEST_FAULT: fault } = process.env;
const ofFault = (error: unknown): string => {
	if (fault !== undefined && String(error).includes(fault)) return 'failed';
	throw error;
};

const { store } = await openStore(folder, index);
await clearDrafts(folder).catch(ofFault);
await store.refresh();

const EDITED = 12;
const startOf = (n: number) => Date.UTC(2026, 2, 1 + (n % 3), 0, 0, (n * 7) % 80_000);
const invent = (id: string, n: number) => lifelogOf(id, new Date(startOf(n)).toISOString());
const create = async (id: string, n: number) =>
	await store.createLifelog(invent(id, n), { source: 'api' });

/** Six lifelogs on three days, with words that are replaced and taken back. */
const createReplaced = async () => {
	for (let n = 0; n < 6; n += 1) {
		const said = { type: 'blockquote', content: 'Word.', startOffsetMs: 0, endOffsetMs: 900 };
		const lifelog = { ...invent(`replaced${n}`, n), contents: [said] };
		await store.createLifelog(lifelog, { source: 'api' });
	}
};

const changes: Record<string, (n: number) => Promise<string>> = {
	edit: async (n) => {
		const id = `edited${n % EDITED}`;
		await create(id, n % EDITED);
		await store.changeLifelog(id, { title: `Title ${n}` });
		return `edited ${id} ${n}`;
	},
	delete: async (n) => {
		await create(`deleted${n}`, n);
		await store.deleteLifelog(`deleted${n}`);
		return `deleted deleted${n}`;
	},
	rename: async (n) => {
		await create('renamed', 0);
		await store.changePeople({ person: 'Anna', name: `Anna ${n}` });
		return `renamed Anna ${n}`;
	},
	replace: async (n) => {
		await createReplaced();
		for (const { id } of store.replacements.list()) await store.replacements.takeBack(id);
		const { id } = await store.replacements.make({ heard: 'word', right: `Words ${n}` });
		return `replaced ${id}`;
	},
	create: async (n) => {
		await create(`made${n}`, n);
		return `made made${n}`;
	},
	record: async (n) => {
		const audio = { path: recording, startMs: startOf(n) };
		await store.addRecording(audio, [invent(`recorded${n}`, n)], undefined);
		return `made recorded${n}`;
	},
};

for (let n = Number(first); ; n += 1) {
	process.stdout.write(`${await changes[what](n).catch(ofFault)}\n`);
}

// An archive as lifelog-server opens it, so that tests change it by the server's own code.
import { Folder } from '../../server/archive/folder.mts';
import { ArchiveStore } from '../../server/index/archiveStore.mts';
import { openIndex } from '../../server/index/database.mts';
import { Rows } from '../../server/index/rows.mts';

/** Opens an archive that may be changed; `index` is a file outside of it. */
export async function openStore(
	folder: string,
	index: string,
	onProblem = (path: string, reason: string): void => {
		throw new Error(`${path} ${reason}`);
	},
): Promise<{ store: ArchiveStore; close: () => void }> {
	const db = openIndex(index);
	const options = { allowDelete: true, allowChanges: true, onProblem };
	const store = new ArchiveStore(await Folder.open(folder), new Rows(db), options);
	return { store, close: () => db.close() };
}

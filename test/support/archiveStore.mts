// An archive as lifelog-server opens it, so that tests change it by the server's own code.
import { Folder } from '../../server/archive/folder.mts';
import { ArchiveStore } from '../../server/index/archiveStore.mts';
import { openIndex } from '../../server/index/database.mts';
import { Rows } from '../../server/index/rows.mts';

/**
 * Opens an archive, which may be changed unless `options` say otherwise; `index` is a file outside of
 * it. A file that can't be read is an error, without `onProblem`.
 */
export async function openStore(
	folder: string,
	index: string,
	options: Partial<ConstructorParameters<typeof ArchiveStore>[2]> = {},
): Promise<{ store: ArchiveStore; close: () => void }> {
	const db = openIndex(index);
	const store = new ArchiveStore(await Folder.open(folder), new Rows(db), {
		...{ allowDelete: true, allowChanges: true },
		onProblem: (path, reason) => {
			throw new Error(`${path} ${reason}`);
		},
		...options,
	});
	return { store, close: () => db.close() };
}

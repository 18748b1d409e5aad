// Exports the lifelogs of an archive to another folder, for people and other programs.
import { hasChanged } from '../archive/contents.mts';
import type { Folder } from '../archive/folder.mts';
import { exportZip } from './appExport.mts';
import type { ExportFolder } from './exportFolder.mts';
import { NotesExport, type NotesOptions } from './notes.mts';
import type { Exported, OnProgress, Told } from './report.mts';
import { Source } from './source.mts';

export interface ExportOptions extends NotesOptions {
	/** Markdown files, or one zip like the app's export. */
	form: 'markdown' | 'app-export';
}

/** A server may change files of the archive after its manifests were read. */
const MAX_ATTEMPTS = 3;

/**
 * Exports an archive. Unchanged files stay.
 *
 * @throws CannotStart if the archive's people.json is unreadable, and errors of the folder's disk.
 */
export async function exportArchive(
	archive: Folder,
	to: ExportFolder,
	options: ExportOptions,
	onProgress: OnProgress,
): Promise<Exported> {
	const all = { written: 0, removed: 0 };
	for (let attempt = 1; ; attempt += 1) {
		const source = await Source.read(archive);
		const done: Exported = {
			...{ lifelogs: source.contents.lifelogs.length, written: 0, removed: 0 },
			...{ kept: [], failed: [] },
		};
		if (options.form === 'app-export') await exportZip(source, to, done, onProgress);
		else await new NotesExport(source, to, options, done).run(onProgress);
		all.written += done.written;
		all.removed += done.removed;
		const isLast = attempt === MAX_ATTEMPTS || done.failed.length === 0;
		if (isLast || !(await hasChanged(archive, source.contents))) {
			const [kept, failed] = [done.kept, done.failed].map(inOrder);
			return { ...done, ...all, kept, failed };
		}
	}
}

const inOrder = (files: Told[]) =>
	files.sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));

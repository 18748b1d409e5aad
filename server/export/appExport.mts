// Exports all lifelogs as a zip like the app's export, which tools such as Omi can read.
import { titleOf } from '../../lifelog/contents.ts';
import { writeLifelog } from '../../lifelog/files/formats.ts';
import { appExportPath, freeName } from '../../lifelog/names.ts';
import { FileError } from '../archive/folder.mts';
import { type ZippedFile, zipOf } from '../util/zip.mts';
import { CHANGED, type ExportFolder, OTHER } from './exportFolder.mts';
import type { Exported, OnProgress } from './report.mts';
import { hashOf, pathOf, type Source } from './source.mts';

/** Path in the folder. */
const PATH = 'app-export.zip';
const ZONE = 'UTC';

/** Writes the zip, unless it is up to date. @param done Results are added to it. */
export async function exportZip(
	source: Source,
	to: ExportFolder,
	done: Exported,
	onProgress: OnProgress,
): Promise<void> {
	const { lifelogs, unread } = source.contents;
	done.failed.push(...unread);
	const key = hashOf(lifelogs.map((each) => [each.id, source.keyOf(each)]));
	const found = await to.look(PATH);
	if (found === 'changed') return void done.kept.push({ path: PATH, problem: CHANGED });
	if (found === 'foreign') return void done.failed.push({ path: PATH, problem: OTHER });
	if (found === 'unchanged' && to.state.files.get(PATH)?.key === key) return;
	const before = done.failed.length;
	const draft = await to.write(zipOf(filesOf(source, done, onProgress)));
	// Create an incomplete one again next time.
	const made = { id: '', ...(done.failed.length === before && { key }) };
	await to.put([{ path: PATH, draft, made, before: [] }], done);
}

async function* filesOf(
	source: Source,
	done: Exported,
	onProgress: OnProgress,
): AsyncGenerator<ZippedFile> {
	const { lifelogs } = source.contents;
	const names = new Map<string, string>();
	onProgress(0, lifelogs.length);
	for (const [at, each] of lifelogs.entries()) {
		try {
			const lifelog = await source.lifelogOf(each);
			const { content, startMs } = writeLifelog(lifelog, 'appExport', ZONE)!;
			const title = titleOf(lifelog);
			const name = freeName(names, each.id, (nth) => appExportPath(startMs, title, nth));
			yield { path: `${name}.md`, content, changedMs: Date.parse(lifelog.updatedAt) };
		} catch (error) {
			if (!(error instanceof FileError)) throw error;
			done.failed.push({ path: pathOf(each), problem: error.message });
		}
		onProgress(at + 1, lifelogs.length);
	}
}

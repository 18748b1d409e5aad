import { lstat, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { listFolder } from './exportFolder.mts';
import { openZip } from './exportZip.mts';
import { ExportError, type Export } from './export.mts';
import { asError } from '../util/errors.mts';

/** Opens an export. Rejects with an ExportError that says what to provide instead. */
export async function openExport(path: string): Promise<Export> {
	const real = await realpath(path).catch(() => {
		throw new ExportError(`There is no ${path}: give the zip of the export, or its folder`);
	});
	if ((await lstat(real)).isDirectory()) return listFolder(real);
	return openZip(real).catch((error: unknown) => {
		const reason = asError(error).message.replace(/\.$/, '');
		throw new ExportError(
			`${basename(path)} isn't a complete zip: ${reason}. Download the export again, from the service's app`,
		);
	});
}

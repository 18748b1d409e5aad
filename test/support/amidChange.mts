import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Whether a change of an archive has begun that isn't done, by the files in its folder. */
export function isAmidChange(folder: string): boolean {
	if (existsSync(join(folder, '.lifelog-journal.json'))) return true;
	try {
		const drafts = join(folder, '.lifelog-drafts');
		return readdirSync(drafts, { recursive: true, withFileTypes: true }).some(
			(entry) => entry.isFile() && !entry.name.startsWith('.'),
		);
	} catch {
		return false;
	}
}

import { checkArchive } from '../../server/check/check.mts';
import type { Finding } from '../../server/check/findings.mts';

/** What check finds in an archive whose days have long been complete. */
export async function findingsIn(folder: string): Promise<Finding[]> {
	const found: Finding[] = [];
	const progress = { days: () => {}, read: () => {}, wait: () => {} };
	await checkArchive({ folder, until: '2026-01-01' }, (each) => found.push(each), progress);
	return found;
}

import { checkDay } from './checkDay.mts';
import { checkDrafts } from './drafts.mts';
import { addDay, compare, type Holdings } from './compare.mts';
import { listDays, readDay } from './dayManifest.mts';
import { type Finding, type Kind, KINDS, type Report } from './findings.mts';
import { type Folder, openFolder } from './folder.mts';
import { daysBetween } from './gaps.mts';
import { checkOwnFiles } from './ownFiles.mts';
import type { Access, Watch } from './service.mts';

export interface Options {
	folder: string;
	/** Service to compare with; without it, only the folder is checked. */
	access?: Access;
	/** Last day to compare, `YYYY-MM-DD` in UTC. */
	until: string;
}

/** Result of a check. */
export interface Summary {
	/** Days with a readable manifest. */
	days: number;
	firstDay?: string;
	lastDay?: string;
	/** Days in between without one: never archived, or nothing was imported. */
	daysWithoutFile: string[];
	lifelogs: number;
	chats: number;
	audioFiles: number;
	/** Files with the right checksum, and their bytes. */
	rightFiles: number;
	rightBytes: number;
	/** Number of entries at the service; missing if it wasn't asked. */
	atService?: number;
	/** How many findings of each kind. */
	counts: Record<Kind, number>;
	/** Whether there are no findings. */
	isComplete: boolean;
}

/** Receives the progress. */
export interface Progress extends Watch {
	/** Called before the first day, and after each. */
	days: (done: number, total: number, bytes: number) => void;
}

/**
 * Checks an archive against docs/reference/archive.md.
 *
 * @param report Called with each finding immediately.
 * @throws CannotCheck if there is no archive, or the service is unusable.
 */
export async function checkArchive(
	{ folder: root, access, until }: Options,
	report: Report,
	progress: Progress,
): Promise<Summary> {
	const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Summary['counts'];
	const found = (finding: Finding) => {
		counts[finding.kind]++;
		report(finding);
	};
	const folder = await openFolder(root);
	const days = await listDays(folder, found);
	const holdings: Holdings = { lifelogs: new Map(), chats: new Map(), deleted: new Set() };
	const good: string[] = [];
	const entries = { lifelogs: 0, chats: 0, audioFiles: 0, rightFiles: 0, rightBytes: 0 };
	let done = 0;
	progress.days(0, days.size, 0);
	for (const [name, files] of days) {
		const day = await readDay(folder, name, files, found);
		if (day) {
			good.push(name);
			entries.lifelogs += countOf(day.lifelogs);
			entries.chats += countOf(day.chats);
			entries.audioFiles += day.audio.length;
			const right = await checkDay(folder, day, found);
			entries.rightFiles += right.files;
			entries.rightBytes += right.bytes;
			if (access) addDay(holdings, day);
		}
		progress.days(++done, days.size, entries.rightBytes);
	}
	await checkOutside(folder, new Set(good), found);
	await checkOwnFiles(folder, found);
	await checkDrafts(folder, found);
	const atService = access && (await compare(holdings, access, until, found, progress));
	return {
		...{ days: good.length, firstDay: good[0], lastDay: good.at(-1) },
		...{ daysWithoutFile: daysBetween(good), ...entries },
		...(atService !== undefined && { atService }),
		...{ counts, isComplete: Object.values(counts).every((count) => count === 0) },
	};
}

/** Number of entries that weren't deleted from the archive. */
const countOf = (entries: Record<string, { deletedAt?: string }>) =>
	Object.values(entries).filter(({ deletedAt }) => deletedAt === undefined).length;

/** Path of a file in a day's folder. */
const IN_DAY = /^(?:lifelogs|chats|audio\/[^/]+)\/(\d{4})\/(\d\d)\/(\d\d)\//;

/** Reports files outside the folders of finished days. */
async function checkOutside(folder: Folder, days: Set<string>, found: Report): Promise<void> {
	const unfinished = new Map<string, number>();
	for (const collection of ['lifelogs', 'chats', 'audio']) {
		for await (const path of folder.files(collection)) {
			const day = IN_DAY.exec(path)?.slice(1).join('-');
			if (day === undefined) {
				found({ kind: 'left over', path, message: "isn't in the folder of a day" });
			} else if (!days.has(day)) {
				unfinished.set(day, (unfinished.get(day) ?? 0) + 1);
				found({ kind: 'left over', day, path, message: "isn't named by a day manifest" });
			}
		}
	}
	for (const [day, files] of unfinished) {
		const message = `isn't finished: it has no valid day manifest, but its folders have ${files === 1 ? '1 file' : `${files} files`}`;
		found({ kind: 'incomplete', day, message });
	}
}

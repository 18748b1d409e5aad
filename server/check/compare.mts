// Compares an archive with a service.
import type { Day } from './dayManifest.mts';
import type { Report } from './findings.mts';
import { type Access, listChats, listLifelogs, type Watch } from './service.mts';

/** A lifelog of the archive that isn't gone. If an ID occurs twice, the newest. */
interface KnownLifelog {
	day: string;
	/** As in its manifest, in UTC with milliseconds. It may be an invalid date. */
	updatedAt: string;
	isStarred: boolean;
	listed?: string;
}

/** The entries of an archive, without files. */
export interface Holdings {
	lifelogs: Map<string, KnownLifelog>;
	chats: Map<string, { day: string; messages: number }>;
	/** IDs deleted from the archive. The service may have them or not. */
	deleted: Set<string>;
}

/** Adds a day's entries. */
export function addDay({ lifelogs, chats, deleted }: Holdings, day: Day): void {
	for (const [id, { deletedAt }] of [
		...Object.entries(day.lifelogs),
		...Object.entries(day.chats),
	]) {
		if (deletedAt !== undefined) deleted.add(id);
	}
	for (const [id, { updatedAt, isStarred, listed, goneAt }] of Object.entries(day.lifelogs)) {
		const known = { day: day.day, updatedAt, isStarred, listed };
		const other = lifelogs.get(id);
		const isNewest = other === undefined || other.updatedAt <= known.updatedAt;
		if (goneAt === undefined && isNewest) lifelogs.set(id, known);
	}
	for (const [id, { messages, goneAt }] of Object.entries(day.chats)) {
		if (goneAt === undefined) chats.set(id, { day: day.day, messages });
	}
}

/**
 * Reports what is new, changed or gone at the service.
 *
 * @param holdings Emptied by this.
 * @param until Last day to compare, `YYYY-MM-DD`.
 * @returns The number of entries at the service on these days.
 */
export async function compare(
	holdings: Holdings,
	access: Access,
	until: string,
	report: Report,
	watch: Watch,
): Promise<number> {
	const { lifelogs, chats, deleted } = holdings;
	let count = 0;
	for await (const { id, day, updatedAt, isStarred, listed } of listLifelogs(access, watch)) {
		const known = lifelogs.get(id);
		const now = new Date(updatedAt).toISOString();
		lifelogs.delete(id);
		if (day > until) continue;
		count++;
		if (deleted.has(id)) continue;
		if (known === undefined) {
			report({ kind: 'new', day, id, message: 'is a lifelog that the archive does not have' });
		} else if (known.day !== day) {
			report({ kind: 'changed', day, id, message: `began on ${known.day} when it was archived` });
		} else if (known.updatedAt !== now) {
			const message = `was updated at ${now}, in the archive ${known.updatedAt}`;
			report({ kind: 'changed', day, id, message });
		} else if (known.isStarred !== isStarred) {
			report({ kind: 'changed', day, id, message: `was ${isStarred ? '' : 'un'}starred` });
		} else if (known.listed !== undefined && known.listed !== listed) {
			report({ kind: 'changed', day, id, message: 'has another title or end' });
		}
	}
	for await (const { id, day, messages } of listChats(access, watch)) {
		const known = chats.get(id);
		chats.delete(id);
		if (day > until) continue;
		count++;
		if (deleted.has(id)) continue;
		if (known === undefined) {
			report({ kind: 'new', day, id, message: 'is a chat that the archive does not have' });
		} else if (known.messages !== messages || known.day !== day) {
			const message = `has ${messages} messages, in the archive ${known.messages}`;
			report({ kind: 'changed', day, id, message });
		}
	}
	for (const [id, { day }] of [...lifelogs, ...chats]) {
		if (day > until || deleted.has(id)) continue;
		const message = "was removed from the service, but isn't marked as removed in the archive";
		report({ kind: 'gone', day, id, message });
	}
	lifelogs.clear();
	chats.clear();
	return count;
}

import { createHash } from 'node:crypto';

/** What the version of a day is made of. */
export interface Versioned {
	lifelogs: Record<string, { updatedAt: string; isStarred: boolean; goneAt?: string }>;
	chats: Record<string, { messages: number; goneAt?: string }>;
	isComplete: boolean;
}

/** The version of a day, as it stands in the name of its file (docs/reference/archive.md). */
export function versionOf({ lifelogs, chats, isComplete }: Versioned): string {
	const lines = [
		...there(lifelogs).map(([id, each]) => `lifelog ${id} ${each.updatedAt} ${each.isStarred}`),
		...there(chats).map(([id, { messages }]) => `chat ${id} ${messages}`),
		...(isComplete ? [] : ['incomplete']),
	];
	return createHash('sha256').update(lines.sort().join('\n')).digest('hex').slice(0, 16);
}

const there = <Entry extends { goneAt?: string }>(entries: Record<string, Entry>) =>
	Object.entries(entries).filter(([, { goneAt }]) => goneAt === undefined);

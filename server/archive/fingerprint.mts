import { createHash } from 'node:crypto';

/** The parts of a day that its fingerprint covers. */
export interface Fingerprinted {
	lifelogs: Record<string, { updatedAt: string; isStarred: boolean; goneAt?: string }>;
	chats: Record<string, { messages: number; goneAt?: string }>;
	isComplete: boolean;
}

/** The fingerprint of a day, part of its file name (docs/reference/archive.md). */
export function fingerprintOf({ lifelogs, chats, isComplete }: Fingerprinted): string {
	const lines = [
		...there(lifelogs).map(([id, each]) => `lifelog ${id} ${each.updatedAt} ${each.isStarred}`),
		...there(chats).map(([id, { messages }]) => `chat ${id} ${messages}`),
		...(isComplete ? [] : ['incomplete']),
	];
	return createHash('sha256').update(lines.sort().join('\n')).digest('hex').slice(0, 16);
}

const there = <Entry extends { goneAt?: string }>(entries: Record<string, Entry>) =>
	Object.entries(entries).filter(([, { goneAt }]) => goneAt === undefined);

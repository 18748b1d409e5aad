// Days before today, and what a sandbox is told was recorded on them.
import type { TestSandbox } from './sandbox.mts';

const DAY_MS = 86_400_000;

/** The day so many days ago, in UTC. */
export const dayAgo = (days: number) =>
	new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** Adds a lifelog of some seconds, with its audio. */
export async function addLifelog(
	{ control }: TestSandbox,
	day: string,
	time: string,
	{ seconds = 30, ...more }: { seconds?: number; id?: string } = {},
) {
	const startMs = Date.parse(`${day}T${time}Z`);
	return await control.addLifelog({
		...{ title: `At ${time}`, startTime: new Date(startMs).toISOString() },
		...{ endTime: new Date(startMs + seconds * 1000).toISOString(), ...more },
	});
}

/** Adds two lifelogs with audio, and a chat. */
export async function live(sandbox: TestSandbox, day: string): Promise<void> {
	await addLifelog(sandbox, day, '08:15:00');
	await addLifelog(sandbox, day, '19:00:01');
	await sandbox.control.addChat({ createdAt: `${day}T12:00:00.000Z` });
}

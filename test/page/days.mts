// An archive of invented days, and what the tests of the page look for in it.
import type { Lifelog } from '../../lifelog/api.ts';
import { archiveSandbox, temporaryFolder } from '../server/sources.mts';
import { startLifelogServer, type SpawnedServer } from '../support/lifelogServer.mts';
import { startSandbox } from '../support/sandbox.mts';

export const ZONE = 'Europe/Berlin';
/** One of the days. Its audio is there, too. */
export const DAY = '2026-03-17';
export const DAY_MS = 86_400_000;
/** Of a server that changes lifelogs. */
export const CHANGING = ['--timezone', ZONE, '--allow-changes', '--allow-delete'];

const AUDIO_MS = 2 * 3_600_000;
const inZone = new Intl.DateTimeFormat('sv', { timeZone: ZONE, dateStyle: 'short' });

/** The day of a lifelog. */
export const dayOf = ({ startTime }: Lifelog): string => inZone.format(new Date(startTime));

/** The lifelog of the day with the most in it. */
export const longestOf = (lifelogs: Lifelog[]): Lifelog =>
	lifelogs
		.filter((lifelog) => dayOf(lifelog) === DAY)
		.reduce((one, other) =>
			JSON.stringify(one.contents).length > JSON.stringify(other.contents).length ? one : other,
		);

/** Serves twenty days, the oldest first. */
export async function serveDays(): Promise<{ server: SpawnedServer; lifelogs: Lifelog[] }> {
	const folder = temporaryFolder();
	const sandbox = await startSandbox({ days: 20, now: '2026-03-20T18:00:00Z' });
	const from = Date.parse(`${DAY}T00:00:00Z`) - DAY_MS / 2;
	const starts = Array.from({ length: 18 }, (_, nth) => from + nth * AUDIO_MS);
	await archiveSandbox(
		sandbox,
		folder,
		starts.map((startMs) => [startMs, startMs + AUDIO_MS] as const),
	);
	const lifelogs = await sandbox.control.lifelogs();
	await sandbox.close();
	return { server: await startLifelogServer(folder, CHANGING), lifelogs };
}

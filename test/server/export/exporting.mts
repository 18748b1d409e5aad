// Exports as they are typed, and what they leave in a folder.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { Exported } from '../../../server/export/report.mts';
import { runCommand } from '../../support/archiveCommand.mts';
import { writeArchive } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { line, PeopleClient } from '../people/client.mts';
import { startLifelogServer, temporaryFolder } from '../sources.mts';

export const ZONE = 'Europe/Berlin';
/** The files of the two lifelogs, named in that zone. */
export const FIRST = '2026/2026-03/2026-03-01 09.00 Planning the garden.md';
export const SECOND = '2026/2026-03/2026-03-02 00.30 Call with Anna.md';

/** Makes an archive of two lifelogs, `garden` and `call`, and names a folder that isn't there yet. */
export async function inventArchive(): Promise<{ archive: string; folder: string }> {
	const archive = join(temporaryFolder(), 'archive');
	const contents = (title: string) => [
		{ type: 'heading1', content: title },
		...[line('Anna', 'Tomatoes?'), line('SPEAKER_01', 'Too dark.')],
	];
	const invent = (id: string, startTime: string, title: string) =>
		lifelogOf(id, startTime, { title, contents: contents(title) });
	await writeArchive(archive, {
		lifelogs: [
			invent('garden', '2026-03-01T08:00:00.000Z', 'Planning the garden'),
			invent('call', '2026-03-01T23:30:00.000Z', 'Call with Anna'),
		],
	});
	return { archive, folder: join(temporaryFolder(), 'vault') };
}

/** Serves an archive, and changes it. */
export async function change(
	archive: string,
	work: (client: PeopleClient) => Promise<unknown>,
): Promise<void> {
	const server = await startLifelogServer(archive, ['--allow-changes', '--allow-delete']);
	try {
		await work(new PeopleClient(server));
	} finally {
		await server.close();
	}
}

export const retitle = async (archive: string, title: string, id = 'garden'): Promise<void> =>
	await change(archive, (client) => client.edit(id, { title }));

export const deleteFrom = async (archive: string, id: string): Promise<void> =>
	await change(archive, (client) => client.send(`/v1/lifelogs/${id}`, 'DELETE'));

/** Exports an archive, and reads the report. Fails if it couldn't start. */
export async function exported(
	archive: string,
	folder: string,
	...args: string[]
): Promise<Exported & { status: number | null }> {
	const command = ['export', archive, folder, '--json', '--timezone', ZONE, ...args];
	const { status, stdout, stderr } = await runCommand(command);
	if (stdout === '') throw new Error(stderr);
	return { status, ...(JSON.parse(stdout) as Exported) };
}

/** What an export that found nothing to do says. */
export const nothing = (lifelogs: number) => ({
	...{ status: 0, lifelogs, written: 0, removed: 0, kept: [], failed: [] },
});

/** Every file of a folder but the export's own, by its path. */
export function filesIn(folder: string): Record<string, string> {
	const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
	return Object.fromEntries(
		paths
			.filter((path) => statSync(join(folder, path)).isFile() && !path.startsWith('.lifelog-'))
			.map((path) => [
				path.split(sep).join('/'),
				readFileSync(join(folder, path), path.endsWith('.md') ? 'utf8' : 'latin1'),
			]),
	);
}

/** The same with when each was written, of an archive, too. */
export const statesIn = (folder: string): Record<string, string> =>
	Object.fromEntries(
		Object.entries(filesIn(folder)).map(([path, content]) => [
			path,
			`${statSync(join(folder, path)).mtimeMs} ${content}`,
		]),
	);

// export --form app-export: the zip that Omi and the own import read.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifelog } from '../../../lifelog/api.ts';
import { runCommand } from '../../support/archiveCommand.mts';
import { writeArchive } from '../../support/archive.mts';
import { findingsIn } from '../../support/findings.mts';
import { lifelogOf } from '../../support/invented.mts';
import { readByOmi } from '../../support/omi.mts';
import { unzip } from '../../support/zip.mts';
import { line, linesOf, PeopleClient } from '../people/client.mts';
import { startLifelogServer, temporaryFolder } from '../sources.mts';
import { change, exported, inventArchive, nothing, retitle, statesIn } from './exporting.mts';

const ZIP = 'app-export.zip';

let archive: string;
let folder: string;
beforeEach(async () => ({ archive, folder } = await inventArchive()));

const asApp = () => exported(archive, folder, '--form', 'app-export');
const filesOfZip = async () => await unzip(readFileSync(join(folder, ZIP)));

test('is read by Omi: each lifelog with its title, words and times, in UTC', async () => {
	const lifelogs = ['Planning: a/b "c"', 'Planning: a/b "c"', '', 'Überraschung'].map(
		(title, nth) =>
			lifelogOf(`more${nth}`, '2026-03-07T22:30:05.000Z', {
				title,
				contents: [line('Anna', 'One.'), line('Sam', 'Two.', { speakerIdentifier: 'user' })],
			}),
	);
	await writeArchive(archive, { lifelogs });
	await retitle(archive, 'Beans');
	expect(await asApp()).toEqual({ ...nothing(6), written: 1 });
	const files = await filesOfZip();
	expect(Object.keys(files).sort()).toEqual([
		'lifelogs/2026/03/01/2026-03-01_08h00m00s_Beans.md',
		'lifelogs/2026/03/01/2026-03-01_23h30m00s_Call-with-Anna.md',
		'lifelogs/2026/03/07/2026-03-07_22h30m05s_Planning-a-b-c-2.md',
		'lifelogs/2026/03/07/2026-03-07_22h30m05s_Planning-a-b-c.md',
		'lifelogs/2026/03/07/2026-03-07_22h30m05s_Untitled.md',
		'lifelogs/2026/03/07/2026-03-07_22h30m05s_Überraschung.md',
	]);
	const read = Object.entries(files).map(([path, text]) => readByOmi(path, text)!);
	expect(read.map(({ title }) => title).sort()).toEqual([
		...['Beans', 'Call with Anna', 'Planning: a/b "c"', 'Planning: a/b "c"', 'Untitled'],
		'Überraschung',
	]);
	for (const { startedAt, utterances } of read) {
		expect(utterances).toHaveLength(2);
		expect(utterances[0].startMs).toBe(startedAt);
	}
	expect(read.flatMap(({ utterances }) => utterances.map(({ speaker }) => speaker))).toContain(1);
});

test('comes back by import: the same titles, words, names and times', async () => {
	await retitle(archive, 'Beans');
	await change(archive, (client) => client.change({ person: 'Anna', name: 'Anna Meier' }));
	await asApp();
	const imported = join(temporaryFolder(), 'imported');
	const { status, stdout } = await runCommand(['import', join(folder, ZIP), imported]);
	expect({ status, stdout }).toMatchObject({
		...{ status: 0, stdout: expect.stringContaining('Imported: 2 lifelogs') },
	});
	expect(await findingsIn(imported)).toEqual([]);
	const readAll = async (from: string) => {
		const server = await startLifelogServer(from);
		const all = await new PeopleClient(server).list({ limit: '10' }).finally(server.close);
		return all.map((lifelog: Lifelog) => [
			...[lifelog.title, lifelog.startTime],
			...linesOf(lifelog).map(({ content, speakerName }) => [content, speakerName]),
		]);
	};
	const labels = (all: unknown) =>
		JSON.parse(
			JSON.stringify(all)
				.replaceAll('SPEAKER_01', 'Speaker 2')
				.replaceAll('Speaker 3', 'Speaker 2'),
		);
	expect(labels(await readAll(imported))).toEqual(labels(await readAll(archive)));
});

test('is written again only if something changed, beside Markdown in the same folder', async () => {
	await exported(archive, folder);
	expect(await asApp()).toMatchObject({ written: 1 });
	const before = statesIn(folder);
	expect(await asApp()).toEqual(nothing(2));
	expect(await exported(archive, folder)).toEqual(nothing(2));
	expect(statesIn(folder)).toEqual(before);
	await retitle(archive, 'Beans');
	expect(await asApp()).toMatchObject({ written: 1, removed: 0 });
	expect(Object.keys(await filesOfZip())).toContain(
		'lifelogs/2026/03/01/2026-03-01_08h00m00s_Beans.md',
	);
});

test("stays and is named if it was changed, or is somebody else's", async () => {
	await asApp();
	writeFileSync(join(folder, ZIP), 'mine');
	expect(await asApp()).toMatchObject({
		...{ status: 0, written: 0 },
		kept: [{ path: ZIP, problem: 'was changed since it was exported' }],
	});
	expect(readFileSync(join(folder, ZIP), 'utf8')).toBe('mine');
	rmSync(join(folder, '.lifelog-export'), { recursive: true });
	expect(await asApp()).toMatchObject({
		...{ status: 1, written: 0 },
		failed: [{ path: ZIP, problem: 'was there already, with other contents' }],
	});
	expect(readFileSync(join(folder, ZIP), 'utf8')).toBe('mine');
});

test('names what cannot be read, and is made again then', async () => {
	const files = Object.keys(statesIn(archive));
	const path = files.find((each) => /garden\.json$/.test(each))!;
	const whole = readFileSync(join(archive, path));
	writeFileSync(join(archive, path), '{}');
	expect(await asApp()).toMatchObject({ status: 1, written: 1, failed: [{ path }] });
	expect(Object.keys(await filesOfZip())).toHaveLength(1);
	writeFileSync(join(archive, path), whole);
	expect(await asApp()).toMatchObject({ status: 0, written: 1, failed: [] });
	expect(Object.keys(await filesOfZip())).toHaveLength(2);
});

// The audio that export writes beside Markdown, and the zip of a day.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeArchive } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { newestManifests } from '../../support/manifests.mts';
import { writeOgg } from '../../support/ogg.mts';
import { unzip } from '../../support/zip.mts';
import { ask, startLifelogServer, temporaryFolder } from '../sources.mts';
import {
	change,
	deleteFrom,
	exported,
	filesIn,
	nothing,
	retitle,
	statesIn,
	ZONE,
} from './exporting.mts';

const SOUND = '2026/2026-03/2026-03-01 09.00 Soup.ogg';
const NOTE = '2026/2026-03/2026-03-01 09.00 Soup.md';
const SILENT = '2026/2026-03/2026-03-01 21.00 Silence.md';
const start = Date.parse('2026-03-01T08:00:00.000Z');

let archive: string;
let folder: string;

/** Packets of 20 ms, each of its own. */
const packets = (seconds: number) =>
	Array.from({ length: seconds * 50 }, (_, n) => {
		const packet = Buffer.alloc(40, 7);
		packet[0] = 0xf8;
		packet.writeUInt32LE(n, 1);
		return packet;
	});

beforeEach(async () => {
	archive = join(temporaryFolder(), 'archive');
	folder = join(temporaryFolder(), 'vault');
	const content = writeOgg({ serial: 1, preSkip: 0, packets: packets(60), perPage: 50 });
	await writeArchive(archive, {
		lifelogs: [
			lifelogOf('soup', '2026-03-01T08:00:10.000Z', {
				...{ title: 'Soup', endTime: '2026-03-01T08:00:20.000Z' },
			}),
			lifelogOf('silence', '2026-03-01T20:00:00.000Z', { title: 'Silence' }),
		],
		audio: [{ startMs: start, endMs: start + 60_000, content }],
	});
});

/** The bytes of a file that the server sends. */
async function served(path: string): Promise<Buffer> {
	const server = await startLifelogServer(archive, ['--timezone', ZONE]);
	try {
		const response = await ask(server, path);
		expect(response.status).toBe(200);
		return Buffer.from(await response.arrayBuffer());
	} finally {
		await server.close();
	}
}

const withAudio = (...args: string[]) => exported(archive, folder, '--audio', ...args);

test('is that of each lifelog, as the server has it, and the Markdown leads to it', async () => {
	expect(await withAudio()).toEqual({ ...nothing(2), written: 3 });
	const files = filesIn(folder);
	expect(Object.keys(files)).toEqual([NOTE, SOUND, SILENT]);
	const sound = readFileSync(join(folder, SOUND));
	expect(sound).toEqual(await served('/web/audio/soup'));
	expect(files[NOTE]).toContain('\n---\n\n[Audio](2026-03-01%2009.00%20Soup.ogg)\n\n# Soup\n');
	expect(files[SILENT]).not.toContain('[Audio]');
	const before = statesIn(folder);
	expect(await withAudio()).toEqual(nothing(2));
	expect(statesIn(folder)).toEqual(before);
});

test('is added to an export without it, and then goes with its lifelog, also without the option', async () => {
	await exported(archive, folder);
	expect(await withAudio()).toMatchObject({ written: 2 });
	expect(await exported(archive, folder)).toEqual(nothing(2));
	await retitle(archive, 'Stew', 'soup');
	await exported(archive, folder);
	const renamed = [NOTE, SOUND].map((path) => path.replace('Soup', 'Stew'));
	expect(Object.keys(filesIn(folder))).toEqual([...renamed, SILENT]);
	expect(filesIn(folder)[renamed[0]]).toContain('%20Stew.ogg)');
	await deleteFrom(archive, 'soup');
	expect(await exported(archive, folder)).toMatchObject({ removed: 2 });
	expect(Object.keys(filesIn(folder))).toEqual([SILENT]);
});

test('added later takes another name if somebody has a file of this one', async () => {
	await exported(archive, folder);
	writeFileSync(join(folder, SOUND), 'mine');
	expect(await withAudio()).toMatchObject({ status: 0, written: 2 });
	const files = filesIn(folder);
	expect(files[SOUND]).toBe('mine');
	const [note, sound] = [NOTE, SOUND].map((path) => path.replace('Soup', 'Soup-2'));
	expect(Object.keys(files).sort()).toEqual([note, sound, SOUND, SILENT].sort());
	expect(files[note]).toContain('%20Soup-2.ogg)');
	expect(await withAudio()).toEqual(nothing(2));
});

test('that was changed stays, and so does the link to it', async () => {
	await withAudio();
	writeFileSync(join(folder, SOUND), 'cut');
	await retitle(archive, 'Stew', 'soup');
	expect(await withAudio()).toMatchObject({
		...{ status: 0, written: 1 },
		kept: [{ path: SOUND, problem: 'was changed since it was exported' }],
	});
	const files = filesIn(folder);
	expect(files[SOUND]).toBe('cut');
	expect(files[NOTE.replace('Soup', 'Stew')]).toContain('%20Soup.ogg)');
});

test('is written again if it was removed', async () => {
	await withAudio();
	rmSync(join(folder, SOUND));
	await withAudio();
	expect(Object.keys(filesIn(folder))).toContain(SOUND);
});

test('that is broken in the archive is named, until it is whole again', async () => {
	const [{ path }] = newestManifests(archive).get('2026-03-01')!.audio;
	const whole = readFileSync(join(archive, path));
	writeFileSync(join(archive, path), Buffer.alloc(whole.length));
	const { status, failed } = await withAudio();
	expect({ status, failed: failed.map((each) => each.path) }).toEqual({
		status: 1,
		failed: [path],
	});
	expect(Object.keys(filesIn(folder))).toEqual([NOTE, SILENT]);
	writeFileSync(join(archive, path), whole);
	expect(await withAudio()).toMatchObject({ status: 0, written: 2 });
	expect(Object.keys(filesIn(folder))).toEqual([NOTE, SOUND, SILENT]);
});

describe('the zip of a day', () => {
	test.each(['', '?audio=true'])('has what an export writes of it: %j', async (query) => {
		await change(archive, (client) => client.change({ person: 'Anna', name: 'Anna Meier' }));
		await exported(archive, folder, ...(query ? ['--audio'] : []));
		const zip = await served(`/web/days/2026-03-01/zip${query}`);
		const files = Object.entries(filesIn(folder));
		expect(await unzip(zip)).toEqual(
			Object.fromEntries(files.map(([path, text]) => [path.split('/').at(-1), text])),
		);
	});

	test('needs a key, a day, and lifelogs on it', async () => {
		const server = await startLifelogServer(archive, ['--timezone', ZONE]);
		try {
			const statusOf = async (path: string, headers = {}) =>
				(await ask(server, path, { headers })).status;
			expect(await statusOf('/web/days/2026-03-01/zip', { 'X-API-Key': 'wrong' })).toBe(401);
			expect(await statusOf('/web/days/2026-03-02/zip')).toBe(404);
			expect(await statusOf('/web/days/2026-02-30/zip')).toBe(400);
			expect(await statusOf('/web/days/2026-03-01/zip?audio=maybe')).toBe(400);
		} finally {
			await server.close();
		}
	});
});

// Lines that are corrected, through the API.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import { writeArchive } from '../../support/archive.mts';
import { findingsIn } from '../../support/findings.mts';
import { changeDay, editLifelog, manifestOf, type Edited } from '../../support/manifests.mts';
import { until } from '../../support/soon.mts';
import { line, linesOf, markdownOf, PeopleClient, talk } from '../people/client.mts';
import { startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

const user = { speakerIdentifier: 'user' as const };
const at = (startOffsetMs: number) => ({ startOffsetMs, endOffsetMs: startOffsetMs + 900 });
const DAY = '2026-03-01';
const START = `${DAY}T09:00:00.000Z`;
const CARBON = 'The quick carbon is here.';

const recorded: ContentNode[] = [
	line('SPEAKER_00', CARBON, at(0)),
	line('SPEAKER_01', 'Where?', at(1000)),
	line('Sam', 'Here.', { ...at(2000), ...user }),
	line('SPEAKER_00', 'Yes.', at(3000)),
	line('SPEAKER_01', 'Yes.', at(3000)),
	line('SPEAKER_00', 'No.', at(3000)),
	line(null, 'No time.', { startOffsetMs: undefined }),
];

let folder: string;
let index: string;
let server: SpawnedServer;
let client: PeopleClient;

beforeEach(async () => {
	folder = temporaryFolder();
	await writeArchive(folder, { lifelogs: [talk('boat', START, recorded)] });
	index = join(temporaryFolder(), 'index');
	const options = ['--allow-changes', '--allow-delete', '--index', index];
	server = await startLifelogServer(folder, options);
	client = new PeopleClient(server);
});
afterEach(async () => {
	expect(await findingsIn(folder)).toEqual([]);
	await server.close();
});

const edit = (lines: object[], more: object = {}) => client.edit('boat', { lines, ...more });
const shown = async () => {
	const lines = linesOf(await client.get('boat'));
	return lines.map((node) => `${node.speakerName}: ${node.content}`);
};
const wearers = async () =>
	linesOf(await client.get('boat')).map(({ speakerIdentifier }) => speakerIdentifier === 'user');
const entry = () => manifestOf(folder, DAY).lifelogs.boat;
const kept = () => entry().edited?.lines;
const withoutTime = (lifelog: Lifelog) => ({ ...lifelog, updatedAt: undefined });

const fix = { startOffsetMs: 0, was: CARBON, text: 'The QuickCarbon is here.' };

test('a corrected line is in every answer, and is given back', async () => {
	const before = await client.get('boat');
	expect(await edit([fix])).toMatchObject({ status: 200 });
	const now = await client.get('boat');
	expect((await shown())[0]).toBe('SPEAKER_00: The QuickCarbon is here.');
	expect(now.markdown).toBe(markdownOf('boat', linesOf(now)));
	expect(now.updatedAt > before.updatedAt).toBe(true);
	expect(await client.ids({ search: 'QuickCarbon' })).toEqual(['boat']);
	expect(await client.ids({ search: 'carbon' })).toEqual([]);
	const { lifelogs } = JSON.parse(
		await client.call('search_lifelogs', { query: 'quickcarbon' }),
	) as { lifelogs: { snippet: string }[] };
	expect(lifelogs[0].snippet).toContain('The QuickCarbon is here.');
	expect(kept()).toEqual([fix]);
	await edit([{ startOffsetMs: 0, was: fix.text, text: null }]);
	expect(withoutTime(await client.get('boat'))).toEqual(withoutTime(before));
	expect(kept()).toBeUndefined();
});

test('a text that is typed again replaces the one before, and the recorded one leaves nothing', async () => {
	await edit([fix]);
	await edit([{ startOffsetMs: 0, was: fix.text, text: '  The QuickCarbon was here. ' }]);
	expect(kept()).toEqual([{ ...fix, text: 'The QuickCarbon was here.' }]);
	await edit([{ startOffsetMs: 0, was: 'The QuickCarbon was here.', text: CARBON }]);
	expect(kept()).toBeUndefined();
});

test('lines change together if nothing tells them apart, and change places in one request', async () => {
	await edit([{ startOffsetMs: 3000, was: 'Yes.', text: 'Maybe.' }]);
	expect((await shown()).slice(3, 6)).toEqual([
		...['SPEAKER_00: Maybe.', 'SPEAKER_01: Maybe.', 'SPEAKER_00: No.'],
	]);
	await edit([
		{ startOffsetMs: 3000, was: 'Maybe.', text: 'No.' },
		{ startOffsetMs: 3000, was: 'No.', text: 'Maybe.' },
	]);
	expect((await shown()).slice(3, 6)).toEqual([
		...['SPEAKER_00: No.', 'SPEAKER_01: No.', 'SPEAKER_00: Maybe.'],
	]);
});

test('a speaker of one line goes before those of the lifelog, and after it come people', async () => {
	await edit([{ startOffsetMs: 0, was: CARBON, speaker: 'Anna' }], {
		speakers: { SPEAKER_00: 'Bob' },
	});
	const names = async () => (await client.names('boat')).slice(0, 4);
	expect(await names()).toEqual(['Anna', 'SPEAKER_01', 'Sam', 'Bob']);
	await client.change({ person: 'Anna', name: 'Eva' });
	expect(await names()).toEqual(['Eva', 'SPEAKER_01', 'Sam', 'Bob']);
	expect(await client.ids({ speaker: 'Anna' })).toEqual(['boat']);
	expect((await client.get('boat')).markdown).toContain(`> Eva: ${CARBON}`);
	await edit([{ startOffsetMs: 0, was: CARBON, speaker: null }]);
	expect(await names()).toEqual(['Bob', 'SPEAKER_01', 'Sam', 'Bob']);
	// The speaker that it has anyway says nothing.
	await edit([{ startOffsetMs: 0, was: CARBON, speaker: 'Bob' }]);
	expect(kept()).toBeUndefined();
});

test("a line that is given to somebody else is no longer the wearer's, and one that is given to the wearer is", async () => {
	await edit([
		{ startOffsetMs: 2000, was: 'Here.', speaker: 'Anna' },
		{ startOffsetMs: 1000, was: 'Where?', speaker: 'Sam' },
	]);
	expect((await wearers()).slice(0, 3)).toEqual([false, true, false]);
	// Also by the name that the wearer has everywhere.
	await client.change({ person: 'Sam', name: 'Samuel' });
	await edit([{ startOffsetMs: 0, was: CARBON, speaker: 'Samuel' }]);
	expect((await wearers()).slice(0, 3)).toEqual([true, true, false]);
	expect((await client.names('boat')).slice(0, 3)).toEqual(['Samuel', 'Samuel', 'Anna']);
});

test('a new name of a speaker is also that of lines which were given to the speaker', async () => {
	await edit([{ startOffsetMs: 1000, was: 'Where?', speaker: 'SPEAKER_00' }]);
	await client.edit('boat', { speakers: { SPEAKER_00: 'Anna' } });
	const names = async () => (await client.names('boat')).slice(0, 5);
	expect(await names()).toEqual(['Anna', 'Anna', 'Sam', 'Anna', 'SPEAKER_01']);
	// Somebody who only has single lines is renamed, too.
	await edit([{ startOffsetMs: 0, was: CARBON, speaker: 'Bob' }]);
	await client.edit('boat', { speakers: { Bob: 'Robert' } });
	expect(await names()).toEqual(['Robert', 'Anna', 'Sam', 'Anna', 'SPEAKER_01']);
	expect(await client.edit('boat', { speakers: { Bob: 'X' } })).toMatchObject({ status: 400 });
});

test('names as recorded are taken back from single lines, too, and texts stay', async () => {
	await edit([{ ...fix, speaker: 'Anna' }]);
	await edit([{ startOffsetMs: 1000, was: 'Where?', speaker: 'Anna' }]);
	await client.edit('boat', { speakers: null });
	expect((await shown()).slice(0, 2)).toEqual([`SPEAKER_00: ${fix.text}`, 'SPEAKER_01: Where?']);
	expect(kept()).toEqual([fix]);
});

test('a title, a star, names and lines are changed together, or nothing is', async () => {
	const before = await client.get('boat');
	const title = { title: 'Boat', isStarred: true, speakers: { Sam: 'Samuel' } };
	expect((await edit([fix, { ...fix, was: 'Gone.' }], title)).status).toBe(409);
	expect(await client.get('boat')).toEqual(before);
	expect(entry().edited).toBeUndefined();
	expect((await edit([fix], title)).status).toBe(200);
	const { at: editedAt, ...edited } = entry().edited!;
	expect(edited).toEqual({ ...title, lines: [fix] });
	expect(editedAt).toBe((await client.get('boat')).updatedAt);
});

const here = { startOffsetMs: 1000, was: 'Where?' };
test.each([
	[
		409,
		[{ ...fix, was: 'Gone.' }],
		`has no line "Gone." at 0 ms. The line there is now "${CARBON}"`,
	],
	[409, [{ ...fix, startOffsetMs: 3000 }], '"Yes." or "Yes." or "No."'],
	[409, [{ ...fix, startOffsetMs: 7 }], 'No line begins then'],
	[409, [{ ...fix, was: CARBON.toLowerCase() }], 'has no line'],
	[409, [{ ...fix, was: ` ${CARBON}` }], 'has no line'],
	[400, [fix, { ...fix, text: 'Another' }], 'named twice'],
	[400, [{ startOffsetMs: 0, was: CARBON }], "Give it 'text' or 'speaker'"],
	[400, [{ ...fix, text: '' }], 'text'],
	[400, [{ ...fix, text: ' \u00a0' }], 'empty'],
	[400, [{ ...fix, text: 'two\nlines' }], 'line break'],
	[400, [{ ...fix, text: 'two\u2028lines' }], 'line break'],
	[400, [{ ...fix, text: 'a bell \u0007' }], 'control character'],
	[400, [{ ...fix, text: 'half \ud83d' }], 'control character'],
	[400, [{ ...fix, text: 'x'.repeat(10_001) }], '10000 characters'],
	[400, [{ ...here, speaker: ' \u202e' }], 'empty'],
	[400, [{ ...here, speaker: '' }], 'speaker'],
	[400, [{ ...here, speaker: 'x'.repeat(201) }], '200 characters'],
	[400, [{ text: 'Where?', was: 'Where?' }], 'startOffsetMs'],
	[400, [{ startOffsetMs: 0, text: 'x' }], 'was'],
	[400, [{ startOffsetMs: '0', was: CARBON, text: 'x' }], 'startOffsetMs'],
	[400, [{ ...fix, line: 1 }], 'additional properties'],
	[400, [], 'lines'],
	[400, Array.from({ length: 501 }, () => fix), '500'],
	[
		400,
		recorded.slice(0, 3).map(({ startOffsetMs, content }) => ({
			...{ startOffsetMs, was: content, text: 'ü'.repeat(9000) },
		})),
		'bytes of corrected lines',
	],
] as const)('%i: %#', async (status, lines, message) => {
	expect(await edit([...lines])).toMatchObject({ status, error: expect.stringContaining(message) });
	expect(entry().edited).toBeUndefined();
});

test('a lifelog has at most 500 corrected lines', async () => {
	const many = Array.from({ length: 501 }, (_, nth) => line('Anna', `Line ${nth}`, at(nth * 1000)));
	await writeArchive(folder, { lifelogs: [talk('long', '2026-03-02T09:00:00.000Z', many)] });
	await until(async () => (await client.send('/v1/lifelogs/long')).status === 200);
	const all = many.map(({ startOffsetMs, content }, nth) => ({
		...{ startOffsetMs, was: content, text: `${nth}` },
	}));
	expect((await client.edit('long', { lines: all.slice(0, 500) })).status).toBe(200);
	const { status, error } = await client.edit('long', { lines: all.slice(500) });
	expect([status, error]).toEqual([400, expect.stringContaining('501 corrected lines')]);
	const lines = linesOf(await client.get('long'));
	expect(lines.map(({ content }) => content)).toEqual([
		...[...all.slice(0, 500).map(({ text }) => text), 'Line 500'],
	]);
});

test('corrections without effect take no room, and a lifelog with too many can have fewer', async () => {
	const long = 'ü'.repeat(9000);
	const edited = (lines: object[]) => ({ lines, at: new Date().toISOString() }) as Edited;
	const gone = Array.from({ length: 500 }, (_, nth) => ({
		...{ startOffsetMs: nth, was: `Gone ${nth}`, text: long },
	}));
	const there = recorded.slice(0, 4).map(({ startOffsetMs, content: was }) => ({
		...{ startOffsetMs, was, text: long },
	}));
	editLifelog(folder, DAY, 'boat', edited([...gone, ...there]));
	await until(async () => (await shown())[0].endsWith(long));
	const shorter = { startOffsetMs: 0, was: long, text: 'Short.' };
	expect(await edit([shorter])).toMatchObject({ status: 200 });
	const longer = { startOffsetMs: 0, was: 'Short.', text: `${long} and more` };
	expect(await edit([longer])).toMatchObject({
		status: 400,
		error: expect.stringContaining('bytes of corrected lines'),
	});
	expect((await shown())[0]).toBe('SPEAKER_00: Short.');
	expect(kept()).toHaveLength(504);
});

test('a line that the service changes later is as the service has it, and corrected again if it comes back', async () => {
	await edit([fix, { startOffsetMs: 1000, was: 'Where?', text: 'Where is it?' }]);
	const edited: Edited = entry().edited!;
	const arrives = async (content: string) => {
		const lines = [line('SPEAKER_00', content, at(0)), ...recorded.slice(1)];
		const updatedAt = new Date().toISOString();
		rmSync(join(folder, 'lifelogs'), { recursive: true });
		changeDay(folder, DAY, (file) => ({ ...file, lifelogs: {} }));
		// Within a millisecond, the manifest without it could count.
		const later = Date.parse(manifestOf(folder, DAY).archivedAt) + 1;
		await writeArchive(folder, {
			...{ lifelogs: [{ ...talk('boat', START, lines), updatedAt }] },
			archivedAt: new Date(later).toISOString(),
		});
		editLifelog(folder, DAY, 'boat', edited);
	};
	await arrives('The quick carbon is there.');
	await until(async () => (await shown())[0] === 'SPEAKER_00: The quick carbon is there.');
	expect((await shown())[1]).toBe('SPEAKER_01: Where is it?');
	await edit([{ startOffsetMs: 0, was: 'The quick carbon is there.', speaker: 'Anna' }]);
	expect(kept()).toHaveLength(3);
	await arrives(CARBON);
	await until(async () => (await shown())[0] === `SPEAKER_00: ${fix.text}`);
});

test("a deleted lifelog's corrected words are nowhere", async () => {
	const secret = 'Zanzibarium';
	await edit([{ ...fix, text: `${secret} one` }]);
	await edit([{ ...fix, was: `${secret} one`, text: `${secret} two`, speaker: `${secret} Jones` }]);
	await client.send('/v1/lifelogs/boat', 'DELETE');
	const found = () =>
		execFileSync('grep', ['-rlai', '-e', secret, '-e', 'quick carbon', folder, dirname(index)], {
			encoding: 'utf8',
		});
	expect(found).toThrow(expect.objectContaining({ status: 1 }));
	expect(server.log.join('\n')).not.toContain(secret);
});

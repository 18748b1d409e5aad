// Words that are replaced in all lifelogs, through the API.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ContentNode } from '../../../lifelog/api.ts';
import { writeArchive } from '../../support/archive.mts';
import { findingsIn } from '../../support/findings.mts';
import { manifestOf } from '../../support/manifests.mts';
import { until } from '../../support/soon.mts';
import { buildPage } from '../../support/web.mts';
import { line, linesOf, talk } from '../people/client.mts';
import { startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { WordsClient } from './client.mts';

const at = (startOffsetMs: number) => ({ startOffsetMs, endOffsetMs: startOffsetMs + 900 });
const dayOf = (nth: number) => new Date(Date.UTC(2025, 0, 1 + nth)).toISOString().slice(0, 10);
const startOf = (nth: number) => `${dayOf(nth)}T09:00:00.000Z`;

/** Words that are heard, right ones, a line, and what it becomes. */
const WORDS = [
	[
		'quick carbon',
		'QuickCarbon',
		'The quick carbon, Quick Carbon!',
		'The QuickCarbon, QuickCarbon!',
	],
	['carbon', 'x', 'carbonize bicarbon carbon_1 (carbon)', 'carbonize bicarbon x_1 (x)'],
	['a', 'b a', 'a b a', 'b a b b a'],
	['price', "$& $1 $$ $` $'", 'The price is', "The $& $1 $$ $` $' is"],
	['a.b', 'x', 'a.b aXb A.B', 'x aXb x'],
	['c++', 'Rust', 'C++ c++11', 'Rust Rust11'],
	['ÉTÉ', 'été', "L'Été, l'ete", "L'été, l'ete"],
	['cafe', 'x', 'cafe\u0301 cafe', 'cafe\u0301 x'],
	['straße', 'x', 'STRAẞE Strasse', 'x Strasse'],
	['2', 'two', '2 22 2nd x2', 'two 22 2nd x2'],
	['ΟΔΟΣ', 'x', 'οδοσ', 'x'],
	['дом', 'x', 'Дом домой', 'x домой'],
	['北京', '上海', '我在北京。', '我在上海。'],
	['サーバー', 'server', 'このサーバーは', 'このserverは'],
	['กา', 'x', 'นกกานก', 'นกxนก'],
	['iPhone', 'Phone', '我的iPhone很 iPhones', '我的Phone很 iPhones'],
	['한국', 'x', '한국 한국은', 'x 한국은'],
	['שלום', 'x', 'שלום! שלומי', 'x! שלומי'],
	['𐐀', 'x', '𐐨 𐐀𐐀', 'x 𐐀𐐀'],
	['foo', 'Foo', 'foo FOO Foo', 'Foo Foo Foo'],
	['a b', 'x', 'a b a  b', 'x a  b'],
];

let folder: string;
let index: string;
let server: SpawnedServer;
let client: WordsClient;
let count = 0;

beforeAll(async () => {
	buildPage();
	folder = temporaryFolder();
	index = join(temporaryFolder(), 'index');
	for (const [, , before] of WORDS) await archived([before, 'Something else.']);
	server = await startLifelogServer(folder, [
		...['--allow-changes', '--allow-delete', '--index', index],
	]);
	client = new WordsClient(server);
});
afterAll(() => server.close());
afterEach(async () => {
	for (const { id } of await client.replacements()) await client.takeBack(id);
});

/** Archives lifelogs, each on a day of its own, and returns their IDs. */
async function allArchived(all: string[][], lines?: ContentNode[]): Promise<string[]> {
	const lifelogs = all.map((said, nth) =>
		talk(
			`talk${count + nth}`,
			startOf(count + nth),
			lines ?? said.map((text, place) => line('Anna', text, at(place * 1000))),
		),
	);
	await writeArchive(folder, { lifelogs });
	count += all.length;
	const ids = lifelogs.map(({ id }) => id);
	const last = ids.at(-1)!;
	if (client) await until(async () => (await client.send(`/v1/lifelogs/${last}`)).status === 200);
	return ids;
}

const archived = async (said: string[], lines?: ContentNode[]): Promise<string> =>
	(await allArchived([said], lines))[0];

const texts = async (id: string) => linesOf(await client.get(id)).map(({ content }) => content);
const idOf = (before: string) => `talk${WORDS.findIndex((each) => each[2] === before)}`;
const saved = () => join(folder, 'replacements.json');

test.each(WORDS)('%j becomes %j in %j', async (heard, right, before, after) => {
	const id = idOf(before);
	expect((await client.replace(heard, right)).status).toBe(201);
	expect((await texts(id))[0]).toBe(after);
});

test('a preview says what would change, the newest first, and changes nothing', async () => {
	const ids = await allArchived(Array.from({ length: 12 }, () => ['The kwik fox.', 'kwik', 'No.']));
	const long = `${'word '.repeat(100)}kwik ${'word '.repeat(100)}`;
	ids.push(await archived([long]));
	const preview = await client.preview('KWIK', 'quick');
	expect(preview).toMatchObject({ status: 200, lifelogs: 13, lines: 25 });
	const [cut, ...others] = preview.examples;
	expect(others.map(({ lifelogId }) => lifelogId)).toEqual(ids.slice(3, 12).reverse());
	expect(others[0]).toEqual({
		...{ lifelogId: ids[11], startTime: startOf(count - 2) },
		...{ before: 'The kwik fox.', after: 'The quick fox.' },
	});
	expect(cut.before).toMatch(/^…(word )+kwik (word )+.*…$/);
	expect(cut.after).toMatch(/^…(word )+quick (word )+.*…$/);
	expect(cut.before.length).toBeLessThan(210);
	expect(await client.replacements()).toEqual([]);
	expect(await texts(ids[0])).toEqual(['The kwik fox.', 'kwik', 'No.']);
});

test('replacements are listed, the newest first, and each is taken back by itself', async () => {
	const id = await archived(['red apple', 'red']);
	const { updatedAt } = await client.get(id);
	const first = (await client.replace(' red ', 'green')).replacement;
	expect(first).toEqual({
		...{ id: expect.any(String), heard: 'red', right: 'green', lifelogs: 1, lines: 2 },
		...{ lifelogsDone: 1, isDone: true, createdAt: expect.any(String) },
	});
	expect((await client.get(id)).updatedAt > updatedAt).toBe(true);
	const second = (await client.replace('apple', 'pear')).replacement;
	const none = (await client.replace('nowhere', 'somewhere')).replacement;
	expect(none).toMatchObject({ lifelogs: 0, lines: 0, isDone: true });
	expect(await client.replacements()).toEqual([none, second, first]);
	expect(manifestOf(folder, dayOf(count - 1)).lifelogs[id].edited?.lines).toEqual([
		{
			...{ startOffsetMs: 0, was: 'red apple', text: 'green pear' },
			replaced: [first, second].map(({ id: made, heard, right }) => ({ id: made, heard, right })),
		},
		{
			...{ startOffsetMs: 1000, was: 'red', text: 'green' },
			replaced: [{ id: first.id, heard: 'red', right: 'green' }],
		},
	]);
	expect(await client.takeBack(first.id)).toBe(200);
	expect(await texts(id)).toEqual(['red pear', 'red']);
	expect(await client.takeBack(first.id)).toBe(404);
	expect(await client.replacements()).toEqual([none, second]);
});

test('what is typed after a replacement stays when it is taken back', async () => {
	const id = await archived(['one two', 'one two']);
	const typed = { startOffsetMs: 0, was: 'one two', text: 'one three' };
	await client.edit(id, { lines: [typed] });
	const { replacement } = await client.replace('one', 'uno');
	expect(await texts(id)).toEqual(['uno three', 'uno two']);
	const again = { startOffsetMs: 1000, was: 'uno two', text: 'uno dos' };
	await client.edit(id, { lines: [again] });
	await client.takeBack(replacement.id);
	expect(await texts(id)).toEqual(['one three', 'uno dos']);
	// The speaker of a line isn't a word of it.
	await client.edit(id, { lines: [{ startOffsetMs: 0, was: 'one three', speaker: 'one' }] });
	await client.replace('one', 'uno');
	expect((await client.names(id))[0]).toBe('one');
});

test('titles, headings, chats and lines without a time stay', async () => {
	const id = await archived(
		[],
		[
			{ type: 'heading2', content: 'The zeppelin', startOffsetMs: 0 },
			line('Anna', 'zeppelin', { startOffsetMs: undefined }),
			line('zeppelin', 'A zeppelin.', at(1000)),
		],
	);
	await client.edit(id, { title: 'zeppelin' });
	expect((await client.replace('zeppelin', 'airship')).replacement).toMatchObject({ lines: 1 });
	const { contents } = await client.get(id);
	expect(contents.map(({ content }) => content)).toEqual([
		...['zeppelin', 'The zeppelin', 'zeppelin', 'A airship.'],
	]);
	expect(await client.names(id)).toEqual(['Anna', 'zeppelin']);
});

test.each([
	[{ heard: '', right: 'x' }, 'heard'],
	[{ heard: ' \u00a0', right: 'x' }, 'heard is empty'],
	[{ heard: 'x', right: ' ' }, 'right is empty'],
	[{ heard: 'x' }, 'right'],
	[{ heard: '?!', right: 'x' }, 'no letter and no digit'],
	[{ heard: 'x', right: ' x' }, 'the same'],
	[{ heard: 'x\ny', right: 'x' }, 'line break'],
	[{ heard: 'x', right: 'x\u0000' }, 'control character'],
	[{ heard: 'x'.repeat(201), right: 'x' }, '200 characters'],
	[{ heard: 'x', right: 'y'.repeat(201) }, '200 characters'],
	[{ heard: 'x', right: 'y', isFuzzy: true }, 'additional properties'],
	[{ heard: 'x', right: 'y', isPreview: 'yes' }, 'isPreview'],
])('400 for %j', async (body, message) => {
	const { status, body: answer } = await client.send('/v1/replacements', 'POST', body);
	expect([status, answer.error]).toEqual([400, expect.stringContaining(message)]);
	expect(await client.replacements()).toEqual([]);
});

test('a lifelog that would have too many corrected lines is named, and nothing is changed', async () => {
	const other = await archived(['ubiquitous']);
	const id = await archived(Array.from({ length: 501 }, (_, nth) => `ubiquitous ${nth}`));
	expect(await client.preview('ubiquitous', 'x')).toMatchObject({ lifelogs: 2, lines: 502 });
	const { status, error } = await client.replace('ubiquitous', 'x');
	expect([status, error]).toEqual([
		400,
		expect.stringContaining(`the lifelog "${id}" would have 501`),
	]);
	expect(await texts(other)).toEqual(['ubiquitous']);
	expect(await client.replacements()).toEqual([]);
	const long = await archived([`prolix ${'ü'.repeat(9000)}`, 'prolix'.padEnd(9000, ' x')]);
	expect(await client.replace('prolix', 'y')).toMatchObject({
		...{ status: 400, error: expect.stringMatching(new RegExp(`"${long}" would have \\d+ bytes`)) },
	});
});

test('a server that takes no changes lists replacements, and makes none', async () => {
	await client.replace('nowhere', 'somewhere');
	const more = ['--index', join(temporaryFolder(), 'index')];
	const second = await startLifelogServer(folder, more);
	try {
		const other = new WordsClient(second);
		expect(await other.replacements()).toEqual(await client.replacements());
		expect((await other.preview('a', 'b')).status).toBe(403);
		expect((await other.replace('a', 'b')).status).toBe(403);
		expect(await other.takeBack('x')).toBe(403);
	} finally {
		await second.close();
	}
});

test('a file that the server cannot use is told, left alone, and used once it is right', async () => {
	const id = await archived(['a mistake']);
	await client.replace('mistake', 'mystique');
	const right = readFileSync(saved(), 'utf8');
	const broken = '{"replacements":[{}]}';
	writeFileSync(saved(), broken);
	const problem = async () => (await client.send('/web/status')).body.replacementsProblem;
	await until(async () => (await problem()) === "isn't a list of replacements");
	expect(server.log.filter((each) => each.includes('replacements.json'))).toHaveLength(1);
	expect(await texts(id)).toEqual(['a mystique']);
	expect(await client.replacements()).toEqual([]);
	const refused = { status: 409, error: expect.stringContaining('replacements.json') };
	expect(await client.replace('a', 'b')).toMatchObject(refused);
	expect(await client.takeBack('x')).toBe(409);
	expect(readFileSync(saved(), 'utf8')).toBe(broken);
	writeFileSync(saved(), right.replace('"version"', '"later": 1,\n\t"version"'));
	await until(async () => (await client.replacements()).length === 1);
	expect(await problem()).toBeNull();
	await client.replace('nowhere', 'somewhere');
	expect(JSON.parse(readFileSync(saved(), 'utf8'))).toMatchObject({ later: 1 });
});

test("a deleted lifelog's words are nowhere, neither those before nor those after", async () => {
	const id = await archived(['Hippogriff and Xylophagous.']);
	await client.replace('and', 'beside');
	await client.send(`/v1/lifelogs/${id}`, 'DELETE');
	const words = ['-e', 'Hippogriff', '-e', 'Xylophagous'];
	const found = () => execFileSync('grep', ['-rlai', ...words, folder, dirname(index)]);
	expect(found).toThrow(expect.objectContaining({ status: 1 }));
	expect(server.log.join('\n')).not.toMatch(/hippogriff/i);
});

test('check finds nothing in the archive', async () => {
	expect(await findingsIn(folder)).toEqual([]);
});

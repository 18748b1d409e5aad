// What people are called, as every way in and out of the server has it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';
import type { Person } from '../../../server/http/pageApi/answers.mts';
import { writeArchive } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

let folder: string;
let server: SpawnedServer;

const line = (speakerName: string | null, content: string, more: Partial<ContentNode> = {}) => ({
	...{ type: 'blockquote', content, speakerName, speakerIdentifier: null },
	...{ startOffsetMs: 0, endOffsetMs: 2000 },
	...more,
});

/** A lifelog with these lines. */
function talk(id: string, day: number, lines: ContentNode[]): Lifelog {
	const contents = [{ type: 'heading1', content: id }, ...lines];
	const markdown = [
		`# ${id}`,
		...lines.map(({ speakerName, content }) => `> ${speakerName ?? 'Unknown'}: ${content}`),
	].join('\n\n');
	return lifelogOf(id, `2026-03-0${day}T09:00:00Z`, { title: id, contents, markdown });
}

beforeEach(async () => {
	folder = temporaryFolder();
	await writeArchive(folder, {
		lifelogs: [
			talk('garden', 1, [line('Anna', 'The garden is dry.'), line('Bob', 'Anna knows.')]),
			talk('boat', 2, [line('Anna M.', 'The boat leaks.'), line('SPEAKER_00', 'Really?')]),
			talk('train', 3, [line('Sam', 'The train is late.', { speakerIdentifier: 'user' })]),
			talk('walk', 4, [line('You', 'A walk.', { speakerIdentifier: 'user' }), line(null, 'Yes.')]),
		],
	});
	server = await startLifelogServer(folder, ['--allow-changes']);
});
afterEach(() => server.close());

async function send(path: string, method = 'GET', body?: object) {
	const headers = { 'content-type': 'application/json' };
	const init = { method, ...(body && { headers, body: JSON.stringify(body) }) };
	const response = await ask(server, path, init);
	return { status: response.status, body: await response.json() };
}
const change = (body: object) => send('/v1/people', 'PATCH', body);
const people = async (query = ''): Promise<Person[]> =>
	(await send(`/v1/people?${query}`)).body.data.people;
const get = async (id: string): Promise<Lifelog> =>
	(await send(`/v1/lifelogs/${id}`)).body.data.lifelog;
const ids = async (query: string): Promise<string[]> =>
	(await send(`/v1/lifelogs?${query}`)).body.data.lifelogs.map(({ id }: Lifelog) => id);
const speakers = async (id: string) =>
	(await get(id)).contents
		.filter(({ type }) => type === 'blockquote')
		.map((node) => node.speakerName);

test('everyone who has a name is listed, and no label', async () => {
	const all = await people();
	expect(all.map(({ name }) => name)).toEqual(['Sam', 'Anna M.', 'Anna', 'Bob']);
	expect(all[2]).toEqual({
		...{ name: 'Anna', alsoCalled: [], isMe: false, lifelogs: 1, spokenMs: 2000, similar: [] },
		...{ firstHeard: '2026-03-01T09:00:00.000Z', lastHeard: '2026-03-01T09:00:00.000Z' },
	});
	expect(all[0]).toMatchObject({ isMe: true });
});

test('a merge holds in every answer, and a separation takes it back', async () => {
	const before = [await get('boat'), await people(), await ids('search=Anna')];
	expect((await change({ person: 'Anna M.', name: 'Anna' })).status).toBe(409);
	const merged = await change({ person: 'Anna M.', name: 'Anna', merge: true });
	expect(merged.body.data.people).toMatchObject([
		{ name: 'Anna', alsoCalled: ['Anna M.'], lifelogs: 2 },
	]);
	expect(await speakers('boat')).toEqual(['Anna', 'SPEAKER_00']);
	expect((await get('boat')).markdown).toContain('> Anna: The boat leaks.');
	expect((await ids('speaker=Anna')).sort()).toEqual(['boat', 'garden']);
	expect((await ids('speaker=Anna M.')).sort()).toEqual(['boat', 'garden']);
	expect((await ids('search=Anna')).sort()).toEqual(['boat', 'garden']);
	expect((await ids('search=Anna boat')).sort()).toEqual(['boat']);
	await change({ person: 'Anna', separate: ['Anna M.'] });
	expect([await get('boat'), await people(), await ids('search=Anna')]).toEqual(before);
	expect(JSON.parse(readFileSync(join(folder, 'people.json'), 'utf8'))).toEqual({
		version: 1,
		people: [],
	});
});

test('who is me', async () => {
	await change({ person: 'Sam', isMe: true });
	expect(await speakers('walk')).toEqual(['Sam', null]);
	expect((await get('walk')).markdown).toContain('> Sam: A walk');
	expect((await people('name=Sam'))[0]).toMatchObject({ lifelogs: 2, isMe: true });
	const changed = await send('/v1/lifelogs/walk', 'PATCH', { speakers: { '': 'Bob' } });
	expect(changed.status).toBe(200);
	expect(await speakers('walk')).toEqual(['Sam', 'Bob']);
	await send('/v1/lifelogs/walk', 'PATCH', { speakers: null });
	expect(await speakers('walk')).toEqual(['Sam', null]);
});

test('a file that cannot be read', async () => {
	writeFileSync(join(folder, 'people.json'), '{"people":[{"name":"A"}]}');
	expect((await change({ person: 'Anna', name: 'Ann' })).status).toBe(409);
	expect(server.log.join('\n')).toContain('people.json');
});

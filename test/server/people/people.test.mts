// What people are called, as every way in and out of the server has it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeArchive } from '../../support/archive.mts';
import { findingsIn } from '../../support/findings.mts';
import { until } from '../../support/soon.mts';
import { buildPage } from '../../support/web.mts';
import { startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { line, PeopleClient, talk } from './client.mts';

const user = { speakerIdentifier: 'user' as const };
const at = (day: number) => `2026-03-0${day}T09:00:00.000Z`;

let folder: string;
let server: SpawnedServer;
let client: PeopleClient;

beforeAll(() => buildPage());
beforeEach(async () => {
	folder = temporaryFolder();
	await writeArchive(folder, {
		lifelogs: [
			talk('garden', at(1), [line('Anna', 'The garden is dry.'), line('Bob', 'Anna knows.')]),
			talk('boat', at(2), [line('Anna M.', 'The boat leaks.'), line('SPEAKER_00', 'Really?')]),
			talk('train', at(3), [line('Sam', 'The train is late.', user)]),
			talk('walk', at(4), [line('You', 'A walk.', user), line(null, 'Yes.')]),
		],
	});
	server = await startLifelogServer(folder, ['--allow-changes']);
	client = new PeopleClient(server);
});
afterEach(() => server.close());

const peopleFile = () => join(folder, 'people.json');
const savedPeople = () => JSON.parse(readFileSync(peopleFile(), 'utf8')).people;

test('everyone who has a name is listed, and no label', async () => {
	const all = await client.people();
	expect(all.map(({ name }) => name)).toEqual(['Sam', 'Anna M.', 'Anna', 'Bob']);
	expect(all[2]).toEqual({
		...{ name: 'Anna', alsoCalled: [], isMe: false, lifelogs: 1, spokenMs: 2000, similar: [] },
		...{ firstHeard: at(1), lastHeard: at(1) },
	});
	// Not even Sam, whose lines say so: it counts once somebody has set it.
	expect(all.map(({ isMe }) => isMe)).toEqual([false, false, false, false]);
});

test('the list comes page by page, in an order, and by a part of any name', async () => {
	await client.change({ person: 'Bob', name: 'Róbert' });
	const orders = {
		lastHeard: 'Sam Anna M. Anna Róbert',
		lifelogs: 'Anna Anna M. Róbert Sam',
		name: 'Anna Anna M. Róbert Sam',
	};
	for (const [sort, names] of Object.entries(orders)) {
		const found: string[] = [];
		let cursor: string | undefined;
		do {
			const query = new URLSearchParams({ sort, limit: '1', ...(cursor && { cursor }) });
			const { body } = await client.send(`/v1/people?${query}`);
			expect(body.meta.people.count).toBe(1);
			found.push(body.data.people[0].name);
			cursor = body.meta.people.nextCursor;
		} while (cursor !== undefined);
		expect({ sort, names: found.join(' ') }).toEqual({ sort, names });
	}
	for (const search of ['robert', 'RÓB', 'bob', ' rt']) {
		expect((await client.people({ search })).map(({ name }) => name)).toEqual(['Róbert']);
	}
	expect(await client.people({ search: 'nobody' })).toEqual([]);
	expect((await client.people({ name: 'Bob' })).map(({ name }) => name)).toEqual(['Róbert']);
	expect((await client.send('/v1/people?name=SPEAKER_00')).status).toBe(404);
	expect((await client.send('/v1/people?cursor=x')).status).toBe(400);
	expect((await client.send('/v1/people?sort=age')).status).toBe(400);
});

test('names that are almost the same are told', async () => {
	await writeArchive(folder, {
		lifelogs: ['anna', 'Änna', 'Ann', 'Hanna', 'Arne', 'Bo'].map((name, nth) =>
			talk(`more${nth}`, `2026-03-1${nth}T09:00:00Z`, [line(name, 'Hello.')]),
		),
	});
	await until(async () => (await client.people()).length === 10);
	const [anna] = await client.people({ name: 'Anna' });
	expect(anna.similar.sort()).toEqual(['Ann', 'Hanna', 'anna', 'Änna']);
	const [bo] = await client.people({ name: 'Bo' });
	expect(bo.similar).toEqual(['Bob']);
});

test('a merge holds in every answer, and a separation takes it back', async () => {
	const answers = async () => [
		await client.get('boat'),
		await client.people(),
		await client.ids({ search: 'Anna' }),
	];
	const before = await answers();
	expect(await client.change({ person: 'Anna M.', name: 'Anna' })).toMatchObject({
		...{ status: 409, error: expect.stringContaining('merge: true') },
	});
	const { people } = await client.change({ person: 'Anna M.', name: 'Anna', merge: true });
	expect(people).toMatchObject([{ name: 'Anna', alsoCalled: ['Anna M.'], lifelogs: 2 }]);
	expect(await client.names('boat')).toEqual(['Anna', 'SPEAKER_00']);
	expect((await client.get('boat')).markdown).toContain('> Anna: The boat leaks.');
	for (const speaker of ['Anna', 'Anna M.']) {
		expect(await client.ids({ speaker })).toEqual(['boat', 'garden']);
		expect(await client.ids({ speaker, search: 'leaks' })).toEqual(['boat']);
	}
	expect(savedPeople()).toEqual([{ name: 'Anna', alsoCalled: ['Anna M.'] }]);
	await client.change({ person: 'Anna', separate: ['Anna M.'] });
	expect(await answers()).toEqual(before);
	expect(savedPeople()).toEqual([]);
	expect(await findingsIn(folder)).toEqual([]);
});

test('a label is found as it is written, and nobody by an unknown name', async () => {
	expect(await client.ids({ speaker: 'SPEAKER_00' })).toEqual(['boat']);
	expect(await client.ids({ speaker: 'Speaker 1' })).toEqual([]);
	expect(await client.ids({ speaker: 'nobody' })).toEqual([]);
	const pages = [await client.send('/v1/lifelogs?speaker=Anna&limit=1')];
	await client.change({ person: 'Anna M.', name: 'Anna', merge: true });
	pages.push(await client.send('/v1/lifelogs?speaker=Anna&limit=1'));
	const { nextCursor } = pages[1].body.meta.lifelogs;
	pages.push(await client.send(`/v1/lifelogs?cursor=${nextCursor}`));
	expect(pages.map(({ body }) => body.data.lifelogs[0].id)).toEqual(['garden', 'boat', 'garden']);
	expect(pages[2].body.meta.lifelogs.nextCursor).toBeUndefined();
});

test("a search for a person finds what the person says, also by an old name, and shows one of the person's lines", async () => {
	await client.change({ person: 'Bob', name: 'Robert Miller' });
	for (const search of ['Bob', 'robert', 'miller', '"robert miller"', 'Bob knows', 'robert -']) {
		expect(await client.ids({ search })).toEqual(['garden']);
		const { lifelogs } = JSON.parse(await client.call('search_lifelogs', { query: search }));
		expect(lifelogs[0].snippet).toBe('Robert Miller: Anna knows.');
		const { body } = await client.send(`/web/search?q=${encodeURIComponent(search)}`);
		expect(body.results[0].snippet).toBe('Robert Miller: Anna knows.');
	}
	// What else is searched for is elsewhere in the lifelog.
	const { lifelogs } = JSON.parse(await client.call('search_lifelogs', { query: 'Bob dry' }));
	expect(lifelogs[0].snippet).toContain('Anna: The garden is dry.');
	expect(await client.ids({ search: 'robert leaks' })).toEqual([]);
	const part = await client.send('/web/search?speaker=MILL');
	expect(part.body.results.map(({ id }: { id: string }) => id)).toEqual(['garden']);
	expect((await client.send('/web/search?speaker=bob')).body.results).toEqual([]);
});

test("MCP lists people, and a person's lifelogs, newest first", async () => {
	await client.change({ person: 'Anna M.', name: 'Anna', merge: true });
	const { people } = JSON.parse(await client.call('list_people', { search: 'anna' }));
	expect(people).toMatchObject([{ name: 'Anna', alsoCalled: ['Anna M.'], lifelogs: 2 }]);
	const { lifelogs } = JSON.parse(await client.call('list_lifelogs', { speaker: 'Anna M.' }));
	expect(lifelogs.map(({ id }: { id: string }) => id)).toEqual(['boat', 'garden']);
	const day = { speaker: 'Anna', date: '2026-03-03' };
	expect(await client.call('list_lifelogs', day)).toContain('No lifelog of "Anna" starts on');
	expect(await client.call('list_lifelogs', {})).toContain('Give a date or a speaker');
});

test("the wearer's lines without a name have that of the person who is the wearer", async () => {
	const before = await client.people();
	await client.change({ person: 'Sam', isMe: true });
	expect(await client.names('walk')).toEqual(['Sam', null]);
	expect((await client.get('walk')).markdown).toContain('> Sam: A walk');
	expect(await client.people({ name: 'Sam' })).toMatchObject([{ lifelogs: 2, isMe: true }]);
	// Another one takes the place, and every line of that one is the wearer's.
	await client.change({ person: 'Bob', isMe: true });
	expect(savedPeople()).toEqual([{ name: 'Bob', isMe: true }]);
	expect(await client.names('walk')).toEqual(['Bob', null]);
	const { contents } = await client.get('garden');
	expect(contents.map(({ speakerIdentifier }) => speakerIdentifier)).toEqual([
		undefined,
		null,
		'user',
	]);
	await client.change({ person: 'Bob', isMe: false });
	expect(await client.people()).toEqual(before);
});

test('names in a change of a lifelog are those that are served', async () => {
	await client.change({ person: 'Anna M.', name: 'Anna', merge: true });
	expect((await client.edit('boat', { speakers: { 'Anna M.': 'Eva' } })).status).toBe(400);
	await client.edit('boat', { speakers: { Anna: 'Eva', SPEAKER_00: 'Anna M.' } });
	expect(await client.names('boat')).toEqual(['Eva', 'Anna']);
	await client.edit('boat', { speakers: null });
	expect(await client.names('boat')).toEqual(['Anna', 'SPEAKER_00']);
});

test.each([
	...[
		'SPEAKER_00',
		'SPEAKER_00 (2)',
		'speaker_1',
		'spk_0',
		'Speaker 3',
		'S1',
		'A',
		'3',
		'you',
		'UNKNOWN',
		'Speaker\u00a0３',
		'You\u200b',
	].flatMap(
		(label) =>
			[
				[400, { person: label, name: 'Anna' }, 'PATCH /v1/lifelogs/{id}'],
				[400, { person: 'Anna', name: label }, 'wholeRecording'],
				[400, { person: label, isMe: true }, 'label'],
			] as const,
	),
	[400, { person: 'Anna' }, "exactly one of 'name', 'separate' and 'isMe'"],
	[400, { person: 'Anna', name: 'Eva', isMe: true }, 'exactly one'],
	[400, { person: 'Anna', name: null }, 'exactly one'],
	[400, { person: 'Anna', isMe: true, merge: true }, 'merge'],
	[400, { person: 'Anna', name: '' }, 'name'],
	[400, { person: 'Anna', name: ' \u202e ' }, 'empty'],
	[400, { person: 'Anna', name: 'x'.repeat(201) }, '200 characters'],
	[400, { person: 'Anna', name: 'E\u0007va' }, 'control'],
	[400, { person: 'Anna', name: 'E\nva' }, 'control'],
	[400, { person: '', name: 'Eva' }, 'person'],
	[400, { person: 'x'.repeat(201), name: 'Eva' }, '200 characters'],
	[400, { person: 'Anna', names: 'Eva' }, 'additional properties'],
	[400, { person: 'Anna', separate: [] }, 'separate'],
	[400, { person: 'Anna', separate: ['Bob'] }, 'no other name'],
	[404, { person: 'Nobody', name: 'Eva' }, 'GET /v1/people'],
	[404, { person: '__proto__', isMe: true }, 'not found'],
] as const)('%i for %j', async (status, body, message) => {
	const answer = await client.change(body);
	expect(answer).toMatchObject({ status, error: expect.stringContaining(message) });
	expect(() => readFileSync(peopleFile())).toThrow();
});

test('a file that the server cannot use is told, left alone, and used once it is right', async () => {
	const broken = '{"people":[{"name":"Anna","alsoCalled":["A"]}]}';
	writeFileSync(peopleFile(), broken);
	const told = () => server.log.filter((each) => each.includes('people.json'));
	await until(() => told().length > 0);
	expect(told()).toEqual([expect.stringMatching(/people\.json names a person by a label/)]);
	expect(await client.change({ person: 'Anna', name: 'Eva' })).toMatchObject({
		...{ status: 409, error: expect.stringContaining('people.json') },
	});
	expect(readFileSync(peopleFile(), 'utf8')).toBe(broken);
	const problem = async () => (await client.send('/web/status')).body.peopleProblem;
	expect(await problem()).toBe('names a person by a label, such as SPEAKER_00');
	expect(await client.names('garden')).toEqual(['Anna', 'Bob']);
	const later = { later: 1, people: [{ name: 'Eva', alsoCalled: ['Anna'], photo: 'eva.png' }] };
	writeFileSync(peopleFile(), JSON.stringify(later));
	await until(async () => (await client.names('garden'))[0] === 'Eva');
	expect(await problem()).toBeNull();
	await client.change({ person: 'Eva', separate: ['Anna'] });
	const { version, ...file } = JSON.parse(readFileSync(peopleFile(), 'utf8'));
	expect([version, file]).toEqual([1, { later: 1, people: [{ name: 'Eva', photo: 'eva.png' }] }]);
	rmSync(peopleFile());
	await until(async () => (await client.people({ search: 'Eva' })).length === 0);
	expect(told()).toHaveLength(1);
});

test('a file that an editor saved in another encoding is left alone, and a mark at its beginning is none', async () => {
	const file = JSON.stringify({ people: [{ name: 'J\u00fcrgen', alsoCalled: ['Anna'] }] });
	const problem = async () => (await client.send('/web/status')).body.peopleProblem;
	const saved = Buffer.from(file, 'latin1');
	writeFileSync(peopleFile(), saved);
	await until(async () => (await problem()) === "isn't UTF-8: save it so in your editor");
	expect((await client.change({ person: 'Bob', name: 'Bo' })).status).toBe(409);
	expect(readFileSync(peopleFile())).toEqual(saved);
	writeFileSync(peopleFile(), `\ufeff${file}`);
	await until(async () => (await client.names('garden'))[0] === 'J\u00fcrgen');
	expect(await problem()).toBeNull();
});

test('a speaker who is called __proto__ is named as others are', async () => {
	await client.edit('garden', { speakers: { Anna: '__proto__' } });
	expect(await client.names('garden')).toEqual(['__proto__', 'Bob']);
	await client.edit('garden', JSON.parse('{"speakers":{"__proto__":"Eva"}}') as object);
	expect(await client.names('garden')).toEqual(['Eva', 'Bob']);
});

test('another server of the archive sees a change within seconds, and a second one makes none', async () => {
	const index = join(temporaryFolder(), 'index');
	const second = await startLifelogServer(folder, ['--index', index, '--allow-changes']);
	const other = new PeopleClient(second);
	try {
		await client.change({ person: 'Anna', name: 'Eva' });
		await until(async () => (await other.names('garden'))[0] === 'Eva');
		expect(await other.people()).toEqual(await client.people());
		expect((await other.change({ person: 'Eva', name: 'Ida' })).status).toBe(403);
	} finally {
		await second.close();
	}
});

test('a change moves no updatedAt and sends no event', async () => {
	const before = await client.send('/v1/events');
	const { updatedAt } = await client.get('garden');
	await client.change({ person: 'Anna', name: 'Eva' });
	expect((await client.get('garden')).updatedAt).toBe(updatedAt);
	await client.edit('boat', { title: 'Boat' });
	await until(async () => (await client.send('/v1/events')).body.data.events.length > 0);
	const { events } = (await client.send('/v1/events')).body.data;
	expect(before.body.data.events).toEqual([]);
	expect(events.map(({ data }: { data: { id: string } }) => data.id)).toEqual(['boat']);
});

test('names cross: two people exchange theirs', async () => {
	await client.change({ person: 'Anna', name: 'x1' });
	await client.change({ person: 'Bob', name: 'Anna', merge: true });
	expect(await client.names('garden')).toEqual(['Anna', 'Anna']);
	await client.change({ person: 'Anna', separate: ['x1', 'Bob'] });
	expect(await client.names('garden')).toEqual(['Anna', 'Bob']);
	const both = [
		client.change({ person: 'Anna', name: 'Eva' }),
		client.change({ person: 'Bob', name: 'Eva' }),
	];
	expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409]);
});

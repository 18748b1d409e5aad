// 100,000 files, which are 50,000 lifelogs in which 2,000 people speak: they are served completely,
// with the right people. Prints how long things take.
import { writeArchive } from '../../support/archive.mts';
import { line, PeopleClient, talk } from '../people/client.mts';
import { spawnLifelogServer } from '../../support/lifelogServer.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

const LIFELOGS = 50_000;
const PER_DAY = 50;
const PEOPLE = 2_000;

const nameOf = (nth: number) => `Person ${String.fromCharCode(65 + (nth % 26))}${nth % PEOPLE}`;
const startOf = (nth: number) => {
	const day = Math.floor(nth / PER_DAY);
	return new Date(Date.UTC(2023, 0, 1 + day, 8, nth % PER_DAY)).toISOString();
};
const lifelogOf = (nth: number) => {
	const names = [nameOf(nth), nameOf(nth * 7 + 1), nameOf(nth * 13 + 2)];
	return talk(`talk${nth}`, startOf(nth), [
		line('Sam', 'What did we say of the garden?', { speakerIdentifier: 'user' }),
		line('You', 'Of the garden.', { speakerIdentifier: 'user' }),
		...names.map((name) => line(name, 'It needs water.')),
	]);
};

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
	const began = performance.now();
	const result = await work();
	process.stdout.write(`${what}: ${Math.round(performance.now() - began)} ms\n`);
	return result;
}

/** All lifelogs of a server, counted page by page, and the last one found by its title. */
async function expectComplete(server: SpawnedServer): Promise<void> {
	let [found, cursor] = [0, ''];
	do {
		const path = `/v1/lifelogs?limit=100&includeContents=false${cursor}`;
		const { data, meta } = await (await ask(server, path)).json();
		found += data.lifelogs.length;
		const next = meta.lifelogs.nextCursor;
		cursor = next ? `&cursor=${next}` : '';
	} while (cursor !== '');
	expect(found).toBe(LIFELOGS);
	const last = `talk${LIFELOGS - 1}`;
	const { data } = await (await ask(server, `/v1/lifelogs?search=${last}`)).json();
	expect(data.lifelogs[0].id).toBe(last);
	expect(server.log).toEqual([]);
}

const folder = temporaryFolder();
beforeAll(async () => {
	for (let first = 0; first < LIFELOGS; first += PER_DAY) {
		const lifelogs = Array.from({ length: PER_DAY }, (_, nth) => lifelogOf(first + nth));
		await writeArchive(folder, { lifelogs });
	}
});

test('100,000 files are served completely', async () => {
	const server = await timed('index', () => spawnLifelogServer(folder).ready);
	await expectComplete(server);
	await server.close();
});

test('served again from the index, they have their people at once', async () => {
	const server = await startLifelogServer(folder, ['--allow-changes']);
	const client = new PeopleClient(server);
	try {
		await expectComplete(server);
		await timed('the first list', () => client.people());
		await timed('a list again', () => client.people({ sort: 'lifelogs', limit: '100' }));
		const [sam] = await timed(
			'the wearer',
			async () => (await client.change({ person: 'Sam', isMe: true })).people,
		);
		expect(sam).toMatchObject({ lifelogs: LIFELOGS, spokenMs: 2 * 2000 * LIFELOGS });
		await timed('a rename of the wearer', () => client.change({ person: 'Sam', name: 'Samuel' }));
		await timed('the list then', () => client.people());
		const merge = { person: nameOf(1), name: nameOf(2), merge: true };
		await timed('a merge', () => client.change(merge));
		for (let nth = 3; nth < 40; nth += 1) await client.change({ ...merge, person: nameOf(nth) });
		await timed('the list after forty merges', () => client.people());
		await timed('a search for people', () => client.people({ search: 'person b' }));
		const [merged] = await client.people({ name: nameOf(7) });
		expect(merged.alsoCalled).toHaveLength(38);
		const ofPerson = await timed('lifelogs of a person', () => client.list({ speaker: nameOf(7) }));
		expect(ofPerson).toHaveLength(10);
		const words = { includeContents: 'false', limit: '100' };
		await timed('a hundred lifelogs', () => client.list(words));
		await timed('a search for Samuel', () => client.list({ ...words, search: 'Samuel' }));
		await timed('a search for Samuel and water', () =>
			client.list({ ...words, search: 'samuel water' }),
		);
		const named = await timed('a search for a person', () =>
			client.list({ ...words, search: `"${nameOf(7)}"` }),
		);
		expect(named.length).toBeGreaterThan(20);
	} finally {
		await server.close();
	}
});

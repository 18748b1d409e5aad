// 50,000 lifelogs in which 2,000 people speak: right answers, and how long they take.
import { writeArchive } from '../../support/archive.mts';
import { startLifelogServer, temporaryFolder } from '../sources.mts';
import { line, PeopleClient, talk } from './client.mts';

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

test('50,000 lifelogs have their people at once', async () => {
	const folder = temporaryFolder();
	for (let first = 0; first < LIFELOGS; first += PER_DAY) {
		const lifelogs = Array.from({ length: PER_DAY }, (_, nth) => lifelogOf(first + nth));
		await writeArchive(folder, { lifelogs });
	}
	const tell = (what: string, began: number) =>
		process.stdout.write(`people: ${what}: ${Math.round(performance.now() - began)} ms\n`);
	const timed = async <T,>(what: string, work: () => Promise<T>): Promise<T> => {
		const began = performance.now();
		const result = await work();
		tell(what, began);
		return result;
	};
	const server = await timed('index', () => startLifelogServer(folder, ['--allow-changes']));
	const client = new PeopleClient(server);
	try {
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

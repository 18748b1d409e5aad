// People whose names are alike: who they are, in the same order whatever was done before.
import { en, Faker } from '@faker-js/faker';
import { writeArchive } from '../../support/archive.mts';
import { startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { line, PeopleClient, talk } from './client.mts';

const random = new Faker({ locale: en, seed: 20261121 });
const NAMES = ['Anna', 'anne', 'Änni', 'Zoe', 'Tom', '👩‍👩', '👩‍👧'];
const letters = () =>
	random.helpers.multiple(() => random.helpers.arrayElement([...'abé']), { count: 3 });
const all = [
	...new Set([...NAMES, ...random.helpers.multiple(() => letters().join(''), { count: 9 })]),
];

let server: SpawnedServer;
let client: PeopleClient;

beforeAll(async () => {
	const folder = temporaryFolder();
	const lines = all.map((name) => line(name, 'Words.'));
	await writeArchive(folder, { lifelogs: [talk('talk', '2026-03-01T09:00:00Z', lines)] });
	server = await startLifelogServer(folder, ['--allow-changes']);
	client = new PeopleClient(server);
});
afterAll(() => server.close());

/** Letters that are to be put in, taken out or changed to make one text of another. */
function distance(one: string, other: string): number {
	if (one === '' || other === '') return one.length + other.length;
	const [a, b] = [one.slice(1), other.slice(1)];
	if (one[0] === other[0]) return distance(a, b);
	return 1 + Math.min(distance(a, b), distance(one, b), distance(a, other));
}
const plain = (name: string) => name.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

test('names are similar if they are equal but for case, accents and one letter', async () => {
	for (const { name, similar } of await client.people({ limit: '100' })) {
		const isNear = (other: string) => other !== name && distance(plain(name), plain(other)) < 2;
		expect([name, similar]).toEqual([name, all.filter(isNear).sort()]);
	}
});

test('their order is the same after a merge is taken back and made again', async () => {
	await client.change({ person: 'Zoe', name: 'anne', merge: true });
	await client.change({ person: 'Tom', name: 'Änni', merge: true });
	const before = await client.people();
	await client.change({ person: 'anne', separate: ['Zoe'] });
	await client.change({ person: 'Zoe', name: 'anne', merge: true });
	expect(await client.people()).toEqual(before);
});

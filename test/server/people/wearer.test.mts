// Lines of the wearer that were recorded under the label of somebody else.
import type { ContentNode } from '../../../lifelog/api.ts';
import { writeArchive } from '../../support/archive.mts';
import { startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { line, PeopleClient, talk } from './client.mts';

const mine = (speakerName: string | null): ContentNode =>
	line(speakerName, 'Mine.', { speakerIdentifier: 'user' });

let server: SpawnedServer;
let client: PeopleClient;

beforeEach(async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, {
		lifelogs: [
			talk('sam', '2026-03-01T09:00:00Z', [mine('Sam')]),
			talk('nobody', '2026-03-02T09:00:00Z', [mine(null), line(null, 'Theirs.')]),
			talk('label', '2026-03-03T09:00:00Z', [mine('A'), line('A', 'Theirs.'), line('B', 'Too.')]),
		],
	});
	server = await startLifelogServer(folder, ['--allow-changes']);
	client = new PeopleClient(server);
	await client.change({ person: 'Sam', isMe: true });
});
afterEach(() => server.close());

test.each([
	['nobody', '', ['Sam', null]],
	['nobody', 'Sam', ['Sam', null]],
	['label', 'A', ['Sam', 'A', 'B']],
	['label', 'Sam', ['Sam', 'A', 'B']],
])('in %s, the name for %j is put on the words of nobody else', async (id, speaker, recorded) => {
	expect(await client.names(id)).toEqual(recorded);
	expect(await client.edit(id, { speakers: { [speaker]: 'Bo' } })).toEqual({
		status: 400,
		error: expect.stringMatching(/^speakers: .*"Sam".* recorded under one name/),
	});
	expect(await client.names(id)).toEqual(recorded);
});

test('both can be given one name, and others are named', async () => {
	expect(await client.edit('nobody', { speakers: { '': 'Bo', Sam: 'Bo' } })).toEqual({
		status: 200,
	});
	expect(await client.names('nobody')).toEqual(['Bo', 'Bo']);
	await client.edit('nobody', { speakers: null });
	expect(await client.names('nobody')).toEqual(['Sam', null]);
	expect(await client.edit('label', { speakers: { B: 'Bo' } })).toEqual({ status: 200 });
	expect(await client.names('label')).toEqual(['Sam', 'A', 'Bo']);
});

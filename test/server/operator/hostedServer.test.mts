import { Console } from 'node:console';
import { writeArchive } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { ask, startLifelogServer, temporaryFolder } from '../sources.mts';

test('a server that a failed test left running stops no server of another test file', async () => {
	const start = async (id: string) => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs: [lifelogOf(id, '2026-03-01T08:00:00.000Z')] });
		return await startLifelogServer(folder);
	};
	const left = await start('a');
	const own = globalThis.console;
	// As Jest does for each file.
	globalThis.console = new Console(process.stdout, process.stderr);
	try {
		const server = await start('b');
		expect((await ask(server, '/v1/lifelogs/b')).status).toBe(200);
		await server.close();
	} finally {
		globalThis.console = own;
		await left.close();
	}
});

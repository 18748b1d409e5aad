import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeArchive } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { spawnLifelogServer } from '../../support/lifelogServer.mts';

const DAYS = 1_000;
const OF_A_DAY = 50;

test('a folder of 100,000 files is served completely, and again from its index', async () => {
	const folder = mkdtempSync(join(tmpdir(), 'lifelog-soak-'));
	try {
		for (let day = 0; day < DAYS; day += 1) {
			const lifelogs = Array.from({ length: OF_A_DAY }, (_, n) =>
				lifelogOf(`d${day}n${n}`, new Date(Date.UTC(2020, 0, 1 + day, 8, n)).toISOString()),
			);
			await writeArchive(folder, { lifelogs });
		}
		for (const start of ['first', 'second']) {
			const server = await spawnLifelogServer(folder).ready;
			const ask = async (path: string) => {
				const headers = { 'X-API-Key': server.apiKey };
				return (await fetch(server.url + path, { headers })).json();
			};
			let [found, cursor] = [0, ''];
			do {
				const path = `/v1/lifelogs?limit=100&includeContents=false${cursor}`;
				const { data, meta } = await ask(path);
				found += data.lifelogs.length;
				const next = meta.lifelogs.nextCursor;
				cursor = next ? `&cursor=${next}` : '';
			} while (cursor !== '');
			expect([start, found]).toEqual([start, DAYS * OF_A_DAY]);
			const { data } = await ask('/v1/lifelogs?search=d999n49');
			expect(data.lifelogs[0].id).toBe('d999n49');
			expect(server.log).toEqual([]);
			await server.close();
		}
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});

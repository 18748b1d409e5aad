// Clients of the service that others wrote, with the server in its place.
import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import {
	archiveSandbox,
	startLifelogServer,
	temporaryFolder,
	type SpawnedServer,
} from '../sources.mts';

const NOW = '2026-03-20T20:00:00Z';
const DAY = '2026-03-19';

let sandbox: TestSandbox;
let server: SpawnedServer;
/** All lifelogs: as many as fill their last page of ten. */
let ids: string[];

beforeAll(async () => {
	sandbox = await startSandbox({ now: NOW, days: 1 });
	await sandbox.control.reset({ now: NOW, lifelogs: 60, days: 3 });
	ids = (await sandbox.control.lifelogs()).map(({ id }) => id);
	const folder = temporaryFolder();
	await archiveSandbox(sandbox, folder);
	server = await startLifelogServer(folder);
});
afterAll(async () => {
	await sandbox.close();
	await server.close();
});

describe("Limitless's own example in TypeScript", () => {
	interface Listed {
		id: string;
		markdown?: string | null;
		startTime: string;
	}

	interface Wanted {
		/** How many in all; null for all there are. */
		limit?: number | null;
		date?: string;
		timezone?: string;
		direction?: 'asc' | 'desc';
	}

	/**
	 * What it does, in words of our own: pages of ten or of fewer when fewer are wanted, each asked for
	 * with all parameters and the cursor of the one before, until there are enough, there is no cursor,
	 * or a page is short. It never names `includeContents`.
	 */
	async function readAsExampleDoes(
		{ url, apiKey }: Pick<SpawnedServer, 'url' | 'apiKey'>,
		{ limit = 50, date, timezone = 'Europe/Berlin', direction = 'asc' }: Wanted,
	): Promise<{ read: Listed[]; requests: number }> {
		const pageSize = Math.min(10, limit ?? 10);
		const read: Listed[] = [];
		const query = new URLSearchParams({ limit: String(pageSize), includeMarkdown: 'true' });
		query.set('includeHeadings', 'false');
		query.set('direction', direction);
		query.set('timezone', timezone);
		if (date) query.set('date', date);
		for (let requests = 1; ; requests += 1) {
			const response = await fetch(`${url}/v1/lifelogs?${query}`, {
				headers: { 'X-API-Key': apiKey },
			});
			if (!response.ok) throw new Error(`HTTP ${response.status}`);
			const { data, meta } = (await response.json()) as {
				data: { lifelogs: Listed[] };
				meta: { lifelogs: { nextCursor?: string } };
			};
			read.push(...data.lifelogs);
			if (limit !== null && read.length >= limit) return { read: read.slice(0, limit), requests };
			const { nextCursor } = meta.lifelogs;
			if (!nextCursor || data.lifelogs.length < pageSize) return { read, requests };
			query.set('cursor', nextCursor);
		}
	}

	test.each<[string, Wanted]>([
		['everything', { limit: null }],
		['everything, the newest first', { limit: null, direction: 'desc' }],
		['fifty, as it does when told nothing', {}],
		['the latest one, as its export does', { limit: 1, direction: 'desc' }],
		['more than there are', { limit: 1000 }],
		['no whole number of pages', { limit: 25 }],
		['a day in its zone', { limit: null, date: DAY, timezone: 'America/New_York' }],
		['a day without anything', { limit: null, date: '2020-01-01' }],
	])('reads the same from the server as from the service: %s', async (_what, wanted) => {
		const given = await readAsExampleDoes(server, wanted);
		expect(given).toEqual(await readAsExampleDoes(sandbox, wanted));
		expect(new Set(given.read.map(({ id }) => id)).size).toBe(given.read.length);
		for (const { markdown } of given.read) expect(markdown).not.toMatch(/^#/m);
	});

	test('reads each lifelog once, and requests no more pages than there are', async () => {
		const { read, requests } = await readAsExampleDoes(server, { limit: null });
		expect(read.map(({ id }) => id)).toEqual(ids);
		expect([ids.length, requests]).toEqual([60, 6]);
	});

	test('reports a wrong key in its own way', async () => {
		const wrong = { ...server, apiKey: 'guess' };
		await expect(readAsExampleDoes(wrong, {})).rejects.toThrow('HTTP 401');
	});
});

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Folder } from '../../../server/archive/folder.mts';
import { ArchiveStore } from '../../../server/index/archiveStore.mts';
import { EmbeddingsEndpoint } from '../../../server/index/embeddings.mts';
import { fuse } from '../../../server/index/fusion.mts';
import { Meaning } from '../../../server/index/meaning.mts';
import { passagesOf } from '../../../server/index/passages.mts';
import { openIndex } from '../../../server/index/database.mts';
import { Rows } from '../../../server/index/rows.mts';
import { writeArchive } from '../../support/archive.mts';
import { startEmbeddings, vectorOf, type Embeddings } from '../../support/embeddings.mts';
import { lifelogOf } from '../../support/invented.mts';
import { spawnLifelogServer } from '../../support/lifelogServer.mts';
import { until } from '../../support/soon.mts';
import { ask, startLifelogServer, temporaryFolder } from '../sources.mts';

let embeddings: Embeddings;
let folder: string;
const closing: (() => unknown)[] = [];

beforeEach(async () => {
	embeddings = await startEmbeddings();
	folder = temporaryFolder();
});
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
	await embeddings.close();
});

const talk = (id: string, words: string, more = {}) =>
	lifelogOf(id, `2026-03-0${1 + (id.charCodeAt(0) % 3)}T08:00:00Z`, {
		title: `Talk ${id}`,
		contents: [{ type: 'blockquote', content: words, speakerName: 'Anna' }],
		...more,
	});
const lifelogs = [
	talk('a', 'The physician looked at my leg, and we go for therapy.'),
	talk('b', 'The ship leaves the port at noon.', { isStarred: true }),
	talk('c', 'We planted beans behind the house.'),
];

const timeBudget = { firstRetry: 10, maxRetry: 40, search: 2000 };

/** An archive that is searched by meaning, until the test ends. */
async function serve(model = 'words', key?: string) {
	const db = openIndex(join(folder, '.lifelog-index.sqlite'));
	const log: string[] = [];
	const rows = new Rows(db);
	const endpoint = new EmbeddingsEndpoint({ url: embeddings.url, model, key });
	const meaning = new Meaning(endpoint, rows, (line) => log.push(line), timeBudget);
	const store = new ArchiveStore(await Folder.open(folder), rows, {
		allowDelete: true,
		onProblem: () => {},
		meaning,
	});
	let isOpen = true;
	const close = async () => {
		if (!isOpen) return;
		isOpen = false;
		await meaning.close();
		db.close();
	};
	closing.push(close);
	await store.refresh();
	await meaning.begin();
	meaning.catchUp();
	const search = async (query: string, filter = {}) =>
		(await store.searchLifelogs(query, filter, 10)).map(({ id }) => id);
	return { store, meaning, rows, log, search, close };
}

const isRead = ({ rows }: { rows: Rows }) => rows.vectors.outdated().length === 0;
const passagesAsked = () => embeddings.asked.flatMap(({ input }) => input).filter(isPassage);
const isPassage = (text: string) => text.startsWith('Talk ');

test('finds lifelogs by meaning if they have other words, and within a filter', async () => {
	await writeArchive(folder, { lifelogs });
	const served = await serve('words', 'an-endpoint-key');
	await until(() => isRead(served));
	expect((await served.search('doctor ankle'))[0]).toBe('a');
	expect((await served.search('boat in the harbour'))[0]).toBe('b');
	expect((await served.search('Talk c'))[0]).toBe('c');
	expect(await served.search('doctor ankle', { isStarred: true })).toEqual(['b']);
	const from = '2026-03-02T00:00:00.000Z';
	expect(await served.search('doctor', { from, before: '2026-03-03T00:00:00.000Z' })).toEqual([
		'a',
	]);
	// What stands in quotation marks has to stand so.
	expect(await served.search('"doctor"')).toEqual([]);
	expect(await served.search('  ')).toEqual([]);
	expect(embeddings.asked.at(-1)).toMatchObject({
		model: 'words',
		authorization: 'Bearer an-endpoint-key',
	});
	expect(served.log).toEqual(['Search by meaning: 3 of 3 lifelogs read']);
	expect(served.meaning.describe()).toBe('full text, and meaning (model words)');
});

test('requests embeddings only for new and changed texts', async () => {
	await writeArchive(folder, { lifelogs });
	const first = await serve();
	await until(() => isRead(first));
	expect(passagesAsked()).toHaveLength(3);
	await first.close();

	const [a, b, c] = lifelogs;
	const changed = { ...c, contents: [{ type: 'paragraph', content: 'A caravan.' }] };
	const starred = { ...a, isStarred: true };
	const updatedAt = '2026-03-05T00:00:00.000Z';
	await writeArchive(folder, {
		lifelogs: [starred, b, changed].map((lifelog) => ({ ...lifelog, updatedAt })),
	});
	embeddings.asked.length = 0;
	const second = await serve();
	await until(() => isRead(second));
	expect(passagesAsked()).toEqual(['Talk c\nA caravan.']);
	expect((await second.search('trailer'))[0]).toBe('c');
	expect((await second.search('doctor'))[0]).toBe('a');

	await writeArchive(folder, { lifelogs: [talk('d', 'My crepes need milk.')] });
	await second.store.refresh();
	await until(() => isRead(second));
	expect((await second.search('pancakes'))[0]).toBe('d');
	await second.store.deleteLifelog('d');
	expect(await second.search('pancakes')).not.toContain('d');
});

test('a lifelog that was archived just before a delete is read, too', async () => {
	await writeArchive(folder, { lifelogs });
	const served = await serve();
	await until(() => isRead(served));
	await writeArchive(folder, { lifelogs: [talk('d', 'My crepes need milk.')] });
	await served.store.deleteLifelog('d');
	await writeArchive(folder, { lifelogs: [talk('e', 'My crepes need milk.')] });
	await served.store.deleteLifelog('a');
	await served.meaning.idle();
	expect(isRead(served)).toBe(true);
	expect((await served.search('pancakes'))[0]).toBe('e');
});

test('other requests are served between two unchanged lifelogs', async () => {
	await writeArchive(folder, { lifelogs });
	const served = await serve();
	await until(() => isRead(served));
	await served.meaning.idle();
	const turns: number[] = [];
	let turn = 0;
	const confirm = served.rows.vectors.confirm.bind(served.rows.vectors);
	served.rows.vectors.confirm = (lifelog) => {
		if (turns.at(-1) !== turn) setImmediate(() => (turn += 1));
		turns.push(turn);
		confirm(lifelog);
	};
	const updatedAt = '2026-03-05T00:00:00.000Z';
	await writeArchive(folder, { lifelogs: lifelogs.map((each) => ({ ...each, updatedAt })) });
	await served.store.refresh();
	await served.meaning.idle();
	expect(turns).toEqual([0, 1, 2]);
	expect(isRead(served)).toBe(true);
});

test('another model or another vector length reads all lifelogs again', async () => {
	await writeArchive(folder, { lifelogs });
	for (const [model, dimensions] of [
		['words', 256],
		['others', 256],
		['others', 64],
	] as const) {
		embeddings.asked.length = 0;
		embeddings.dimensions = dimensions;
		const served = await serve(model);
		await until(() => isRead(served) && served.log.length > 0);
		expect(passagesAsked()).toHaveLength(3);
		expect((await served.search('doctor'))[0]).toBe('a');
		await served.close();
	}
});

test.each<[string, (embeddings: Embeddings) => void, string]>([
	['answers an error', (e) => (e.instead = () => ({ status: 500 })), 'returned 500'],
	['wants another key', (e) => (e.instead = () => ({ status: 401 })), 'returned 401'],
	['has too much to do', (e) => (e.instead = () => ({ status: 429 })), 'returned 429'],
	["didn't return JSON", (e) => (e.instead = () => ({ body: '<html>' })), "didn't return JSON"],
	[
		'answers something else',
		(e) => (e.instead = () => ({ body: { data: 7 } })),
		"didn't return one vector",
	],
	[
		'answers too little',
		(e) => (e.instead = () => ({ body: { data: [] } })),
		"didn't return one vector",
	],
	[
		'leads elsewhere',
		(e) => (e.instead = () => ({ status: 307, headers: { location: 'http://127.0.0.2/' } })),
		'redirects to another address',
	],
	[
		'answers nothing but zeros',
		(e) =>
			(e.instead = ({ input }) => ({
				body: { data: input.map(() => ({ embedding: [0, 0] })) },
			})),
		'returned invalid vectors',
	],
])(
	'an endpoint that %s: full text until it answers, reported once',
	async (_how, spoil, problem) => {
		await writeArchive(folder, { lifelogs });
		spoil(embeddings);
		const served = await serve('words', 'an-endpoint-key');
		expect(served.meaning.describe()).toContain(problem);
		expect(await served.search('physician')).toEqual(['a']);
		expect(await served.search('doctor')).toEqual([]);
		const { length } = embeddings.asked;
		await until(() => embeddings.asked.length > length + 1);
		expect(served.log).toEqual([expect.stringContaining(problem)]);
		expect(served.log.join()).not.toMatch(/an-endpoint-key|physician|doctor/);
		embeddings.instead = undefined;
		await until(() => isRead(served));
		expect((await served.search('doctor'))[0]).toBe('a');
		expect(served.log[1]).toBe('The embeddings endpoint works again');
	},
);

test("vectors of another length aren't stored", async () => {
	await writeArchive(folder, { lifelogs });
	const served = await serve();
	await until(() => isRead(served));
	embeddings.dimensions = 100;
	await writeArchive(folder, { lifelogs: [...lifelogs, talk('d', 'My crepes need milk.')] });
	await served.store.refresh();
	await until(() => served.log.length > 1);
	expect(served.log[1]).toContain('returned vectors of 100 dimensions instead of 256');
	expect(await served.search('physician')).toEqual(['a']);
	embeddings.dimensions = 256;
	await until(() => isRead(served));
	expect((await served.search('pancakes'))[0]).toBe('d');
});

test('a text that is refused is left out, and the others are read', async () => {
	await writeArchive(folder, { lifelogs });
	embeddings.instead = ({ input }) =>
		input.some((text) => text.includes('ship')) ? { status: 400 } : {};
	const served = await serve();
	await until(() => isRead(served));
	expect((await served.search('doctor'))[0]).toBe('a');
	expect(await served.search('boat')).not.toContain('b');
	expect(await served.search('ship')).toContain('b');
	expect(served.log.at(-1)).toBe(
		'Search by meaning: 3 of 3 lifelogs read; 1 passages were refused, and are left out',
	);
});

test("a text that always makes the endpoint fail is left out, and doesn't delay the others", async () => {
	await writeArchive(folder, { lifelogs });
	embeddings.instead = ({ input }) =>
		input.some((text) => text.includes('ship')) ? { status: 500 } : {};
	const served = await serve();
	await until(() => isRead(served));
	expect((await served.search('doctor'))[0]).toBe('a');
	expect(await served.search('ship')).toContain('b');
	expect(served.log).toContain(
		'Search by meaning: 3 of 3 lifelogs read; 1 passages were refused, and are left out',
	);
});

test('no text is lost if the endpoint fails temporarily', async () => {
	await writeArchive(folder, { lifelogs });
	const failsUntil = performance.now() + 500;
	embeddings.instead = () => (performance.now() < failsUntil ? { status: 500 } : {});
	const served = await serve();
	await until(() => isRead(served));
	expect((await served.search('boat'))[0]).toBe('b');
});

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])(
	'no text is lost if the endpoint refuses everything %i times',
	async (times) => {
		await writeArchive(folder, { lifelogs });
		const served = await serve();
		await until(() => isRead(served));
		await served.meaning.idle();
		let left = times;
		embeddings.instead = () => ((left -= 1) >= 0 ? { status: 400 } : {});
		await writeArchive(folder, {
			lifelogs: [talk('d', 'My crepes need milk.'), talk('e', 'The door is closed.')],
		});
		await served.store.refresh();
		await served.meaning.idle();
		expect(isRead(served)).toBe(true);
		expect(served.log.at(-1)).toBe('Search by meaning: 2 of 2 lifelogs read');
		expect((await served.search('pancakes'))[0]).toBe('d');
	},
);

test('retries a failed endpoint even if the clock was set back', async () => {
	await writeArchive(folder, { lifelogs });
	const served = await serve();
	await until(() => isRead(served));
	embeddings.instead = () => ({ status: 500 });
	expect(await served.search('boat')).toEqual([]);
	embeddings.instead = undefined;
	const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 86_400_000);
	await sleep(timeBudget.maxRetry);
	expect((await served.search('boat'))[0]).toBe('b');
	clock.mockRestore();
});

test("an endless answer isn't read to its end", async () => {
	await writeArchive(folder, { lifelogs });
	embeddings.instead = () => ({ body: ' '.repeat(65 * 2 ** 20) });
	const served = await serve();
	await until(() => /returned more than 64 MiB/.test(served.meaning.describe()));
	expect(await served.search('ship')).toContain('b');
});

test('the server waits before a retry even if the endpoint allows one immediately', async () => {
	await writeArchive(folder, { lifelogs });
	embeddings.instead = () => ({ status: 503, headers: { 'retry-after': '0' } });
	const began = performance.now();
	await serve();
	await sleep(400);
	const max = 10 + (performance.now() - began) / timeBudget.firstRetry;
	expect(embeddings.asked.length).toBeLessThan(max);
});

test("an endpoint that can't be reached doesn't delay a search", async () => {
	await writeArchive(folder, { lifelogs });
	const { url } = embeddings;
	await embeddings.close();
	const served = await serve();
	expect(served.meaning.describe()).toContain('cannot be reached (ECONNREFUSED)');
	expect(await served.search('physician')).toEqual(['a']);
	expect(url).toContain('127.0.0.1');
	await served.close();
	embeddings = await startEmbeddings();
});

test('a full disk stops only the embeddings, and they continue when there is room', async () => {
	await writeArchive(folder, { lifelogs: lifelogs.slice(0, 1) });
	const served = await serve();
	await until(() => isRead(served));
	const put = served.rows.vectors.put.bind(served.rows.vectors);
	served.rows.vectors.put = () => {
		throw new Error('database or disk is full');
	};
	await writeArchive(folder, { lifelogs });
	await served.store.refresh();
	await until(() => served.log.some((line) => line.includes('was interrupted')));
	expect((await served.search('doctor'))[0]).toBe('a');
	served.rows.vectors.put = put;
	served.meaning.catchUp();
	await until(() => isRead(served));
	expect((await served.search('boat'))[0]).toBe('b');
});

test("an index that can't be read or written stops the embeddings, but not the server", async () => {
	await writeArchive(folder, { lifelogs: lifelogs.slice(0, 1) });
	const served = await serve();
	await until(() => isRead(served));
	await served.meaning.idle();
	const { vectors } = served.rows;
	const { put, use } = vectors;
	vectors.put = vectors.use = () => {
		throw new Error('disk I/O error');
	};
	await writeArchive(folder, { lifelogs });
	await served.store.refresh();
	await served.meaning.idle();
	expect(served.log.at(-1)).toBe('Search by meaning was interrupted: disk I/O error');
	expect(await served.search('physician')).toEqual(['a']);
	Object.assign(vectors, { put, use });
	expect((await served.search('doctor'))[0]).toBe('a');
	served.meaning.catchUp();
	await served.meaning.idle();
	expect((await served.search('boat'))[0]).toBe('b');
});

test('a search among many passages finds almost the same results as an exact comparison', async () => {
	const db = openIndex(join(folder, 'index'));
	closing.push(() => db.close());
	const { vectors } = new Rows(db);
	vectors.use('words', 256);
	const random = (nth: number) => Float32Array.from(vectorOf(`w${nth} w${nth % 50}`, 256));
	const put = 'INSERT INTO document (id, time, starred) VALUES (?, ?, 0)';
	const all = Array.from({ length: 3000 }, (_, nth) => random(nth));
	db.exec('BEGIN');
	for (const [nth, vector] of all.entries()) {
		const document = db.run(put, `n${nth}`, '2026-03-01T00:00:00.000Z');
		vectors.put({ id: `n${nth}`, document }, 'hash', [vector]);
	}
	db.exec('COMMIT');
	const product = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, n) => sum + x * b[n], 0);
	let found = 0;
	for (let nth = 0; nth < 20; nth += 1) {
		const query = random(10_000 + nth);
		const exact = all
			.map((vector, n) => [`n${n}`, product(vector, query) / Math.sqrt(product(vector, vector))])
			.sort((a, b) => Number(b[1]) - Number(a[1]))
			.slice(0, 10)
			.map(([id]) => id);
		const given = vectors.nearest(query, {}, 10);
		found += exact.filter((id) => given.includes(String(id))).length;
	}
	expect(found / 200).toBeGreaterThan(0.97);
});

test('passages are made of whole lines, are not too long, and contain each line', () => {
	const line = (n: number) => ({
		type: 'blockquote',
		content: `Line ${n} ${'and so on '.repeat(n % 30)}`.trim(),
		speakerName: 'Anna',
	});
	const contents = [
		{ type: 'heading1', content: 'The day' },
		...Array.from({ length: 40 }, (_, n) => line(n)),
		{ type: 'heading2', content: 'Evening', children: [line(41)] },
		{ type: 'paragraph', content: 'x'.repeat(4000) },
		{ type: 'paragraph', content: '\ud800 alone' },
		{ type: 'paragraph', content: `y${'😀'.repeat(1000)}` },
	];
	const passages = passagesOf({ title: 'The day', contents });
	for (const passage of passages) {
		expect(passage.startsWith('The day\n')).toBe(true);
		expect(passage.length).toBeLessThan(1700);
		expect(passage.isWellFormed()).toBe(true);
	}
	for (let n = 0; n < 42; n += 1) {
		if (n === 40) continue;
		const { content } = line(n);
		expect(passages.some((passage) => passage.split('\n').includes(`Anna: ${content}`))).toBe(true);
	}
	expect(passages.join('').match(/x/g)).toHaveLength(4000);
	expect(passages.some((passage) => passage.includes('Evening'))).toBe(true);
	expect(passagesOf({ title: 'Alone', contents: [] })).toEqual(['Alone']);
	expect(passagesOf({ title: '', contents: [] })).toEqual([]);
	expect(passagesOf({ title: `y${'😀'.repeat(1000)}`, contents: [] })[0].isWellFormed()).toBe(true);
});

test('hybrid search (RRF) combines two rankings', () => {
	expect(
		fuse([
			['a', 'b', 'c'],
			['c', 'd'],
		]),
	).toEqual(['c', 'a', 'b', 'd']);
	expect(fuse([[], ['x', 'y']])).toEqual(['x', 'y']);
	expect(fuse([])).toEqual([]);
});

describe('the command', () => {
	test('searches by meaning on the route and over MCP alike, and says so', async () => {
		await writeArchive(folder, { lifelogs });
		const args = ['--embeddings-url', `${embeddings.url}/`, '--embeddings-model', 'words'];
		const server = await startLifelogServer(folder, args);
		closing.push(server.close);
		await until(() => server.log.length > 0);
		const listed = await (await ask(server, '/v1/lifelogs?search=doctor')).json();
		const ids = listed.data.lifelogs.map(({ id }: { id: string }) => id);
		expect(ids[0]).toBe('a');
		const call = { name: 'search_lifelogs', arguments: { query: 'doctor' } };
		const response = await ask(server, '/mcp', {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
			},
			body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
		});
		const { result } = await response.json();
		const { lifelogs: found } = JSON.parse(result.content[0].text);
		expect(found.map(({ id }: { id: string }) => id)).toEqual(ids);
		expect(server.log).toEqual(['Search by meaning: 3 of 3 lifelogs read']);
	});

	test("says at the start that search by meaning isn't available, and serves", async () => {
		await writeArchive(folder, { lifelogs });
		embeddings.instead = () => ({ status: 503 });
		const args = ['--embeddings-url', embeddings.url, '--embeddings-model', 'words'];
		const env = { LIFELOG_EMBEDDINGS_KEY: 'an-endpoint-key' };
		const { child, exited } = spawnLifelogServer(folder, args, env, []);
		let told = '';
		child.stdout!.on('data', (piece) => (told += String(piece)));
		child.stderr!.on('data', (piece) => (told += String(piece)));
		await until(() => /Deleting/.test(told));
		child.kill();
		await exited;
		expect(told).toMatch(/Search +only full text: the embeddings endpoint returned 503/);
		expect(told).not.toContain('an-endpoint-key');
	});

	test.each([
		[['--embeddings-url', 'http://127.0.0.1:1/v1'], 'together'],
		[['--embeddings-url', 'ftp://x/v1', '--embeddings-model', 'm'], 'must be an address like'],
		[['--embeddings-url', 'http://me:pw@h/v1', '--embeddings-model', 'm'], 'must be an address'],
		[['--embeddings-url', 'http://example.com/v1', '--embeddings-model', 'm'], 'with https'],
		[['--embeddings-url', 'http://10.evil.example/v1', '--embeddings-model', 'm'], 'with https'],
	])('%j is refused with a clear message', async (args, message) => {
		await expect(startLifelogServer(folder, args)).rejects.toThrow(message);
		rmSync(folder, { recursive: true, force: true });
	});
});

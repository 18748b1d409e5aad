// Words that are replaced in many lifelogs, while others are read.
import { setTimeout as sleep } from 'node:timers/promises';
import { writeArchive } from '../../support/archive.mts';
import { findingsIn } from '../../support/findings.mts';
import { until } from '../../support/soon.mts';
import { line, linesOf, talk } from '../people/client.mts';
import { startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { WordsClient } from './client.mts';

const MANY = 1000;
const at = (startOffsetMs: number) => ({ startOffsetMs, endOffsetMs: startOffsetMs + 900 });

let folder: string;
let server: SpawnedServer;
let client: WordsClient;

beforeEach(async () => {
	folder = temporaryFolder();
	await writeArchive(folder, { lifelogs: [talk('first', '2019-01-01T09:00:00.000Z', [])] });
	server = await startLifelogServer(folder, ['--allow-changes']);
	client = new WordsClient(server);
});
afterEach(() => server.close());

test('a replacement in many lifelogs lets others read meanwhile, and there is one at a time', async () => {
	const lifelogs = Array.from({ length: MANY }, (_, nth) =>
		talk(`many${nth}`, new Date(Date.UTC(2020, 0, 1 + nth)).toISOString(), [
			...Array.from({ length: 50 }, (__, place) => line('Anna', `Line ${place}`, at(place * 1000))),
			line('Anna', 'The quixotic one.', at(90_000)),
		]),
	);
	await writeArchive(folder, { lifelogs });
	await until(async () => (await client.send(`/v1/lifelogs/many${MANY - 1}`)).status === 200);
	const timed = async <T,>(what: string, work: Promise<T>): Promise<T> => {
		const began = performance.now();
		const result = await work;
		const ms = Math.round(performance.now() - began);
		process.stdout.write(`words: ${what} in ${MANY} lifelogs: ${ms} ms\n`);
		return result;
	};
	await timed('a preview', client.preview('quixotic', 'odd'));
	const meanwhile = async (what: string, work: Promise<unknown>): Promise<number> => {
		let isDone = false;
		const ended = timed(what, work).finally(() => (isDone = true));
		let reads = 0;
		while (!isDone) {
			await client.get('many0');
			if (!isDone) reads += 1;
			await sleep(20);
		}
		await ended;
		return reads;
	};
	const both = Promise.all([client.replace('quixotic', 'odd'), client.replace('one', 'two')]);
	expect(await meanwhile('a replacement', both)).toBeGreaterThan(1);
	const made = await both;
	expect(made.map(({ status }) => status).sort()).toEqual([201, 409]);
	const [{ id }] = await client.replacements();
	expect(await meanwhile('taking it back', client.takeBack(id))).toBeGreaterThan(1);
	expect(await client.preview('quixotic', 'odd')).toMatchObject({ lifelogs: MANY, lines: MANY });
});

test('too many lifelogs are counted, and none is changed', async () => {
	const lifelogs = Array.from({ length: 2501 }, (_, nth) =>
		talk(`each${nth}`, new Date(Date.UTC(2024, 0, 1, 0, nth)).toISOString(), [
			line('Anna', 'Omnipresent.', at(0)),
		]),
	);
	await writeArchive(folder, { lifelogs });
	await until(async () => (await client.preview('omnipresent', 'rare')).lifelogs === 2501);
	const { status, error } = await client.replace('omnipresent', 'rare');
	expect([status, error]).toEqual([400, expect.stringContaining('2501 lifelogs')]);
	expect(linesOf(await client.get('each2500'))[0].content).toBe('Omnipresent.');
	expect(await findingsIn(folder)).toEqual([]);
});

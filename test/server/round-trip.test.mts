import type { IDataObject } from 'n8n-workflow';
import { createEngine, loadPackage, type Engine } from '../support/engine.mts';
import { readOgg } from '../support/ogg.mts';
import { startSandbox } from '../support/sandbox.mts';
import { byId, workflowWith } from '../support/workflow.mts';
import { archiveSandbox, startLifelogServer, temporaryFolder } from './sources.mts';

const DAY = '2026-03-19';
const RANGE = [Date.parse(`${DAY}T09:00:00Z`), Date.parse(`${DAY}T11:00:00Z`)] as const;

const closing: (() => Promise<unknown>)[] = [];
/** The same nodes on the same engine, at the service and at its archive. */
let service: Engine;
let archive: Engine;
let lifelogId: IDataObject;
let chatId: IDataObject;

beforeAll(async () => {
	const sandbox = await startSandbox(['--now', '2026-03-20T20:00:00Z', '--days', '2']);
	closing.unshift(sandbox.close);
	await sandbox.control.reset({ now: '2026-03-20T20:00:00Z', days: 3, perDay: 12 });
	const folder = temporaryFolder();
	await archiveSandbox(sandbox, folder, [RANGE]);
	const server = await startLifelogServer(folder);
	closing.unshift(server.close);
	const engineAt = async (baseUrl: string, apiKey: string) => {
		const credentials = { lifelogApi: { apiKey, baseUrl } };
		const engine = await createEngine({ ...loadPackage(), credentials, binaryMode: 'filesystem' });
		closing.unshift(() => engine.close());
		return engine;
	};
	service = await engineAt(sandbox.url, sandbox.apiKey);
	archive = await engineAt(server.url, server.apiKey);
	lifelogId = byId((await sandbox.control.lifelogs())[5].id);
	const own = (await sandbox.control.chats()).filter(({ owner }) => owner === 'self');
	chatId = byId(own[1].id);
});
afterAll(async () => {
	for (const close of closing) await close();
});

/** The packets of Opus in a file. */
const packetsOf = (file: Buffer) =>
	readOgg(file)
		.flatMap(({ packets }) => packets)
		.filter((packet) => !/^Opus(Head|Tags)/.test(packet.toString('latin1', 0, 8)))
		.map((packet) => packet.toString('base64'));

async function run(engine: Engine, node: string, parameters: IDataObject) {
	const result = await engine.runWorkflow(workflowWith(node, parameters));
	expect(result.error).toBeUndefined();
	return Promise.all(
		result.items('Node').map(async (item) => ({
			json: item.json,
			file: item.binary && (await result.binary(item, 'data')).toString('base64'),
		})),
	);
}

test.each<[string, string, () => IDataObject]>([
	['Get Many Lifelogs', 'lifelog', () => ({ operation: 'getAll', returnAll: true })],
	[
		'Search Lifelogs',
		'lifelog',
		() => ({ operation: 'search', query: 'garden OR meeting OR dinner' }),
	],
	['Get Lifelog', 'lifelog', () => ({ operation: 'get', lifelogId })],
	['Get Transcript', 'lifelog', () => ({ operation: 'getTranscript', lifelogId })],
	[
		'Get Daily Summary',
		'lifelog',
		() => ({ operation: 'getDailySummary', day: 'date', date: DAY }),
	],
	[
		'Export Lifelogs',
		'lifelog',
		() => ({
			operation: 'export',
			exportFrom: 'service',
			returnAll: true,
			fileFormats: ['json', 'markdown', 'text'],
		}),
	],
	[
		'Get Many Chats',
		'lifelogChat',
		() => ({ operation: 'getAll', returnAll: true, simplify: false }),
	],
	['Get Chat', 'lifelogChat', () => ({ operation: 'get', chatId, simplify: false })],
])(
	'%s gives the same items from the archive as from the service',
	async (_name, node, parameters) => {
		const expected = await run(service, node, parameters());
		expect(expected.length).toBeGreaterThan(0);
		expect(await run(archive, node, parameters())).toEqual(expected);
	},
);

test('Download Audio gives the same packets', async () => {
	const parameters = {
		source: 'timeRange',
		start: new Date(RANGE[0]).toISOString(),
		end: new Date(RANGE[1]).toISOString(),
	};
	const expected = await run(service, 'lifelogAudio', parameters);
	const given = await run(archive, 'lifelogAudio', parameters);
	expect(given.map(({ json }) => json.fileName)).toEqual(expected.map(({ json }) => json.fileName));
	expect(given.length).toBeGreaterThan(0);
	const packets = given.flatMap(({ file }) => packetsOf(Buffer.from(file!, 'base64')));
	expect(packets).toEqual(expected.flatMap(({ file }) => packetsOf(Buffer.from(file!, 'base64'))));
	expect(packets.length).toBeGreaterThan(10_000);
});

test.each([
	['Delete Lifelog', 'lifelog', () => ({ operation: 'delete', lifelogId })],
	['Delete Chat', 'lifelogChat', () => ({ operation: 'delete', chatId })],
])(
	'%s fails with the sentence of the server, and deletes nothing',
	async (_name, node, parameters) => {
		const { error } = await archive.runWorkflow(workflowWith(node, parameters()));
		expect(JSON.stringify([error?.message, error?.description])).toContain('--allow-delete');
		const get = { ...parameters(), operation: 'get' };
		expect(await run(archive, node, get)).toHaveLength(1);
	},
);

import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import type { Engine, RunResult } from '../../support/engine.mts';
import { areJoined, heardPackets, playedMsOf } from '../../support/heard.mts';
import { liveFor } from '../../support/inventedLife.mts';
import { startLabAt } from '../../support/lab.mts';
import { allReadings, workflowOf, type Reading } from '../../support/readings.mts';
import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { audioOf } from '../../support/serviceAudio.mts';
import { byId, workflowWith } from '../../support/workflow.mts';
import { archiveSandbox, startLifelogServer, temporaryFolder, type Range } from '../sources.mts';

const TODAY = '2026-03-20';
const YESTERDAY = '2026-03-19';
const NOW = `${TODAY}T20:00:00Z`;
const DAYS = 2;
const FILE_MS = 7_200_000;

const closing: (() => Promise<unknown>)[] = [];
let sandbox: TestSandbox;
let lifelogs: Lifelog[];
/** The same nodes on the same engine, at the service and at its archive. */
let service: Engine;
let archive: Engine;
let lifelogId: IDataObject;
let chatId: IDataObject;

beforeAll(async () => {
	const kept = { binaryMode: 'filesystem' } as const;
	const atService = await startLabAt(await startSandbox({ now: NOW, days: 1 }), kept);
	closing.unshift(atService.close);
	({ service: sandbox, engine: service } = atService);
	lifelogs = await liveFor(DAYS, TODAY, sandbox.control, NOW);
	const folder = temporaryFolder();
	// As Full archive asks for it, and the rest of the last night.
	const ranges = Array.from({ length: 12 * DAYS + 1 }, (_, index): Range => {
		const startMs = Date.parse(TODAY) + (index - 12 * DAYS) * FILE_MS;
		return [startMs, startMs + FILE_MS];
	});
	await archiveSandbox(sandbox, folder, ranges);
	const atArchive = await startLabAt(await startLifelogServer(folder), kept);
	closing.unshift(atArchive.close);
	archive = atArchive.engine;
	lifelogId = byId(lifelogs[5].id);
	const own = (await sandbox.control.chats()).filter(({ owner }) => owner === 'self');
	chatId = byId(own[1].id);
});
afterAll(async () => {
	for (const close of closing) await close();
});

async function run(engine: Engine, node: string, parameters: IDataObject) {
	const result = await engine.runWorkflow(workflowWith(node, parameters));
	expect(result.error).toBeUndefined();
	return result.items('Node');
}

describe('with every value of every parameter', () => {
	const talkId = `${YESTERDAY}_aé~b`;
	const readings = allReadings({
		lifelogId: talkId,
		chatId: 'the-chat',
		query: 'about OR plan OR garden OR twins',
		date: YESTERDAY,
		// A lifelog that two files of audio share lies in it.
		start: `${YESTERDAY}T17:00:00Z`,
		end: `${YESTERDAY}T18:30:00Z`,
		limit: 7,
		binaryPropertyName: 'file',
		timezone: 'Asia/Kathmandu',
		globalPromptId: 'pR7dailyRecap4xQ9mZ2',
		maxCharacters: 300,
		maxLifelogs: 5,
		maxWait: 60,
		fromOffsetMs: 20_000,
		speakers: 'you',
		chunkMinutes: 50,
		padding: 45,
	});
	const operations = [...new Set(readings.map(({ node, operation }) => `${node}.${operation}`))];
	const shown = ({ json, binary = {}, pairedItem }: INodeExecutionData) => ({
		// The bytes around the packets are others: a range is cut out of the archive's files.
		json: json.missingRanges ? { ...json, fileSize: 0, sha256: '' } : json,
		pairedItem,
		files: Object.entries(binary).map(([property, { fileName }]) => ({ property, fileName })),
	});

	/** What all readings of an operation give, at the service and at its archive. */
	async function readAll(wanted: Reading[]): Promise<[RunResult, RunResult]> {
		// What an item holds that comes from a list: without contents.
		const talk = lifelogs.find(({ id }) => id === talkId)!;
		const json = { ...talk, contents: [] } as unknown as IDataObject;
		const credentials = { lifelogApi: { id: '1', name: 'Lifelog API' } };
		const workflow = workflowOf(wanted, credentials, json);
		for (const { parameters } of workflow.nodes) {
			if (parameters.chatId) Object.assign(parameters, { chatId });
		}
		const run = async (engine: Engine) => {
			const result = await engine.runWorkflow(workflow, { input: [{ json }] });
			expect(result.error).toBeUndefined();
			return result;
		};
		return [await run(service), await run(archive)];
	}

	const gives = async (operation: string) => {
		// The days that are served ended long ago, and audio that is not there is an error.
		const isOfNow = /\bsource=day\b|\bday\b/;
		const wanted = readings.filter(
			({ name }) => name.startsWith(`${operation} `) && !isOfNow.test(name),
		);
		const [expected, given] = await readAll(wanted);
		const audio = audioOf(sandbox, lifelogs);
		for (const { name } of wanted) {
			const [right, items] = [expected.items(name), given.items(name)];
			// In a period there need not be any.
			const isInPeriod = /period=|^lifelog\.search (start|end|date)\b/.test(name);
			if (!isInPeriod) expect([name, right.length > 0]).toEqual([name, true]);
			// Of which prompt a chat is, an archive does not say (docs/reference/server.md).
			const isUnknown = name === 'lifelogChat.getMany filters.globalPromptId';
			expect([name, items.map(shown)]).toEqual([name, isUnknown ? [] : right.map(shown)]);
			if (operation !== 'lifelogAudio.download') continue;
			for (const item of items.filter(({ binary }) => binary)) {
				const file = await given.binary(item, Object.keys(item.binary!)[0]);
				const { startMs, endMs } = item.json as { startMs: number; endMs: number };
				expect(playedMsOf(file)).toBeCloseTo(audio.recordedMs(startMs, endMs), 1);
				const parts = await audio.packetsOf(startMs, endMs);
				expect([name, areJoined(heardPackets(file), parts)]).toEqual([name, true]);
			}
		}
	};

	test.each(operations)('%s returns the same items', gives);
});

test.each([
	['Delete Lifelog', 'lifelog', 'lifelogId', () => lifelogId],
	['Delete Chat', 'lifelogChat', 'chatId', () => chatId],
])(
	"%s fails with the server's message, and deletes nothing",
	async (_name, node, parameter, id) => {
		const byDelete = { operation: 'delete', [`${parameter}ToDelete`]: id() };
		const { error } = await archive.runWorkflow(workflowWith(node, byDelete));
		expect(JSON.stringify([error?.message, error?.description])).toContain('--allow-delete');
		expect(await run(archive, node, { operation: 'get', [parameter]: id() })).toHaveLength(1);
	},
);

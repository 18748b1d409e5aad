import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import type { Engine } from '../../support/engine.mts';
import { pause } from '../../support/skipPauses.mts';
import { byId, workflowWith } from '../../support/workflow.mts';
import {
	AUDIO,
	CHANGE,
	chat as chatOf,
	CHATS,
	lifelog as lifelogOf,
	LIFELOGS,
	MADE,
	RECORDING,
	type World,
} from './service.mts';

/** What an operation gave, in a form that can be compared. */
export interface Given {
	/** The right answer looks like `Operation.right`. */
	data?: unknown;
	/** What a trigger that failed gives at the next poll, when all is well again. */
	late?: unknown;
	/** What was thrown, or what the execution failed with. */
	error?: { message: string; description?: string | null; stack?: string };
	/** Everything that came out, to search it. */
	everything: unknown;
}

/** Something a node of the package can be asked to do. */
export interface Operation {
	/** Its row in the table. */
	title: string;
	/** Node and operation, or method, as the package names them; behind a colon the way of it. */
	name: `${string}.${string}`;
	/** What it gives when nothing goes wrong. */
	right: unknown;
	/** Makes several requests. */
	isLong?: boolean;
	/** Reads what it gives page by page. */
	isList?: boolean;
	/** Whether it reads the headings of Markdown. */
	isOfHeadings?: boolean;
	/** A poll of the trigger. */
	isPoll?: boolean;
	/** Has no option Max Rate Limit Wait, because it sends a single request. */
	hasDefaultWait?: boolean;
	/** Gives bytes, not JSON. */
	isAudio?: boolean;
	/** The entry it deletes. */
	deletes?: string;
	/** The methods it sends, if it neither only reads nor deletes. */
	methods?: string[];
	run: (engine: Engine, maxWait: number, world: World) => Promise<Given>;
}

/** The file of the input, for the operation that sends one. */
export const FILE = {
	data: { data: AUDIO.toString('base64'), mimeType: 'audio/ogg', fileName: 'morning.ogg' },
};

const SINGLE_REQUESTS = ['get', 'getTranscript', 'delete', 'create', 'update'];

/** An operation of an action node, with parameters that all of its requests are made with. */
function action(
	title: string,
	node: string,
	operation: string,
	parameters: IDataObject,
	more: Omit<Operation, 'title' | 'name' | 'run'>,
): Operation {
	return {
		title,
		name: `${node}.${operation}`,
		hasDefaultWait: SINGLE_REQUESTS.includes(operation.split(':')[0]),
		...more,
		async run(engine, maxWait) {
			const options = { ...(parameters.options as IDataObject), maxWait };
			const [value] = operation.split(':');
			const workflow = workflowWith(node, { operation: value, ...parameters, options });
			const result = await engine.runWorkflow(workflow, { input: [{ json: {}, binary: FILE }] });
			const items = result.items('Node');
			const data = await Promise.all(
				items.map(async (item) => {
					if (!item.binary) return item.json;
					const bytes = await result.binary(item, 'data');
					if (!more.isAudio) return { path: item.json.path, text: String(bytes) };
					return { part: item.json.part, isWhole: bytes.equals(AUDIO) };
				}),
			);
			return { error: result.error, data, everything: { ...result, hints: result.hints('Node') } };
		},
	};
}

/** A list of the editor, from which an entry is chosen. */
function editorList(
	title: string,
	node: string,
	method: string,
	right: unknown,
	parameters: IDataObject = { operation: 'get' },
): Operation {
	return {
		title,
		name: `${node}.${method}`,
		right,
		async run(engine) {
			const [, chosen] = workflowWith(node, parameters).nodes as [INode, INode];
			try {
				const list = await engine.loadOptions(chosen, method);
				return { data: list.results.map(({ value }) => value), everything: list };
			} catch (error) {
				return { error: error as Error, everything: error };
			}
		},
	};
}

/** The longest wait for the rate limit, in ms, that is worth a second poll. */
const MAX_PAUSE_MS = 2000;

const RIGHT_EVENTS: Record<string, string> = {
	scheduledChatCreated: 'chat-d',
	lifelogUpdated: 'lifelog-c',
};

/** A poll of the trigger after something has happened; what it reports, or reports too late. */
function trigger(title: string, event: string, happen: (world: World) => void): Operation {
	const [, node] = workflowWith('lifelogTrigger', { event, output: 'raw' }).nodes;
	const workflow = { nodes: [node], connections: {} };
	return {
		title,
		name: `lifelogTrigger.${event}`,
		right: [RIGHT_EVENTS[event] ?? 'lifelog-d'],
		isLong: true,
		isList: true,
		isPoll: true,
		async run(engine, _maxWait, world) {
			const staticData: IDataObject = {};
			const poll = async () => await engine.runPoll(workflow, { staticData });
			const { play } = world;
			world.play = undefined;
			await poll();
			happen(world);
			world.seen.length = 0;
			world.play = play;
			try {
				const result = await poll();
				return { data: idsOf(result.items), everything: result };
			} catch (error) {
				const { retryAfterMs = 0 } =
					(error as { failure?: { retryAfterMs?: number } }).failure ?? {};
				if (play === undefined || retryAfterMs > MAX_PAUSE_MS) {
					return { error: error as Error, everything: error };
				}
				// A timer may fire a little early.
				await pause(retryAfterMs + 10);
				world.play = undefined;
				const late = await poll();
				return { error: error as Error, late: idsOf(late.items), everything: [error, late] };
			}
		},
	};
}

const idsOf = (items: INodeExecutionData[] | null) => items?.map(({ json }) => json.id);

const [lifelog] = LIFELOGS;
/** What a list gives: contents were not asked for, and are left out. */
const LISTED = LIFELOGS.map((one) => {
	const listed: Partial<typeof one> = { ...one };
	delete listed.contents;
	return listed;
});
const [chat] = CHATS;
const lifelogId = byId(lifelog.id);
const chatId = byId(chat.id);
const spoken = [
	{ speaker: 'Ann', speakerIdentifier: 'user', text: 'Good morning.' },
	{ speaker: 'Ben', speakerIdentifier: null, text: 'Good morning, Ann.' },
].map((utterance, index) => ({
	lifelogId: lifelog.id,
	index,
	...utterance,
	startTime: '2026-03-02T09:00:00.000Z',
	endTime: '2026-03-02T09:00:05.000Z',
	startOffsetMs: 0,
	endOffsetMs: 5000,
}));

const fileOf = ({ id, startTime }: (typeof LIFELOGS)[number]) => {
	const [, hour] = /T(\d\d)/.exec(startTime)!;
	return {
		path: `lifelogs/2026/03/02/2026-03-02_${hour}h00m00s_${id}.txt`,
		text: 'Ann: Good morning.\nBen: Good morning, Ann.\n',
	};
};

const SUMMARY = {
	date: '2026-03-02',
	timezone: 'UTC',
	lifelogCount: 3,
	totalDurationMs: 5_400_000,
	starredCount: 0,
	speakers: ['Ann', 'Ben'],
	lifelogs: [...LIFELOGS].reverse().map(({ id, title, startTime, endTime, isStarred }) => ({
		id,
		title,
		startTime,
		endTime,
		isStarred,
	})),
	markdown: `# Daily summary: Monday, 2 March 2026

3 lifelogs · 1 h 30 min in all · UTC

**Who took part:** Ann, Ben

## What happened

- 09:00 · 30 min · **Title of lifelog-a**
- 10:00 · 30 min · **Title of lifelog-b**
- 11:00 · 30 min · **Title of lifelog-c**
`,
};

const AUDIO_OF_TWO_CHUNKS = [
	{ part: 1, isWhole: true },
	{ part: 2, isWhole: true },
];

const create = (world: World) =>
	void world.lifelogs.unshift(lifelogOf('lifelog-d', '2026-03-02T11:00:00.000Z'));

/** Every operation of every node, in the order of the table. */
export const OPERATIONS: Operation[] = [
	action(
		'Get Many Lifelogs',
		'lifelog',
		'getMany',
		{ returnAll: true, output: 'raw' },
		{ right: LISTED, isLong: true, isList: true },
	),
	action(
		'Search Lifelogs',
		'lifelog',
		'search',
		{ query: 'garden', output: 'raw' },
		{ right: LISTED },
	),
	action('Get Lifelog', 'lifelog', 'get', { lifelogId, output: 'raw' }, { right: [lifelog] }),
	action(
		'Get Daily Summary',
		'lifelog',
		'getDailySummary',
		{ day: 'date', date: '2026-03-02' },
		{ right: [SUMMARY], isLong: true, isList: true, isOfHeadings: true },
	),
	action('Get Transcript', 'lifelog', 'getTranscript', { lifelogId }, { right: spoken }),
	action(
		'Export Lifelogs',
		'lifelog',
		'export',
		{ exportFrom: 'service', returnAll: true, fileFormats: ['text'] },
		{ right: LIFELOGS.map(fileOf), isLong: true, isList: true },
	),
	action(
		'Export of One Lifelog',
		'lifelog',
		'export:lifelog',
		{ exportFrom: 'lifelog', lifelogId, fileFormats: ['text'] },
		{ right: [fileOf(lifelog)] },
	),
	action(
		'Delete Lifelog',
		'lifelog',
		'delete',
		{ lifelogIdToDelete: lifelogId },
		{ right: [{ deleted: true, id: lifelog.id }], deletes: lifelog.id },
	),
	editorList(
		'List of Lifelogs in the Editor',
		'lifelog',
		'searchLifelogs',
		LIFELOGS.slice(0, 2).map(({ id }) => id),
	),
	action(
		'Get Many Chats',
		'lifelogChat',
		'getMany',
		{ returnAll: true, output: 'raw' },
		{ right: CHATS, isLong: true, isList: true },
	),
	action('Get Chat', 'lifelogChat', 'get', { chatId, output: 'raw' }, { right: [chat] }),
	action(
		'Delete Chat',
		'lifelogChat',
		'delete',
		{ chatIdToDelete: chatId },
		{ right: [{ deleted: true, id: chat.id }], deletes: chat.id },
	),
	editorList(
		'List of Chats in the Editor',
		'lifelogChat',
		'searchChats',
		CHATS.slice(0, 2).map(({ id }) => id),
	),
	action(
		'Download Audio of a Range',
		'lifelogAudio',
		'download',
		{
			source: 'timeRange',
			start: '2026-03-02T09:00',
			end: '2026-03-02T11:00',
			options: { chunkMinutes: 60 },
		},
		{ right: AUDIO_OF_TWO_CHUNKS, isLong: true, isAudio: true },
	),
	action(
		'Download Audio of a Lifelog',
		'lifelogAudio',
		'download:lifelog',
		{ source: 'lifelog', lifelogId },
		{ right: AUDIO_OF_TWO_CHUNKS.slice(0, 1), isLong: true, isAudio: true },
	),
	editorList(
		'List of Lifelogs for Audio in the Editor',
		'lifelogAudio',
		'searchLifelogs',
		LIFELOGS.slice(0, 2).map(({ id }) => id),
	),
	action(
		'Create Lifelog',
		'lifelogServer',
		'create',
		{ startTime: MADE.startTime, transcript: 'WEBVTT', output: 'raw' },
		{ right: [MADE], methods: ['POST'] },
	),
	action(
		'Update Lifelog',
		'lifelogServer',
		'update',
		{ lifelogId, updateFields: CHANGE, output: 'raw' },
		{ right: [{ ...lifelog, ...CHANGE }], methods: ['PATCH'] },
	),
	action(
		'Upload Recording',
		'lifelogServer',
		'upload',
		{ binaryPropertyName: 'data' },
		{ right: [RECORDING], methods: ['POST'] },
	),
	editorList(
		'List of Lifelogs to Change in the Editor',
		'lifelogServer',
		'searchLifelogs',
		LIFELOGS.slice(0, 2).map(({ id }) => id),
		{ operation: 'update' },
	),
	trigger('Trigger: Lifelog Created or Updated', 'lifelogCreatedOrUpdated', create),
	trigger('Trigger: Lifelog Created', 'lifelogCreated', create),
	trigger('Trigger: Lifelog Updated', 'lifelogUpdated', (world) => {
		world.lifelogs[0] = { ...world.lifelogs[0], updatedAt: '2026-03-02T11:59:00.000Z' };
	}),
	trigger('Trigger: Scheduled Chat Created', 'scheduledChatCreated', (world) => {
		world.chats.unshift(chatOf('chat-d', '2026-03-02T11:59:00.000Z'));
	}),
];

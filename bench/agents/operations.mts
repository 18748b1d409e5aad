// How much every operation gives a model, as the node gives it and as a tool.
import type { IDataObject } from 'n8n-workflow';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { byId } from '../../test/support/workflow.mts';
import { charactersOf, type Life } from './life.mts';

const LARGE = 20_000;
const MINUTE_MS = 60_000;
const WORDS =
	'We talked about the garden, the budget and the trip, and what has to be done before Thursday';
const DATE = '2026-03-19';

/** A row of the table: characters on the sandbox, and with lifelogs of 20 KB. */
export interface Row {
	what: string;
	before: [number, number];
	after: [number, number];
}

interface Operation {
	what: string;
	type?: string;
	parameters: (ids: Ids) => IDataObject;
	/** What the node does where nothing is set, and did as a tool. */
	before?: IDataObject;
}

interface Ids {
	lifelogId: IDataObject;
	chatId: IDataObject;
}

const RAW = { output: 'raw' };

const OPERATIONS: Operation[] = [
	{ what: 'Get Many Lifelogs', parameters: () => ({ operation: 'getMany' }), before: RAW },
	{
		what: 'Get Many Lifelogs, 25 with contents',
		parameters: () => ({ operation: 'getMany', limit: 25, options: { includeContents: true } }),
		before: RAW,
	},
	{
		what: 'Search Lifelogs',
		parameters: () => ({ operation: 'search', query: 'garden OR budget OR trip' }),
		before: { ...RAW, limit: 50 },
	},
	{
		what: 'Get Lifelog',
		parameters: ({ lifelogId }) => ({ operation: 'get', lifelogId }),
		before: RAW,
	},
	{
		what: 'Get Transcript',
		parameters: ({ lifelogId }) => ({ operation: 'getTranscript', lifelogId }),
		before: { outputAs: 'utterances' },
	},
	{
		what: 'Get Transcript, Max Characters 8000',
		parameters: ({ lifelogId }) => ({
			operation: 'getTranscript',
			lifelogId,
			options: { maxCharacters: 8000 },
		}),
		before: { outputAs: 'utterances', options: {} },
	},
	{
		what: 'Get Daily Summary',
		parameters: () => ({ operation: 'getDailySummary', day: 'date', date: DATE }),
	},
	{
		what: 'Export Lifelogs, one as Markdown',
		parameters: ({ lifelogId }) => ({ operation: 'export', exportFrom: 'lifelog', lifelogId }),
	},
	{
		what: 'Download Audio',
		type: 'lifelogAudio',
		parameters: ({ lifelogId }) => ({ operation: 'download', lifelogId }),
	},
	{ what: 'Get Many Chats', type: 'lifelogChat', parameters: () => ({ operation: 'getMany' }) },
	{
		what: 'Get Chat',
		type: 'lifelogChat',
		parameters: ({ chatId }) => ({ operation: 'get', chatId }),
	},
	{
		what: 'Delete Chat',
		type: 'lifelogChat',
		parameters: ({ chatId }) => ({ operation: 'delete', chatIdToDelete: chatId }),
	},
	{
		what: 'Delete Lifelog',
		parameters: ({ lifelogId }) => ({ operation: 'delete', lifelogIdToDelete: lifelogId }),
	},
];

/** Measures all operations, first on the life as it is, then with its lifelogs made large. */
export async function measureOperations(life: Life): Promise<Row[]> {
	const short = await measure(life);
	await enlarge(life);
	const long = await measure(life);
	return OPERATIONS.map(({ what }, nth) => ({
		what,
		before: [short[nth].before, long[nth].before],
		after: [short[nth].after, long[nth].after],
	}));
}

async function measure(life: Life): Promise<Array<{ before: number; after: number }>> {
	const lifelogs = await life.sandbox.control.lifelogs();
	const chats = await life.sandbox.control.chats();
	const own = chats.filter(({ owner }) => owner === 'self');
	const figures: Array<{ before: number; after: number }> = [];
	for (const { type = 'lifelog', parameters, before } of OPERATIONS) {
		const ids = { lifelogId: byId(lifelogs.at(-5)!.id), chatId: byId(own.at(-1)!.id) };
		const given = parameters(ids);
		const after = charactersOf(await life.run(type, given));
		figures.push({
			after,
			before: before ? charactersOf(await life.run(type, { ...given, ...before })) : after,
		});
	}
	return figures;
}

/** Gives the 60 newest lifelogs texts of 20 KB. */
async function enlarge({ sandbox: { control } }: Life): Promise<void> {
	for (const { id, startTime, title } of (await control.lifelogs()).slice(-60)) {
		await control.updateLifelog(id, largeTexts(title, Date.parse(startTime)));
	}
}

function largeTexts(title: string, start: number): Partial<Lifelog> {
	const contents: ContentNode[] = [{ type: 'heading1', content: title }];
	const lines = [`# ${title}`];
	for (let nth = 0; lines.join('\n\n').length < LARGE; nth++) {
		if (nth % 20 === 0) {
			const content = `Part ${nth / 20 + 1}`;
			contents.push({ type: 'heading2', content });
			lines.push(`## ${content}`);
		}
		const speakerName = nth % 2 === 0 ? 'You' : 'Anna';
		const content = `${WORDS}, ${nth}.`;
		contents.push({
			type: 'blockquote',
			content,
			speakerName,
			speakerIdentifier: nth % 2 === 0 ? 'user' : null,
			startOffsetMs: (nth * MINUTE_MS) / 10,
			endOffsetMs: ((nth + 1) * MINUTE_MS) / 10,
			startTime: new Date(start + (nth * MINUTE_MS) / 10).toISOString(),
			endTime: new Date(start + ((nth + 1) * MINUTE_MS) / 10).toISOString(),
		});
		lines.push(`> ${speakerName}: ${content}`);
	}
	return { contents, markdown: lines.join('\n\n') };
}

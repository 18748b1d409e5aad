// Questions about the invented life, whose answers are known, and the look-ups that lead to them.
import type { IDataObject } from 'n8n-workflow';
import { type Call, charactersOf, type Life } from './life.mts';

/** What a model may read for one question. */
export const MAX_CHARACTERS = 30_000;

const SEARCH = 'Search lifelogs';
const DAY = 'List the lifelogs of a day';
const TRANSCRIPT = 'Get transcript of lifelog';
const CHATS = 'List the newest chats';

export interface Question {
	question: string;
	/** Stands in what the last tool gave. */
	answer: string;
	/** Calls the tools as a model would; each call after the first goes by what was found before. */
	lookUp: (call: Call) => Promise<unknown>;
}

const search = async (call: Call, query: string) => await call(SEARCH, { query });
const day = async (call: Call, date: string) => await call(DAY, { date });
const chats = async (call: Call) => await call(CHATS, {});

/** Reads the transcript of the lifelog of this title, part by part, among those found. */
async function read(call: Call, found: IDataObject[], title: string): Promise<void> {
	const { id } = found.find((each) => each.title === title)!;
	for (let from: unknown = 0; from !== undefined;) {
		const [part] = await call(TRANSCRIPT, { lifelog_id: id, from_offset_ms: from });
		from = part.nextOffsetMs;
	}
}

const bySearch = (question: string, query: string, answer: string): Question => ({
	question,
	answer,
	lookUp: async (call) => await search(call, query),
});
const byReading = (question: string, query: string, title: string, answer: string): Question => ({
	question,
	answer,
	lookUp: async (call) => await read(call, await search(call, query), title),
});

export const QUESTIONS: Question[] = [
	bySearch('How much is the excess for the trailer?', 'excess trailer', 'three hundred euros'),
	bySearch(
		'What does Aracely need for the zoo trip?',
		'zoo trip rain boots',
		'a packed lunch and rain boots',
	),
	bySearch(
		'What does Aaliyah want to see in Hamburg?',
		'Hamburg old harbour',
		'the botanical garden',
	),
	bySearch(
		'Until when is the train to Hamburg cheap?',
		'train cheaper Hamburg',
		'if we book before Thursday',
	),
	bySearch(
		'What does the class trip cost?',
		'class trip museum costs lunch',
		'260 euros, bus and lunch included',
	),
	bySearch(
		'With what should the talk in Lyon begin?',
		'talk in Lyon begin story',
		'the story of the lost ferry',
	),
	bySearch(
		'When was the call with Nordlicht Logistics?',
		'call Nordlicht Logistics',
		'2026-03-18T11:29',
	),
	byReading(
		'What was prescribed for the left ankle?',
		'left ankle',
		'Talking to Dr. Powlowski about the left ankle',
		'six sessions of physiotherapy',
	),
	byReading(
		'What does the pilot for Meridian Tours cost?',
		'Meridian Tours kick-off Compass',
		'Meridian Tours: kick-off for Compass',
		'a pilot of six weeks for four and a half thousand euros',
	),
	byReading(
		'When do we meet Brandt & Sons again?',
		'invoice export Brandt Sons',
		'Customer call: invoice export at Brandt & Sons',
		'Let us meet again on Wednesday at three',
	),
	byReading(
		'Why was the login flow slow?',
		'why login flow slow',
		'Why is the login flow slow?',
		'the connection was closed after exactly sixty seconds',
	),
	byReading(
		'What is the biggest risk of Compass?',
		'Compass budget review',
		'Compass budget review',
		'the supplier in Bergen, they were late twice',
	),
	byReading(
		'Who was in the Compass budget review beside me?',
		'Compass budget review',
		'Compass budget review',
		'Maurice',
	),
	byReading(
		'What does the Lantern team try next?',
		'retrospective Lantern team',
		'Retrospective of the Lantern team',
		'No meetings before ten',
	),
	byReading(
		'Which bug did Alejandra spend a day with?',
		'quick sync Lantern',
		'Quick sync on Lantern',
		'a bug in the invoice export that only shows on Fridays',
	),
	byReading(
		'What is special about the pancakes?',
		'cooking pancakes together',
		'Cooking pancakes together',
		'with half the sugar',
	),
	{
		question: 'Which conversation of Thursday did I star?',
		answer: '"title":"Why is the report builder slow?","startTime":"2026-03-19T10:26',
		lookUp: async (call) => await day(call, '2026-03-19'),
	},
	{
		question: 'What did we do about the report builder on Thursday?',
		answer: 'I would write the failing test first',
		lookUp: async (call) =>
			await read(call, await day(call, '2026-03-19'), 'Why is the report builder slow?'),
	},
	{
		question: 'What are my action items of today?',
		answer: 'I prescribe six sessions of physiotherapy',
		lookUp: chats,
	},
	{
		question: 'How long have I had no raise, as the chat about next year says?',
		answer: 'I have not had a raise for two years',
		lookUp: chats,
	},
];

/** How one question went. */
export interface Answered {
	question: string;
	/** How the tools were called, in order. */
	tools: string[];
	/** All that they gave together. */
	characters: number;
	/** Whether the answer stands in what the last of them gave. */
	isFound: boolean;
}

/** Has a question looked up. */
export async function lookUp(
	life: Life,
	{ question, answer, lookUp: ask }: Question,
): Promise<Answered> {
	const tools: string[] = [];
	let characters = 0;
	let last = '';
	await ask(async (tool, values) => {
		const items = await life.call(tool, values);
		tools.push(tool);
		characters += charactersOf(items);
		last = JSON.stringify(items);
		return items;
	});
	return { question, tools, characters, isFound: last.includes(answer) };
}

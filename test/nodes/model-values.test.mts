// What a model writes into parameters: understood, or refused with a sentence that it can act on.
import { DateTime } from 'luxon';
import { type IDataObject, type INodeType, NodeHelpers } from 'n8n-workflow';
import { loadPackage } from '../support/engine.mts';
import { useNode } from '../support/useNode.mts';
import { byId, within, workflowWith } from '../support/workflow.mts';

const ZONE = 'Pacific/Auckland';

const { sandbox, run } = useNode('lifelogTool', { days: 3 });

/** Runs a tool; every value is given as a text by an expression, as a model's are. */
async function call(operation: string, values: IDataObject, type = 'lifelogTool') {
	const given = (value: unknown): unknown => {
		if (typeof value === 'string') return `={{ ${JSON.stringify(value)} }}`;
		const fields = Object.entries(value as IDataObject);
		return Object.fromEntries(fields.map(([name, field]) => [name, given(field)]));
	};
	const { id, ...others } = values;
	const entry = type === 'lifelogChatTool' ? 'chatId' : 'lifelogId';
	const name = operation === 'delete' ? `${entry}ToDelete` : entry;
	const locator = id === undefined ? {} : { [name]: byId(given(id)) };
	const parameters = { operation, ...locator, ...(given(others) as IDataObject) };
	return await run(parameters, { type, timezone: ZONE });
}

const anyLifelog = async () => (await sandbox.control.lifelogs())[20];

describe('values that are understood', () => {
	test('numbers, true and false as texts', async () => {
		const options = { includeContents: 'True' };
		const { json } = await call('getMany', { limit: ' 3 ', returnAll: 'false', options });
		expect(json).toHaveLength(3);
		expect(json[0]).toHaveProperty('speakers');
	});

	test.each([
		['today', 0],
		['Yesterday', 1],
	])('%s as a day in the current time zone', async (date, days) => {
		const day = DateTime.now().setZone(ZONE).minus({ days }).toISODate();
		const { requests } = await call('getMany', within({ date }));
		expect(requests[0].query).toMatchObject({ date: day, timezone: ZONE });
		const range = await call('getMany', within({ start: date, end: date }));
		const { start, end } = range.requests[0].query;
		expect([start, end]).toEqual([`${day} 00:00:00`, expect.stringContaining(String(end))]);
		expect(Date.parse(`${end}Z`) - Date.parse(`${start}Z`)).toBeGreaterThan(86_000_000);
		const { json } = await call('getDailySummary', { day: 'Date', date });
		expect(json[0].date).toBe(day);
	});

	test('empty texts as not set', async () => {
		const chosen = within({ start: ' ', end: '', isStarred: '' });
		const options = { direction: '', timezone: '', maxCharacters: '' };
		const { message, json } = await call('search', {
			query: 'dinner OR plans',
			...chosen,
			options,
		});
		expect(message).toBeUndefined();
		expect(json.length).toBeGreaterThan(0);
	});

	test.each(["={{ '' }}", '={{ null }}', '={{ undefined }}', "={{ ' ' }}"])(
		'%s as no Limit',
		async (limit) => {
			for (const type of ['lifelogTool', 'lifelog']) {
				const { error, json } = await run({ operation: 'getMany', limit }, { type });
				expect(error).toBeUndefined();
				expect(json.length).toBeGreaterThan(0);
			}
		},
	);

	test('choices in upper and lower case', async () => {
		const { json } = await call('getMany', { output: 'RAW', options: { direction: 'ASC' } });
		expect(json[0]).toHaveProperty('markdown');
	});
});

test('blanks around the ID of a scheduled prompt are removed', async () => {
	const filters = { globalPromptId: ' 8f2kQ0pXw1Zr5TnB\n' };
	const { requests } = await call('getMany', { filters }, 'lifelogChatTool');
	expect(requests[0].query).toMatchObject({ globalPromptId: '8f2kQ0pXw1Zr5TnB' });
});

describe('values that are refused before any request, with what to do', () => {
	test.each<[string, string, IDataObject, RegExp]>([
		['all as a limit', 'getMany', { limit: 'all' }, /^'Limit' must be .*Enter a number such as 20/],
		['null as a limit', 'search', { query: 'x', limit: 'null' }, /^'Limit' must be a whole number/],
		[
			'null as a date',
			'getMany',
			within({ date: 'null' }),
			/^'Date' is not .* "null"\. .*type 2026-11-25\. .*today, yesterday/,
		],
		[
			'a day in words',
			'getMany',
			within({ start: 'last Monday' }),
			/^'Start' is not .*2026-11-25.* leave it empty/,
		],
		[
			'all as a star',
			'getMany',
			{ filters: { isStarred: 'all' } },
			/^'Is Starred' must be true or false, not "all"\. .*Empty text counts as not set/,
		],
		[
			'all as fields',
			'getMany',
			{ output: 'selectedFields', fields: 'all' },
			/^'Fields' must be id, title, .*not "all"/,
		],
		[
			'another output',
			'get',
			{ id: 'abc1', output: 'short' },
			/^'Output' must be simplified, raw or selectedFields/,
		],
		[
			'a number in words',
			'getTranscript',
			{ id: 'abc1', options: { maxCharacters: 'few' } },
			/^'Max Characters' must be .*Enter a number such as 20000/,
		],
		[
			'a zone that is none',
			'getMany',
			{ options: { timezone: 'null' } },
			/^There is no time zone "null"\. Use an IANA name/,
		],
		[
			'a title for an ID',
			'get',
			{ id: 'Planning the garden' },
			/^"Planning the garden" is not the ID of a lifelog\. A title isn't an ID\. .*use the field id that a list or a search returns/,
		],
		['nothing for an ID', 'delete', { id: '' }, /^The ID of the lifelog is missing\. /],
		[
			'another format',
			'getDailySummary',
			{ date: 'today', format: 'html' },
			/^'Format' must be markdown, notion or slack/,
		],
		[
			'another file',
			'export',
			{ fileFormats: 'pdf' },
			/^'File Formats' must be appExport, json, markdown, .* not "pdf"/,
		],
	])('%s', async (_name, operation, values, expected) => {
		const { message, requests } = await call(operation, values);
		expect(message).toMatch(expected);
		expect(requests).toEqual([]);
	});

	test('a title for the ID of a chat', async () => {
		const { message, requests } = await call('get', { id: 'My day' }, 'lifelogChatTool');
		expect(message).toMatch(/^"My day" is not the ID of a chat\. A title isn't an ID/);
		expect(requests).toEqual([]);
	});

	test.each<[string, string, IDataObject]>([
		['null', 'lifelogChatTool', { filters: { globalPromptId: 'null' } }],
		['All', 'lifelogChatTool', { filters: { globalPromptId: 'All' } }],
		['My day', 'lifelogChatTool', { filters: { globalPromptId: 'My day' } }],
		['none', 'lifelogTool', { filters: { globalPromptId: ' none ' } }],
	])('%s as a scheduled prompt of a %s', async (word, type, values) => {
		const { message, requests } = await call('getMany', values, type);
		expect(message).toMatch(
			`"${word}" is not the ID of a scheduled prompt. A title isn't an ID. Leave 'Global Prompt ID' empty`,
		);
		expect(requests).toEqual([]);
	});
});

test("an ID that may be a title gets advice if the service doesn't know it", async () => {
	const { message } = await call('get', { id: 'Lunch' });
	expect(message).toMatch(/^No lifelog with the ID "Lunch" was found\. .*use the field id/);
});

test("a speaker who didn't speak is reported, with the speakers who did", async () => {
	const { id } = await anyLifelog();
	const { message } = await call('getTranscript', { id, options: { speakers: 'all' } });
	expect(message).toMatch(
		/^This lifelog has no utterances of all\. Its speakers: .*You.*leave it empty for everyone/,
	);
});

test('outside of a tool the advice is only in the description', async () => {
	const { message } = await call('getMany', { limit: 'all' }, 'lifelog');
	expect(message).toBe(`'Limit' must be a whole number, 1 or more, not "all"`);
});

test.each([
	['lifelog', 'search', 'Search lifelogs in Lifelog'],
	['lifelog', 'delete', 'Delete lifelog permanently in Lifelog'],
	['lifelogChat', 'getMany', 'Get many chats in Lifelog Chat'],
	['lifelogChat', 'delete', 'Delete chat permanently in Lifelog Chat'],
	['lifelogAudio', 'download', 'Download audio in Lifelog Audio'],
	['lifelogServer', 'create', 'Create lifelog in Lifelog Server'],
])('an agent reads what %s %s does', (node, operation, expected) => {
	const type = loadPackage().nodeTypes[`n8n-nodes-lifelog.${node}`] as INodeType;
	const { properties, usableAsTool } = type.description;
	const { default: resource } = properties.find(({ name }) => name === 'resource')!;
	const [, one] = workflowWith(node, { operation, resource }).nodes;
	expect(usableAsTool).toBe(true);
	const versioned = NodeHelpers.getVersionedNodeType(type);
	expect(NodeHelpers.getToolDescriptionForNode(one, versioned)).toBe(expected);
});

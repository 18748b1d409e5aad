// In which form, and how much of it, lifelogs come out.
import type { IDataObject } from 'n8n-workflow';
import type { Lifelog } from '../../lifelog/api.ts';
import { useNode } from '../support/useNode.mts';
import { byId, workflowWith } from '../support/workflow.mts';

const { sandbox, engine, run } = useNode('lifelog');

beforeEach(async () => {
	await sandbox.control.reset({ now: '2026-03-20T20:00:00Z', days: 3 });
	await sandbox.control.dialect({ rateLimit: { max: 100_000 } });
});

/** A lifelog of the service, as it is asked for with everything in it. */
async function whole(id: string): Promise<Lifelog> {
	const response = await fetch(
		`${sandbox.url}/v1/lifelogs/${id}?includeContents=true&timezone=UTC`,
		{ headers: { 'x-api-key': sandbox.apiKey } },
	);
	return ((await response.json()) as { data: { lifelog: Lifelog } }).data.lifelog;
}

const anyLifelog = async () => (await sandbox.control.lifelogs())[20];
const SIMPLIFIED = [
	...['id', 'title', 'startTime', 'endTime', 'isStarred'],
	...['headings', 'excerpt'],
];
const WITH_SPEAKERS = [...SIMPLIFIED.slice(0, 5), 'speakers', ...SIMPLIFIED.slice(5)];
/** n8n's guideline for simplified output. */
const MAX_FIELDS = 10;

describe('simplified output', () => {
	test('of a list comes from the Markdown, without contents', async () => {
		const { json, requests } = await run({ operation: 'getMany', output: 'simplified', limit: 20 });
		expect(json).toHaveLength(20);
		for (const item of json) {
			const { title, startTime, endTime, isStarred, markdown } = await whole(item.id as string);
			expect(Object.keys(item)).toEqual(SIMPLIFIED);
			expect(item).toMatchObject({ title, startTime, endTime, isStarred });
			const lines = markdown!.split('\n');
			const headings = lines.filter((line) => line.startsWith('## '));
			expect(item.headings).toEqual(headings.map((line) => line.slice(3)));
			const firstWords = lines.find((line) => line.startsWith('> '))!.slice(2);
			expect(item.excerpt).toMatch(/…$/);
			expect((item.excerpt as string).startsWith(firstWords.slice(0, 250))).toBe(true);
			expect((item.excerpt as string).length).toBeLessThanOrEqual(300);
		}
		expect(requests).toHaveLength(1);
		expect(requests[0].query).toMatchObject({ includeContents: 'false', includeMarkdown: 'true' });
	});

	test('has the speakers if contents are requested', async () => {
		const options = { includeContents: true };
		const { json } = await run({ operation: 'getMany', output: 'simplified', limit: 3, options });
		for (const item of json) {
			expect(Object.keys(item)).toEqual(WITH_SPEAKERS);
			const names = JSON.stringify((await whole(item.id as string)).contents);
			for (const name of item.speakers as string[]) expect(names).toContain(`"${name}"`);
			expect(item.speakers).not.toEqual([]);
		}
	});

	test('of one lifelog has the speakers, unless contents are turned off', async () => {
		const { id } = await anyLifelog();
		const get = { operation: 'get', lifelogId: byId(id), output: 'simplified' };
		expect(Object.keys((await run(get)).json[0])).toEqual(WITH_SPEAKERS);
		const { json } = await run({ ...get, options: { includeContents: false } });
		expect(Object.keys(json[0])).toEqual(SIMPLIFIED);
	});

	test('comes from the Markdown if the service sends no contents', async () => {
		const { id } = await anyLifelog();
		const { markdown, contents, ...rest } = await whole(id);
		expect(contents.length).toBeGreaterThan(0);
		const body = { data: { lifelog: { ...rest, markdown, contents: [] } } };
		await sandbox.control.faults([{ path: '/v1/lifelogs/', status: 200, body }]);
		const { json } = await run({ operation: 'get', lifelogId: byId(id), output: 'simplified' });
		expect(Object.keys(json[0])).toEqual(SIMPLIFIED);
		expect(json[0].excerpt).not.toBe('');
		expect(json[0].headings).not.toEqual([]);
	});

	test('of a search shows the place with the words', async () => {
		const { id, contents } = await anyLifelog();
		const lines = contents.filter(({ type }) => type === 'blockquote');
		const { content } = lines.at(-1)!;
		const { json } = await run({ operation: 'search', query: content, output: 'simplified' });
		const found = json.find((item) => item.id === id)!;
		expect(found.excerpt).toContain(content);
	});

	test("isn't shortened, and ignores options of the raw text", async () => {
		const plain = await run({ operation: 'getMany', output: 'simplified', limit: 3 });
		const options = { includeMarkdown: false, includeHeadings: false, maxCharacters: 100 };
		const odd = await run({ operation: 'getMany', output: 'simplified', limit: 3, options });
		expect(odd.json).toEqual(plain.json);
	});
});

describe('selected fields', () => {
	const select = async (fields: unknown, more: IDataObject = {}) =>
		await run({
			operation: 'getMany',
			output: 'selectedFields',
			fields,
			limit: 2,
			...more,
		} as IDataObject);

	test('start with the ID, have a fixed order, and are requested without other fields', async () => {
		const { json, requests } = await select(['startTime', 'title']);
		expect(json.map((item) => Object.keys(item))).toEqual([
			['id', 'title', 'startTime'],
			['id', 'title', 'startTime'],
		]);
		const { includeContents, includeMarkdown } = requests[0].query;
		expect([includeContents, includeMarkdown]).toEqual(['false', 'false']);
	});

	test.each([
		[['speakers', 'contents'], ['id', 'speakers', 'contents'], { includeContents: 'true' }],
		[['excerpt', 'headings'], ['id', 'headings', 'excerpt'], { includeMarkdown: 'true' }],
		[['markdown', 'durationMs'], ['id', 'durationMs', 'markdown'], { includeContents: 'false' }],
		[[], ['id'], {}],
		['title, isStarred', ['id', 'title', 'isStarred'], {}],
		['={{ ["id", "UpdatedAt"] }}', ['id', 'updatedAt'], {}],
	])('%j returns %j', async (fields, names, query) => {
		const { json, requests } = await select(fields);
		for (const item of json) expect(Object.keys(item)).toEqual(names);
		expect(requests[0].query).toMatchObject(query);
	});

	test('of the API are unchanged', async () => {
		const { json } = await select(['contents', 'markdown', 'endTime']);
		const { contents, markdown, endTime } = await whole(json[0].id as string);
		expect(json[0]).toEqual({ id: json[0].id, endTime, markdown, contents });
	});

	test("that don't exist are refused before any request, with a list of the fields", async () => {
		const { error, requests } = await select('={{ "title, summary" }}');
		expect(error?.message).toBe(
			`'Fields' must be id, title, startTime, endTime, durationMs, isStarred, updatedAt, speakers, headings, excerpt, markdown or contents, not "summary"`,
		);
		expect(requests).toEqual([]);
	});
});

describe('lengths', () => {
	test('Markdown is shortened between words, and says so', async () => {
		const { id } = await anyLifelog();
		const { markdown } = await whole(id);
		const get = { operation: 'get', lifelogId: byId(id), output: 'raw' };
		const [cut] = (await run({ ...get, options: { maxCharacters: 150 } })).json;
		const text = cut.markdown as string;
		expect(text.length).toBeLessThanOrEqual(150);
		expect(markdown!.startsWith(text)).toBe(true);
		expect(markdown![text.length]).toMatch(/\s/);
		expect(cut.isTruncated).toBe(true);
		expect(cut.contents).toEqual((await whole(id)).contents);
		const [all] = (await run({ ...get, options: { maxCharacters: '={{ "100000" }}' } })).json;
		expect(all).toEqual(await whole(id));
	});

	test.each([
		['a list', { operation: 'getMany', limit: 3, output: 'raw' }],
		['a search', { operation: 'search', query: 'dinner OR plans', limit: 3, output: 'raw' }],
		['a field', { operation: 'getMany', limit: 3, output: 'selectedFields', fields: ['markdown'] }],
	])('Markdown is also shortened in %s', async (_name, parameters) => {
		const { json } = await run({ ...parameters, options: { maxCharacters: 100 } });
		expect(json.length).toBeGreaterThan(0);
		for (const { markdown, isTruncated } of json) {
			expect((markdown as string).length).toBeLessThanOrEqual(100);
			expect(isTruncated).toBe(true);
		}
	});

	test('Markdown is never shortened within a character', async () => {
		await sandbox.control.reset({ empty: true });
		await sandbox.control.addLifelog({ title: 'Hedgehogs', markdown: `x${'🦔'.repeat(400)}` });
		const { json } = await run({
			operation: 'getMany',
			output: 'raw',
			options: { maxCharacters: 100 },
		});
		expect(json[0].markdown).toBe(`x${'🦔'.repeat(49)}`);
	});

	test('the parts of a transcript joined together are the whole', async () => {
		const { id } = await anyLifelog();
		const get = { operation: 'getTranscript', lifelogId: byId(id), outputAs: 'text' };
		const [{ text: all }] = (await run(get)).json;
		const parts: string[] = [];
		for (let from: unknown = 0; from !== undefined;) {
			const options = {
				maxCharacters: 300,
				fromOffsetMs: `={{ ${JSON.stringify(String(from))} }}`,
			};
			const [{ text, isTruncated, nextOffsetMs }] = (await run({ ...get, options })).json;
			parts.push(text as string);
			expect(isTruncated === true).toBe(nextOffsetMs !== undefined);
			from = nextOffsetMs;
		}
		expect(parts.length).toBeGreaterThan(3);
		expect(parts.every((part) => part.length <= 300)).toBe(true);
		expect(parts.join('\n')).toBe(all);
	});

	test('utterances from an offset on keep their index', async () => {
		const { id } = await anyLifelog();
		const get = { operation: 'getTranscript', lifelogId: byId(id) };
		const { json: all } = await run(get);
		const fromOffsetMs = all[5].startOffsetMs as number;
		const { json } = await run({ ...get, options: { fromOffsetMs } });
		expect(json).toEqual(all.slice(5));
		expect(Object.keys(json[0])).toEqual([
			...['speaker', 'text', 'startTime', 'endTime', 'startOffsetMs', 'endOffsetMs'],
			...['speakerIdentifier', 'index', 'lifelogId'],
		]);
	});

	test('an offset after the end is reported', async () => {
		const { id } = await anyLifelog();
		const options = { fromOffsetMs: 1e9 };
		const { hints } = await run({ operation: 'getTranscript', lifelogId: byId(id), options });
		expect(hints('Node')[0].message).toBe('No utterance begins at 1000000000 ms or later.');
	});

	test.each([
		[
			'get',
			'maxCharacters',
			'all',
			/^'Max Characters' must be a whole number, 100 or more, not "all"/,
		],
		['get', 'maxCharacters', '99', /^'Max Characters' must be/],
		['get', 'maxCharacters', '-1', /^'Max Characters' must be/],
		[
			'getTranscript',
			'fromOffsetMs',
			'00:05',
			/^'From Offset' must be a number of milliseconds, 0 or more, not "00:05"/,
		],
		['getTranscript', 'fromOffsetMs', '-1', /^'From Offset' must be/],
	])('%s: %s "%s" is refused before any request', async (operation, name, value, message) => {
		const options = { [name]: `={{ ${JSON.stringify(value)} }}` };
		const { error, requests } = await run({
			operation,
			lifelogId: byId('abc'),
			output: 'raw',
			options,
		});
		expect(error?.message).toMatch(message);
		expect(requests).toEqual([]);
	});
});

describe.each(['lifelog', 'lifelogTool'])('%s', (type) => {
	const asked = async (parameters: IDataObject) => await run(parameters, { type });

	test('lists, searches and reads return simplified output, and a search returns ten results', async () => {
		const { id } = await anyLifelog();
		for (const parameters of [
			{ operation: 'getMany' },
			{ operation: 'search', query: 'call OR dinner OR work OR plans' },
			{ operation: 'get', lifelogId: byId(id) },
		]) {
			const { json } = await asked(parameters);
			for (const item of json) expect(item).toHaveProperty('excerpt');
			if (parameters.operation === 'search') expect(json).toHaveLength(10);
		}
	});

	test('a transcript is returned as text', async () => {
		const { id } = await anyLifelog();
		const parameters = { operation: 'getTranscript', lifelogId: byId(id) };
		const { json } = await run(parameters, { type: 'lifelogTool' });
		expect(json).toHaveLength(1);
		expect(json[0].text).toContain(': ');
	});

	test('a chosen output is used', async () => {
		const { json } = await asked({ operation: 'getMany', output: 'raw', limit: 2 });
		expect(json).toHaveLength(2);
		expect(json[0]).toHaveProperty('markdown');
	});
});

describe('the trigger', () => {
	const poll = async (parameters: IDataObject) => {
		const [, node] = workflowWith('lifelogTrigger', parameters).nodes;
		const staticData: IDataObject = {};
		const next = async () =>
			await engine.runPoll({ nodes: [node], connections: {} }, { staticData, timezone: 'UTC' });
		await next();
		await sandbox.control.addLifelog({ title: 'New' });
		await sandbox.control.clearRequests();
		const { items } = await next();
		expect(items).toHaveLength(1);
		return { item: items![0].json, requests: await sandbox.control.requests() };
	};

	test('returns simplified output with its own fields, without reading contents', async () => {
		const { item, requests } = await poll({ output: 'simplified' });
		expect(Object.keys(item)).toEqual([...SIMPLIFIED, 'changeType', 'eventKey']);
		expect(item).toMatchObject({ title: 'New', changeType: 'created' });
		for (const { query } of requests) expect(query.includeContents).toBe('false');
	});

	test('returns the speakers if contents are requested', async () => {
		const { item } = await poll({ output: 'simplified', options: { includeContents: true } });
		expect(Object.keys(item)).toEqual([...WITH_SPEAKERS, 'changeType', 'eventKey']);
		expect(Object.keys(item).length).toBeLessThanOrEqual(MAX_FIELDS);
	});

	test('returns selected fields with its own fields', async () => {
		const { item } = await poll({ output: 'selectedFields', fields: ['title'] });
		expect(Object.keys(item)).toEqual(['id', 'title', 'changeType', 'eventKey']);
	});

	test('returns a sample in the same form', async () => {
		const [, node] = workflowWith('lifelogTrigger', { output: 'simplified' }).nodes;
		const { items } = await engine.runPoll({ nodes: [node], connections: {} }, { mode: 'manual' });
		for (const { json } of items!) {
			expect(Object.keys(json)).toEqual([...SIMPLIFIED, 'changeType', 'eventKey']);
		}
	});
});

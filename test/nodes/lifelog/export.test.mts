import { createHash } from 'node:crypto';
import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import { readByOmi } from '../../support/omi.mts';
import { useNode } from '../../support/useNode.mts';
import { byId, within } from '../../support/workflow.mts';

const SHIFTED = 'America/St_Johns';

const { sandbox, run: runNode } = useNode('lifelog', {
	usual: { operation: 'export' },
	binaryMode: 'filesystem',
});

beforeEach(async () => {
	await sandbox.control.reset({ days: 3 });
});

async function run(parameters: IDataObject, input?: IDataObject[]) {
	const items = input?.map((json) => ({ json }));
	const result = await runNode(parameters, { input: items, timezone: SHIFTED });
	const files = await Promise.all(
		result
			.items('Node')
			.filter(({ binary }) => binary)
			.map(async (item) => ({ json: item.json, bytes: await result.binary(item, 'data') })),
	);
	return { ...result, files };
}

const lifelogs = async () => await sandbox.control.lifelogs();

test('exports one lifelog in every format', async () => {
	const { id, title, startTime, isStarred } = (await lifelogs())[20];
	const fileFormats = ['vtt', 'text', 'srt', 'markdown', 'json'];
	const { files } = await run({ exportFrom: 'lifelog', lifelogId: byId(id), fileFormats });
	expect(files.map(({ json }) => json.format)).toEqual(['json', 'markdown', 'srt', 'text', 'vtt']);
	const { json } = files[0];
	const day = new Date(startTime).toISOString().slice(0, 10);
	expect(json).toMatchObject({ lifelogId: id, title, isStarred, mimeType: 'application/json' });
	expect(json.path).toMatch(new RegExp(`^lifelogs/${day.replaceAll('-', '/')}/.*_${id}\\.json$`));
	const begins = DateTime.fromISO(startTime, { zone: SHIFTED }).toFormat('yyyy-MM-dd HH.mm');
	expect(json.fileName).toBe(`${begins} ${title}.json`);
	expect(Object.keys(json)).toEqual([
		...['fileName', 'path', 'mimeType', 'fileSize', 'sha256', 'format', 'lifelogId', 'title'],
		...['startTime', 'endTime', 'updatedAt', 'isStarred'],
	]);
	for (const { json: item, bytes } of files) {
		expect(item.fileSize).toBe(bytes.length);
		expect(item.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
	}
});

test("the Markdown is in the workflow's time zone, whatever the option says", async () => {
	const { id, startTime } = (await lifelogs())[20];
	for (const options of [{}, { timezone: 'UTC' }]) {
		const { files } = await run({ exportFrom: 'lifelog', lifelogId: byId(id), options });
		const begins = DateTime.fromISO(startTime, { zone: SHIFTED }).toFormat("yyyy-MM-dd'T'HH:mm:ss");
		expect(String(files[0].bytes)).toContain(`\nstart: ${begins}\n`);
		expect(String(files[0].bytes)).toContain(`\nid: "${id}"\n`);
		expect(String(files[0].bytes)).toContain(`\ntimezone: "${SHIFTED}"\n`);
	}
});

test("App Export is read by Omi's rules, each file with a name of its own", async () => {
	const startTime = '2026-03-01T10:00:30.500Z';
	const said = { type: 'blockquote', content: 'Yes #1.', speakerName: 'Anna' };
	for (const title of ['Same', 'Same', '']) {
		await sandbox.control.addLifelog({ title, startTime, contents: [said] as never });
	}
	const period = { period: 'range', start: startTime, end: startTime, returnAll: true };
	const { files } = await run({ exportFrom: 'service', ...period, fileFormats: ['appExport'] });
	const names = ['Same-2', 'Same', 'Untitled'].map((name) => `2026-03-01_10h00m30s_${name}.md`);
	expect(files.map(({ json }) => json.fileName).sort()).toEqual(names);
	for (const { json, bytes } of files) {
		expect(json.path).toBe(`lifelogs/2026/03/01/${String(json.fileName)}`);
		expect(readByOmi(String(json.path), String(bytes))).toEqual({
			title: json.title === '' ? 'Untitled' : 'Same',
			startedAt: Date.parse('2026-03-01T10:00:30Z'),
			utterances: [
				{
					...{ speaker: 2, text: 'Yes #1.', startMs: Date.parse(startTime) },
					endMs: Date.parse(startTime) + 2000,
				},
			],
		});
	}
});

test("the JSON is the complete object of the API, in UTC, whatever the workflow's time zone", async () => {
	const { id } = (await lifelogs())[20];
	const { files } = await run({
		...{ exportFrom: 'lifelog', lifelogId: byId(id), fileFormats: ['json'] },
	});
	const address = `${sandbox.url}/v1/lifelogs/${id}?includeContents=true&includeMarkdown=true`;
	const answer = await fetch(address, { headers: { 'X-API-Key': sandbox.apiKey } });
	const { data } = (await answer.json()) as { data: { lifelog: Lifelog } };
	expect(JSON.parse(String(files[0].bytes))).toEqual(data.lifelog);
	expect(data.lifelog.contents.length).toBeGreaterThan(0);
	expect(files[0].json.startTime).toMatch(/Z$/);
});

test('times are in the option Time Zone if it is set', async () => {
	const { id } = (await lifelogs())[20];
	const { files } = await run({
		...{ exportFrom: 'lifelog', lifelogId: byId(id), fileFormats: ['json'] },
		options: { timezone: 'Asia/Kolkata' },
	});
	expect(JSON.parse(String(files[0].bytes)).startTime).toMatch(/\+05:30$/);
	expect(files[0].json.startTime).toMatch(/\+05:30$/);
});

test('exports a whole range, page by page, with contents', async () => {
	const date = (await lifelogs())[60].startTime.slice(0, 10);
	const { files, requests, error } = await run({
		...{ exportFrom: 'service', returnAll: true, ...within({ date }), fileFormats: ['markdown'] },
	});
	expect(error).toBeUndefined();
	expect(files.length).toBeGreaterThan(25);
	expect(requests.every(({ query }) => query.limit === '25')).toBe(true);
	expect(requests[0].query).toMatchObject({ date, timezone: SHIFTED });
	expect(new Set(files.map(({ json }) => json.path)).size).toBe(files.length);
});

test('exports up to the limit', async () => {
	const { files } = await run({ exportFrom: 'service', limit: 30 });
	expect(files).toHaveLength(30);
	expect(files.every(({ json }) => json.format === 'markdown')).toBe(true);
});

test('an item of the trigger or of a list without contents is first read in full', async () => {
	const { id, contents, ...rest } = (await lifelogs())[20];
	const input = [{ id, ...rest, contents: [], changeType: 'created', eventKey: 'x' }];
	const { files, requests } = await run({ exportFrom: 'input', fileFormats: ['json'] }, input);
	expect(requests.map(({ path }) => path)).toEqual([`/v1/lifelogs/${id}`]);
	const written = JSON.parse(String(files[0].bytes)) as Lifelog;
	expect(written.contents).toHaveLength(contents.length);
	expect(written).not.toHaveProperty('eventKey');
});

test('an item with contents is written as it is, without a request', async () => {
	const whole = (await lifelogs())[20];
	const input = [{ ...whole, changeType: 'updated', eventKey: 'x' } as unknown as IDataObject];
	const { files, requests } = await run({ exportFrom: 'input', fileFormats: ['json'] }, input);
	expect(requests).toEqual([]);
	const { startTime, ...rest } = JSON.parse(String(files[0].bytes)) as Lifelog;
	expect(Date.parse(startTime)).toBe(Date.parse(whole.startTime));
	expect(Object.keys({ startTime, ...rest }).sort()).toEqual(Object.keys(whole).sort());
});

test('a lifelog that is deleted after it was listed is left out', async () => {
	const [first, second] = await lifelogs();
	const listed = [first, second].map((lifelog) => ({ ...lifelog, contents: [] }));
	const body = { data: { lifelogs: listed }, meta: { lifelogs: { count: 2 } } };
	await sandbox.control.faults([
		{ body, times: 1 },
		{ path: `/v1/lifelogs/${first.id}`, status: 404, body: { error: 'Lifelog not found' } },
	]);
	const { files, error } = await run({ exportFrom: 'service', limit: 2, fileFormats: ['json'] });
	expect(error).toBeUndefined();
	expect(files.map(({ bytes }) => (JSON.parse(String(bytes)) as Lifelog).id)).toEqual([second.id]);
});

test('contents that are missing in a list are read by ID', async () => {
	const [lifelog] = await lifelogs();
	const body = {
		data: { lifelogs: [{ ...lifelog, contents: [] }] },
		meta: { lifelogs: { count: 1 } },
	};
	await sandbox.control.faults([{ body, times: 1 }]);
	const { files, requests } = await run({ exportFrom: 'service', fileFormats: ['text'] });
	expect(requests.map(({ path }) => path)).toEqual(['/v1/lifelogs', `/v1/lifelogs/${lifelog.id}`]);
	expect(files[0].json.fileSize).toBeGreaterThan(100);
});

test.each([
	[{ exportFrom: 'input' }, /^The input is not a lifelog/],
	[
		{ exportFrom: 'elsewhere' },
		/^'Export From' must be input, lifelog or service, not "elsewhere"/,
	],
	[{ fileFormats: ' , ' }, /^'File Formats' is empty/],
	[{ fileFormats: { toString: 1 } }, /^'File Formats' must be .*, not an object$/],
	[{ fileFormats: ['text', []] }, /^'File Formats' must be .*, not a list$/],
	[{ fileFormats: ['pdf'] }, /^'File Formats' must be appExport, json, .* not "pdf"/],
	[{ binaryPropertyName: ' ' }, /Put Output File in Field.* is empty/],
])('%j is refused before any request', async (parameters, message) => {
	const { error, requests } = await run(parameters);
	expect(error?.message).toMatch(message);
	expect(requests).toEqual([]);
});

test('a partial lifelog with an invalid ID is an error of the input', async () => {
	const { error, requests } = await run({ exportFrom: 'input' }, [{ id: 'a/b', title: 'A' }]);
	expect(error?.message).toMatch(/^"a\/b" is not the ID of a lifelog/);
	expect(requests).toEqual([]);
});

test('a lifelog without a start time is an error that names it', async () => {
	const contents = [{ type: 'heading1', content: 'A' }];
	const whole = {
		title: 'A',
		markdown: '# A',
		endTime: 'later',
		isStarred: false,
		updatedAt: 'now',
	};
	const input = [{ id: 'abc', startTime: 'soon', ...whole, contents }];
	const { error } = await run({ exportFrom: 'input' }, input);
	expect(error?.message).toMatch(/does not say when it begins/);
});

test.each([
	['simplified', { durationMs: 1, headings: [], excerpt: '' }],
	['some of its fields', { title: undefined }],
	['without its Markdown', { markdown: undefined }],
	[
		'without its headings',
		{ contents: [{ type: 'blockquote', content: 'Hi', speakerName: 'Anna' }] },
	],
	['cut', { isTruncated: true }],
])('an input lifelog that is %s is first read in full', async (_name, change) => {
	const [stored] = await sandbox.control.lifelogs();
	const part = JSON.parse(JSON.stringify({ ...stored, ...change })) as IDataObject;
	const { requests, files } = await run({ exportFrom: 'input', fileFormats: ['json'] }, [part]);
	expect(requests.map(({ path }) => path)).toEqual([`/v1/lifelogs/${stored.id}`]);
	expect(files[0].json).toMatchObject({ lifelogId: stored.id, title: stored.title });
	expect(JSON.parse(String(files[0].bytes))).toMatchObject({
		markdown: stored.markdown,
		contents: stored.contents.map(({ type, content }) => ({ type, content })),
	});
});

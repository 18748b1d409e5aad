// The node Lifelog Server against a real lifelog-server; and against the sandbox, which takes no
// changes as the service takes none.
import {
	createReadStream,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { writeArchive } from '../../support/archive.mts';
import { type Engine, type EngineOptions, standIn } from '../../support/engine.mts';
import { type LabAt, engineAt, startLabAt } from '../../support/lab.mts';
import { type SpawnedServer, startLifelogServer } from '../../support/lifelogServer.mts';
import { startSandbox } from '../../support/sandbox.mts';
import { serve } from '../../support/serve.mts';
import { hearTones, makeTones } from '../../support/tones.mts';
import {
	startTranscription,
	type TranscriptionEndpoint,
	wordsOf,
} from '../../support/transcription.mts';
import { byId, workflowWith } from '../../support/workflow.mts';

let folder: string;
let lab: LabAt<SpawnedServer>;
/** A day of each test's own, so that no two tests create the same lifelog. */
let day: string;
let startTime: string;
let tests = 0;

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'lifelog-node-'));
	lab = await startLabAt(await startLifelogServer(folder, ['--allow-changes']));
});

afterAll(async () => {
	await lab?.close();
	rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
	day = new Date(Date.UTC(2026, 0, ++tests)).toISOString().slice(0, 10);
	startTime = `${day}T08:04:12.500Z`;
});

interface RunOptions {
	engine?: Engine;
	input?: INodeExecutionData[];
	onError?: INode['onError'];
}

async function run(parameters: IDataObject, options: RunOptions = {}) {
	const { engine = lab.engine, input, onError } = options;
	const result = await engine.runWorkflow(workflowWith('lifelogServer', parameters, { onError }), {
		input,
	});
	return {
		items: result.items('Node'),
		json: result.items('Node').map(({ json }) => json),
		error: result.error as { message: string; context: IDataObject } | undefined,
		message: result.error?.message,
		description: (result.error as { description?: string } | undefined)?.description,
	};
}

const create = (parameters: IDataObject, options?: RunOptions) =>
	run({ operation: 'create', output: 'raw', startTime, ...parameters }, options);
const update = (id: unknown, updateFields: IDataObject, options?: RunOptions) =>
	run({ operation: 'update', output: 'raw', lifelogId: byId(id), updateFields }, options);

/** The lifelogs of the test's day. */
async function stored(): Promise<Array<IDataObject & { id: string }>> {
	const { url, apiKey } = lab.service;
	const response = await fetch(`${url}/v1/lifelogs?date=${day}&includeContents=true`, {
		headers: { 'x-api-key': apiKey },
	});
	return (await response.json()).data.lifelogs;
}

const TOMATOES = [
	{ text: 'Did the tomatoes get any water?', speaker: 'SPEAKER_00', start: 0, end: 2.4 },
	{ text: 'Not yet, the hose is leaking.', speaker: 'SPEAKER_01', start: 2.6, end: 4.1 },
];

/** What is said in a lifelog, and by whom. */
const saidIn = ({ contents }: IDataObject) =>
	(contents as IDataObject[])
		.filter(({ type }) => type === 'blockquote')
		.map(({ content, speakerName }) => ({ content, speakerName }));

describe('Create Lifelog', () => {
	test('returns the lifelog like the server', async () => {
		const { json } = await create({ transcript: TOMATOES, title: 'Tomatoes' });
		expect(json).toEqual(await stored());
		expect(json[0]).toMatchObject({
			id: expect.stringMatching(/^made-/),
			title: 'Tomatoes',
			startTime: `${day}T08:04:12.500Z`,
			endTime: `${day}T08:04:16.600Z`,
			isStarred: false,
		});
		expect(saidIn(json[0])).toEqual([
			{ content: TOMATOES[0].text, speakerName: 'SPEAKER_00' },
			{ content: TOMATOES[1].text, speakerName: 'SPEAKER_01' },
		]);
	});

	test('without a title has the first sentence as its title', async () => {
		const { json } = await create({ transcript: TOMATOES, title: ' ' });
		expect(json[0].title).toBe('Did the tomatoes get any water?');
	});

	const transcript = (file: string) =>
		readFileSync(join('test', 'server', 'recordings', 'transcripts', file), 'utf8');

	// Every form is in test/server/recordings/transcripts.test.mts: the node sends what it is given.
	test.each([
		['segments', JSON.stringify(TOMATOES)],
		['Omi', transcript('omi-webhook.json')],
	])(
		'of JSON (%s) reads a text and the value of an expression in the same way',
		async (_form, text) => {
			const written = await create({ transcript: text });
			expect(written.message).toBeUndefined();
			expect(JSON.stringify(written.json)).toMatch(/tomatoes/i);
			const input = [{ json: { transcript: JSON.parse(text) as IDataObject } }];
			const given = await create({ transcript: '={{ $json.transcript }}' }, { input });
			expect(given.json).toEqual(written.json);
			// The same words at the same time are the same lifelog; an Omi conversation has its own ID.
			expect((await stored()).length).toBeLessThanOrEqual(1);
		},
	);

	test('of subtitles', async () => {
		const { json, message } = await create({ transcript: transcript('voices.vtt') });
		expect(message).toBeUndefined();
		expect(json).toEqual(await stored());
		expect(JSON.stringify(json)).toMatch(/tomatoes/i);
	});

	test('of an Omi conversation takes its times and its title', async () => {
		const { json } = await create({
			startTime: '',
			transcript: JSON.stringify({
				...JSON.parse(transcript('omi-webhook.json')),
				id: 'another',
				started_at: `${day}T10:00:00+00:00`,
				finished_at: `${day}T10:00:18+00:00`,
			}),
		});
		expect(json[0]).toMatchObject({
			title: 'A leaking garden hose',
			startTime: `${day}T10:00:00.000Z`,
			endTime: `${day}T10:00:18.000Z`,
		});
	});

	test('reads and returns times in the option Time Zone', async () => {
		const { json } = await create({
			transcript: TOMATOES,
			startTime: `${day}T09:30:00`,
			options: { timezone: 'Asia/Kathmandu', endTime: `${day}T10:00:00` },
		});
		expect(json[0]).toMatchObject({
			startTime: `${day}T09:30:00.000+05:45`,
			endTime: `${day}T10:00:00.000+05:45`,
		});
	});

	test('with the same External ID again returns the existing lifelog', async () => {
		const options = { externalId: `garden-${day}` };
		const first = await create({ transcript: TOMATOES, options });
		const again = await create({
			transcript: [{ text: 'Other words.', start: 0, end: 1 }],
			startTime: `${day}T20:00:00Z`,
			options,
		});
		expect(again.json).toEqual(first.json);
		expect(await stored()).toHaveLength(1);
	});

	test('of a deleted lifelog creates nothing and says so', async () => {
		const own = mkdtempSync(join(tmpdir(), 'lifelog-deleted-'));
		const creating = async () => {
			const server = await startLabAt(await startLifelogServer(own, ['--allow-changes']));
			const { json } = await create({ transcript: TOMATOES }, server);
			await server.close();
			return json;
		};
		const [{ id }] = await creating();
		const [file] = readdirSync(join(own, 'days'));
		const manifest = JSON.parse(readFileSync(join(own, 'days', file), 'utf8'));
		// What a delete leaves.
		Object.assign(manifest.lifelogs[String(id)], {
			files: [],
			deletedAt: new Date().toISOString(),
		});
		writeFileSync(join(own, 'days', file), JSON.stringify(manifest));
		expect(await creating()).toEqual([{ lifelog: null, status: 'deleted' }]);
		rmSync(own, { recursive: true });
	});

	test.each([[''], [' \n'], ['={{ $json.nothing }}'], ['={{ null }}']])(
		'of the transcript %j is refused before anything is sent',
		async (empty) => {
			const { engine, requests, close } = await watched();
			const { message, description } = await create({ transcript: empty }, { engine });
			await close();
			if (empty !== '') expect(message).toBe("'Transcript' is empty");
			if (empty !== '') expect(description).toContain('Nothing was sent');
			expect(message).toBeDefined();
			expect(requests).toEqual([]);
		},
	);

	test.each<[string, unknown, RegExp]>([
		['a text', 'just words', /transcript/],
		['an empty list', [], /transcript/],
		['a list of other things', [{ word: 'x' }], /transcript/],
		['times that run backwards', [{ text: 'x', start: 4, end: 2 }], /transcript|segment|end/],
	])("of %s shows the server's message and the item", async (_what, bad, words) => {
		const input = [
			{ json: { transcript: TOMATOES } },
			{ json: { transcript: bad as IDataObject } },
		];
		const { message, error } = await create({ transcript: '={{ $json.transcript }}' }, { input });
		expect(message).toMatch(/^The service refused a parameter: .* \(new lifelog\)$/);
		expect(message).toMatch(words);
		expect(error?.context.itemIndex).toBe(1);
	});

	test('of an unusable time names the parameter', async () => {
		const { message } = await create({ transcript: TOMATOES, startTime: 'soon' });
		expect(message).toContain("'Start Time' is not a date and time: ");
	});

	test.each(['', '={{ null }}'])(
		"without a time (%j) shows the server's message",
		async (startTime) => {
			const { message } = await create({ transcript: TOMATOES, startTime });
			expect(message).toContain('startTime is missing');
		},
	);

	test('continues after a failed item, which keeps its input', async () => {
		const input = [
			{ json: { transcript: 'just words', note: 'keep' } },
			{ json: { transcript: JSON.stringify(TOMATOES) } },
		];
		const { json, items } = await create(
			{ transcript: '={{ $json.transcript }}' },
			{ input, onError: 'continueRegularOutput' },
		);
		expect(json[0]).toMatchObject({
			note: 'keep',
			error: expect.stringContaining('The service refused a parameter'),
			errorDetails: { code: '400' },
		});
		expect(json.slice(1)).toEqual(await stored());
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
	});
});

describe('Update Lifelog', () => {
	async function made(): Promise<IDataObject & { id: string }> {
		const { json } = await create({ transcript: TOMATOES });
		return json[0] as IDataObject & { id: string };
	}

	test('changes title, star and speakers, and returns the changed lifelog', async () => {
		const { id, updatedAt } = await made();
		const { json } = await update(id, {
			title: 'The hose',
			isStarred: true,
			speakers: {
				speaker: [
					{ name: 'SPEAKER_00', newName: 'Anna' },
					{ name: 'SPEAKER_01', newName: 'Sam' },
				],
			},
		});
		expect(json).toEqual(await stored());
		expect(json[0]).toMatchObject({ id, title: 'The hose', isStarred: true });
		expect(saidIn(json[0]).map(({ speakerName }) => speakerName)).toEqual(['Anna', 'Sam']);
		expect(Date.parse(String(json[0].updatedAt))).toBeGreaterThan(Date.parse(String(updatedAt)));
	});

	test.each<[string, IDataObject, IDataObject]>([
		['title', { title: 'Water' }, { title: 'Water' }],
		['star', { isStarred: true }, { isStarred: true }],
		['star, as a text', { isStarred: 'true' }, { isStarred: true }],
	])('changes only the %s', async (_what, fields, changed) => {
		const { updatedAt, markdown, contents, ...before } = await made();
		const { json, message } = await update(before.id, fields);
		expect(message).toBeUndefined();
		expect([updatedAt, markdown, contents]).not.toContain(undefined);
		expect(json[0]).toMatchObject({ ...before, ...changed });
	});

	test.each<[string, IDataObject]>([
		['no field', {}],
		['blank fields', { title: ' ', isStarred: '', speakers: {} }],
	])('with %s is refused before anything is sent', async (_what, fields) => {
		const { engine, requests, close } = await watched();
		const { message } = await update('made-1', fields, { engine });
		await close();
		expect(message).toBe("'Update Fields' has no field with a value");
		expect(requests).toEqual([]);
	});

	test('corrects lines, their text and speaker', async () => {
		const { id } = await made();
		const [first, second] = TOMATOES.map(({ text }) => text);
		const line = [
			{ startOffsetMs: 0, was: first, text: ' Water? ', speaker: '' },
			{ startOffsetMs: '2600', was: second, speaker: 'Anna' },
		];
		const { json } = await update(id, { lines: { line } });
		expect(json).toEqual(await stored());
		expect(saidIn(json[0])).toEqual([
			{ content: 'Water?', speakerName: 'SPEAKER_00' },
			{ content: second, speakerName: 'Anna' },
		]);
		const again = await update(id, { lines: { line: [line[0]] } });
		expect(`${again.message} ${again.description}`).toContain('The line there is now "Water?"');
	});

	test.each<[string, IDataObject]>([
		["'Lines' has a line without 'Current Text'", { startOffsetMs: 0, was: '', text: 'x' }],
		["'Lines' has nothing to change", { startOffsetMs: 0, was: 'x', text: ' ' }],
		[
			`'Start Offset' must be a number of ms, 0 or more, not "-1"`,
			{ startOffsetMs: -1, was: 'x', text: 'y' },
		],
	])('refuses before anything is sent: %s', async (message, line) => {
		const { engine, requests, close } = await watched();
		const answer = await update('made-1', { lines: { line: [line] } }, { engine });
		await close();
		expect(answer.message).toBe(message);
		expect(requests).toEqual([]);
	});

	test('asks for the whole recording only with new names', async () => {
		const { id } = await made();
		const speakers = { speaker: [{ name: 'SPEAKER_00', newName: 'Anna' }] };
		const whole = await update(id, { speakers, wholeRecording: true });
		expect(whole.message).toContain("wholeRecording: this lifelog isn't from a recording");
		const title = await update(id, { title: 'Other', wholeRecording: true });
		expect(title.json[0]).toMatchObject({ title: 'Other' });
		const { json } = await update(id, { speakers, wholeRecording: false });
		expect(saidIn(json[0])[0].speakerName).toBe('Anna');
	});

	test('with a speaker without a name is refused before anything is sent', async () => {
		const { engine, requests, close } = await watched();
		const speakers = { speaker: [{ name: 'SPEAKER_00', newName: ' ' }] };
		const { message } = await update('made-1', { speakers }, { engine });
		await close();
		expect(message).toBe("'Speakers' has an empty name");
		expect(requests).toEqual([]);
	});

	test('with two names for one speaker is refused before anything is sent', async () => {
		const { engine, requests, close } = await watched();
		const speaker = ['Anna', 'Berta'].map((newName) => ({ name: 'SPEAKER_00', newName }));
		const { message } = await update('made-1', { speakers: { speaker } }, { engine });
		await close();
		expect(message).toBe(`'Speakers' renames "SPEAKER_00" twice`);
		expect(requests).toEqual([]);
	});

	test("of an unknown speaker shows the server's message and changes nothing", async () => {
		const { id } = await made();
		const speakers = { speaker: [{ name: 'Nobody', newName: 'Anna' }] };
		const { message } = await update(id, { title: 'Other', speakers });
		expect(message).toMatch(/^The service refused a parameter: .*Nobody.* \(lifelog "made-\w+"\)$/);
		expect((await stored())[0].title).toBe('Did the tomatoes get any water?');
	});

	test('of an unknown ID names it', async () => {
		const { message } = await update('made-0', { title: 'Other' });
		expect(message).toBe('No lifelog with the ID "made-0" was found');
	});
});

describe('a server without --allow-changes', () => {
	test.each(['create', 'update'])('refuses %s, and the message names the option', async (name) => {
		const { json } = await create({ transcript: TOMATOES });
		const { id } = json[0];
		const readOnly = await startLabAt(
			await startLifelogServer(folder, ['--index', join(folder, '..', `${name}-${day}.sqlite`)]),
		);
		const { engine } = readOnly;
		const { message, description } = await (name === 'create'
			? create({ transcript: TOMATOES, title: 'Other' }, { engine })
			: update(id, { title: 'Other' }, { engine }));
		await readOnly.close();
		expect(message).toBe(
			`The service doesn't allow changes (${name === 'create' ? 'new lifelog' : `lifelog "${id}"`})`,
		);
		expect(description).toContain('Start lifelog-server with --allow-changes');
		expect(await stored()).toEqual(json);
	});
});

describe('a service without these requests', () => {
	let sandbox: Awaited<ReturnType<typeof startSandbox>>;
	let engine: Engine;

	beforeAll(async () => {
		sandbox = await startSandbox({ days: 1 });
		engine = await engineAt(sandbox);
	});

	afterAll(async () => {
		await engine.close();
		await sandbox.close();
	});

	test("creating says that the service can't, and what can", async () => {
		const { message, description } = await create({ transcript: TOMATOES }, { engine });
		expect(message).toBe("This service doesn't accept new lifelogs. lifelog-server does.");
		expect(description).toContain("'Base URL'");
	});

	test('changing an existing lifelog says the same of changes', async () => {
		const { id } = await sandbox.control.addLifelog();
		const { message } = await update(id, { title: 'Other' }, { engine });
		expect(message).toBe("This service doesn't accept changes to lifelogs. lifelog-server does.");
	});

	test("changing a lifelog that doesn't exist says that it wasn't found", async () => {
		const { message } = await update('unknown1', { title: 'Other' }, { engine });
		expect(message).toBe('No lifelog with the ID "unknown1" was found');
	});
});

/** An engine whose requests go to a server, the lab's unless given, by a way that may fail. */
async function watched(
	fail: (nth: number) => 'before' | 'after' | 503 | undefined = () => undefined,
	{ url, apiKey } = lab.service,
	options?: Partial<EngineOptions>,
) {
	const requests: string[] = [];
	const way = await serve((request, response) => {
		const { pathname } = new URL(request.url!, url);
		const fault = fail(requests.push(`${request.method} ${pathname}`) - 1);
		void (async () => {
			const body = await bytesOf(request);
			if (fault === 'before') return void request.socket.destroy();
			if (fault === 503) return void response.writeHead(503).end('{"error":"busy"}');
			const answer = await fetch(url + pathname, {
				method: request.method,
				headers: { 'x-api-key': apiKey, 'content-type': request.headers['content-type']! },
				...(body.length > 0 && { body }),
			});
			const text = await answer.text();
			if (fault === 'after') return void request.socket.destroy();
			response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
		})();
	});
	const engine = await engineAt({ url: way.url, apiKey }, options);
	return {
		engine,
		requests,
		close: async () => {
			await engine.close();
			await way.close();
		},
	};
}

async function bytesOf(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
	const pieces: Buffer[] = [];
	for await (const piece of request) pieces.push(piece as Buffer);
	return Buffer.concat(pieces);
}

describe.each([503, 'before', 'after'] as const)('a request that fails once, by %p', (fault) => {
	test('creates only one lifelog', async () => {
		const { engine, requests, close } = await watched((nth) => (nth === 0 ? fault : undefined));
		const { json } = await create({ transcript: TOMATOES }, { engine });
		await close();
		expect(requests).toEqual(['POST /v1/lifelogs', 'POST /v1/lifelogs']);
		expect(json).toHaveLength(1);
		expect(json).toEqual(await stored());
	});

	test('changes a title and a star', async () => {
		const { json } = await create({ transcript: TOMATOES });
		const { id } = json[0];
		const { engine, requests, close } = await watched((nth) => (nth === 0 ? fault : undefined));
		const changed = await update(id, { title: 'Other', isStarred: true }, { engine });
		await close();
		expect(requests).toEqual([`PATCH /v1/lifelogs/${id}`, `PATCH /v1/lifelogs/${id}`]);
		expect(changed.json).toEqual(await stored());
		expect(changed.json[0]).toMatchObject({ title: 'Other', isStarred: true });
	});

	test('sends new names of speakers only once, because a retry could change them back', async () => {
		const { json } = await create({ transcript: TOMATOES });
		const { id } = json[0];
		const { engine, requests, close } = await watched((nth) => (nth === 0 ? fault : undefined));
		const speaker = [
			{ name: 'SPEAKER_00', newName: 'SPEAKER_01' },
			{ name: 'SPEAKER_01', newName: 'SPEAKER_00' },
		];
		const { description } = await update(id, { speakers: { speaker } }, { engine });
		await close();
		expect(requests).toEqual([`PATCH /v1/lifelogs/${id}`]);
		expect(description).toContain('The lifelog may or may not have been changed.');
		const names = saidIn((await stored())[0]).map(({ speakerName }) => speakerName);
		const before = ['SPEAKER_00', 'SPEAKER_01'];
		expect(names).toEqual(fault === 'after' ? before.reverse() : before);
	});
});

test('an answer without a lifelog is an error', async () => {
	const service = await serve((request, response) => {
		request.resume();
		response.setHeader('content-type', 'application/json').end('{"data":{}}');
	});
	const { engine, close } = await startLabAt(service);
	const { message } = await create({ transcript: TOMATOES }, { engine });
	await close();
	expect(message).toContain('it has no lifelog (data.lifelog) (new lifelog)');
});

describe('Upload Recording', () => {
	let archive: string;
	let files: string;
	let endpoint: TranscriptionEndpoint;
	let server: SpawnedServer;

	beforeAll(async () => {
		archive = mkdtempSync(join(tmpdir(), 'lifelog-upload-'));
		files = mkdtempSync(join(tmpdir(), 'lifelog-files-'));
		endpoint = await startTranscription();
		const transcription = ['--transcription-url', endpoint.url, '--transcription-model', 'tones'];
		server = await startLifelogServer(archive, ['--allow-changes', ...transcription]);
	});

	afterAll(async () => {
		await server?.close();
		await endpoint?.close();
		for (const each of [archive, files]) rmSync(each, { recursive: true, force: true });
	});

	/** What the endpoint was asked while it kept the server waiting. */
	const held: ServerResponse[] = [];
	const hold = () => {
		endpoint.fault = (response) => void held.push(response);
	};

	beforeEach(() => {
		endpoint.fault = undefined;
		// Recordings are transcribed one after the other.
		for (const response of held.splice(0)) response.socket?.destroy();
	});

	/** Audio that no other test uploads: its comment is a different one. */
	async function tones(name: string, seconds = 3): Promise<string> {
		const path = join(files, name);
		const comment = ['-metadata', `comment=${name} of test ${tests}`];
		await makeTones(path, { seconds, args: comment });
		return path;
	}

	/** A node that reads the file at `path` of each item into n8n's storage, as others do. */
	const reader = standIn('reader');
	reader.execute = async function () {
		const { prepareBinaryData, getBinaryPath } = this.helpers;
		const items = this.getInputData().map(async ({ json }) => {
			if (json.path === undefined) return { json };
			const path = String(json.path);
			const data = await prepareBinaryData(createReadStream(path), basename(path), 'audio/ogg');
			if (json.isLost) rmSync(getBinaryPath(data.id!));
			return { json, binary: { data } };
		});
		return [await Promise.all(items)];
	};

	/** Uploads the files at these paths, one item each. */
	async function upload(
		items: IDataObject[],
		options: IDataObject = {},
		{ binaryMode = 'filesystem', to = server, signal, onError, engine }: UploadOptions = {},
	) {
		const nodeTypes = { 'test.reader': reader };
		const own = engine ?? (await engineAt(to, { binaryMode, nodeTypes }));
		const parameters = { operation: 'upload', binaryPropertyName: 'data', options };
		const workflow = workflowWith('lifelogServer', parameters, { onError });
		const [start, node] = workflow.nodes;
		const read = { ...start, id: '3', name: 'Reader', type: 'test.reader' };
		const onTo = (name: string) => ({ main: [[{ node: name, type: 'main' as const, index: 0 }]] });
		const result = await own.runWorkflow(
			{
				...workflow,
				nodes: [start, read, node],
				connections: { Start: onTo('Reader'), Reader: onTo('Node') },
			},
			{ input: items.map((json) => ({ json })), signal },
		);
		if (!engine) await own.close();
		const failure = result.error as
			{ message: string; description?: string; context: IDataObject } | undefined;
		return {
			status: result.status,
			items: result.items('Node'),
			json: result.items('Node').map(({ json }) => json),
			error: failure,
			message: failure?.message,
		};
	}

	interface UploadOptions {
		binaryMode?: 'default' | 'filesystem';
		to?: SpawnedServer;
		signal?: AbortSignal;
		onError?: INode['onError'];
		engine?: Engine;
	}

	const ask = async (path: string) => {
		const response = await fetch(server.url + path, { headers: { 'x-api-key': server.apiKey } });
		return (await response.json()).data;
	};
	const waitSeconds = 600;

	test.each(['filesystem', 'default'] as const)(
		'returns the recording with its lifelogs, from binary data of the mode %s',
		async (binaryMode) => {
			const path = await tones(`${binaryMode}.ogg`);
			const options = { startTime, title: 'Tones', waitSeconds };
			const { json, message } = await upload([{ path }], options, { binaryMode });
			expect(message).toBeUndefined();
			const [recording] = json;
			expect(recording).toMatchObject({ status: 'done', startTime, startTimeFrom: 'upload' });
			expect(json).toEqual([(await ask(`/v1/recordings/${recording.id}`)).recording]);
			const [id, ...others] = recording.lifelogIds as string[];
			expect(others).toEqual([]);
			const { lifelog } = await ask(`/v1/lifelogs/${id}?includeContents=true`);
			expect(lifelog.title).toBe('Tones');
			expect(saidIn(lifelog).map(({ content }) => content)).toEqual([0, 1, 2].map(wordsOf));
		},
	);

	test("made while the pendant recorded, Download Audio returns the recording's audio", async () => {
		const startMs = Date.parse(startTime) - 5000;
		const pendant = join(files, 'pendant.ogg');
		await makeTones(pendant, { seconds: 20, args: ['-c:a', 'libopus'] });
		const content = readFileSync(pendant);
		await writeArchive(archive, { audio: [{ startMs, endMs: startMs + 20_000, content }] });
		const { json } = await upload([{ path: await tones('own.ogg') }], { startTime, waitSeconds });
		const [id] = json[0].lifelogIds as string[];
		const engine = await engineAt(server);
		const parameters = { operation: 'download', source: 'lifelog', lifelogId: byId(id) };
		const result = await engine.runWorkflow(workflowWith('lifelogAudio', parameters));
		await engine.close();
		const heard = join(files, 'heard.ogg');
		writeFileSync(heard, Buffer.from(result.items('Node')[0].binary!.data.data, 'base64'));
		expect((await hearTones(heard)).map(({ second }) => second)).toEqual([0, 1, 2]);
	});

	test('reads a time in the option Time Zone, and sends language and Words to Expect', async () => {
		const path = await tones('zone.ogg');
		const spoken = { language: 'de', prompt: 'Anna Meier, "Łódź"; Ziegler' };
		const options = { startTime: `${day}T09:30:00`, timezone: 'Asia/Kathmandu', ...spoken };
		const { json } = await upload([{ path }], { ...options, waitSeconds });
		expect(json[0]).toMatchObject({ startTime: `${day}T03:45:00.000Z` });
		expect(endpoint.asked.at(-1)!.fields).toMatchObject(spoken);
	});

	test('with more Words to Expect than the server takes says how many it takes', async () => {
		const path = await tones('words.ogg');
		const { message, error } = await upload([{ path }], { prompt: 'Anna '.repeat(81) });
		expect(`${message} ${error!.description}`).toContain('prompt is longer than 400 characters');
	});

	test('keeps the file name, and its time is used', async () => {
		const path = await tones(`Küche "1"; ${day}T09-04-12Z.ogg`);
		const { json } = await upload([{ path }], { waitSeconds });
		expect(json[0]).toMatchObject({ status: 'done', startTimeFrom: 'fileName' });
	});

	test('without a wait returns the recording at once, and makes no more requests', async () => {
		hold();
		const path = await tones('queued.ogg');
		const { engine, requests, close } = await watched(undefined, server, {
			binaryMode: 'filesystem',
			nodeTypes: { 'test.reader': reader },
		});
		const { json } = await upload([{ path }], {}, { engine });
		await close();
		expect(json[0]).toMatchObject({ id: expect.any(String), lifelogIds: [] });
		expect(requests).toEqual(['POST /v1/recordings']);
	});

	test("returns the recording's current status when the wait is over", async () => {
		hold();
		const { json, message } = await upload([{ path: await tones('late.ogg') }], { waitSeconds: 2 });
		expect(message).toBeUndefined();
		expect(json[0].status).toMatch(/^(queued|transcribing)$/);
	});

	test('stops waiting when the execution is canceled', async () => {
		hold();
		const path = await tones('canceled.ogg');
		const startedAt = performance.now();
		const signal = AbortSignal.timeout(3_000);
		const { status } = await upload([{ path }], { waitSeconds: 3_600 }, { signal });
		expect(status).toBe('canceled');
		expect(performance.now() - startedAt).toBeLessThan(60_000);
	});

	test('of the same bytes, or the same External ID, again returns the same recording', async () => {
		const path = await tones('again.ogg');
		const externalId = `memo-${day}`;
		const first = await upload([{ path }], { externalId, waitSeconds });
		const bytes = await upload([{ path }]);
		const id = await upload([{ path: await tones('other.ogg', 4) }], { externalId });
		expect(bytes.json).toEqual(first.json);
		expect(id.json).toEqual(first.json);
	});

	test('returns one item for each file', async () => {
		const input = [{ path: await tones('one.ogg') }, { path: await tones('two.ogg', 4) }];
		const { items } = await upload(input, { waitSeconds });
		expect(items.map(({ json }) => json.status)).toEqual(['done', 'done']);
		expect(new Set(items.map(({ json }) => json.id)).size).toBe(2);
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
	});

	test('of a large file never needs much memory', async () => {
		const size = 256 * 2 ** 20;
		const path = join(files, 'large.ogg');
		writeFileSync(path, '');
		truncateSync(path, size);
		const held = () => process.memoryUsage().arrayBuffers;
		const before = held();
		let peak = 0;
		const timer = setInterval(() => (peak = Math.max(peak, held() - before)), 10);
		const { json, message } = await upload([{ path }]);
		clearInterval(timer);
		expect(message).toBeUndefined();
		expect(json[0].id).toEqual(expect.any(String));
		expect(peak).toBeGreaterThan(0);
		expect(peak).toBeLessThan(size / 2);
	});

	test("of a file that isn't audio says why it failed, and other items continue", async () => {
		const path = join(files, 'notes.ogg');
		writeFileSync(path, `Just words, of test ${tests}.`);
		const input = [{ path }, { path: await tones('after.ogg') }];
		const { error, message } = await upload(input, { waitSeconds });
		const [failed] = (await ask('/v1/recordings?status=failed')).recordings as IDataObject[];
		expect(message).toBe(`The recording "notes.ogg" didn't become a lifelog: ${failed.error}`);
		expect(failed.error).toEqual(expect.any(String));
		expect(error?.description).toContain('upload the file again');
		expect(error?.context.itemIndex).toBe(0);
		const { json } = await upload(input, { waitSeconds }, { onError: 'continueRegularOutput' });
		expect(json).toMatchObject([{ path, error: message }, { status: 'done' }]);
	});

	test("of an item without a file is n8n's error, which names the item", async () => {
		const { error, message } = await upload([{ path: await tones('first.ogg') }, {}]);
		expect(message).toMatch(
			/expects the node's input data to contain a binary file 'data'.*\[item 1\]/,
		);
		expect(error?.context.itemIndex).toBe(1);
	});

	test("of an empty file shows the server's message", async () => {
		const path = join(files, 'empty.ogg');
		writeFileSync(path, '');
		const { message } = await upload([{ path }]);
		expect(message).toMatch(
			/^The service refused a parameter: .*empty.* \(recording "empty.ogg"\)$/,
		);
	});

	test('of a file that n8n has lost says so', async () => {
		const { message, error } = await upload([{ path: await tones('lost.ogg'), isLost: true }]);
		expect(message).toMatch(/^The file can't be read from n8n's storage: /);
		expect(error?.description).toContain('Run the node that the file comes from again');
	});

	test.each<[string, IDataObject, RegExp]>([
		['a wait that is no number', { waitSeconds: 'long' }, /^'Wait for Lifelogs' must be a whole/],
		['a time that is none', { startTime: 'soon' }, /^'Start Time' is not a date and time: /],
		['an unknown zone', { timezone: 'Mars/Base' }, /^There is no time zone/],
	])('with %s is refused before anything is sent', async (_what, options, words) => {
		const { engine, requests, close } = await watched(undefined, server, {
			nodeTypes: { 'test.reader': reader },
		});
		const { message } = await upload([{}], options, { engine });
		await close();
		expect(message).toMatch(words);
		expect(requests).toEqual([]);
	});

	test.each([503, 'before', 'after'] as const)(
		'that fails once, by %p, is sent again completely',
		async (fault) => {
			const path = await tones(`${fault}.ogg`);
			const { engine, requests, close } = await watched(
				(nth) => (nth === 0 ? fault : undefined),
				server,
				{ binaryMode: 'filesystem', nodeTypes: { 'test.reader': reader } },
			);
			const { json, message } = await upload([{ path }], {}, { engine });
			await close();
			expect(message).toBeUndefined();
			expect(requests).toEqual(['POST /v1/recordings', 'POST /v1/recordings']);
			// The server knows it by its bytes.
			expect((await upload([{ path }])).json[0].id).toBe(json[0].id);
		},
	);

	test('can take longer than a request may stall', async () => {
		const path = join(files, 'slow.ogg');
		writeFileSync(path, Buffer.alloc(4 * 2 ** 20, 7));
		const service = await serve((request, response) => {
			void (async () => {
				for await (const piece of request) if (piece) await sleep(100);
				response.setHeader('content-type', 'application/json');
				response.end('{"data":{"recording":{"id":"rec-1","status":"queued"}}}');
			})();
		});
		const wait = globalThis.setTimeout;
		const timers = jest.spyOn(globalThis, 'setTimeout');
		// A minute is two seconds.
		timers.mockImplementation(((work: () => void, ms = 0, ...rest: []) =>
			wait(work, ms >= 50_000 ? ms / 30 : ms, ...rest)) as typeof setTimeout);
		const { json, message } = await upload([{ path }], {}, { to: service as never });
		timers.mockRestore();
		await service.close();
		expect(message).toBeUndefined();
		expect(json).toMatchObject([{ id: 'rec-1' }]);
	});

	test.each<[string, string[], RegExp, RegExp]>([
		[
			'without a transcription endpoint',
			['--allow-changes'],
			/^The service refused the request \(409\): recording "small.ogg"$/,
			/--transcription-url/,
		],
		[
			'without --allow-changes',
			[],
			/^The service doesn't allow changes \(recording "small.ogg"\)$/,
			/Start lifelog-server with --allow-changes/,
		],
	])("to a server %s shows the server's message", async (_what, args, words, advice) => {
		const own = mkdtempSync(join(tmpdir(), 'lifelog-other-'));
		const other = await startLifelogServer(own, args);
		const { message, error } = await upload(
			[{ path: await tones('small.ogg') }],
			{},
			{ to: other },
		);
		await other.close();
		rmSync(own, { recursive: true });
		expect(message).toMatch(words);
		expect(error?.description).toMatch(advice);
	});

	test("of a file that is too large shows the server's message", async () => {
		const own = mkdtempSync(join(tmpdir(), 'lifelog-other-'));
		const transcription = ['--transcription-url', endpoint.url, '--transcription-model', 'tones'];
		const args = ['--allow-changes', '--max-upload', '1', ...transcription];
		const other = await startLifelogServer(own, args);
		const path = join(files, 'huge.ogg');
		writeFileSync(path, Buffer.alloc(32 * 2 ** 20, 7));
		const { message, error } = await upload([{ path }], {}, { to: other });
		await other.close();
		rmSync(own, { recursive: true });
		expect(message).toBe('The service refused the request (413): recording "huge.ogg"');
		expect(error?.description).toContain('--max-upload');
	});

	test("to a service without these requests says that the service can't", async () => {
		const sandbox = await startSandbox({ days: 1 });
		const path = await tones('nobody.ogg');
		const { message } = await upload([{ path }], {}, { to: sandbox as never });
		await sandbox.close();
		expect(message).toBe("This service doesn't accept new lifelogs. lifelog-server does.");
	});

	test('an answer without a recording is an error', async () => {
		const service = await serve((request, response) => {
			request.resume();
			response.setHeader('content-type', 'application/json').end('{"data":{}}');
		});
		const path = await tones('nothing.ogg');
		const { message } = await upload([{ path }], {}, { to: service as never });
		await service.close();
		expect(message).toContain('it has no recording (data.recording)');
	});
});

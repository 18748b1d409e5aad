import { inspect } from 'node:util';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { FILE } from './faults/operations.mts';
import { KEY_MARK } from './faults/marked-key.mts';
import { actions, startTrials } from './faults/properties.mts';
import {
	type NodeOperation,
	operationsById,
	type Parameter,
	withId,
	withParameters,
} from './faults/parameters.mts';
import { type Answer, json, send, type World } from './faults/service.mts';
import type { RunResult } from '../support/engine.mts';
import { byId, within, workflowWith } from '../support/workflow.mts';
import { runNode, use } from '../support/useNode.mts';
import { asksForWait, INTERRUPTED } from '../support/messages.mts';

// What comes out of an operation that fails: what its error says, and what of the input is left.

const trials = use(startTrials);

let keys = 0;

type Failing = RunResult & { world: World; message: string; description: string };

const OPERATIONS = actions().map(
	(operation) => [`${operation.node}.${operation.operation}`, operation] as const,
);

/** The operation for the day 2026-03-02 or the usual entry, without waiting for anything. */
function parametersOf(operation: NodeOperation): IDataObject {
	const wanted: Record<string, unknown> = { period: 'date', 'options.maxWait': 0 };
	return withParameters(
		operation,
		operation.parameters
			.filter(({ path }) => path.join('.') in wanted)
			.map((parameter) => [parameter, wanted[parameter.path.join('.')]]),
	);
}

async function run(
	{ node, ...operation }: NodeOperation,
	answer: Answer,
	input: INodeExecutionData[] = [{ json: {}, binary: FILE }],
	onError?: 'continueRegularOutput' | 'continueErrorOutput',
): Promise<Failing> {
	// A key of its own, as one that was answered 429 is held back in all of the process.
	const key = `${KEY_MARK}-${keys++}`;
	const world = trials.service.open(key, ({ response }) => send(response, answer));
	const engine = await trials.engineAt(trials.service.url, key);
	const workflow = workflowWith(node, parametersOf({ node, ...operation }), { onError });
	const result = await engine.runWorkflow(workflow, { input });
	await engine.close();
	const { message = '', description } = (result.error ?? {}) as {
		message?: string;
		description?: string;
	};
	return { ...result, world, message, description: description ?? '' };
}

const answered = (type: string, body: string, status = 200): Answer => ({
	status,
	headers: { 'content-type': type },
	body: Buffer.from(body),
});

describe.each(OPERATIONS)('an error of %s', (_name, operation) => {
	const about = operation.parameters.some(
		({ isLocator, path }) => isLocator && path[0].startsWith('chatId'),
	)
		? /chat "chat-a"/
		: operation.node === 'lifelogChat'
			? /chats/
			: operation.operation === 'create'
				? /new lifelog/
				: operation.operation === 'upload'
					? /recording "morning.ogg"/
					: /lifelog "lifelog-a"|2026-03-02|"garden"/;

	test.each([
		['a refusal', json(418, { error: 'No' })],
		['a refused parameter', json(400, { error: 'No.' })],
		['the rate limit', json(429, { error: 'slow', retryAfter: '301' })],
		["an answer that isn't JSON", answered('text/html', '<html><title>Log in</title>')],
	])('by %s names the range or the entry', async (_fault, answer) => {
		expect((await run(operation, answer)).message).toMatch(about);
	});

	test.each([401, 403, 404, 407, 302])(
		'by status %p names the range or the entry',
		async (status) => {
			const answer = status === 404 ? answered('text/html', '', 404) : json(status, {});
			const { message, description } = await run(operation, answer);
			const isOfAnId = /with the ID "(lifelog|chat)-a"/.test(message);
			expect(isOfAnId || about.test(`${message} ${description}`)).toBe(true);
		},
	);

	// Texts, pages and audio are in the matrix (test/nodes/faults/faults.mts).
	test.each([
		['an object', json(200, { note: 'Recorded words', data: 'Recorded words' })],
		['a list', json(200, ['Recorded words'])],
		['bytes of audio that say they are refused', answered('audio/ogg', 'OggS Recorded words', 418)],
	])("doesn't quote a body of %s", async (_what, answer) => {
		const result = await run(operation, answer);
		expect(result.message).not.toBe('');
		expect(inspect(result, { depth: Infinity })).not.toContain('Recorded');
	});

	test('quotes the field error of a success', async () => {
		const { message, description } = await run(operation, json(200, { error: 'Half asleep' }));
		expect(`${message} ${description}`).toContain('Half asleep');
	});

	const input = [
		{
			json: { note: 'keep', error: 'an older one' },
			binary: { ...FILE, file: { data: 'aGVsbG8=', mimeType: 'text/plain' } },
		},
	];

	test('keeps the data of the item, with "continue"', async () => {
		const answer = json(429, { error: 'slow', retryAfter: '301' });
		const result = await run(operation, answer, input, 'continueRegularOutput');
		const [failed, ...rest] = result.items('Node');
		expect(rest).toEqual([]);
		expect(failed).toEqual({
			json: {
				note: 'keep',
				error: expect.stringContaining(asksForWait('301 s')),
				errorDetails: {
					code: '429',
					description: expect.stringContaining('The service says: slow.'),
					retryAfterSeconds: 301,
				},
			},
			binary: input[0].binary,
			pairedItem: { item: 0 },
		});
	});

	test('keeps the data of the item, with the error output', async () => {
		const result = await run(operation, json(418, {}), input, 'continueErrorOutput');
		expect(result.items('Node')).toEqual([]);
		const [failed, ...rest] = result.items('Node', 1);
		expect(rest).toEqual([]);
		expect(failed).toEqual({
			json: { note: 'keep', error: expect.stringContaining('(418)') },
			binary: input[0].binary,
			pairedItem: { item: 0 },
		});
	});
});

const RANGE = { start: '2026-03-02T08:00:00Z', end: '2026-03-02T10:00:00Z' };
const IN_RANGE = /2026-03-02.08:00:00.* to 2026-03-02.(10:00:00|09:59:59)/;

const OF_A_RANGE = actions().flatMap((operation): Array<[string, string, IDataObject, RegExp]> => {
	const ends = operation.parameters.filter(({ path }) => path.at(-1)! in RANGE);
	if (ends.length === 0) return [];
	const changes = ends.map((parameter): [Parameter, unknown] => [
		parameter,
		RANGE[parameter.path.at(-1) as keyof typeof RANGE],
	]);
	const { node, operation: name } = operation;
	return [[`${node}.${name}`, node, withParameters(operation, changes), IN_RANGE]];
});

test('operations with a range are checked', () => {
	expect(OF_A_RANGE.length).toBeGreaterThanOrEqual(4);
});

test.each<[string, string, IDataObject, RegExp]>([
	...OF_A_RANGE,
	[
		'a whole list',
		'lifelog',
		{ operation: 'getMany', returnAll: true, ...within(RANGE) },
		IN_RANGE,
	],
	[
		'the export of one',
		'lifelog',
		{ operation: 'export', exportFrom: 'lifelog', lifelogId: byId('lifelog-a') },
		/lifelog "lifelog-a"/,
	],
	[
		'the export of an input item',
		'lifelog',
		{ operation: 'export', exportFrom: 'input' },
		/lifelog "lifelog-a"/,
	],
])('an error of %s names its range or entry', async (_what, node, parameters, about) => {
	const world = trials.open();
	world.play = ({ response }) => send(response, json(418, {}));
	const workflow = workflowWith(node, { ...parameters, options: { timezone: 'UTC' } });
	const input = [{ json: { id: 'lifelog-a' } }];
	const { error } = await trials.engine.runWorkflow(workflow, { input });
	expect(error?.message).toMatch(about);
});

const get = actions().find(({ node, operation }) => node === 'lifelog' && operation === 'get')!;

test('an error of the connection carries its code', async () => {
	const world = trials.open();
	world.play = ({ request }) => void request.socket.resetAndDestroy();
	const workflow = workflowWith('lifelog', parametersOf(get), { onError: 'continueRegularOutput' });
	const result = await trials.engine.runWorkflow(workflow);
	expect(result.items('Node')[0].json).toMatchObject({
		error: expect.stringMatching(
			new RegExp(`^No answer from .*: ${INTERRUPTED} \\(lifelog "lifelog-a"\\)$`),
		),
		errorDetails: { code: 'ECONNRESET' },
	});
});

test('an error of a parameter carries what to do, and no code', async () => {
	const parameters = { operation: 'get', lifelogId: byId('={{ [1] }}') };
	const workflow = workflowWith('lifelog', parameters, { onError: 'continueRegularOutput' });
	const result = await trials.engine.runWorkflow(workflow);
	expect(result.items('Node')[0].json).toEqual({
		error: 'The ID of the lifelog must be text, not a list',
		errorDetails: { description: expect.stringContaining('Nothing was sent') },
	});
});

test("a proxy that needs a login isn't reported as an error of the parameters", async () => {
	const { message, description } = await run(get, answered('text/html', '', 407));
	expect(message).toBe('A proxy between n8n and the service asks for a login (407)');
	expect(description).toContain('HTTPS_PROXY');
	expect(description).not.toContain('Check the parameters');
});

test('an unknown address is quoted without its query', async () => {
	const many = actions().find(
		({ node, operation }) => node === 'lifelog' && operation === 'getMany',
	)!;
	const error = 'Route GET:/v1/lifelogs?timezone=UTC&limit=50 not found';
	const { message, description } = await run(many, json(404, { error }));
	expect(message).toBe('The service has no endpoint at the address of this request (404)');
	expect(description).toContain('The service says: Route GET:/v1/lifelogs not found.');
});

test.each([
	['Lunch', true],
	['8f2kQ0pXw1Zr5TnB', false],
])('the advice for an unknown ID %s says that it may be a title: %p', async (id, isTitle) => {
	trials.open();
	const workflow = workflowWith('lifelog', { operation: 'get', lifelogId: byId(id) });
	const { error } = await trials.engine.runWorkflow(workflow);
	expect(error?.message).toBe(`No lifelog with the ID "${id}" was found`);
	const description = String((error as { description?: string }).description);
	expect(description.includes("A title isn't an ID. Choose 'From List'")).toBe(isTitle);
});

test('an error in the editor has the status only once', async () => {
	trials.open().play = ({ response }) => send(response, json(503, {}));
	const [, node] = workflowWith('lifelog', { operation: 'get' }).nodes;
	await expect(trials.engine.loadOptions(node, 'searchLifelogs')).rejects.toMatchObject({
		message: 'The service failed: lifelogs',
		httpCode: '503',
	});
});

const UNUSABLE_IDS: Array<[unknown, string]> = [
	['..%2Fchats%2Fabc', '"..%2Fchats%2Fabc" is not the ID of a'],
	['../chats/abc', '"../chats/abc" is not the ID of a'],
	['a\\b', '"a\\b" is not the ID of a'],
	['a?limit=1', '"a?limit=1" is not the ID of a'],
	['a#b', '"a#b" is not the ID of a'],
	['..', '".." is not the ID of a'],
	['.', '"." is not the ID of a'],
	['={{ "a\\nINFO forged" }}', '"a INFO forged" is not the ID of a'],
	['={{ "a\\u0000b" }}', '"a b" is not the ID of a'],
	['={{ "a\\u202eb" }}', '"ab" is not the ID of a'],
	['={{ "a\\ud800" }}', '"a\ufffd" is not the ID of a'],
	['Planning the garden', '"Planning the garden" is not the ID of a'],
	['={{ ({ id: "a" }) }}', 'must be text, not an object'],
	['={{ [] }}', 'must be text, not a list'],
	['={{ true }}', 'must be text, not "true"'],
	['={{ null }}', 'is missing'],
	['={{ undefined }}', 'is missing'],
	['={{ "  " }}', 'is missing'],
	['={{ NaN }}', ''],
	// Numbers whose digits are lost before a node gets them.
	['={{ 12345678901234567890 }}', ''],
	['={{ JSON.parse("9007199254740993") }}', ''],
	['={{ 1.10 }}', ''],
];

const BY_ID = operationsById().map(
	(operation) => [`${operation.node}.${operation.operation}`, operation] as const,
);

test.each(BY_ID)('%s sends nothing for an invalid ID', async (_name, operation) => {
	for (const [id, message] of UNUSABLE_IDS) {
		const world = trials.open();
		const workflow = workflowWith(operation.node, withId(operation, id));
		const { error } = await trials.engine.runWorkflow(workflow);
		expect(error?.message).toContain(message);
		expect(world.seen).toEqual([]);
	}
});

test.each(BY_ID)("%s can't be led to another address by an ID", async (_name, operation) => {
	const collection = operation.node === 'lifelogChat' ? 'chats' : 'lifelogs';
	for (const [id, segment] of [
		['a&b=c;d', 'a%26b%3Dc%3Bd'],
		['a:b@c+d', 'a%3Ab%40c%2Bd'],
		[' spaced ', 'spaced'],
		['ünï', '%C3%BCn%C3%AF'],
	]) {
		const world = trials.open();
		const { message } = await runNode(trials.engine, operation.node, withId(operation, id));
		expect(message).toContain(`No ${collection.slice(0, -1)} with the ID`);
		const paths = new Set(world.seen.map(({ path }) => path));
		expect([...paths]).toEqual([`/base/v1/${collection}/${segment}`]);
	}
});

/** Export reads a list unless it is told otherwise. */
const OF_ENTRIES = BY_ID.filter(([name]) => name !== 'lifelog.export');

test.each(OF_ENTRIES)('%s says of a missing entry what it may be', async (_name, operation) => {
	const { description } = await run(operation, json(404, { error: 'Not found' }));
	const noun = operation.node === 'lifelogChat' ? 'chat' : 'lifelog';
	expect(description).toContain(`The ${noun} may have been deleted, or may belong`);
});

test('a title in place of an ID is recognized', async () => {
	const parameters = { operation: 'get', lifelogId: byId('Planning the garden') };
	const { error } = await trials.engine.runWorkflow(workflowWith('lifelog', parameters));
	expect((error as { description?: string }).description).toBe(
		"A title isn't an ID. Choose 'From List' to find a title, or use the field id that a list or a search returns. Nothing was sent.",
	);
});

test.each(['a/b', '..%2Fchats%2Fchat-a', 'a\nb', 'a\u202eb'])(
	'an entry that the service lists with the ID %j is returned, but not requested by it',
	async (id) => {
		const world = trials.open();
		world.lifelogs = [{ ...world.lifelogs[0], id, contents: [] }];
		const listed = await trials.engine.runWorkflow(
			workflowWith('lifelog', { operation: 'getMany' }),
		);
		expect(listed.items('Node').map((item) => item.json.id)).toEqual([id]);
		const options = { includeContents: true };
		// More than 25 come without contents, so each is read.
		const parameters = { operation: 'search', query: 'garden', limit: 50, output: 'raw', options };
		const { error } = await trials.engine.runWorkflow(workflowWith('lifelog', parameters));
		expect(error?.message).toContain("it listed an ID that can't be part of an address");
		expect(world.seen.map(({ path }) => path)).toEqual(['/base/v1/lifelogs', '/base/v1/lifelogs']);
	},
);

describe('a failed poll', () => {
	const poll = async (mode: 'trigger' | 'manual') => {
		trials.open().play = ({ response }) => send(response, json(400, { error: 'No' }));
		const [, node] = workflowWith('lifelogTrigger', { event: 'lifelogCreated' }).nodes;
		const workflow = { nodes: [node], connections: {} };
		return await trials.engine.runPoll(workflow, { mode }).then(
			() => undefined,
			(error: unknown) => error as { message: string; description: string },
		);
	};

	test('names its day and says that nothing is lost', async () => {
		const error = await poll('trigger');
		expect(error?.message).toMatch(/\(lifelogs on \d{4}-\d\d-\d\d in UTC\)$/);
		expect(error?.description).toMatch(
			/Nothing is lost: the next successful poll reports what this one missed\.$/,
		);
	});

	test("in the editor doesn't mention the next poll", async () => {
		expect((await poll('manual'))?.description).not.toContain('next poll');
	});
});

test.each<[string, string, (half: string) => string]>([
	['title', 'text/html', (half) => `${'x'.repeat(65_000)}<title>No ${half}`.padStart(65_536)],
	['text', 'text/plain', (half) => `No ${half}`.padStart(65_536)],
	['text of long characters', 'text/plain', (half) => `${'\u3000'.repeat(21_000)}No ${half}`],
])(
	"doesn't quote part of the key from a page that was read only in part: %s",
	async (_name, type, head) => {
		const key = `${KEY_MARK}-${keys++}-and-some-more`;
		const begin = Buffer.from(head(key.slice(0, 20)));
		const first = Buffer.concat([Buffer.alloc(65_536 - begin.length, ' '), begin]);
		const world = trials.service.open(key, ({ response }) => {
			response.writeHead(403, { 'content-type': type });
			response.write(first, () => setTimeout(() => response.end(`${key.slice(20)}</title>`), 500));
		});
		const engine = await trials.engineAt(trials.service.url, key);
		const get = workflowWith('lifelog', { operation: 'get', lifelogId: byId('a') });
		const { error } = await engine.runWorkflow(get);
		await engine.close();
		expect(world.seen).toHaveLength(1);
		expect(error?.message).toContain('not allowed');
		expect(inspect(error)).not.toContain(KEY_MARK);
	},
);

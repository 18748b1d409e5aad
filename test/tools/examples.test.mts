// What every example must be, without running it; test/n8n runs them.
import { readdirSync, readFileSync } from 'node:fs';
import {
	executeFilter,
	type FilterValue,
	type IDataObject,
	type INode,
	type INodeParameters,
	type INodeProperties,
	type INodeTypeDescription,
	type INodeTypes,
	type IRunExecutionData,
	NodeHelpers,
	Workflow,
} from 'n8n-workflow';
import { loadPackage, type WorkflowJson } from '../support/engine.mts';

type Example = WorkflowJson & { name: string };

const names = readdirSync('examples')
	.filter((file) => file.endsWith('.json'))
	.map((file) => file.replace('.json', ''));
const textOf = (name: string) => readFileSync(`examples/${name}.json`, 'utf8');
const read = (name: string) => JSON.parse(textOf(name)) as Example;
const { nodeTypes } = loadPackage();

/** The description of a node of this package, as a tool or not; undefined for another's. */
function ours({ type }: INode): INodeTypeDescription | undefined {
	const found = nodeTypes[type] ?? nodeTypes[type.replace(/Tool$/, '')];
	if (!found && type.startsWith('n8n-nodes-lifelog.')) throw new Error(`There is no ${type}`);
	return found?.description as INodeTypeDescription | undefined;
}

/** The parameters that are given and not there, or are not shown beside the others. */
function unknownParameters(
	description: INodeTypeDescription,
	node: INode,
	properties: INodeProperties[],
	given: INodeParameters,
	inCollection = false,
): string[] {
	return Object.entries(given).flatMap(([name, value]) => {
		const known = properties.filter((property) => property.name === name);
		const property = known.find(
			(each) => inCollection || NodeHelpers.displayParameter(given, each, node, description, given),
		);
		if (!property) return [name];
		const { type, options = [], typeOptions } = property;
		if (typeOptions?.loadOptionsMethod) return [];
		if (type === 'options') {
			const values = (options as Array<{ value: unknown }>).map((option) => option.value);
			return values.includes(value) ? [] : [`${name}: ${value}`];
		}
		if (type !== 'collection') return [];
		const inner = unknownParameters(
			description,
			node,
			options as INodeProperties[],
			value as INodeParameters,
			true,
		);
		return inner.map((each) => `${name}.${each}`);
	});
}

const REMOVED_NODES = [
	'n8n-nodes-base.function',
	'n8n-nodes-base.functionItem',
	'n8n-nodes-base.itemLists',
	'n8n-nodes-base.aiTransform',
	'@n8n/n8n-nodes-langchain.code',
];

/**
 * Whether n8n 3 has removed a node, or what it is set to: n8n's docs, `v30-breaking-changes.md`.
 * Execute Workflow has lost the mode "each" and the sources Local File and URL.
 */
function isRemoved({
	type,
	typeVersion,
	parameters: { mode, source = 'database' },
}: INode): boolean {
	if (type === 'n8n-nodes-base.executeWorkflow') return mode === 'each' || source !== 'database';
	if (type === '@n8n/n8n-nodes-langchain.agent') return typeVersion < 2;
	return REMOVED_NODES.includes(type);
}

/**
 * What n8n makes of a parameter of an example's node.
 *
 * @param input The JSON of the item that comes to the node.
 * @param ran What nodes before it gave, one item each.
 */
function evaluated(
	example: Example,
	name: string,
	parameter: string,
	input: IDataObject,
	ran: Record<string, IDataObject> = {},
) {
	const { nodes, connections } = example;
	const nodeTypes = { getByNameAndVersion: () => undefined } as unknown as INodeTypes;
	const workflow = new Workflow({ nodes, connections, active: false, nodeTypes });
	const runData = Object.fromEntries(
		Object.entries(ran).map(([node, json]) => [node, [{ data: { main: [[{ json }]] } }]]),
	);
	const run = { resultData: { runData } } as unknown as IRunExecutionData;
	const { parameters } = nodes.find((node) => node.name === name)!;
	const items = [{ json: input }];
	return workflow.expression.getParameterValue(
		...([parameters[parameter], run, 0, 0, name, items, 'manual', {}] as const),
	);
}

/** What a Set node gives, its fields by their names. */
function fieldsOf(example: Example, name: string, input: IDataObject): IDataObject {
	const { assignments } = evaluated(example, name, 'assignments', input) as {
		assignments: Array<{ name: string; value: string }>;
	};
	return Object.fromEntries(assignments.map((each) => [each.name, each.value]));
}

const isNote = ({ type }: INode) => type === 'n8n-nodes-base.stickyNote';

describe.each(names)('examples/%s.json', (name) => {
	const example = read(name);

	test("uses only existing parameters of this package's nodes", () => {
		const nodes = example.nodes.filter((node) => ours(node));
		for (const node of nodes) {
			const description = ours(node)!;
			const given = { ...node.parameters };
			// What n8n adds to every polling trigger.
			delete given.pollTimes;
			const { properties } = description;
			const defaults = NodeHelpers.getNodeParameters(
				properties,
				given,
				true,
				false,
				node,
				description,
			)!;
			const shown = { ...defaults, ...given };
			expect(unknownParameters(description, node, properties, shown)).toEqual([]);
			const checked = { ...node, parameters: shown };
			expect(NodeHelpers.getNodeParametersIssues(properties, checked, description)).toBeNull();
		}
		// That of the MCP server needs none of them.
		expect(nodes.length > 0 || textOf(name).includes('/mcp')).toBe(true);
	});

	test('states Output where there is one, so no change of a default changes it', () => {
		for (const node of example.nodes.filter((each) => ours(each))) {
			const description = ours(node)!;
			const { properties } = description;
			const args = [properties, node.parameters, true, false, node, description] as const;
			const given = NodeHelpers.getNodeParameters(...args)!;
			const has = properties.some(
				(each) =>
					each.name === 'output' &&
					NodeHelpers.displayParameter(given, each, node, description, given),
			);
			expect([node.name, 'output' in node.parameters]).toEqual([node.name, has]);
		}
	});

	test('has all nodes connected', () => {
		const nodeNames = example.nodes.filter((node) => !isNote(node)).map((node) => node.name);
		const links = Object.entries(example.connections).flatMap(([from, outputs]) =>
			Object.values(outputs)
				.flat(2)
				.map((to) => [from, to!.node]),
		);
		for (const end of links.flat()) expect(nodeNames).toContain(end);
		for (const node of nodeNames) expect(links.flat()).toContain(node);
		expect(new Set(example.nodes.map((node) => node.name)).size).toBe(example.nodes.length);
		expect(example.settings?.executionOrder).toBe('v1');
	});

	test('uses nothing that n8n 3 removes', () => {
		expect(example.nodes.filter(isRemoved).map((node) => node.name)).toEqual([]);
		const severalOutputs = Object.entries(example.connections)
			.filter(([, { main = [] }]) => main.length > 1)
			.map(([from]) => from);
		const always = example.nodes.filter((node) => node.alwaysOutputData).map((node) => node.name);
		// There it adds an item only when all outputs are empty.
		expect(always.filter((node) => severalOutputs.includes(node))).toEqual([]);
		expect(textOf(name)).not.toContain('$getPairedItem');
	});

	test('contains no credential and no data of an installation', () => {
		for (const node of example.nodes) expect(node).not.toHaveProperty('credentials');
		expect(Object.keys(example).sort()).toEqual(['connections', 'name', 'nodes', 'settings']);
		expect(textOf(name)).not.toMatch(
			/webhookId|instanceId|versionId|pinData|127\.0\.0\.1|xox[bp]-/,
		);
	});
});

describe('a search by a bot', () => {
	const example = read('search-my-days');
	/** Whether it goes on with what comes from Telegram or Slack, and answers. */
	const isAnswered = (asked: IDataObject) => {
		const fields = {
			...fieldsOf(example, 'Settings', asked),
			me: 'message' in asked ? '47' : 'U47',
		};
		return executeFilter(evaluated(example, 'Only me', 'conditions', fields) as FilterValue);
	};

	test.each<[string, IDataObject, boolean]>([
		['a chat with the bot', { from: { id: 47 }, chat: { id: 47, type: 'private' } }, true],
		['somebody else', { from: { id: 48 }, chat: { id: 48, type: 'private' } }, false],
		['a group', { from: { id: 47 }, chat: { id: -1001234, type: 'supergroup' } }, false],
	])('in Telegram, of %s', (_name, message, expected) => {
		expect(isAnswered({ message: { text: 'ferns', ...message } })).toBe(expected);
	});

	test.each<[string, IDataObject, boolean]>([
		['a message to the bot', { user: 'U47', channel: 'D024BE91L' }, true],
		['somebody else', { user: 'U48', channel: 'D024BE91M' }, false],
		['a channel', { user: 'U47', channel: 'C024BE91L' }, false],
		['a group', { user: 'U47', channel: 'G024BE91L' }, false],
	])('in Slack, of %s', (_name, message, expected) => {
		expect(isAnswered({ type: 'message', text: 'ferns', ...message })).toBe(expected);
	});
});

describe('a conversation of Omi', () => {
	const example = read('omi-to-lifelogs');
	const conversation = JSON.parse(
		readFileSync('test/server/recordings/transcripts/omi-webhook.json', 'utf8'),
	) as IDataObject;
	const me = { uid: 'me' };

	/** What Omi sends, and what `uid` is set to. */
	test.each<[string, boolean, { query?: IDataObject; body?: unknown; uid?: string }]>([
		['of the owner', true, {}],
		['of somebody else', false, { query: { uid: 'other' } }],
		['of nobody', false, { query: {} }],
		['as long as no owner is set', false, { query: { uid: '' }, uid: '' }],
		['that names two owners', false, { query: { uid: ['me', 'other'] } }],
		['that was discarded', false, { body: { ...conversation, discarded: true } }],
		['without words', false, { body: { ...conversation, transcript_segments: [] } }],
		[
			'with blank words',
			false,
			{ body: { ...conversation, transcript_segments: [{ text: ' ', start: 0, end: 1 }, null] } },
		],
		['that is none', false, { body: 'text' }],
		['without a body', false, { body: null }],
		['that is too large', false, { body: { ...conversation, note: 'x'.repeat(2e6) } }],
	])('%s is accepted: %p', (_what, expected, { query = me, body = conversation, uid = 'me' }) => {
		const request = { query, body } as IDataObject;
		const fields = { ...fieldsOf(example, 'Settings', request), uid };
		const conditions = evaluated(example, 'Only mine', 'conditions', fields);
		expect(executeFilter(conditions as FilterValue)).toBe(expected);
	});

	test("of the maximum size is accepted, and a larger one isn't", () => {
		const { maxCharacters } = fieldsOf(example, 'Settings', { query: me, body: conversation });
		const bare = JSON.stringify({ ...conversation, note: '' }).length;
		const isTaken = (characters: number) => {
			const body = { ...conversation, note: 'x'.repeat(characters - bare) };
			const fields = { ...fieldsOf(example, 'Settings', { query: me, body }), uid: 'me' };
			return executeFilter(evaluated(example, 'Only mine', 'conditions', fields) as FilterValue);
		};
		expect(isTaken(Number(maxCharacters))).toBe(true);
		expect(isTaken(Number(maxCharacters) + 1)).toBe(false);
	});

	test('is used unchanged as the transcript', () => {
		expect(evaluated(example, 'Create lifelog', 'transcript', { conversation })).toEqual(
			conversation,
		);
	});
});

test.each([
	['queued', 'The recording is still being transcribed. The lifelog appears later.'],
	['done', 'Nobody speaks in this recording, or you have deleted its lifelog.'],
])('a voice message without a lifelog that is %s gets the right answer', (status, answer) => {
	const recording = { status, lifelogIds: [] };
	expect(evaluated(read('voice-message-to-lifelog'), 'Reply', 'text', recording)).toBe(answer);
});

test('a scheduled chat shows no image and no link, also in its title', () => {
	const chat = {
		summary: '![a](https://example.com/b) [c](https://example.com/d)',
		response: 'Hi',
	};
	const { title, messages } = fieldsOf(read('scheduled-chat-to-slack'), 'Messages', chat);
	expect(title).toBe(chat.summary);
	expect(messages).toEqual(['# !［a］(https://example.com/b) ［c］(https://example.com/d)\n\nHi']);
});

describe('what lifelog-server reports is posted to Slack without mentions, links and images', () => {
	const odd = '![a](https://example.com/b) <!channel> & *c*';

	test('a new lifelog, by its topics or how it begins', () => {
		const example = read('as-soon-as-ready');
		const lifelog = {
			title: odd,
			startTime: '2026-03-01T09:00:00+01:00',
			headings: [] as string[],
		};
		const posted = (json: IDataObject) => {
			const { blocks } = JSON.parse(evaluated(example, 'Post', 'blocksUi', json) as string);
			return [evaluated(example, 'Post', 'text', json), blocks[0].text];
		};
		const title = '!［a］(https://example.com/b) &lt;!channel&gt; &amp; ∗c∗';
		const inText = title.replace('［', '[').replace('］', ']');
		expect(posted({ ...lifelog, excerpt: 'Ann: _Hi_' })).toEqual([
			inText,
			`# ${title}\n\n1 March 2026, 09:00\n\nAnn: ˍHiˍ`,
		]);
		expect(posted({ ...lifelog, headings: ['Ferns', odd] })).toEqual([
			inText,
			`# ${title}\n\n1 March 2026, 09:00\n\n- Ferns\n- ${title}`,
		]);
		expect(posted({ ...lifelog, title: null, excerpt: '' })).toEqual([
			'New lifelog',
			'# New lifelog\n\n1 March 2026, 09:00',
		]);
	});

	test('a recording that failed', () => {
		const text = (json: IDataObject) => evaluated(read('recording-failed'), 'Post', 'text', json);
		expect(text({ fileName: 'memo.m4a', error: odd })).toBe(
			'The recording memo.m4a failed: ![a](https://example.com/b) &lt;!channel&gt; &amp; ∗c∗',
		);
		expect(text({ fileName: null, error: null })).toBe(
			'The recording without a name failed: unknown',
		);
	});
});

test.each([
	['A walk: to the "sea"', 'A walk to the sea'],
	['???', 'Starred lifelog'],
	['  ', 'Starred lifelog'],
	[null, 'Starred lifelog'],
])('a starred lifelog gets a valid file name in a drive: %j', (title, name) => {
	const once = { 'Only once': { id: 'abc1', title, startTime: '2026-03-01T09:00:00+01:00' } };
	const file = { lifelogId: 'abc1', fileName: 'x.md' };
	const path = evaluated(read('starred-to-drive'), 'Store', 'path', file, once);
	expect(path).toBe(`/Lifelog/Starred/2026-03-01 09.00 ${name} (abc1)/${name}.md`);
});

test('the code of every Code node is valid JavaScript', () => {
	const code = names.flatMap((name) =>
		read(name).nodes.flatMap(({ parameters }) => (parameters.jsCode as string | undefined) ?? []),
	);
	expect(code.length).toBeGreaterThan(5);
	for (const each of code) expect(() => new Function(`(async () => {${each}\n})`)).not.toThrow();
});

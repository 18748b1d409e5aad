// The names that people's workflows hold on to: of nodes, parameters, their values, fields of the
// credential and of outputs. names.yaml has them as they are; outputs are those of the real engine.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IDataObject, INode, INodeProperties, INodeType } from 'n8n-workflow';
import { parse, stringify } from 'yaml';
import { loadPackage, type RunResult } from '../support/engine.mts';
import { EventService } from '../support/eventService.mts';
import { startLabAt } from '../support/lab.mts';
import { startLifelogServer } from '../support/lifelogServer.mts';
import { selectorIn } from '../support/panel.mts';
import { use, useNode } from '../support/useNode.mts';
import { WebhookHost } from '../support/webhookHost.mts';
import { byId, workflowWith } from '../support/workflow.mts';
import { addUsual, usualValues } from './usual.mts';

const FILE = 'test/nodes/names.yaml';
const MEANING = `
Workflows that people have made hold on to these names. What is gone here breaks them: keep it, or
make a new version of the node and leave the old one as it is. What is new may come, and is frozen
with the release, when CHANGELOG.md has nothing unreleased any more:
  npm run build && NAMES=write npx jest test/nodes/names.test.mts
writes ${FILE}.`;

const NOW = '2026-03-20T20:00:00Z';
/** What is below these has its form from the service, from Slack or from Notion. */
const OF_OTHERS = ['contents', 'messages', 'blocks', 'properties', 'children', 'childrenBatches'];

/** Words by what they are names of, e.g. `lifelog.get` → `gives, output=raw` → `id title`. */
type Names = Record<string, Record<string, string>>;

interface Operation {
	node: string;
	/** The parameter that chooses it, and with which value. */
	selector: string;
	value: string;
	/** What can be set for it; what a tool has instead is there as well. */
	properties: INodeProperties[];
}

const { nodeTypes, credentialTypes } = loadPackage();
const descriptions = Object.values(nodeTypes).map((type) => (type as INodeType).description);
const operations: Operation[] = descriptions.flatMap(({ name: node, properties }) => {
	const selector = selectorIn(properties);
	return valuesOf(selector).map((value) => ({
		node,
		selector: selector.name,
		value,
		properties: properties
			.filter(({ type }) => type !== 'hidden' && type !== 'notice')
			.filter(
				(property) => property.name !== selector.name && isShown(property, selector.name, value),
			)
			.map((property) => {
				const options = property.options?.filter(
					(option) => !('type' in option) || isShown(option, `/${selector.name}`, value),
				);
				return { ...property, options } as INodeProperties;
			}),
	}));
});

function isShown({ displayOptions }: INodeProperties, selector: string, value: string): boolean {
	const { show, hide } = displayOptions ?? {};
	return (show?.[selector]?.includes(value) ?? true) && !hide?.[selector]?.includes(value);
}

const isOfTool = ({ displayOptions }: INodeProperties) =>
	displayOptions?.show?.['@tool']?.includes(true) ?? false;

/** The values a parameter has to choose from. */
function valuesOf({ options = [] }: INodeProperties): string[] {
	return options.flatMap((option) => ('value' in option ? [String(option.value)] : []));
}

/** Type, values and default of a parameter, and of those in it. */
function parameterNames(property: INodeProperties, before = ''): Array<[string, string]> {
	const { name, type, options = [], modes = [] } = property;
	const isForModel = JSON.stringify(property.default).includes('$fromAI(');
	const value = isForModel ? '$fromAI' : JSON.stringify(property.default);
	const given = `${isOfTool(property) ? 'defaultOfTool' : 'default'}=${value}`;
	const choices = [...valuesOf(property), ...modes.map((mode) => mode.name)];
	const inside = options.flatMap((option) => {
		if ('type' in option) return parameterNames(option, `${before}${name}.`);
		if (!('values' in option)) return [];
		const within = `${before}${name}.${option.name}.`;
		return option.values.flatMap((value) => parameterNames(value, within));
	});
	return [[`${before}${name}`, [type, ...choices, given].join(' ')], ...inside];
}

/** Where two properties have one name, as a tool has a default of its own, they are one. */
function namesIn(properties: INodeProperties[]): Record<string, string> {
	const words = new Map<string, Set<string>>();
	for (const [name, text] of properties.flatMap((property) => parameterNames(property))) {
		words.set(name, new Set([...(words.get(name) ?? []), ...text.split(' ')]));
	}
	return Object.fromEntries([...words].map(([name, all]) => [name, [...all].join(' ')]));
}

const lab = useNode('lifelog');
const folder = mkdtempSync(join(tmpdir(), 'lifelog-names-'));
/** For the node that the service has no requests for. */
const own = use(async () => {
	// Nobody is there, because an upload is answered before it is transcribed.
	const transcription = ['--transcription-url', 'http://127.0.0.1:9/v1'];
	const args = ['--allow-changes', ...transcription, '--transcription-model', 'none'];
	return await startLabAt(await startLifelogServer(folder, args));
});

afterAll(() => rmSync(folder, { recursive: true }));

async function freshData() {
	const { control } = lab.sandbox;
	const dialect = { rateLimit: { max: 100_000 } };
	await control.reset({ now: NOW, days: 2, perDay: 6, dialect });
	const [lifelog] = await control.lifelogs();
	const [chat] = (await control.chats()).filter(({ owner }) => owner === 'self');
	return { lifelog, chat };
}

type Data = Awaited<ReturnType<typeof freshData>>;

function usualOf({ node, value, properties }: Operation, data: Data): IDataObject {
	const usual: IDataObject = usualValues(data);
	const unknown = properties.find(
		({ name, required, default: given }) => required === true && given === '' && !(name in usual),
	);
	if (unknown) throw new Error(addUsual(node, value, unknown.name));
	const known = properties.filter(({ name }) => name in usual);
	return Object.fromEntries(
		known.map(({ name, type }) => [
			name,
			type === 'resourceLocator' ? byId(usual[name]) : usual[name],
		]),
	);
}

const cut = { maxCharacters: 100 };
const inSilence = { start: '2026-03-18T01:00', end: '2026-03-18T01:10', source: 'timeRange' };
/** What options add to an output. */
const WITH_OPTIONS: Record<string, IDataObject[]> = {
	'lifelog.get': [{ output: 'raw', options: cut }],
	'lifelog.getMany': [{ options: { includeContents: true } }],
	'lifelog.getTranscript': [{ options: cut }, { outputAs: 'text', options: cut }],
	'lifelogAudio.download': [{ ...inSilence, options: { ifNoAudio: 'report' } }],
};

/** Every way to run an operation that a parameter offers beside its default. */
function waysOf({ node, value, properties }: Operation): IDataObject[] {
	const offered = properties
		.filter((property) => !isOfTool(property))
		// It chooses lifelogs and changes none of their fields; today's are not in the data.
		.filter(({ name }) => name !== 'period' && !(node === 'lifelogAudio' && name === 'day'))
		.flatMap((property): IDataObject[] => {
			const { name, type, displayOptions } = property;
			const conditions = Object.entries(displayOptions?.show ?? {}).filter(([other]) =>
				properties.some((each) => each.name === other),
			);
			const others = Object.fromEntries(conditions.map(([other, values]) => [other, values?.[0]]));
			if (type === 'multiOptions')
				return [{ ...others, [name]: valuesOf(property) } as IDataObject];
			const values = type === 'boolean' ? [true, false] : valuesOf(property);
			return values
				.filter((each) => each !== property.default)
				.map((each) => ({ ...others, [name]: each }) as IDataObject);
		});
	return [{}, ...offered, ...(WITH_OPTIONS[`${node}.${value}`] ?? [])];
}

/** `gives, output=selectedFields fields=all` */
function titleOf(way: IDataObject): string {
	const set = Object.entries(way).map(([name, value]) => {
		if (name === 'options') return Object.keys(value as IDataObject).join(' ');
		return `${name}=${Array.isArray(value) ? 'all' : value}`;
	});
	return ['gives', set.join(' ')].filter((part) => part !== '').join(', ');
}

async function itemsOf(
	operation: Operation,
	way: IDataObject,
): Promise<ReturnType<RunResult['items']>> {
	const data = await freshData();
	const { node, selector, value } = operation;
	const isOwn = node === 'lifelogServer';
	if (isOwn) data.lifelog.id = await createdId(data);
	const parameters = { [selector]: value, ...usualOf(operation, data), ...way };
	const workflow = workflowWith(node, parameters);
	if (selector === 'events') return await itemsOfEvent(workflow.nodes[1], value, data);
	if (selector === 'event') return await itemsOfTrigger(workflow.nodes[1], data);
	const binary = { data: { data: 'T2dnUw==', mimeType: 'audio/ogg', fileName: 'morning.ogg' } };
	const input = [{ json: { ...data.lifelog }, ...(value === 'upload' && { binary }) }];
	const { engine } = isOwn ? own : lab;
	const result = await engine.runWorkflow(workflow, { input });
	expect([parameters, result.error?.message]).toEqual([parameters, undefined]);
	return result.items('Node');
}

/** The ID of the one lifelog that lifelog-server has, made before if it wasn't there. */
async function createdId(data: Data): Promise<string> {
	const { startTime } = data.lifelog;
	const { transcript } = usualValues(data);
	const parameters = { operation: 'create', startTime, transcript };
	const { items } = await own.engine.runWorkflow(workflowWith('lifelogServer', parameters));
	return String(items('Node')[0].json.id);
}

/** What the trigger reports when there is one more lifelog and chat, and one lifelog has changed. */
async function itemsOfTrigger(node: INode, { lifelog, chat }: Data) {
	const { control } = lab.sandbox;
	const staticData: IDataObject = {};
	const poll = async () =>
		await lab.engine.runPoll({ nodes: [node], connections: {} }, { staticData });
	await poll();
	await control.addLifelog({ ...lifelog, id: 'new', startTime: NOW, endTime: NOW });
	await control.updateLifelog(lifelog.id, { title: 'Another', updatedAt: NOW });
	await control.addChat({ ...chat, id: 'new', createdAt: NOW, globalPromptId: 'prompt' });
	return (await poll()).items ?? [];
}

/** What the trigger reports that lifelog-server calls. */
async function itemsOfEvent(node: INode, type: string, { lifelog }: Data) {
	const { service, engine } = await startLabAt(await EventService.start());
	const host = await WebhookHost.start(engine);
	service.lifelogs.set(lifelog.id, lifelog);
	service.recordings.set(lifelog.id, { id: lifelog.id });
	const webhookId = 'names';
	await host.activate({ ...node, webhookId, parameters: { ...node.parameters, events: [type] } });
	await service.deliver({ type, data: { id: lifelog.id } });
	await Promise.all([host.close(), engine.close(), service.close()]);
	return host.started.map((json) => ({ json }));
}

/** The names of all fields, those of a list's entries behind the list's. */
function fieldsIn(value: unknown): string[] {
	if (Array.isArray(value)) return value.flatMap(fieldsIn);
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([name, field]) => {
		const inside = OF_OTHERS.includes(name) ? [] : fieldsIn(field);
		return [name, ...inside.map((path) => `${name}.${path}`)];
	});
}

async function outputsOf(operation: Operation): Promise<Record<string, string>> {
	const outputs: Record<string, string> = {};
	for (const way of waysOf(operation)) {
		const items = await itemsOf(operation, way);
		expect([operation.value, way, items.length > 0]).toEqual([operation.value, way, true]);
		const files = items.flatMap(({ binary = {} }) => Object.keys(binary));
		const fields = [
			...items.flatMap(({ json }) => fieldsIn(json)),
			...files.map((name) => `binary.${name}`),
		];
		outputs[titleOf(way)] = [...new Set(fields)].join(' ');
	}
	return outputs;
}

/** What an item has that failed, and audio of which a part could not be had. */
async function outputsOfFailures(): Promise<Record<string, string>> {
	const { lifelog } = await freshData();
	const unknown = { operation: 'get', lifelogId: byId('none') };
	const failed = workflowWith('lifelog', unknown, { onError: 'continueRegularOutput' });
	const { startTime: start, endTime: end } = lifelog;
	const options = { ifPartFails: 'report', chunkMinutes: 1 };
	const range = { operation: 'download', source: 'timeRange', start, end, options };
	const [item] = (await lab.engine.runWorkflow(failed)).items('Node');
	const path = '/v1/download-audio';
	await lab.sandbox.control.faults([{ path, skip: 1, times: 1000, status: 400, body: {} }]);
	const partly = await lab.engine.runWorkflow(workflowWith('lifelogAudio', range));
	const [{ json }] = partly.items('Node');
	return {
		'an item that failed': fieldsIn(item.json).join(' '),
		failedRanges: [...new Set(fieldsIn(json.failedRanges))].join(' '),
	};
}

async function currentNames(): Promise<Names> {
	const names: Names = { failures: await outputsOfFailures() };
	for (const { name, properties } of Object.values(credentialTypes)) {
		names[`credential ${name}`] = namesIn(properties);
	}
	for (const { name, version } of descriptions) {
		names[`node n8n-nodes-lifelog.${name}`] = { versions: [version].flat().join(' ') };
	}
	for (const operation of operations) {
		const { node, selector, value, properties } = operation;
		const outputs = await outputsOf(operation);
		names[`${node}, ${selector} ${value}`] = { ...namesIn(properties), ...outputs };
	}
	return names;
}

/** Each word with what it belongs to. */
function wordsOf(names: Names): string[] {
	return Object.entries(names).flatMap(([place, texts]) =>
		Object.entries(texts).flatMap(([name, text]) =>
			text.split(' ').map((word) => `${place}, ${name}: ${word}`),
		),
	);
}

test('Delete comes last among the operations of a node', () => {
	const listed = descriptions.map(({ properties }) => valuesOf(selectorIn(properties)));
	const withDelete = listed.filter((values) => values.includes('delete'));
	expect(withDelete).toHaveLength(2);
	for (const values of withDelete) expect(values.at(-1)).toBe('delete');
});

test('no name that workflows use is removed, and every released name is recorded', async () => {
	const names = await currentNames();
	if (process.env.NAMES === 'write') {
		writeFileSync(FILE, stringify(names, { lineWidth: 0, singleQuote: true }));
	}
	const before = wordsOf(parse(readFileSync(FILE, 'utf8')) as Names);
	const now = wordsOf(names);
	const gone = before.filter((word) => !now.includes(word));
	const mayBeNew = /^## Unreleased$/m.test(readFileSync('CHANGELOG.md', 'utf8'));
	const added = mayBeNew ? [] : now.filter((word) => !before.includes(word));
	if (gone.length + added.length === 0) return;
	const lines = [
		...gone.map((word) => `  gone  ${word}`),
		...added.map((word) => `  new   ${word}`),
	];
	throw new Error(`${lines.join('\n')}\n${MEANING}`);
});

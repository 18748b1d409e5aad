import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import type { Engine, PollOptions } from '../../support/engine.mts';
import { engineAt, startLabAt } from '../../support/lab.mts';
import { workflowWith } from '../../support/workflow.mts';
import { KEY_MARK } from './marked-key.mts';
import { FILE } from './operations.mts';
import {
	type NodeOperation,
	nodeOperations,
	type Parameter,
	withParameters,
} from './parameters.mts';
import { chat, json, lifelog, send, type Service, startService, type World } from './service.mts';
import { anyBody, anyEntry } from './values.mts';

/** How a property is tried: the same runs each time, or others. */
export interface Trial {
	seed: number;
	numRuns: number;
}

/** Nodes and a service for properties to be tried on. */
export async function startTrials() {
	const service = await startService();
	const apiKey = `${KEY_MARK}-properties`;
	const { engine, close } = await startLabAt({ ...service, apiKey });
	return {
		service,
		engine,
		engineAt: async (url: string, key = apiKey) => await engineAt({ url, apiKey: key }),
		open: (body?: unknown) =>
			service.open(apiKey, body === undefined ? undefined : answering(body)),
		close,
	};
}

type Trials = Awaited<ReturnType<typeof startTrials>>;

const answering =
	(body: unknown): World['play'] =>
	({ response }) =>
		send(response, json(200, body));

/** Of the runs of `tryInput` those that send a request at least; most are refused before. */
const MIN_SHARE = 0.05;

/** Whatever a parameter is set to, the operation does its work or says what is wrong. */
export async function tryInput(trials: Trials, operation: NodeOperation, trial: Trial) {
	const change = fc.tuple(fc.constantFrom(...operation.parameters), anyEntry);
	// Most are refused, so that of several at once hardly any get as far as a request.
	const changes = fc.oneof(
		{ weight: 3, arbitrary: fc.tuple(change) },
		{ weight: 1, arbitrary: fc.array(change, { minLength: 2, maxLength: 3 }) },
	);
	await checkRequests(trials, operation, withParameters(operation, []), trials.open());
	let asked = 0;
	const property = fc.asyncProperty(changes, async (changed) => {
		const world = trials.open();
		const parameters = withParameters(
			operation,
			changed.map(([parameter, { parameter: entry, value }], nth) => [
				parameter,
				entry === '={{ $json.value }}' ? expressionOf(operation, value, nth) : entry,
			]),
		);
		const json = Object.fromEntries(changed.map(([, { value }], nth) => [`value${nth}`, value]));
		await check(trials, operation, parameters, world, json as IDataObject);
		if (world.seen.length > 0) asked++;
	});
	await fc.assert(property, trial);
	if (asked < trial.numRuns * MIN_SHARE) {
		throw new Error(`Of ${trial.numRuns} runs only ${asked} sent a request: too little is tried`);
	}
}

/** Where an action finds a value in its input, a trigger, which has none, is given the value itself. */
function expressionOf({ isTrigger }: NodeOperation, value: unknown, nth: number): string {
	if (!isTrigger) return `={{ $json.value${nth} }}`;
	const text = encodeURIComponent(JSON.stringify(value) ?? 'null').replaceAll("'", '%27');
	return `={{ JSON.parse(decodeURIComponent('${text}')) }}`;
}

/** Settings that make a node do other things with an answer. */
const OTHER_WAYS: Record<string, unknown> = {
	returnAll: true,
	outputAs: 'text',
	output: 'simplified',
	'options.maxCharacters': 100,
	'options.fromOffsetMs': 1,
	source: 'timeRange',
	'options.ifPartFails': 'report',
	'options.includeContents': true,
	'options.speakers': 'ann, user',
	period: 'range',
};
/** Of the parameter Format, which has more than two ways. */
const FORMATS = ['markdown', 'slack', 'notion'];

/** Whatever the service answers, the operation does its work or says what is wrong. */
export async function tryAnswer(trials: Trials, operation: NodeOperation, trial: Trial) {
	const ways = operation.parameters.flatMap((parameter): Array<[typeof parameter, unknown]> => {
		const name = parameter.path.join('.');
		return name in OTHER_WAYS ? [[parameter, OTHER_WAYS[name]]] : [];
	});
	const formats = operation.parameters
		.filter(({ path }) => path.join('.') === 'format')
		.flatMap((parameter) =>
			FORMATS.map((format): Array<[Parameter, unknown]> => [[parameter, format]]),
		);
	const anyWays = fc
		.tuple(fc.subarray(ways), fc.constantFrom(...(formats.length > 0 ? formats : [[]])))
		.map((chosen) => chosen.flat());
	const property = fc.asyncProperty(anyBody, anyWays, async (body, chosen) => {
		const parameters = withParameters(operation, chosen);
		await checkRequests(trials, operation, parameters, trials.open(body ?? null));
	});
	await fc.assert(property, trial);
}

/** Of parameters with which the operation has something to ask the service for. */
async function checkRequests(
	trials: Trials,
	operation: NodeOperation,
	parameters: IDataObject,
	world: World,
): Promise<void> {
	const error = await check(trials, operation, parameters, world, {});
	if (world.seen.length > 0) return;
	const { node, operation: name } = operation;
	throw new Error(
		`${node} ${name} sent no request (${error?.message ?? 'and failed on nothing'}) with ${JSON.stringify(parameters)}: is usualValues in test/nodes/usual.mts right?`,
	);
}

async function check(
	{ engine, service }: Trials,
	operation: NodeOperation,
	parameters: IDataObject,
	world: World,
	input: IDataObject,
): Promise<Failure | undefined> {
	const errors = operation.isTrigger
		? await poll(engine, operation, parameters, world)
		: [await execute(engine, operation, parameters, input)];
	const problems = [
		...errors.flatMap((error) => problemsOf(error, operation)),
		...problemsOfRequests(world, operation, service),
		...pollution(),
	];
	if (problems.length > 0) throw new Error(problems.join('\n'));
	return errors.find((error) => error);
}

type Failure = { message: string; stack?: string };

async function execute(
	engine: Engine,
	{ node }: NodeOperation,
	parameters: IDataObject,
	input: IDataObject,
): Promise<Failure | undefined> {
	const workflow = workflowWith(node, parameters);
	const { error } = await engine.runWorkflow(workflow, { input: [{ json: input, binary: FILE }] });
	return error;
}

/**
 * The editor's test; then a first poll, one of a service that is well, and one of a service as it was
 * at first. Something happens between them.
 */
async function poll(
	engine: Engine,
	{ node }: NodeOperation,
	parameters: IDataObject,
	world: World,
): Promise<Array<Failure | undefined>> {
	const { play } = world;
	const [, trigger] = workflowWith(node, parameters).nodes;
	const workflow = { nodes: [trigger], connections: {}, settings: { timezone: 'UTC' } };
	const errors: Array<Failure | undefined> = [];
	const once = async (options: PollOptions) => {
		const result = engine.runPoll(workflow, options);
		errors.push(await result.then(() => undefined).catch((error: unknown) => error as Failure));
	};
	await once({ mode: 'manual' });
	const staticData = {};
	for (const [nth, next] of [play, undefined, play].entries()) {
		world.play = next;
		await once({ staticData });
		world.lifelogs.unshift(lifelog(`lifelog-${nth}`, '2026-03-02T11:00:00.000Z'));
		world.chats.unshift(chat(`chat-${nth}`, '2026-03-02T11:59:00.000Z'));
	}
	return errors;
}

/**
 * What n8n makes of a required parameter that is empty, of one that is not shown as the value of
 * another is none, and of the input of a trigger, which has none.
 */
const BY_N8N =
	/^(WorkflowHasIssuesError|ExpressionError: Node 'Node' hasn't been executed|NodeOperationError: Could not get parameter "\w+")/;

function problemsOf(error: Failure | undefined, { node }: NodeOperation): string[] {
	if (!error) return [];
	const { message, stack = '' } = error;
	if (BY_N8N.test(stack)) return [];
	const isForeign =
		/^\w+: [^]*?\n\s+at toNodeError/.test(stack) || !/^Node(Api|Operation)/.test(stack);
	return isForeign || !message ? [`${node} failed on something unforeseen: ${stack}`] : [];
}

/** What an operation sends that doesn't only read. */
const METHODS: Record<string, string> = {
	...{ delete: 'DELETE', create: 'POST', update: 'PATCH', upload: 'POST' },
};

const ZONED = /^\d{4,}-\d\d-\d\d( \d\d:\d\d:\d\d)?$/;

function problemsOfRequests(
	{ seen }: World,
	{ operation }: NodeOperation,
	{ strangers }: Service,
): string[] {
	const strange = seen.filter(
		({ method, path }) =>
			!/^\/base\/v1\/(lifelogs|chats)\/[^/]+$/.test(path) &&
			!(method === 'GET' && /^\/base\/v1\/(lifelogs|chats|download-audio)$/.test(path)) &&
			!(method === 'POST' && /^\/base\/v1\/(lifelogs|recordings)$/.test(path)),
	);
	const climbing = seen.filter(({ path }) => /\/(\.|%2e){1,2}(\/|$)/i.test(path));
	const expected = METHODS[operation] ?? 'GET';
	// After a 404 to a change, the node asks whether there is such a lifelog.
	const unwanted = seen.filter(
		({ method }) => method !== expected && !(expected === 'PATCH' && method === 'GET'),
	);
	const malformed = seen.filter(({ query }) =>
		[query.start, query.end, query.date].some((value) => value !== undefined && !ZONED.test(value)),
	);
	const nested = seen.filter(({ query }) => Object.keys(query).some((name) => /\W/.test(name)));
	const wrong = [...strange, ...climbing, ...unwanted, ...malformed, ...nested];
	return [
		...wrong.map((request) => `a wrong request: ${JSON.stringify(request).slice(0, 400)}`),
		...strangers.map((request) => `a request elsewhere: ${request}`),
	];
}

function pollution(): string[] {
	const spoilt = [Object.prototype, Array.prototype, Function.prototype].flatMap((prototype) =>
		Object.keys(prototype),
	);
	return spoilt.map((name) => `a prototype was given ${name}`);
}

/** Every operation that runs as a workflow. */
export function actions(): NodeOperation[] {
	return nodeOperations().filter(({ isTrigger }) => !isTrigger);
}

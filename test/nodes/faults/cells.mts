import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import { engineAt } from '../../support/lab.mts';
import { skipPauses, type SkippedPauses } from '../../support/skipPauses.mts';
import { type Addresses, startAddresses } from './addresses.mts';
import { type Fault, FAULTS } from './faults.mts';
import { heldIn, KEY_MARK, RECORDED } from './marked-key.mts';
import { OPERATIONS, type Given, type Operation } from './operations.mts';
import { type Service, startService, type World } from './service.mts';
import { wordOf } from './words.mts';

/** Which requests of an operation go wrong: the first, the second, or all. */
export type When = 'first' | 'second' | 'all';

/** One operation under one fault. */
export interface Cell {
	operation: Operation;
	fault: Fault;
	when: When;
}

export interface Outcome {
	operation: string;
	/** Name in `FAULTS`. */
	fault: string;
	when: When;
	/** `data`: exactly the right one. */
	kind: 'data' | 'error';
	/** The message of the error, addresses left out. */
	message?: string;
	/** What must not be; empty when all is well. */
	problems: string[];
}

/**
 * The longest a cell may wait, in ms, for the rate limit included: its pauses, and the time that this
 * process, which is the service too, had nothing to do. How fast the machine computes does not count.
 */
const QUICK_BOUND_MS = 30_000;
/** A poll may wait 120 s for the rate limit. */
const POLL_BOUND_MS = 150_000;
const SLOW_BOUND_MS = 300_000;
/** Above the default of Max Rate Limit Wait. */
const DEFAULT_WAIT_BOUND_MS = 330_000;
/** Seconds that a request may wait for the rate limit in quick cells and in slow ones. */
const QUICK_MAX_WAIT = 5;
const SLOW_MAX_WAIT = 90;
const HEAVY_AT_A_TIME = 2;

/**
 * The matrix in three groups: `core` is every fault of four operations, and five faults of all
 * operations, none of them heavy; `slow` cells wait minutes for time-outs; `rest` is everything else.
 */
export type Group = 'core' | 'rest' | 'slow';

const CORE_OPERATIONS = [
	'lifelog.getMany',
	'lifelog.delete',
	'lifelogAudio.download',
	'lifelogTrigger.lifelogCreatedOrUpdated',
];
const CORE_FAULTS = ['limitBody', 'status500', 'html', 'resetAfter', 'cutJson'];

function groupOf({ name }: Operation, fault: Fault): Group {
	if (fault.slow) return 'slow';
	if (fault.isHeavy) return 'rest';
	const isCoreFault = CORE_FAULTS.some((core) => FAULTS[core] === fault);
	return isCoreFault || CORE_OPERATIONS.includes(name) ? 'core' : 'rest';
}

/** The cells of some groups. */
export function cells(groups: Group[], operations = OPERATIONS): Cell[] {
	return Object.values(FAULTS).flatMap((fault) =>
		operations
			.filter((operation) => groups.includes(groupOf(operation, fault)))
			.filter((operation) => isConcerned(operation, fault))
			.flatMap((operation) =>
				(['first', 'second', 'all'] as const)
					.filter((when) => (fault.only === 'always' ? when === 'all' : true))
					.filter((when) => when !== 'second' || operation.isLong)
					.map((when) => ({ operation, fault, when })),
			),
	);
}

/** Whether a fault has a meaning for an operation. */
export function isConcerned(
	{ isList, isAudio, isOfHeadings }: Operation,
	{ concerns }: Fault,
): boolean {
	if (concerns === undefined) return true;
	return { lists: isList === true, json: !isAudio, headings: isOfHeadings === true }[concerns];
}

/**
 * Runs cells: one at a time, without its pauses; at the same time those of a service that is slow.
 *
 * @param onDone Is told after each how many are done.
 */
export async function runCells(
	all: Cell[],
	onDone: (done: number) => void = () => {},
): Promise<Outcome[]> {
	const service = await startService();
	const addresses = await startAddresses();
	const binaryDir = await mkdtemp(join(tmpdir(), 'reliability-'));
	const outcomes: Outcome[] = [];
	let done = 0;
	const run = async (isIn: (fault: Fault) => boolean, atATime: number, pauses?: SkippedPauses) => {
		const queue = [...all.entries()].filter(([, { fault }]) => isIn(fault));
		const around = { service, addresses, binaryDir, pauses };
		const worker = async () => {
			for (let next = queue.shift(); next; next = queue.shift()) {
				const [index, cell] = next;
				outcomes[index] = await runCell(cell, index, around);
				onDone(++done);
			}
		};
		await Promise.all(Array.from({ length: atATime }, worker));
	};
	const isSlow = ({ slow, drips }: Fault) => Boolean(slow ?? drips);
	await run(isSlow, all.length);
	await run((fault) => fault.isHeavy === true, HEAVY_AT_A_TIME);
	const pauses = skipPauses();
	await run((fault) => !isSlow(fault) && !fault.isHeavy, 1, pauses);
	pauses.stop();
	if (service.strangers.length > 0) {
		outcomes[0].problems.push(`another host was sent: ${service.strangers.join('; ')}`);
	}
	await service.close();
	addresses.close();
	await rm(binaryDir, { recursive: true, force: true });
	return outcomes;
}

interface Surroundings {
	service: Service;
	addresses: Addresses;
	binaryDir: string;
	pauses?: SkippedPauses;
}

async function runCell(cell: Cell, index: number, around: Surroundings): Promise<Outcome> {
	const { operation, fault, when } = cell;
	const apiKey = `${KEY_MARK}-${index}`;
	const hit = { first: 0, second: 1, all: undefined }[when];
	const world = around.service.open(apiKey, fault.play, (nth) => hit === undefined || nth === hit);
	const url = fault.address ? around.addresses[fault.address] : around.service.url;
	const { binaryDir, pauses } = around;
	const engine = await engineAt({ url, apiKey }, { binaryMode: 'filesystem', binaryDir });
	const began = performance.eventLoopUtilization();
	const skippedBefore = pauses?.skippedMs ?? 0;
	const given = await operation.run(engine, fault.slow ? SLOW_MAX_WAIT : QUICK_MAX_WAIT, world);
	const { idle } = performance.eventLoopUtilization(began);
	const waited = idle + (pauses?.skippedMs ?? 0) - skippedBefore;
	await engine.close();

	const problems = [
		...(given.error ? problemsOfError(given, cell, world) : problemsOfData(given, cell, world)),
		...problemsOfRequests(cell, world),
	];
	const quickBound = operation.isPoll
		? POLL_BOUND_MS
		: operation.hasDefaultWait
			? DEFAULT_WAIT_BOUND_MS
			: QUICK_BOUND_MS;
	const bound = Math.max(fault.slow ? SLOW_BOUND_MS : 0, quickBound);
	if (waited > bound) problems.push(`it waited ${Math.round(waited)} ms`);
	const held = heldIn([given.everything, world.seen], [KEY_MARK, RECORDED]);
	if (held.includes(KEY_MARK)) problems.push('the API key came out');
	if (held.includes(RECORDED)) problems.push('what was recorded came out');
	return {
		operation: operation.name,
		fault: Object.keys(FAULTS).find((name) => FAULTS[name] === fault)!,
		when,
		kind: given.error ? 'error' : 'data',
		message: given.error && withoutAddress(given.error.message),
		problems,
	};
}

function wrong(data: unknown, right: unknown): string {
	return `wrong data: ${JSON.stringify(data)}\nnot: ${JSON.stringify(right)}`;
}

function problemsOfData({ data }: Given, { operation, fault }: Cell, world: World): string[] {
	const right = fault.right ? fault.right(operation.right) : operation.right;
	if (!isDeepStrictEqual(data, right)) return [wrong(data, right)];
	if (operation.deletes && !world.deleted.has(operation.deletes)) return ['nothing was deleted'];
	return [];
}

/** Nothing a programmer would have to explain. */
const UNREADABLE =
	/undefined|null|NaN|\[object|TypeError|RangeError|SyntaxError|Cannot read|is not a function|is not iterable|JSON at|axios/i;
const MAY_BE_DELETED = /may or may not have been|does not say/;

function problemsOfError({ error, late }: Given, { operation }: Cell, world: World): string[] {
	const { message, description, stack } = error!;
	const text = `${message} ${description ?? ''}`;
	const problems: string[] = [];
	if (wordOf({ kind: 'error', message }) === undefined) problems.push(`not expected: ${message}`);
	if (!/^Node(Api|Operation)Error/.test(stack ?? ''))
		problems.push(`not an error of n8n: ${stack}`);
	if (message.length < 15 || !description || UNREADABLE.test(text)) {
		problems.push(`not readable: ${text}`);
	}
	if (late !== undefined && !isDeepStrictEqual(late, operation.right)) {
		problems.push(`afterwards ${wrong(late, operation.right)}`);
	}
	if (operation.deletes && world.deleted.size > 0 && !MAY_BE_DELETED.test(text)) {
		problems.push(`deleted, and it says no word of it: ${text}`);
	}
	return problems;
}

function problemsOfRequests({ operation }: Cell, world: World): string[] {
	const methods = world.seen.map(({ method }) => method);
	const { deletes, methods: wanted = [deletes ? 'DELETE' : 'GET'] } = operation;
	const unwanted = methods.filter((method) => !wanted.includes(method));
	const strange = world.seen.filter(
		({ path }) => !/^\/base\/v1\/(lifelogs|chats|recordings|download-audio)(\/[\w-]+)?$/.test(path),
	);
	const others = [...world.deleted].filter((id) => id !== operation.deletes);
	return [
		...unwanted.map((method) => `it sent ${method}`),
		...strange.map(({ path }) => `it asked for ${path}`),
		...others.map((id) => `it deleted ${id}`),
	];
}

function withoutAddress(message: string): string {
	return message.replace(/127\.0\.0\.1:\d+|nothing\.invalid/g, 'the host');
}

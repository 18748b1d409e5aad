// An hour in which workflows read as fast as the rate limit allows, beside a trigger that polls each
// minute with the same key.
import type { IDataObject } from 'n8n-workflow';
import { createEngine, type Engine, loadPackage } from '../support/engine.mts';
import { workflowWith } from '../support/workflow.mts';
import { GOOD_MANNERS } from '../trigger/promises/history.mts';
import { World } from '../trigger/promises/service.mts';
import { inProcess, type Wire } from '../trigger/promises/wire.mts';

const MINUTE = 60_000;
/** What the service allows in an hour, read by three workflows at once. */
const WORKFLOWS = 3;
const READS = 180 * 60;
const NEW_EVERY_MINUTES = 5;

let wire: Wire;
let engine: Engine;
const lifelogApi = { apiKey: 'key', baseUrl: '' };

beforeAll(async () => {
	wire = inProcess();
	engine = await createEngine({ ...loadPackage(), credentials: { lifelogApi } });
});

afterAll(async () => {
	wire.close();
	await engine.close();
});

/** @param beside What goes on beside the reading, until it is over. @returns How long it took, in ms. */
async function read(
	beside: (world: World, isOver: () => boolean) => Promise<void>,
): Promise<number> {
	const world = new World({ ...GOOD_MANNERS, latencyMs: 100 }, Date.UTC(2026, 2, 1, 12));
	lifelogApi.baseUrl = wire.serve(world);
	const { id } = world.create(world.now - MINUTE);
	const parameters = { operation: 'get', lifelogId: id };
	const input = Array.from({ length: READS / WORKFLOWS }, () => ({ json: {} }));
	world.time.install();
	try {
		const began = world.now;
		let ended: number | undefined;
		const runs = Array.from(
			{ length: WORKFLOWS },
			async () => await engine.runWorkflow(workflowWith('lifelog', parameters), { input }),
		);
		const reading = Promise.all(runs).then((results) => {
			ended = world.now;
			expect(results.map(({ error }) => error)).toEqual(runs.map(() => undefined));
		});
		await Promise.all([reading, beside(world, () => ended !== undefined)]);
		return ended! - began;
	} finally {
		world.time.uninstall();
	}
}

/** Polls each minute, as n8n does in memory, and creates a lifelog now and then. */
async function pollEachMinute(world: World, isOver: () => boolean): Promise<void> {
	const [, node] = workflowWith('lifelogTrigger', { event: 'lifelogCreated' }).nodes;
	const polling = engine.startPolling(
		{ nodes: [node], connections: {} },
		{ timezone: 'UTC', activation: 'activate', budgetMs: 5 * MINUTE },
	);
	const createdAt = new Map<string, number>();
	const delays: number[] = [];
	const poll = async () => {
		const { items } = await polling.poll();
		for (const { json } of items ?? []) {
			delays.push(world.now - createdAt.get((json as IDataObject).id as string)!);
		}
	};
	const polls = [poll()];
	for (let minute = 1; !isOver(); minute++) {
		await new Promise((wake) => setTimeout(wake, MINUTE));
		if (minute % NEW_EVERY_MINUTES === 1) {
			const { id } = world.create(world.now - 1000);
			createdAt.set(id, world.now);
		}
		await new Promise((wake) => setTimeout(wake, 1));
		polls.push(poll());
	}
	await Promise.all(polls);
	expect(polls.length).toBeGreaterThan(60);
	expect(delays).toHaveLength(createdAt.size);
	expect(Math.max(...delays)).toBeLessThan(2 * MINUTE);
}

test('no poll fails, each event arrives within two minutes, and reading takes at most 1.1 times as long', async () => {
	const alone = await read(async () => {});
	const together = await read(pollEachMinute);
	expect(alone).toBeGreaterThan(58 * MINUTE);
	expect(together / alone).toBeLessThan(1.1);
});

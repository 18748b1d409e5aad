// n8n around the trigger: its two polling engines, their saved state, restarts and overlapping polls.
import type { IDataObject } from 'n8n-workflow';
import { createEngine, loadPackage, type WorkflowJson } from '../support/engine.mts';
import {
	nothing,
	startService,
	World,
	type FaultKind,
	type Manners,
	type Shown,
} from './service.mts';

const MINUTE = 60_000;
/** The day on which every history begins; the skew of n8n's clock comes on top. */
const BEGIN = Date.UTC(2026, 2, 1);

export type EngineKind = 'memory' | 'durable';

/** One poll; requests are numbered from 1. */
export interface PollPlan {
	faults: Array<{ at: number; kind: FaultKind }>;
	/** Another poll: together with it, or from beginning to end while one of its requests is open. */
	overlap?: { at: number; isInside: boolean };
}

/** A poll that ended well. */
export interface PollSeen {
	began: number;
	ended: number;
	/** False for the second of two that overlap, as both may read the same days. */
	counts: boolean;
}

/** Who is told what happens on the stage. */
export interface Watcher {
	/** A poll ended well; what it emitted, and what the service had shown it. */
	ended(poll: PollSeen, output: IDataObject[] | null, shown: Shown): void;
	/** n8n has saved the state. */
	saves(): void;
	/** n8n has started again with the state it saved last. */
	restarts(): void;
}

/** What a history needs to be played. */
export interface Setting {
	engine: EngineKind;
	manners: Manners;
	/** Minutes after midnight at which it begins. */
	minuteOfDay: number;
}

/** How much was played. */
export interface Totals {
	histories: number;
	polls: number;
	failures: number;
	requests: number;
	items: number;
}

type RunPoll = Awaited<ReturnType<typeof createEngine>>['runPoll'];

/** The engine and the service that histories are played on. Call `close()` when done. */
export async function createTheatre() {
	const service = await startService();
	const lifelogApi = { apiKey: 'key', baseUrl: '' };
	const engine = await createEngine({ ...loadPackage(), credentials: { lifelogApi } });
	const realNow = Date.now;
	const steady = performance.now.bind(performance);
	const realTimeout = globalThis.setTimeout;
	const totals: Totals = { histories: 0, polls: 0, failures: 0, requests: 0, items: 0 };

	/** Plays one history by n8n's clock, which is a virtual one. @throws what `play` throws. */
	async function perform(setting: Setting, play: (stage: Stage) => Promise<void>): Promise<void> {
		const world = new World(setting.manners, BEGIN + setting.minuteOfDay * MINUTE);
		lifelogApi.baseUrl = service.serve(world);
		const { now: begin } = world;
		Date.now = () => world.now + setting.manners.skewMs;
		performance.now = () => world.now - begin;
		// A wait for the rate limit takes its time in the world, and none here.
		globalThis.setTimeout = Object.assign((run: () => void, ms = 0, ...rest: []) => {
			const isForLimit = ms > 0 && new Error().stack!.includes('rate-limit');
			if (!isForLimit) return realTimeout(run, ms, ...rest);
			const until = world.now + ms;
			return realTimeout(() => {
				world.now = Math.max(world.now, until);
				run();
			});
		}, realTimeout);
		try {
			await play(new Stage(setting.engine, world, engine.runPoll, totals));
			totals.histories++;
		} finally {
			Date.now = realNow;
			performance.now = steady;
			globalThis.setTimeout = realTimeout;
		}
	}

	async function close(): Promise<void> {
		service.close();
		await engine.close();
	}

	return { perform, close, totals };
}

function workflow(parameters: IDataObject): WorkflowJson {
	return {
		nodes: [
			{
				id: 'trigger',
				name: 'Lifelog Trigger',
				type: 'n8n-nodes-lifelog.lifelogTrigger',
				typeVersion: 1,
				position: [0, 0],
				parameters: parameters as WorkflowJson['nodes'][0]['parameters'],
				credentials: { lifelogApi: { id: '1', name: 'Lifelog' } },
			},
		],
		connections: {},
	};
}

/** One activated workflow in n8n. */
export class Stage {
	readonly world: World;
	private readonly engine: EngineKind;
	private readonly runPoll: RunPoll;
	private readonly totals: Totals;
	/** The static data in memory, and as it was last saved. */
	private memory: IDataObject = {};
	private saved = '{}';
	private isActivated = false;
	/** Polls that ended well, so that one that fails knows whether another changed the state. */
	private ends = 0;

	constructor(engine: EngineKind, world: World, runPoll: RunPoll, totals: Totals) {
		this.engine = engine;
		this.world = world;
		this.runPoll = runPoll;
		this.totals = totals;
	}

	/** Stops and starts n8n; the durable engine loses nothing by it. */
	restart(watcher: Watcher): void {
		if (this.engine === 'durable') return;
		this.memory = JSON.parse(this.saved) as IDataObject;
		watcher.restarts();
	}

	/**
	 * Polls once, or twice where polls overlap (the durable engine does not let them).
	 *
	 * @param meanwhile Something that happens just before a request of that number is handled.
	 * @returns How many items came.
	 */
	async poll(
		parameters: IDataObject,
		{ faults, overlap }: PollPlan,
		watcher: Watcher,
		meanwhile?: { at: number; happens: () => void },
	): Promise<number> {
		const { world } = this;
		const events = new Map<number, () => void | Promise<void>>();
		const overlaps = overlap !== undefined && this.engine === 'memory';
		const once = (counts: boolean, shown: () => Shown) =>
			this.pollOnce(parameters, watcher, counts, shown);
		const all = () => world.shown;
		const nothingListed = () => ({ ...nothing(), leftOut: world.shown.leftOut });
		// Of two first polls one is dropped; of two at once it is not known which was shown what.
		const isFirst = !this.isActivated;
		let ended = 0;
		const allToTheLast = () => (++ended === 2 && !isFirst ? all() : nothingListed());
		let inside: Promise<number> | undefined;
		if (meanwhile) events.set(meanwhile.at, meanwhile.happens);
		if (overlaps && overlap.isInside) {
			events.set(overlap.at, async () => {
				const outer = world.watch();
				inside = once(false, all);
				await inside.catch(() => undefined);
				world.watch(outer);
			});
		}
		world.arrange(new Map(faults.map(({ at, kind }) => [at, kind])), events);
		if (overlaps && !overlap.isInside) {
			return await sumOf([once(true, allToTheLast), once(false, allToTheLast)]);
		}
		const outside = once(true, isFirst && overlaps ? nothingListed : all);
		await outside.catch(() => undefined);
		return await sumOf([outside, inside ?? Promise.resolve(0)]);
	}

	/** @param shown Called once, when it ends: what the service has shown it. */
	private async pollOnce(
		parameters: IDataObject,
		watcher: Watcher,
		counts: boolean,
		shown: () => Shown,
	): Promise<number> {
		const { world, totals, ends } = this;
		const began = world.now;
		const isMemory = this.engine === 'memory';
		const staticData = isMemory ? this.memory : (JSON.parse(this.saved) as IDataObject);
		const before = JSON.stringify(staticData);
		totals.polls++;
		let items: IDataObject[] | null;
		try {
			const { output } = await this.runPoll(workflow(parameters), {
				staticData,
				timezone: 'UTC',
				activation: this.isActivated ? 'init' : 'activate',
				budgetMs: isMemory ? 5 * MINUTE : 36_000,
			});
			items = output && output[0].map(({ json }) => json);
		} catch (error) {
			const seen = shown();
			if (!isExpected(error)) throw error;
			if (!this.isActivated) throw new Error(`The first poll failed: ${error.message}`);
			totals.failures++;
			totals.requests += world.requests;
			// What it could read n8n keeps in memory.
			if (isMemory && ends === this.ends && JSON.stringify(staticData) !== before) {
				this.ends++;
				watcher.ended({ began, ended: world.now, counts: false }, null, seen);
			}
			return 0;
		}
		this.ends++;
		totals.requests += world.requests;
		totals.items += items?.length ?? 0;
		watcher.ended({ began, ended: world.now, counts }, items, shown());
		if (!isMemory || items || !this.isActivated) {
			this.saved = JSON.stringify(staticData);
			watcher.saves();
		}
		this.isActivated = true;
		return items?.length ?? 0;
	}
}

/** Waits for all, also where one fails: no poll may go on when its history is over. */
async function sumOf(polls: Array<Promise<number>>): Promise<number> {
	await Promise.allSettled(polls);
	return (await Promise.all(polls)).reduce((sum, items) => sum + items, 0);
}

/** Whether it is the kind of error that the faults of a history lead to. */
function isExpected(error: unknown): error is Error {
	const { httpCode, failure } = error as { httpCode?: string | null; failure?: { cause: string } };
	const causes = ['rate-limited', 'temporarily-unavailable'];
	return httpCode !== undefined && failure !== undefined && causes.includes(failure.cause);
}

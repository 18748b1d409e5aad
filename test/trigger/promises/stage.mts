// n8n around the trigger: its two polling engines, what they save, restarts and overlapping polls.
import type { IDataObject } from 'n8n-workflow';
import {
	createEngine,
	type Engine,
	loadPackage,
	type WorkflowJson,
} from '../../support/engine.mts';
import { type Events, type Manners, World } from './service.mts';
import type { Answered, FaultKind } from './troubles.mts';
import type { Wire } from './wire.mts';

const MINUTE = 60_000;

export type EngineKind = 'memory' | 'durable';

/** What n8n allows a poll, in ms; the durable engine limits those that it schedules itself. */
export const budgetMs = (engine: EngineKind, isActivation: boolean) =>
	engine === 'durable' && !isActivation ? 36_000 : 5 * MINUTE;

/** One poll; requests are numbered from 1. */
export interface PollPlan {
	faults: Array<{ at: number; kind: FaultKind }>;
	/** Another poll: together with it, or from beginning to end while one of its requests is open. */
	overlap?: { at: number; isInside: boolean };
}

/** A poll that is over. */
export interface PollSeen {
	began: number;
	ended: number;
	/** Whether it is the one that n8n runs when a workflow is published or n8n starts. */
	isActivation: boolean;
	/** Whether there was a saved state to begin with. */
	hasState: boolean;
	/** What it emitted; null also where it threw. */
	items: IDataObject[] | null;
	error?: Error;
	/** Its requests; undefined for polls that overlap, as it is not known whose they are. */
	log?: Answered[];
	/** Whether the state it left lives on: not in a durable engine that throws it away. */
	isKept: boolean;
	/** Whether that state outlives n8n. */
	isSaved: boolean;
}

/** Who is told what happens on the stage. */
export interface Watcher {
	polled(poll: PollSeen): void;
	/** n8n begins anew with the state it saved last. */
	restarted(): void;
}

/** What a history needs to be played. */
export interface Setting {
	engine: EngineKind;
	manners: Manners;
	/** When it begins, epoch ms, and how far n8n's clock is ahead of it, in ms. */
	begin: number;
	aheadMs: number;
}

/** How much was played. */
export interface Totals {
	histories: number;
	polls: number;
	failures: number;
	requests: number;
	items: number;
}

export const ZERO: Totals = { histories: 0, polls: 0, failures: 0, requests: 0, items: 0 };

export function add(a: Totals, b: Totals): Totals {
	return {
		histories: a.histories + b.histories,
		polls: a.polls + b.polls,
		failures: a.failures + b.failures,
		requests: a.requests + b.requests,
		items: a.items + b.items,
	};
}

/**
 * The engine and the service that histories are played on. Call `close()` when done.
 *
 * @param wire How requests get to the service.
 * @param dir Where the built package is.
 */
export async function createTheatre(wire: Wire, dir?: string) {
	const lifelogApi = { apiKey: 'key', baseUrl: '' };
	const engine = await createEngine({ ...loadPackage(dir), credentials: { lifelogApi } });
	const totals: Totals = { ...ZERO };

	/** Plays one history in a time of its own. @throws what `play` throws. */
	async function perform(
		{ engine: kind, manners, begin, aheadMs }: Setting,
		play: (stage: Stage) => Promise<void>,
	): Promise<void> {
		const world = new World(manners, begin);
		const restart = () => {
			lifelogApi.baseUrl = wire.serve(world);
		};
		restart();
		world.time.aheadMs = aheadMs;
		world.time.install();
		try {
			await play(new Stage(kind, world, engine, totals, restart));
			totals.histories++;
		} finally {
			world.time.uninstall();
		}
	}

	async function close(): Promise<void> {
		wire.close();
		await engine.close();
	}

	/** What was played since it was last asked for. */
	function takeTotals(): Totals {
		const taken = { ...totals };
		Object.assign(totals, ZERO);
		return taken;
	}

	return { perform, close, takeTotals };
}

function workflow(parameters: IDataObject, credential: string): WorkflowJson {
	return {
		nodes: [
			{
				id: 'trigger',
				name: 'Lifelog Trigger',
				type: 'n8n-nodes-lifelog.lifelogTrigger',
				typeVersion: 1,
				position: [0, 0],
				parameters: parameters as WorkflowJson['nodes'][0]['parameters'],
				credentials: { lifelogApi: { id: credential, name: 'Lifelog' } },
			},
		],
		connections: {},
	};
}

/** One workflow in n8n. */
export class Stage {
	readonly world: World;
	readonly engine: EngineKind;
	private readonly n8n: Engine;
	private readonly totals: Totals;
	private readonly freshProcess: () => void;
	private saved = '{}';
	private json: WorkflowJson | undefined;
	/** The polling that goes on in memory; undefined until the workflow is active. */
	private polling?: ReturnType<Engine['startPolling']>;
	private staticData: IDataObject = {};
	private isActive = false;

	constructor(
		engine: EngineKind,
		world: World,
		n8n: Engine,
		totals: Totals,
		freshProcess: () => void,
	) {
		this.engine = engine;
		this.world = world;
		this.n8n = n8n;
		this.totals = totals;
		this.freshProcess = freshProcess;
	}

	/** Publishes the workflow, for the first time or with other parameters; the next poll activates it. */
	publish(parameters: IDataObject, credential: string, watcher: Watcher): void {
		const isFirst = this.json === undefined;
		this.json = workflow(parameters, credential);
		this.isActive = false;
		if (!isFirst) watcher.restarted();
	}

	/** Stops n8n and starts it again; a durable engine loses nothing by it. */
	restart(watcher: Watcher): void {
		this.freshProcess();
		this.world.time.startProcess();
		if (this.engine === 'durable') return;
		this.isActive = false;
		watcher.restarted();
	}

	/** Polls once, or twice where polls overlap: those that activate do not, nor do durable ones. */
	async poll({ faults, overlap }: PollPlan, watcher: Watcher, events: Events): Promise<void> {
		const { world } = this;
		const overlaps = overlap !== undefined && this.engine === 'memory' && this.isActive;
		const arranged: Events = new Map(events);
		let inside: Promise<void> | undefined;
		if (overlaps && overlap.isInside) {
			arranged.set(overlap.at, async () => {
				await events.get(overlap.at)?.();
				inside = this.pollOnce(watcher, true);
				await inside.catch(() => undefined);
			});
		}
		world.arrange(new Map(faults.map(({ at, kind }) => [at, kind])), arranged);
		const polls = [this.pollOnce(watcher, overlaps)];
		if (overlaps && !overlap.isInside) polls.push(this.pollOnce(watcher, true));
		await Promise.allSettled(polls);
		await Promise.all([...polls, inside]);
		world.isPolled = false;
		this.totals.requests += world.log.length;
	}

	private async pollOnce(watcher: Watcher, isOverlapped: boolean): Promise<void> {
		const { world, totals, engine } = this;
		const isMemory = engine === 'memory';
		const isActivation = !this.isActive;
		if (isActivation || !isMemory) {
			this.staticData = JSON.parse(this.saved) as IDataObject;
			this.polling = this.n8n.startPolling(this.json!, {
				staticData: this.staticData,
				timezone: 'UTC',
				activation: isActivation ? 'activate' : 'init',
				budgetMs: budgetMs(engine, isActivation),
			});
		}
		const { polling, staticData } = this;
		const hasState = Object.keys(staticData).length > 0;
		const began = world.now;
		totals.polls++;
		let items: IDataObject[] | null = null;
		let error: Error | undefined;
		try {
			const { output } = await polling!.poll();
			items = output && output[0].map(({ json }) => json);
		} catch (thrown) {
			if (!/^Node(Api|Operation)Error$/.test((thrown as Error).name)) throw thrown;
			error = thrown as Error;
			totals.failures++;
		}
		totals.items += items?.length ?? 0;
		const isSaved = !error && (items !== null || (isMemory ? isActivation : !isActivation));
		if (isSaved) this.saved = JSON.stringify(staticData);
		if (!error) this.isActive = true;
		watcher.polled({
			began,
			ended: world.now,
			isActivation,
			hasState,
			items,
			error,
			log: isOverlapped ? undefined : world.log,
			isKept: isSaved || (isMemory && this.isActive),
			isSaved,
		});
	}
}

// Plays a history, and then waits, without new trouble, until all is reported that was promised.
import { ChatObserver } from './chats.mts';
import type { Action, Aim, History, Plan, Script, Settings } from './history.mts';
import { LifelogObserver } from './lifelogs.mts';
import { evaluatePoll } from './polls.mts';
import { Broken } from './promises.mts';
import type { Stage, Watcher } from './stage.mts';
import type { FaultKind, Target } from './troubles.mts';
import {
	type Chat,
	dayOf,
	daysBefore,
	isAlive,
	latest,
	type Lifelog,
	type Message,
	type Version,
} from './truth.mts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** From when a poll first saw a text beside tool calls until it counts; and an old chat waits for so many polls. */
const QUIET_MINUTES = 15;
const HELD_PAUSE_POLLS = 8;
/** A step between two polls of a history, at least. */
const TICK = 1;

/** @throws Broken, naming the promise that was not kept. */
export async function play(history: History, stage: Stage): Promise<void> {
	await new Play(history, stage).complete();
}

class Play {
	private readonly history: History;
	private readonly stage: Stage;
	private readonly lifelogs?: LifelogObserver;
	private readonly chats?: ChatObserver;
	private readonly watcher: Watcher;
	private settings: Settings;
	private restless: Lifelog[] = [];
	/** Sets clocks right that were wrong for one poll. */
	private undo: Array<() => void> = [];
	/** The minimum of requests of a poll at the end; Infinity if each had something to do. */
	private cheapest = Infinity;

	constructor(history: History, stage: Stage) {
		this.history = history;
		this.stage = stage;
		this.settings = history.settings;
		const { world, engine } = stage;
		const actions = history.steps.flatMap((step) => step.actions);
		const isClockUnsure = actions.some((action) => action.do === 'clock' && action.isLasting);
		const isOfChats = this.settings.event === 'scheduledChatCreated';
		if (isOfChats) this.chats = new ChatObserver(world, this.settings, isClockUnsure);
		else this.lifelogs = new LifelogObserver(world, this.settings, isClockUnsure);
		this.watcher = {
			polled: (poll) => {
				const hasState = poll.hasState && this.observer.hasBaseline;
				evaluatePoll({ ...poll, hasState }, world, engine);
				this.observer.polled(poll);
			},
			restarted: () => this.observer.restarted(),
		};
	}

	private get observer(): LifelogObserver | ChatObserver {
		return this.lifelogs ?? this.chats!;
	}

	async complete(): Promise<void> {
		this.populate();
		this.publish();
		await this.poll(this.history.first);
		for (const { waitMs, actions, restarts, poll } of this.history.steps) {
			this.pass(waitMs);
			for (const action of actions) this.act(action);
			this.pass(TICK);
			if (restarts === 'n8n') this.stage.restart(this.watcher);
			if (restarts === 'workflow') this.publish();
			await this.poll(poll);
		}
		await this.rest();
	}

	private pass(ms: number): void {
		this.stage.world.time.now += ms;
	}

	private populate(): void {
		const { existing, crowd, chats, begin } = this.history;
		const { world } = this.stage;
		const midnight = begin - (begin % DAY);
		const add = (begins: number, unchangedMs: number, starred: boolean) => {
			const start = Math.min(begins, begin - MINUTE);
			world.create(start, starred, Math.min(start + unchangedMs, begin - 2000));
		};
		world.time.now = begin - 2000;
		for (const { daysAgo, minute, starred, unchangedDays } of existing) {
			add(midnight - daysAgo * DAY + minute * MINUTE, unchangedDays * DAY + MINUTE, starred);
		}
		for (let index = 0; index < crowd.count * crowd.days; index++) {
			const [daysAgo, minute] = [index % crowd.days, Math.floor(index / crowd.days)];
			add(midnight - daysAgo * DAY + minute * MINUTE, MINUTE, false);
		}
		for (const { daysAgo, script } of chats) {
			this.ask(begin - 2000 - daysAgo * DAY, begin - 2000 - daysAgo * DAY, 'p1', script);
		}
		world.time.now = begin;
	}

	private publish(): void {
		const { event, isStarred, prompt, lookbackDays, settleMinutes, timezone, credential } =
			this.settings;
		const parameters = this.chats
			? { event, filters: { globalPromptId: prompt }, options: { lookbackDays, timezone } }
			: {
					event,
					output: 'raw',
					filters: isStarred === undefined ? {} : { isStarred },
					options: { lookbackDays, settleMinutes, timezone },
				};
		this.stage.publish(parameters, credential, this.watcher);
	}

	private async poll({ meanwhile, ...plan }: Plan): Promise<void> {
		for (const lifelog of this.restless) if (isAlive(lifelog)) this.change(lifelog, {});
		this.pass(TICK);
		const events = new Map<number, () => void>();
		if (meanwhile) events.set(meanwhile.at, () => this.act(meanwhile.action));
		await this.stage.poll(plan, this.watcher, events);
		for (const undo of this.undo.splice(0).reverse()) undo();
	}

	/**
	 * Polls until nothing is outstanding any more, by the minute and, where something has failed and
	 * is tried less often, by the hour; what is still outstanding then was promised in vain. A few
	 * polls more must not report anything again.
	 */
	private async rest(): Promise<void> {
		const { settings, stage, history } = this;
		const { world } = stage;
		this.restless = [];
		const ends = world.troubles.map(({ until }) => until).filter(Number.isFinite);
		this.pass(Math.max(0, ...ends.map((end) => end - world.now)));
		this.pass((settings.settleMinutes + 20) * MINUTE);
		const entries = world.lifelogs.size + world.chats.size;
		const isSlow = history.manners.latencyMs > 170 || history.manners.others > 0;
		const few = this.chats ? QUIET_MINUTES + HELD_PAUSE_POLLS : 8;
		// What is left out of one list is in the next of its day.
		const rounds = [...world.lifelogs.values()].some(({ hideNext }) => hideNext) ? 2 : 1;
		const days = rounds * settings.lookbackDays;
		const minutes = days + (isSlow ? 30 + entries / 8 : few + entries / 20);
		const hours = this.hasFaults() ? 40 + settings.lookbackDays : 0;
		const waits = [
			...Array<number>(Math.ceil(minutes)).fill(isSlow ? 2 * MINUTE : MINUTE),
			...Array<number>(hours).fill(HOUR),
		];
		const atLeast = this.hasFaults('400') ? waits.length - 10 : 2;
		for (const [index, wait] of waits.entries()) {
			const isDone = !this.observer.outstanding() && !this.observer.isWaiting();
			if (isDone && index >= atLeast) break;
			await this.poll({ faults: [] });
			this.pass(wait);
		}
		const missed = this.observer.outstanding();
		if (missed) throw missed;
		// At a slow service it takes some polls until every day was listed once.
		const most = isSlow ? 20 : 3;
		for (let polls = 0; polls < most && (polls < 3 || !this.isCheap()); polls++) {
			await this.poll({ faults: [] });
			const isQuiet = !world.log.some(({ of, fault }) => fault || of === 'lifelog');
			if (isQuiet) this.cheapest = Math.min(this.cheapest, world.log.length);
			this.pass(MINUTE);
		}
		if (!this.isCheap()) {
			const what = `an idle poll makes ${this.cheapest} requests instead of ${this.maxRequests()}`;
			throw new Broken('cheap', what);
		}
	}

	private isCheap(): boolean {
		const isUnknown = this.chats !== undefined || this.cheapest === Infinity;
		return isUnknown || this.cheapest <= this.maxRequests();
	}

	/** Whether anything goes wrong in this history, or in this way. */
	private hasFaults(only?: FaultKind): boolean {
		const { first, steps } = this.history;
		const faults = [first, ...steps.map(({ poll }) => poll)].flatMap((poll) => poll.faults);
		const { troubles } = this.stage.world;
		return [...faults, ...troubles].some(({ kind }) => only === undefined || kind === only);
	}

	/**
	 * An idle poll soon after another reads today, yesterday and one day more, by each clock that
	 * counted. A service that fails at large pages does so once for each list; a refusal is remembered.
	 */
	private maxRequests(): number {
		const { world } = this.stage;
		const { maxPageSize, rejectsLimit } = world.manners;
		const failed = rejectsLimit === 504 ? 1 : 0;
		const pagesOn = (day: string) => {
			const lifelogs = [...world.lifelogs.values()].filter(isAlive);
			const count = lifelogs.filter((one) => dayOf(latest(one).start) === day).length;
			return failed + Math.max(1, Math.ceil(count / maxPageSize));
		};
		const pages = Array.from({ length: 31 }, (_, ago) => pagesOn(daysBefore(world.now, ago)));
		const actions = this.history.steps.flatMap((step) => step.actions);
		const jumps = actions.filter(({ do: what }) => what === 'clock').length;
		const byOtherClocks = 3 * jumps * Math.max(...pages);
		return pages[0] + pages[1] + Math.max(...pages.slice(1)) + 1 + byOtherClocks;
	}

	/** The nth last created; or the one that will be the next to leave the look-back. */
	private pick(which: number | 'oldest'): Lifelog | undefined {
		const { world } = this.stage;
		const lifelogs = [...world.lifelogs.values()].filter(isAlive);
		if (which !== 'oldest') return lifelogs[lifelogs.length - 1 - (which % lifelogs.length)];
		const from = daysBefore(world.now, this.settings.lookbackDays - 1);
		return lifelogs
			.filter((lifelog) => dayOf(latest(lifelog).start) >= from)
			.sort((a, b) => latest(a).start - latest(b).start)[0];
	}

	private create(start: number): void {
		const lifelog = this.stage.world.create(start);
		this.lifelogs?.changed(lifelog);
	}

	private change(lifelog: Lifelog, to: Partial<Version>, touches = true): void {
		const { world } = this.stage;
		this.pass(TICK);
		world.change(lifelog, { ...to, ...(touches && { at: world.now }) });
		this.lifelogs?.changed(lifelog);
	}

	private ask(createdAt: number, askedAt: number, prompt: string, script: Script): void {
		const { world } = this.stage;
		const id = `c${String(world.chats.size).padStart(4, '0')}`;
		const messages = messagesOf(script, askedAt);
		const chat: Chat = { id, prompt, createdAt, askedAt, messages };
		world.chats.set(id, chat);
		this.chats?.asked(chat);
	}

	private act(action: Action): void {
		const { world } = this.stage;
		const { now } = world;
		switch (action.do) {
			case 'create':
				return this.create(now - action.minutesAgo * MINUTE);
			case 'createMany':
				for (let index = 0; index < action.count; index++) {
					this.create(now - action.daysAgo * DAY - index * 1000);
				}
				return;
			case 'uploadLate':
				return this.create(now - action.daysAgo * DAY - MINUTE);
			case 'updateAll':
				for (const lifelog of world.lifelogs.values()) {
					if (isAlive(lifelog)) this.change(lifelog, {});
				}
				return;
			case 'restless':
				this.restless = [...world.lifelogs.values()].slice(-action.count);
				return;
			case 'ask':
				return this.ask(now - action.daysAgo * DAY, now, action.prompt, action.script);
			case 'askMany':
				for (let index = 0; index < action.count; index++) {
					this.ask(now - action.daysAgo * DAY + index, now, 'p1', action.script);
				}
				return;
			case 'set':
				this.settings = { ...this.settings, ...action.settings };
				this.observer.set(this.settings);
				return this.publish();
			case 'clock':
				return this.setClock(action);
			case 'trouble': {
				const target = this.targetOf(action.aim);
				const until = action.minutes === null ? Infinity : now + action.minutes * MINUTE;
				if (target) world.troubles.push({ target, kind: action.kind, until });
				return;
			}
			default:
				return this.chats ? this.actOnChat(action) : this.actOnLifelog(action);
		}
	}

	private actOnLifelog(
		action: Extract<Action, { do: 'update' | 'move' | 'star' | 'delete' | 'hide' }>,
	): void {
		const { now } = this.stage.world;
		const lifelog = this.pick(action.which);
		if (!lifelog) return;
		switch (action.do) {
			case 'update':
				for (let time = 0; time < action.times; time++) this.change(lifelog, {});
				return;
			case 'move': {
				const start = now - action.daysAgo * DAY - 2 * MINUTE;
				return this.change(lifelog, { start }, action.touches);
			}
			case 'star':
				return this.change(lifelog, { starred: !latest(lifelog).starred }, action.touches);
			case 'delete':
				lifelog.deletedAt = now;
				return;
			case 'hide':
				lifelog.hideNext = true;
		}
	}

	private actOnChat({ do: what, which }: { do: string; which: number | 'oldest' }): void {
		const chats = [...this.stage.world.chats.values()];
		const chat = chats[chats.length - 1 - (Number(which) % chats.length)];
		if (what === 'delete' && chat) chat.deletedAt ??= this.stage.world.now;
	}

	private targetOf(aim: Aim): Target | undefined {
		const { world } = this.stage;
		switch (aim.of) {
			case 'day': {
				const day = daysBefore(world.now, aim.daysAgo);
				this.lifelogs?.troubles(day);
				return { of: 'day', day };
			}
			case 'entry': {
				const chats = [...world.chats.values()];
				const entry = this.chats
					? chats[chats.length - 1 - (aim.which % chats.length)]
					: this.pick(aim.which);
				if (entry) this.lifelogs?.troubles(entry.id);
				return entry && { of: 'entry', id: entry.id };
			}
			default:
				return { of: aim.of };
		}
	}

	private setClock({ of, byMs, isLasting }: Extract<Action, { do: 'clock' }>): void {
		const { world } = this.stage;
		const { dateAheadMs } = world;
		const { aheadMs } = world.time;
		if (of === 'n8n') world.time.aheadMs += byMs ?? 0;
		else world.dateAheadMs = byMs;
		if (isLasting) return;
		this.undo.push(() => {
			if (of === 'n8n') world.time.aheadMs = aheadMs;
			else world.dateAheadMs = dateAheadMs;
		});
	}
}

function messagesOf({ kind, after, step, isInPlace }: Script, asked: number): Message[] {
	const question: Message = { at: asked, role: 'user', text: 'And?' };
	const first = asked + after * MINUTE;
	const results = first + step * MINUTE;
	if (kind === 'never') return [question];
	if (kind === 'plain') return [question, { at: first, role: 'assistant', text: 'So.' }];
	const call: Message = { at: first, role: 'assistant', text: 'Let me look.', calls: 1 };
	const looked: Message[] = isInPlace
		? [{ ...call, resultsAt: results }]
		: [call, { at: results, role: 'tool', resultsAt: results }];
	const answer: Message = { at: results + step * MINUTE, role: 'assistant', text: 'So.' };
	return [question, ...looked, ...(kind === 'tools' ? [answer] : [])];
}

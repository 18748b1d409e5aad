// Histories of scheduled chats, and how they are played and judged.
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { faults, manners, minuteOfDay, overlap, waitMs } from './history.mts';
import { dayOf, daysBefore, type Manners, type TrueChat, type World } from './service.mts';
import type { EngineKind, PollPlan, PollSeen, Stage, Watcher } from './stage.mts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const LONGEST_WAIT_DAYS = 31;

type Action =
	| { do: 'ask'; isAnswered: boolean; daysAgo: number }
	| { do: 'answer'; which: number }
	| { do: 'delete'; which: number }
	| { do: 'look'; lookbackDays: number };

export interface ChatHistory {
	engine: EngineKind;
	manners: Manners;
	minuteOfDay: number;
	lookbackDays: number;
	existing: Array<{ daysAgo: number; isAnswered: boolean }>;
	first: PollPlan;
	steps: Array<{ waitMs: number; actions: Action[]; restarts: boolean; poll: PollPlan }>;
}

const lookbackDays = fc.constantFrom(2, 3, 7, 31);
const which = fc.nat({ max: 9 });
const poll = fc.record({ faults, overlap });
const daysAgo = fc.constantFrom(0, 0, 0, 1, 2, 5, 20, 40);

const action: fc.Arbitrary<Action> = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({ do: fc.constant('ask' as const), isAnswered: fc.boolean(), daysAgo }),
	},
	{ weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const), which }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), which }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant('look' as const), lookbackDays }) },
);

export const chatHistory: fc.Arbitrary<ChatHistory> = fc.record({
	engine: fc.constantFrom<EngineKind>('memory', 'durable'),
	manners,
	minuteOfDay,
	lookbackDays,
	existing: fc.array(fc.record({ daysAgo, isAnswered: fc.boolean() }), { maxLength: 12 }),
	first: poll,
	steps: fc.array(
		fc.record({
			waitMs,
			actions: fc.array(action, { maxLength: 3 }),
			restarts: fc.nat({ max: 5 }).map((n) => n === 5),
			poll,
		}),
		{ minLength: 1, maxLength: 7 },
	),
});

/** @throws Error naming the promise that was broken. */
export async function playChats(history: ChatHistory, stage: Stage): Promise<void> {
	const { world } = stage;
	let { lookbackDays } = history;
	const observer = new ChatObserver(world);
	const pollAs = async (plan: PollPlan) => {
		const parameters = { event: 'scheduledChatCreated', options: { lookbackDays } };
		const isCutShort = plan === history.first && plan.faults.length > 0;
		observer.begins(lookbackDays, isCutShort);
		await stage.poll(parameters, plan, observer);
	};

	for (const { daysAgo, isAnswered } of history.existing) {
		const createdAt = world.now - 2000 - daysAgo * DAY;
		add(world, createdAt, isAnswered ? createdAt : undefined);
	}
	await pollAs(history.first);
	for (const step of history.steps) {
		world.now += step.waitMs;
		for (const action of step.actions) {
			if (action.do === 'look') ({ lookbackDays } = action);
			else act(world, observer, action);
		}
		world.now += 1;
		if (step.restarts) stage.restart(observer);
		await pollAs(step.poll);
	}
	world.now += 5 * MINUTE;
	for (let polls = 0; polls < 12; polls++) await pollAs({ faults: [] });
	observer.finishes();
}

function add(world: World, createdAt: number, answeredAt?: number): TrueChat {
	const id = `c${String(world.chats.size).padStart(4, '0')}`;
	const chat = { id, createdAt, answeredAt };
	world.chats.set(id, chat);
	return chat;
}

function act(world: World, observer: ChatObserver, action: Exclude<Action, { do: 'look' }>): void {
	if (action.do === 'ask') {
		const createdAt = world.now - action.daysAgo * DAY;
		observer.asked(add(world, createdAt, action.isAnswered ? world.now : undefined));
		return;
	}
	const chats = [...world.chats.values()];
	const chat = chats[chats.length - 1 - (action.which % Math.max(chats.length, 1))];
	if (!chat) return;
	if (action.do === 'delete') chat.deletedAt ??= world.now;
	else chat.answeredAt ??= world.now;
}

type ChatPoll = PollSeen & { lookbackDays: number };

/** Knows all chats and judges what is emitted of them. */
class ChatObserver implements Watcher {
	private readonly world: World;
	private readonly emitted = new Set<string>();
	/** When a chat came to be there, and whether it then was in the look-back in force. */
	private readonly asks = new Map<string, { time: number; isInReach: boolean }>();
	/** Polls that read the chats and were not forgotten in a restart. */
	private polls: ChatPoll[] = [];
	private saved = 0;
	private lookbackDays = 0;
	private isCutShort = false;
	private readonly firstBegan: number;
	private firstEnded = Infinity;

	constructor(world: World) {
		this.world = world;
		this.firstBegan = world.now;
	}

	/** @param isCutShort Whether it may end well without having read anything. */
	begins(lookbackDays: number, isCutShort: boolean): void {
		this.lookbackDays = lookbackDays;
		this.isCutShort = isCutShort;
	}

	asked({ id, createdAt }: TrueChat): void {
		const { now } = this.world;
		const lookbackDays = this.polls.at(-1)?.lookbackDays ?? this.lookbackDays;
		const isInReach = dayOf(createdAt) >= daysBefore(now, lookbackDays - 1);
		this.asks.set(id, { time: now, isInReach });
	}

	ended(poll: PollSeen, output: IDataObject[] | null): void {
		if (this.firstEnded === Infinity) {
			if (output) throw new Error('The first poll emitted something');
			this.firstEnded = poll.ended;
		}
		let last = '';
		for (const { id, startedAt, eventKey, response } of output ?? []) {
			const place = `${startedAt as string} ${id as string}`;
			if (place <= last) throw new Error(`Out of order: ${place} behind ${last}`);
			last = place;
			if (eventKey !== id) throw new Error(`Not the key of ${id as string}`);
			this.judge(this.world.chats.get(id as string)!, response, poll.began);
		}
		if (!this.isCutShort) this.polls.push({ ...poll, lookbackDays: this.lookbackDays });
	}

	private judge(chat: TrueChat, response: unknown, began: number): void {
		const wrong = (what: string) => {
			throw new Error(`${what}: ${chat.id} in a poll at ${new Date(began).toISOString()}`);
		};
		if (this.emitted.has(chat.id)) wrong('Emitted twice');
		this.emitted.add(chat.id);
		if (chat.answeredAt === undefined || response === null) return wrong('Not answered');
		if (chat.deletedAt !== undefined && chat.deletedAt < began) wrong('Deleted before');
		if (chat.answeredAt < Math.floor(this.firstBegan / 1000) * 1000) wrong('Answered before');
	}

	saves(): void {
		this.saved = this.polls.length;
	}

	restarts(): void {
		this.polls = this.polls.slice(0, this.saved);
	}

	/** Call at the end, after enough polls without trouble. */
	finishes(): void {
		for (const chat of this.world.chats.values()) {
			if (this.isDue(chat) && !this.emitted.has(chat.id)) throw new Error(`Missed: ${chat.id}`);
		}
	}

	/** Whether it was in the look-back of the first poll after it, or of one before its answer. */
	private isDue({ id, createdAt, answeredAt, deletedAt }: TrueChat): boolean {
		if (deletedAt !== undefined || answeredAt === undefined || answeredAt <= this.firstEnded) {
			return false;
		}
		const day = dayOf(createdAt);
		if (day <= daysBefore(this.world.now, LONGEST_WAIT_DAYS)) return false;
		const ask = this.asks.get(id) ?? { time: 0, isInReach: false };
		const polls = this.polls.filter(({ began }) => began >= ask.time);
		const isSeen = ({ ended, lookbackDays }: ChatPoll) =>
			day >= daysBefore(ended, lookbackDays - 1);
		const [first] = polls;
		const isHeld = polls.some((poll) => poll.counts && poll.ended < answeredAt && isSeen(poll));
		return isHeld || (ask.isInReach && isSeen(first));
	}
}

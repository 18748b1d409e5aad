// Random histories, of one kind each: what is random in a kind is what it is named for, and the rest a little.
import fc from 'fast-check';
import {
	type Action,
	type Aim,
	DEFAULT_SETTINGS,
	type History,
	type Plan,
	type Script,
	type Settings,
	type Step,
} from './history.mts';
import type { Manners } from './service.mts';
import type { FaultKind } from './troubles.mts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Arbitrary<T> = fc.Arbitrary<T>;
const rarely = <T,>(usual: T, arbitrary: Arbitrary<T>, weight = 3) =>
	fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary });
const just = <T,>(value: T) => fc.constant(value);

// Between polls.

const daysAgo = fc.oneof(
	{ weight: 5, arbitrary: fc.integer({ min: 0, max: 6 }) },
	{ weight: 1, arbitrary: fc.integer({ min: 7, max: 35 }) },
);
const which = fc.nat({ max: 12 });

const create: Arbitrary<Action> = fc.oneof(
	{ weight: 4, arbitrary: fc.record({ do: just('create' as const), minutesAgo: fc.nat(90) }) },
	{ weight: 2, arbitrary: fc.record({ do: just('uploadLate' as const), daysAgo }) },
);
const createMany: Arbitrary<Action> = fc.record({
	do: just('createMany' as const),
	count: fc.integer({ min: 8, max: 55 }),
	daysAgo: fc.nat(2),
});
const change: Arbitrary<Action> = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({
			do: just('update' as const),
			which,
			times: fc.integer({ min: 1, max: 3 }),
		}),
	},
	{ weight: 1, arbitrary: just<Action>({ do: 'updateAll' }) },
	{
		weight: 2,
		arbitrary: fc.record({
			do: just('move' as const),
			which: fc.oneof(which, just('oldest' as const)),
			daysAgo,
			touches: rarely(true, just(false)),
		}),
	},
	{
		weight: 3,
		arbitrary: fc.record({
			do: just('star' as const),
			which: fc.oneof(which, just(0)),
			touches: fc.boolean(),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ do: just('delete' as const), which }) },
	{ weight: 1, arbitrary: fc.record({ do: just('hide' as const), which }) },
);
const happening = fc.oneof({ weight: 3, arbitrary: create }, { weight: 3, arbitrary: change });

const script: Arbitrary<Script> = fc.record({
	kind: fc.constantFrom<Script['kind']>('plain', 'plain', 'tools', 'tools', 'beside', 'never'),
	after: fc.constantFrom(0, 1, 3, 20, 90, 3000),
	step: fc.constantFrom(0, 1, 4, 14, 40),
	isInPlace: fc.boolean(),
});
const prompt = fc.constantFrom('p1', 'p1', 'p2');
const askedDaysAgo = fc.constantFrom(0, 0, 0, 0, 1, 2, 5, 20, 40);
const ask: Arbitrary<Action> = fc.oneof(
	{
		weight: 8,
		arbitrary: fc.record({ do: just('ask' as const), daysAgo: askedDaysAgo, prompt, script }),
	},
	{ weight: 1, arbitrary: fc.record({ do: just('delete' as const), which }) },
);

// Settings.

const lookbackDays = fc.oneof(
	{ weight: 16, arbitrary: fc.constantFrom(2, 3, 4, 7, 7) },
	{ weight: 1, arbitrary: just(31) },
);
const event = rarely<Settings['event']>(
	'lifelogCreatedOrUpdated',
	fc.constantFrom<Settings['event']>('lifelogCreated', 'lifelogUpdated'),
);
const isStarred = rarely<boolean | undefined>(undefined, fc.boolean(), 5);
const settleMinutes = rarely(0, fc.constantFrom(5, 120, 1440), 5);
const settings: Arbitrary<Settings> = fc.record({
	event,
	isStarred,
	prompt: just(''),
	lookbackDays,
	settleMinutes,
	timezone: fc.constantFrom('UTC', 'Asia/Tokyo', 'Europe/Berlin'),
	credential: just('1'),
});
const plainSettings: Arbitrary<Settings> = fc.record({
	...settingsOf(DEFAULT_SETTINGS),
	lookbackDays,
});
const chatSettings: Arbitrary<Settings> = fc.record({
	...settingsOf({ ...DEFAULT_SETTINGS, event: 'scheduledChatCreated' }),
	prompt: fc.constantFrom('', '', 'p1'),
	lookbackDays,
	timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
});

function settingsOf(given: Settings) {
	const entries = Object.entries(given).map(([name, value]) => [name, just(value)]);
	return Object.fromEntries(entries) as { [K in keyof Settings]-?: Arbitrary<Settings[K]> };
}

const setting = (...of: Array<Arbitrary<Partial<Settings>>>): Arbitrary<Action> =>
	fc.record({ do: just('set' as const), settings: fc.oneof(...of) });
const setLifelogs = setting(
	fc.record({ lookbackDays }),
	fc.record({ lookbackDays }),
	fc.record({ event }),
	fc.record({ isStarred }),
	fc.record({ settleMinutes }),
	fc.record({ credential: fc.constantFrom('1', '2') }),
);
const setChats = setting(
	fc.record({ lookbackDays }),
	fc.record({ prompt: fc.constantFrom('', 'p1', 'p2') }),
	fc.record({ credential: fc.constantFrom('1', '2') }),
);

// Trouble.

const passing = fc.constantFrom<FaultKind>('429', '500', '503', 'cut', 'cutBody', 'hangs');
/** Of one day or entry: a 429 or a 401 is about the key. */
const anyKind = fc.constantFrom<FaultKind>(
	...(['500', '503', 'cut', 'cutBody', 'hangs'] as const),
	...(['400', '403', 'html', '500'] as const),
);
const minutes = fc.constantFrom(2, 12, 90, 26 * 60);
const trouble = (
	aim: Arbitrary<Aim>,
	kind: Arbitrary<FaultKind>,
	lasts: Arbitrary<number | null> = minutes,
): Arbitrary<Action> => fc.record({ do: just('trouble' as const), aim, kind, minutes: lasts });
const everything: Arbitrary<Aim> = fc.record({
	of: fc.constantFrom('all' as const, 'all' as const, 'lists' as const, 'reads' as const),
});
const outage = trouble(everything, passing);
const aDay: Arbitrary<Aim> = fc.record({
	of: just('day' as const),
	daysAgo: fc.constantFrom(0, 0, 1, 1, 2, 4),
});
const anEntry: Arbitrary<Aim> = fc.record({ of: just('entry' as const), which: fc.nat(4) });
const badDay = trouble(
	aDay,
	fc.oneof(anyKind, fc.constantFrom<FaultKind>('404', 'noId', 'noId')),
	rarely<number | null>(null, minutes, 1),
);
const badEntry = trouble(
	anEntry,
	fc.oneof(anyKind, just<FaultKind>('404')),
	rarely<number | null>(null, minutes, 1),
);
const badKey = trouble(
	just<Aim>({ of: 'all' }),
	fc.constantFrom<FaultKind>('401', '403'),
	fc.constantFrom(90, 26 * 60, 3 * 24 * 60, 10 * 24 * 60, 25 * 24 * 60),
);
const badClock: Arbitrary<Action> = fc.oneof(
	fc.record({
		do: just('clock' as const),
		of: just('service' as const),
		byMs: fc.constantFrom<number | null>(DAY, -DAY, 8 * DAY, 366 * DAY, -2 * DAY, 2 * HOUR, null),
		isLasting: rarely(false, just(true)),
	}),
	fc.record({
		do: just('clock' as const),
		of: just('n8n' as const),
		byMs: fc.constantFrom(DAY, -2 * DAY, 2 * DAY, 8 * DAY, -3 * HOUR),
		isLasting: fc.boolean(),
	}),
);
const faults = fc.array(fc.record({ at: fc.integer({ min: 1, max: 9 }), kind: passing }), {
	minLength: 1,
	maxLength: 2,
});

// Polls.

const overlap = fc.option(
	fc.record({ at: fc.integer({ min: 1, max: 7 }), isInside: fc.boolean() }),
	{ nil: undefined, freq: 5 },
);
const meanwhile = (action: Arbitrary<Action>) =>
	fc.option(fc.record({ at: fc.integer({ min: 1, max: 7 }), action }), { nil: undefined, freq: 4 });
const calmPoll: Arbitrary<Plan> = fc.record({ faults: just<Plan['faults']>([]) });
const busyPoll = fc.record({
	faults: just<Plan['faults']>([]),
	meanwhile: meanwhile(happening),
	overlap,
});
const failingPoll = fc.record({
	faults: rarely<Plan['faults']>([], faults, 1),
	meanwhile: meanwhile(happening),
	overlap,
});

const waits = {
	short: fc.constantFrom(MINUTE, MINUTE, 5 * MINUTE, HOUR),
	any: fc.constantFrom(MINUTE, MINUTE, 15 * MINUTE, HOUR, HOUR, DAY, DAY, 3 * DAY),
	long: fc.constantFrom(MINUTE, HOUR, DAY, 4 * DAY, 9 * DAY, 21 * DAY),
};
const wait = (ms: Arbitrary<number>) =>
	fc.tuple(ms, fc.nat(999)).map(([whole, extra]) => whole + extra);
const restarts = rarely<Step['restarts']>(
	undefined,
	fc.constantFrom<Step['restarts']>('n8n', 'workflow'),
	5,
);

// Histories.

/** Of what a kind of history is made; the weights say how often each happens. */
interface Kind {
	settings?: Arbitrary<Settings>;
	manners?: Partial<{ [K in keyof Manners]: Arbitrary<Manners[K]> }>;
	actions: Array<[weight: number, action: Arbitrary<Action>]>;
	waits?: Arbitrary<number>;
	restarts?: Arbitrary<Step['restarts']>;
	poll?: Arbitrary<Plan>;
	first?: Arbitrary<Plan>;
	crowd?: Arbitrary<History['crowd']>;
	begin?: Arbitrary<number>;
	aheadMs?: Arbitrary<number>;
	steps?: number;
}

const begins = fc.nat(1439).map((minute) => Date.UTC(2026, 2, 1) + minute * MINUTE);
/** Around the hours that Berlin leaves out in spring and repeats in autumn. */
const turns = fc
	.tuple(
		fc.constantFrom(Date.UTC(2026, 9, 25, 1), Date.UTC(2026, 2, 29, 1)),
		fc.integer({ min: -150, max: 60 }),
	)
	.map(([hour, minute]) => hour + minute * MINUTE);
const pages = fc.constantFrom<10 | 25 | 100>(10, 25, 100, 100);
const skew = fc.constantFrom(0, 0, 5 * MINUTE, -5 * MINUTE, 3 * HOUR, -3 * HOUR, 2 * DAY, -2 * DAY);
const someCrowd = fc.record({
	count: fc.constantFrom(0, 0, 0, 12, 30),
	days: fc.integer({ min: 1, max: 3 }),
});
const largeCrowd = fc.record({
	count: fc.constantFrom(12, 30, 50),
	days: fc.integer({ min: 1, max: 7 }),
});
const plainActions: Kind['actions'] = [
	[6, create],
	[5, change],
];

function historiesOf(kind: Kind): Arbitrary<History> {
	const isOfChats = kind.settings === chatSettings;
	const manners: Arbitrary<Manners> = fc
		.record({
			maxPageSize: kind.manners?.maxPageSize ?? pages,
			rejectsLimit: fc.constantFrom(undefined, undefined, 400 as const, 504 as const),
			latencyMs: kind.manners?.latencyMs ?? fc.constantFrom(0, 0, 1, 170),
			hasOffsets: kind.manners?.hasOffsets ?? just(true),
			hasUpdatedAt: kind.manners?.hasUpdatedAt ?? just(true),
			hasDate: kind.manners?.hasDate ?? just(true),
			others: kind.manners?.others ?? just(0),
		})
		.map((one) => ({
			...one,
			rejectsLimit: one.maxPageSize === 10 ? one.rejectsLimit : undefined,
		}));
	const action = fc.oneof(...kind.actions.map(([weight, arbitrary]) => ({ weight, arbitrary })));
	return fc.record({
		engine: fc.constantFrom('memory' as const, 'durable' as const),
		manners,
		begin: kind.begin ?? begins,
		aheadMs: kind.aheadMs ?? just(0),
		settings: kind.settings ?? settings,
		existing: isOfChats
			? just<History['existing']>([])
			: fc.array(
					fc.record({
						daysAgo,
						minute: fc.nat(1439),
						starred: fc.boolean(),
						unchangedDays: fc.nat(3),
					}),
					{ maxLength: 5 },
				),
		crowd: isOfChats ? just({ count: 0, days: 0 }) : (kind.crowd ?? someCrowd),
		chats: isOfChats
			? fc.array(fc.record({ daysAgo: askedDaysAgo, script }), { maxLength: 6 })
			: just<History['chats']>([]),
		first: kind.first ?? calmPoll,
		steps: fc.array(
			fc.record({
				waitMs: wait(kind.waits ?? waits.any),
				actions: fc.array(action, { maxLength: 3 }),
				restarts: kind.restarts ?? restarts,
				poll: kind.poll ?? calmPoll,
			}),
			{ minLength: 1, maxLength: kind.steps ?? 7 },
		),
	});
}

/** Histories by what is random in them. */
export const KINDS: Record<string, Arbitrary<History>> = {
	changes: historiesOf({
		actions: [...plainActions, [1, createMany], [2, setLifelogs]],
		poll: busyPoll,
		aheadMs: skew,
	}),
	hiccups: historiesOf({ actions: plainActions, poll: failingPoll, first: failingPoll }),
	outages: historiesOf({ actions: [...plainActions, [4, outage]], poll: busyPoll }),
	days: historiesOf({ actions: [...plainActions, [5, badDay]] }),
	entries: historiesOf({ actions: [...plainActions, [5, badEntry]], waits: waits.any }),
	absences: historiesOf({ actions: [...plainActions, [2, badKey]], waits: waits.long }),
	limits: historiesOf({
		settings: plainSettings,
		manners: { others: fc.constantFrom(0, 60, 120), latencyMs: fc.constantFrom(0, 170) },
		crowd: largeCrowd,
		actions: [
			...plainActions,
			[1, createMany],
			[2, setting(fc.record({ lookbackDays: fc.constantFrom(7, 31) }))],
		],
		waits: waits.short,
		steps: 5,
	}),
	slow: historiesOf({
		settings: plainSettings,
		manners: { latencyMs: fc.constantFrom(1000, 2800) },
		crowd: largeCrowd,
		actions: plainActions,
		waits: waits.short,
		steps: 5,
	}),
	clocks: historiesOf({
		settings: plainSettings,
		manners: { hasDate: rarely(true, just(false)) },
		actions: [...plainActions, [5, badClock]],
	}),
	zones: historiesOf({
		settings: fc.record({
			...settingsOf(DEFAULT_SETTINGS),
			timezone: fc.constantFrom('Europe/Berlin', 'Europe/Berlin', 'UTC'),
		}),
		manners: { hasOffsets: rarely(false, just(true)), hasUpdatedAt: fc.boolean() },
		begin: turns,
		actions: [...plainActions, [1, outage]],
		waits: waits.short,
	}),
	restless: historiesOf({
		crowd: fc.record({ count: fc.constantFrom(30, 60), days: just(2) }),
		settings: plainSettings,
		actions: [
			...plainActions,
			[4, fc.record({ do: just('restless' as const), count: fc.constantFrom(0, 20, 120) })],
		],
		waits: waits.short,
	}),
	starts: historiesOf({
		actions: [...plainActions, [2, outage], [1, badKey], [2, setLifelogs]],
		restarts: fc.constantFrom<Step['restarts']>(undefined, 'n8n', 'workflow'),
		poll: failingPoll,
	}),
	pages: historiesOf({
		crowd: largeCrowd,
		settings: plainSettings,
		actions: [...plainActions, [2, trouble(fc.oneof(everything, aDay), just('400'))]],
	}),
	all: historiesOf({
		manners: {
			others: rarely(0, just(60)),
			hasOffsets: rarely(true, just(false)),
			hasDate: rarely(true, just(false), 6),
		},
		actions: [
			...plainActions,
			[1, outage],
			[1, badDay],
			[1, badEntry],
			[1, badKey],
			[1, badClock],
			[1, setLifelogs],
		],
		poll: failingPoll,
		first: failingPoll,
	}),
	chats: historiesOf({ settings: chatSettings, actions: [[1, ask]] }),
	chatsInTrouble: historiesOf({
		settings: chatSettings,
		actions: [
			[6, ask],
			[1, outage],
			[2, badEntry],
			[1, badKey],
		],
		poll: failingPoll,
		first: failingPoll,
		waits: fc.oneof(waits.any, waits.long),
	}),
	chatsChanged: historiesOf({
		settings: chatSettings,
		actions: [
			[4, ask],
			[1, setChats],
			[1, badClock],
		],
		poll: fc.record({ faults: just<Plan['faults']>([]), overlap }),
	}),
	manyChats: historiesOf({
		settings: chatSettings,
		actions: [
			[2, ask],
			[
				1,
				fc.record({
					do: just('askMany' as const),
					count: fc.constantFrom(20, 90, 160),
					daysAgo: fc.nat(1),
					script,
				}),
			],
		],
		waits: fc.oneof(waits.any, waits.short),
	}),
};

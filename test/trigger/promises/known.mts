// Histories in which the trigger once broke a promise, each as small as shows it, or might.
import {
	type Action,
	DEFAULT_SETTINGS,
	GOOD_MANNERS,
	type History,
	historyOf,
	type Plan,
	type Script,
	type Step,
} from './history.mts';
import type { FaultKind } from './troubles.mts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const step = (waitMs: number, actions: Action[] = [], more: Partial<Step> = {}): Step => ({
	waitMs,
	actions,
	poll: { faults: [] },
	...more,
});
const times = <T,>(count: number, make: (index: number) => T) =>
	Array.from({ length: count }, (_, index) => make(index));
const failing = (at: number, kind: Plan['faults'][0]['kind']): Plan => ({ faults: [{ at, kind }] });

const create: Action = { do: 'create', minutesAgo: 5 };
const YESTERDAYS = { daysAgo: 1, minute: 600, starred: false, unchangedDays: 0 };
const CHATS = { ...DEFAULT_SETTINGS, event: 'scheduledChatCreated' } as const;
const TOOLS: Script = { kind: 'tools', after: 1, step: 5, isInPlace: false };
const PLAIN: Script = { kind: 'plain', after: 90, step: 0, isInPlace: false };
const NEVER: Script = { kind: 'never', after: 0, step: 0, isInPlace: false };

/** A day that the service cannot list, for good. */
const dayFails = (kind: FaultKind) =>
	historyOf({
		existing: [YESTERDAYS],
		steps: [
			step(HOUR, [{ do: 'trouble', aim: { of: 'day', daysAgo: 0 }, kind, minutes: null }]),
			...times(3, () => step(DAY, [create])),
		],
	});

/** Clocks that are wrong for one poll, after which lifelogs are uploaded on each day of the look-back. */
const wrongOnce = (clocks: ('service' | 'n8n')[], byMs: number, hasDate = true) =>
	historyOf({
		manners: { ...GOOD_MANNERS, hasDate },
		existing: times(9, (daysAgo) => ({ ...YESTERDAYS, daysAgo })),
		steps: [
			...times(8, () => step(MINUTE)),
			step(
				MINUTE,
				clocks.map((of) => ({ do: 'clock', of, byMs, isLasting: false })),
			),
			step(MINUTE, [
				{ do: 'update', which: 2, times: 1 },
				...times(7, (daysAgo): Action => ({ do: 'uploadLate', daysAgo })),
			]),
			step(12 * HOUR, [create]),
			...times(8, () => step(DAY)),
		],
	});

export const KNOWN: Record<string, History> = {
	'a day whose list answers 500 for good holds up no other': dayFails('500'),
	'a day whose list answers 400 for good holds up no other': dayFails('400'),
	'a day whose list answers 403 for good holds up no other': dayFails('403'),
	'a day with an entry without ID holds up no other': dayFails('noId'),
	'a key revoked for longer than the look-back': historyOf({
		steps: [
			step(HOUR, [{ do: 'trouble', aim: { of: 'all' }, kind: '401', minutes: 10 * 24 * 60 }]),
			...times(9, () => step(DAY, [create])),
		],
	}),
	'n8n off for longer than the look-back': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		steps: [
			step(HOUR, [create]),
			step(
				4 * DAY,
				[
					{ do: 'uploadLate', daysAgo: 3 },
					{ do: 'uploadLate', daysAgo: 2 },
				],
				{
					restarts: 'n8n',
				},
			),
		],
	}),
	'a chat that looks something up before it answers': historyOf({
		settings: CHATS,
		steps: [
			step(MINUTE, [{ do: 'ask', daysAgo: 0, prompt: 'p1', script: TOOLS }]),
			...times(12, () => step(MINUTE)),
		],
	}),
	'a chat with a text beside a call of a tool, and a clock that is ahead for one poll': historyOf({
		settings: { ...CHATS, lookbackDays: 2 },
		steps: [
			step(MINUTE, [
				{
					do: 'ask',
					daysAgo: 0,
					prompt: 'p1',
					script: { kind: 'beside', after: 20, step: 40, isInPlace: false },
				},
			]),
			step(HOUR),
			step(MINUTE, [{ do: 'clock', of: 'service', byMs: DAY, isLasting: false }]),
			step(MINUTE),
		],
	}),
	'single reads fail for 12 minutes, with a poll a minute': historyOf({
		existing: [YESTERDAYS],
		steps: [
			step(MINUTE, [
				create,
				{ do: 'trouble', aim: { of: 'entry', which: 0 }, kind: '503', minutes: 12 },
			]),
			...times(12, () => step(MINUTE)),
		],
	}),
	'the service tells a time a day ahead, once': historyOf({
		steps: [
			step(MINUTE, [{ do: 'clock', of: 'service', byMs: DAY, isLasting: false }]),
			step(MINUTE, [{ do: 'uploadLate', daysAgo: 6 }]),
		],
	}),
	'the service tells a time eight days ahead, once': historyOf({
		existing: [YESTERDAYS],
		steps: [
			step(MINUTE, [create, { do: 'clock', of: 'service', byMs: 8 * DAY, isLasting: false }]),
			step(MINUTE, [create]),
		],
	}),
	"n8n's clock is two days ahead once, and the service tells no time": historyOf({
		manners: { ...GOOD_MANNERS, hasDate: false },
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		steps: [
			step(MINUTE, [create, { do: 'clock', of: 'n8n', byMs: 2 * DAY, isLasting: false }]),
			step(MINUTE, [create]),
		],
	}),
	'a larger look-back, beside others who use the key': historyOf({
		manners: { ...GOOD_MANNERS, maxPageSize: 10, others: 60 },
		crowd: { count: 50, days: 31 },
		steps: [
			step(HOUR, [{ do: 'set', settings: { lookbackDays: 31 } }]),
			...times(3, () => step(5 * MINUTE, [create])),
		],
	}),
	'a durable engine, small pages and a slow service': historyOf({
		engine: 'durable',
		manners: { ...GOOD_MANNERS, maxPageSize: 10, latencyMs: 2800 },
		crowd: { count: 50, days: 7 },
		steps: times(4, () => step(15 * MINUTE, [create])),
	}),
	'a durable engine and many lifelogs a day': historyOf({
		engine: 'durable',
		manners: { ...GOOD_MANNERS, maxPageSize: 10, latencyMs: 1000 },
		crowd: { count: 150, days: 2 },
		steps: times(4, () => step(15 * MINUTE, [create])),
	}),
	'a first poll that is cut short': historyOf({
		existing: [YESTERDAYS, { ...YESTERDAYS, daysAgo: 0 }],
		first: failing(3, '429'),
		steps: [step(5 * MINUTE, [{ do: 'create', minutesAgo: 90 }])],
	}),
	'one passing 400': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		crowd: { count: 45, days: 2 },
		steps: [step(HOUR, [], { poll: failing(1, '400') }), step(HOUR, [create])],
	}),
	'160 chats that nobody answers': historyOf({
		settings: { ...CHATS, lookbackDays: 2 },
		steps: [
			step(HOUR, [{ do: 'askMany', count: 160, daysAgo: 0, script: NEVER }]),
			...times(5, () => step(DAY)),
		],
	}),
	'chats asked on the day of the last poll, before three days without one': historyOf({
		engine: 'durable',
		begin: Date.UTC(2026, 2, 1),
		manners: { ...GOOD_MANNERS, maxPageSize: 10 },
		settings: { ...CHATS, lookbackDays: 2 },
		steps: [
			step(MINUTE),
			step(MINUTE, [{ do: 'askMany', count: 20, daysAgo: 0, script: { ...PLAIN, after: 1 } }], {
				restarts: 'workflow',
			}),
			step(3 * DAY),
			step(MINUTE),
		],
	}),
	'chats that cannot be read hold up no other': historyOf({
		manners: { ...GOOD_MANNERS, maxPageSize: 10 },
		settings: { ...CHATS, lookbackDays: 2 },
		steps: [
			step(HOUR, [
				...Array.from({ length: 5 }, (): Action => ({
					do: 'ask',
					daysAgo: 1,
					prompt: 'p1',
					script: NEVER,
				})),
				{ do: 'ask', daysAgo: 1, prompt: 'p1', script: { ...PLAIN, after: 3 * 24 * 60 } },
				{ do: 'askMany', count: 20, daysAgo: 0, script: { ...PLAIN, after: 0 } },
			]),
			step(
				2 * DAY,
				Array.from({ length: 5 }, (_, which): Action => ({
					do: 'trouble',
					aim: { of: 'entry', which: which + 21 },
					kind: '500',
					minutes: null,
				})),
			),
			step(2 * DAY),
		],
	}),
	'the hour that autumn repeats, in times without offset': historyOf({
		begin: Date.UTC(2026, 9, 25, 0, 20),
		manners: { ...GOOD_MANNERS, hasOffsets: false },
		settings: { ...DEFAULT_SETTINGS, timezone: 'Europe/Berlin' },
		steps: [
			step(20 * MINUTE, [create, { do: 'trouble', aim: { of: 'all' }, kind: '503', minutes: 30 }]),
			step(HOUR),
		],
	}),
	'single lifelogs without updatedAt': historyOf({
		manners: { ...GOOD_MANNERS, hasUpdatedAt: false },
		steps: [step(HOUR, [create]), step(HOUR, [{ do: 'update', which: 0, times: 1 }])],
	}),
	'120 lifelogs that change again and again': historyOf({
		crowd: { count: 60, days: 2 },
		steps: [
			step(HOUR, [{ do: 'restless', count: 120 }]),
			step(MINUTE),
			...times(2, () => step(MINUTE, [create])),
		],
	}),
	"n8n's clock is set back two days after a 429": historyOf({
		steps: [
			step(HOUR, [], { poll: failing(1, '429') }),
			step(5 * MINUTE, [create, { do: 'clock', of: 'n8n', byMs: -2 * DAY, isLasting: true }]),
			step(5 * MINUTE),
		],
	}),
	'published again while the key is at its limit': historyOf({
		steps: [step(HOUR, [create], { restarts: 'workflow', poll: failing(1, '429') })],
	}),
	'n8n starts during an outage': historyOf({
		steps: [
			step(HOUR, [create, { do: 'trouble', aim: { of: 'all' }, kind: '503', minutes: 10 }], {
				restarts: 'n8n',
			}),
		],
	}),
	'published in an outage, and the key refused for longer than the look-back': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		first: failing(1, '503'),
		steps: [
			step(MINUTE, [
				create,
				{ do: 'trouble', aim: { of: 'all' }, kind: '401', minutes: 4 * 24 * 60 },
			]),
			...times(4, () => step(DAY, [create])),
		],
	}),
	'published in an outage, and a chat is asked before it ends': historyOf({
		engine: 'durable',
		settings: { ...CHATS, lookbackDays: 2 },
		first: failing(1, '429'),
		steps: [
			step(MINUTE, [{ do: 'trouble', aim: { of: 'all' }, kind: 'cut', minutes: 2 }]),
			step(MINUTE, [{ do: 'trouble', aim: { of: 'all' }, kind: '401', minutes: 3 * 24 * 60 }]),
			step(MINUTE, [{ do: 'ask', daysAgo: 0, prompt: 'p1', script: { ...PLAIN, after: 0 } }]),
		],
	}),
	'both days of a look-back of two fail for good': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2, settleMinutes: 120 },
		existing: [YESTERDAYS],
		steps: [
			step(HOUR, [create]),
			step(HOUR, [
				...[0, 1].map((daysAgo): Action => ({
					do: 'trouble',
					aim: { of: 'day', daysAgo },
					kind: '500',
					minutes: null,
				})),
			]),
			...times(5, () => step(12 * HOUR, [create])),
		],
	}),
	'the service tells no time at the first poll, and then one a day ahead': historyOf({
		engine: 'durable',
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		steps: [
			step(MINUTE, [{ do: 'clock', of: 'service', byMs: null, isLasting: true }], {
				restarts: 'n8n',
			}),
			step(MINUTE, [{ do: 'clock', of: 'service', byMs: DAY, isLasting: false }, create]),
		],
	}),
	'the rate limit is reached late in a slow poll': historyOf({
		manners: { ...GOOD_MANNERS, maxPageSize: 10, latencyMs: 2800 },
		crowd: { count: 650, days: 1 },
		steps: [
			...times(2, () => step(HOUR)),
			step(HOUR, [
				{ do: 'create', minutesAgo: 800 },
				{ do: 'trouble', aim: { of: 'reads' }, kind: '429', minutes: 12 },
			]),
		],
	}),
	'lifelogs that hang when they are read, late in a slow poll': historyOf({
		engine: 'durable',
		manners: { ...GOOD_MANNERS, maxPageSize: 10, latencyMs: 1000 },
		crowd: { count: 250, days: 1 },
		steps: [
			...times(2, () => step(HOUR)),
			step(HOUR, [
				...times(32, (): Action => ({ do: 'create', minutesAgo: 800 })),
				...times(4, (nth): Action => ({
					do: 'trouble',
					aim: { of: 'entry', which: nth },
					kind: 'hangs',
					minutes: 120,
				})),
			]),
		],
	}),
	'an upload just after a larger look-back was published, while the key was at its limit':
		historyOf({
			settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
			steps: [
				step(
					MINUTE,
					[
						{ do: 'set', settings: { lookbackDays: 31 } },
						{ do: 'uploadLate', daysAgo: 2 },
					],
					{ poll: failing(1, '429') },
				),
				step(MINUTE),
			],
		}),
	'published again, and n8n started, in an outage that is over by the next poll': historyOf({
		steps: [
			step(MINUTE, [{ do: 'trouble', aim: { of: 'all' }, kind: '503', minutes: 2 }], {
				restarts: 'workflow',
				poll: failing(1, 'cut'),
			}),
			step(MINUTE, [create], { restarts: 'n8n' }),
		],
	}),
	'an upload just after a larger look-back was published, while nothing answers': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		steps: [
			step(MINUTE, [
				{ do: 'set', settings: { lookbackDays: 31 } },
				{ do: 'uploadLate', daysAgo: 2 },
				{ do: 'trouble', aim: { of: 'all' }, kind: 'cut', minutes: 1 },
			]),
			step(MINUTE),
		],
	}),
	'an upload just before the poll that sees a larger look-back': historyOf({
		manners: { ...GOOD_MANNERS, maxPageSize: 10, latencyMs: 170 },
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		crowd: { count: 12, days: 1 },
		steps: [
			step(MINUTE + 510, [
				{ do: 'set', settings: { lookbackDays: 7 } },
				{ do: 'uploadLate', daysAgo: 2 },
			]),
		],
	}),
	'two lifelogs that cannot be read, for good': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		steps: times(2, () =>
			step(MINUTE, [
				create,
				{ do: 'trouble', aim: { of: 'entry', which: 0 }, kind: '500', minutes: null },
			]),
		),
	}),
	'a lifelog that is listed, and not known by itself at the last poll of its day': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2, settleMinutes: 5 },
		steps: [
			step(MINUTE, [create]),
			step(3 * DAY, [{ do: 'trouble', aim: { of: 'entry', which: 0 }, kind: '404', minutes: 2 }]),
		],
	}),
	"n8n's clock is a day ahead once, before the service is down until yesterday has left the look-back":
		historyOf({
			manners: { ...GOOD_MANNERS, hasDate: false },
			settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
			steps: [
				step(MINUTE, [{ do: 'clock', of: 'n8n', byMs: DAY, isLasting: false }]),
				step(MINUTE, [
					{ do: 'uploadLate', daysAgo: 1 },
					{ do: 'trouble', aim: { of: 'all' }, kind: '503', minutes: 26 * 60 },
				]),
			],
		}),
	'a lifelog that can be read once, by a poll that another one overtakes': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		steps: [
			step(MINUTE, [create, create], {
				poll: { ...failing(6, 'cut'), overlap: { at: 1, isInside: false } },
			}),
			step(DAY, [{ do: 'trouble', aim: { of: 'entry', which: 0 }, kind: '404', minutes: null }]),
		],
	}),
	'a lifelog that is moved after it was read, while the poll reads another one': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		steps: [
			step(MINUTE, [create, { do: 'create', minutesAgo: 90 }], {
				poll: {
					faults: [],
					meanwhile: { at: 4, action: { do: 'move', which: 0, daysAgo: 0, touches: false } },
				},
			}),
		],
	}),
	'a lifelog that can be read once, while it grows, between reads that fail': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2, settleMinutes: 5 },
		steps: [
			step(10 * MINUTE, [
				{ do: 'create', minutesAgo: 5 },
				{ do: 'trouble', aim: { of: 'entry', which: 0 }, kind: '500', minutes: 16 },
			]),
			step(15 * MINUTE),
			step(20 * HOUR, [], {
				poll: {
					faults: [],
					meanwhile: { at: 3, action: { do: 'update', which: 0, times: 1 } },
				},
			}),
			step(10 * MINUTE, [
				{ do: 'trouble', aim: { of: 'entry', which: 0 }, kind: '500', minutes: null },
			]),
		],
	}),
	'a change of a lifelog that came incomplete, and still cannot be read': historyOf({
		steps: [
			step(MINUTE, [create]),
			step(HOUR, [
				{ do: 'update', which: 0, times: 1 },
				{ do: 'trouble', aim: { of: 'entry', which: 0 }, kind: '500', minutes: null },
			]),
			...times(2, () => step(HOUR)),
			step(DAY),
			step(MINUTE, [{ do: 'update', which: 0, times: 1 }]),
		],
	}),
	'a first poll that hangs after its first answer, and reads nothing': historyOf({
		begin: Date.UTC(2026, 2, 1),
		manners: { ...GOOD_MANNERS, maxPageSize: 10, rejectsLimit: 400 },
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		existing: [{ ...YESTERDAYS, daysAgo: 0 }],
		first: {
			faults: [
				{ at: 2, kind: 'hangs' },
				{ at: 3, kind: '429' },
			],
		},
		steps: [step(MINUTE)],
	}),
	'the service tells a time a day ahead, once, while a lifelog cannot be read': historyOf({
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		steps: [
			step(MINUTE, [
				create,
				{ do: 'trouble', aim: { of: 'entry', which: 0 }, kind: '404', minutes: null },
			]),
			step(MINUTE),
			step(MINUTE, [{ do: 'clock', of: 'service', byMs: DAY, isLasting: false }]),
		],
	}),
	'a change just before a first poll that is slow': historyOf({
		engine: 'durable',
		begin: Date.UTC(2026, 2, 1, 0, 1),
		manners: { ...GOOD_MANNERS, maxPageSize: 10, latencyMs: 2_800 },
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 2 },
		existing: [{ ...YESTERDAYS, daysAgo: 0, minute: 0 }],
		crowd: { count: 50, days: 2 },
		steps: [
			step(60_095, [{ do: 'updateAll' }, { do: 'update', which: 0, times: 1 }]),
			step(MINUTE),
		],
	}),
	'a chat that is answered just before a first poll': historyOf({
		engine: 'durable',
		begin: Date.UTC(2026, 2, 1),
		manners: { ...GOOD_MANNERS, maxPageSize: 10, latencyMs: 170 },
		settings: { ...CHATS, lookbackDays: 2 },
		first: failing(1, '429'),
		steps: [
			step(MINUTE, [{ do: 'trouble', aim: { of: 'all' }, kind: '401', minutes: 90 }]),
			step(MINUTE, [], { poll: failing(2, '429') }),
			step(MINUTE),
			step(60_311, [{ do: 'ask', daysAgo: 0, prompt: 'p1', script: { ...PLAIN, after: 0 } }], {
				poll: failing(1, '429'),
			}),
			step(MINUTE, [], { restarts: 'n8n' }),
		],
	}),
	'a change on an older day, while a slow service takes each poll for today and yesterday':
		historyOf({
			engine: 'durable',
			begin: Date.UTC(2026, 2, 1, 0, 1),
			manners: { ...GOOD_MANNERS, maxPageSize: 10, latencyMs: 2_800 },
			settings: { ...DEFAULT_SETTINGS, lookbackDays: 31 },
			crowd: { count: 50, days: 3 },
			steps: [
				step(MINUTE),
				step(MINUTE, [{ do: 'uploadLate', daysAgo: 0 }]),
				step(MINUTE),
				step(MINUTE, [{ do: 'update', which: 1, times: 1 }]),
			],
		}),
	'changes during the first poll, and then more than a poll reports': historyOf({
		engine: 'durable',
		begin: Date.UTC(2026, 2, 1),
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 3 },
		crowd: { count: 30, days: 1 },
		steps: [
			step(MINUTE, [{ do: 'createMany', count: 18, daysAgo: 0 }], {
				poll: { faults: [], meanwhile: { at: 3, action: { do: 'updateAll' } } },
			}),
			step(
				MINUTE,
				[
					{ do: 'uploadLate', daysAgo: 0 },
					{ do: 'update', which: 1, times: 1 },
					{ do: 'create', minutesAgo: 0 },
				],
				{
					poll: { faults: [], meanwhile: { at: 1, action: { do: 'create', minutesAgo: 0 } } },
				},
			),
		],
	}),
	'a change while the first poll without a settle time reads what still waited': historyOf({
		begin: Date.UTC(2026, 2, 1),
		crowd: { count: 0, days: 1 },
		manners: { ...GOOD_MANNERS, maxPageSize: 10 },
		settings: {
			...DEFAULT_SETTINGS,
			event: 'lifelogUpdated',
			lookbackDays: 2,
			settleMinutes: 5,
		},
		steps: [
			step(MINUTE, [
				{ do: 'createMany', count: 8, daysAgo: 0 },
				{ do: 'set', settings: { lookbackDays: 2 } },
			]),
			step(MINUTE, [{ do: 'set', settings: { settleMinutes: 0 } }], {
				poll: {
					faults: [],
					meanwhile: { at: 1, action: { do: 'update', which: 0, times: 1 } },
				},
			}),
			step(MINUTE),
		],
	}),
	'a workflow that is published again before a poll counts, at a slow service': historyOf({
		engine: 'durable',
		begin: Date.UTC(2026, 2, 1),
		manners: { ...GOOD_MANNERS, maxPageSize: 10, latencyMs: 2_800 },
		settings: { ...DEFAULT_SETTINGS, lookbackDays: 31 },
		crowd: { count: 12, days: 1 },
		steps: [step(MINUTE, [], { restarts: 'workflow' })],
	}),
	...Object.fromEntries(
		(
			[
				['8 days', 8 * DAY],
				['a year', 365 * DAY],
			] as const
		).flatMap(([name, ms]) => [
			[`the service tells a time ${name} ahead, once`, wrongOnce(['service'], ms)],
			[`the service tells a time ${name} back, once`, wrongOnce(['service'], -ms)],
			[`n8n's clock is ${name} ahead once`, wrongOnce(['n8n'], ms)],
			[
				`n8n's clock is ${name} ahead once, and the service tells no time`,
				wrongOnce(['n8n'], ms, false),
			],
			[`both clocks are ${name} ahead once`, wrongOnce(['service', 'n8n'], ms)],
		]),
	),
	'in a durable engine a day that fails for good holds up no other': {
		...dayFails('500'),
		engine: 'durable',
	},
	'a slow service that fails at large pages, and a long day': historyOf({
		manners: { ...GOOD_MANNERS, maxPageSize: 10, rejectsLimit: 504, latencyMs: 15_000 },
		steps: [
			step(MINUTE, [{ do: 'createMany', count: 250, daysAgo: 0 }]),
			...times(6, () => step(MINUTE)),
		],
	}),
	'the second of the hours that autumn repeats, in times without offset': historyOf({
		begin: Date.UTC(2026, 9, 25, 1, 20),
		manners: { ...GOOD_MANNERS, hasOffsets: false },
		settings: { ...DEFAULT_SETTINGS, timezone: 'Europe/Berlin' },
		steps: [step(10 * MINUTE, [create]), step(10 * MINUTE, [{ do: 'update', which: 0, times: 1 }])],
	}),
	'a chat whose text beside a call of a tool is its answer': historyOf({
		settings: CHATS,
		steps: [
			step(MINUTE, [
				{
					do: 'ask',
					daysAgo: 0,
					prompt: 'p1',
					script: { kind: 'beside', after: 1, step: 1, isInPlace: false },
				},
			]),
			...times(20, () => step(MINUTE)),
		],
	}),
	'160 chats that are answered after days, of which some cannot be read': historyOf({
		manners: { ...GOOD_MANNERS, maxPageSize: 25 },
		settings: { ...CHATS, lookbackDays: 2 },
		steps: [
			step(HOUR, [
				{ do: 'askMany', count: 160, daysAgo: 0, script: { ...PLAIN, after: 3 * 24 * 60 + 10 } },
			]),
			step(3 * DAY, [
				{ do: 'askMany', count: 160, daysAgo: 0, script: { ...PLAIN, after: 0 } },
				...times(20, (nth): Action => ({
					do: 'trouble',
					aim: { of: 'entry', which: 200 + nth },
					kind: '500',
					minutes: 60,
				})),
			]),
			...times(15, () => step(MINUTE)),
		],
	}),
};

// What may happen: random histories of recordings, changes, troubles and polls.
import fc from 'fast-check';
import type { FaultKind, Manners } from './service.mts';
import type { EngineKind, PollPlan } from './stage.mts';

export type Event = 'lifelogCreatedOrUpdated' | 'lifelogCreated' | 'lifelogUpdated';

/** The trigger's parameters. */
export interface Settings {
	event: Event;
	isStarred?: boolean;
	lookbackDays: number;
	settleMinutes: number;
	timezone: string;
}

export type Action =
	| { do: 'create'; minutesAgo: number }
	| { do: 'createMany'; count: number; daysAgo: number }
	| { do: 'uploadLate'; daysAgo: number }
	| { do: 'update'; which: number; times: number }
	| { do: 'updateAll' }
	| { do: 'move'; which: number | 'oldest'; daysAgo: number; touches: boolean }
	| { do: 'star'; which: number; touches: boolean }
	| { do: 'delete'; which: number }
	| { do: 'hide'; which: number }
	| { do: 'set'; settings: Partial<Settings> };

/** One poll, and what happens while it is under way. */
export interface Plan extends PollPlan {
	meanwhile?: { at: number; action: Action };
}

export interface Step {
	waitMs: number;
	actions: Action[];
	/** n8n is stopped and started again before the poll. */
	restarts: boolean;
	poll: Plan;
}

export interface History {
	engine: EngineKind;
	manners: Manners;
	settings: Settings;
	/** Minutes after midnight at which it begins. */
	minuteOfDay: number;
	/** Entries there are at the beginning. */
	existing: Array<{ daysAgo: number; minute: number; starred: boolean; unchangedDays: number }>;
	/** Further ones, all on one day. */
	crowd: { count: number; daysAgo: number };
	first: Plan;
	steps: Step[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const daysAgo = fc.oneof(
	{ weight: 4, arbitrary: fc.integer({ min: 0, max: 7 }) },
	{ weight: 1, arbitrary: fc.integer({ min: 8, max: 35 }) },
);
const which = fc.nat({ max: 20 });
const lookbackDays = fc.oneof(
	{ weight: 16, arbitrary: fc.constantFrom(2, 3, 4, 7, 7) },
	{ weight: 1, arbitrary: fc.constant(31) },
);
const event = fc.oneof(
	{ weight: 6, arbitrary: fc.constant<Event>('lifelogCreatedOrUpdated') },
	{ weight: 1, arbitrary: fc.constant<Event>('lifelogCreated') },
	{ weight: 1, arbitrary: fc.constant<Event>('lifelogUpdated') },
);
const isStarred = fc.oneof(
	{ weight: 5, arbitrary: fc.constant(undefined) },
	{ weight: 1, arbitrary: fc.boolean() },
);
const settleMinutes = fc.oneof(
	{ weight: 4, arbitrary: fc.constant(0) },
	{ weight: 1, arbitrary: fc.constantFrom(5, 120, 1440) },
);

const action: fc.Arbitrary<Action> = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.record({ do: fc.constant('create' as const), minutesAgo: fc.nat({ max: 90 }) }),
	},
	{
		weight: 1,
		arbitrary: fc.record({
			do: fc.constant('createMany' as const),
			count: fc.integer({ min: 8, max: 60 }),
			daysAgo: fc.nat({ max: 2 }),
		}),
	},
	{ weight: 3, arbitrary: fc.record({ do: fc.constant('uploadLate' as const), daysAgo }) },
	{
		weight: 5,
		arbitrary: fc.record({
			do: fc.constant('update' as const),
			which,
			times: fc.integer({ min: 1, max: 3 }),
		}),
	},
	{ weight: 1, arbitrary: fc.constant({ do: 'updateAll' as const }) },
	{
		weight: 3,
		arbitrary: fc.record({
			do: fc.constant('move' as const),
			which: fc.oneof(which, fc.constant('oldest' as const)),
			daysAgo,
			touches: fc.boolean(),
		}),
	},
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant('star' as const),
			which: fc.oneof(which, fc.constant(0)),
			touches: fc.boolean(),
		}),
	},
	{ weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), which }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant('hide' as const), which }) },
	{
		weight: 2,
		arbitrary: fc.record({
			do: fc.constant('set' as const),
			settings: fc.oneof<Array<fc.Arbitrary<Partial<Settings>>>>(
				fc.record({ lookbackDays }),
				fc.record({ event }),
				fc.record({ isStarred }),
				fc.record({ settleMinutes }),
			),
		}),
	},
);

const fault = fc.record({
	at: fc.integer({ min: 1, max: 9 }),
	kind: fc.constantFrom<FaultKind>('429', '500', 'cut'),
});
const at = fc.integer({ min: 1, max: 7 });
const happening = action.filter((one) => one.do !== 'set' && one.do !== 'createMany');
export const faults = fc.oneof(
	{ weight: 3, arbitrary: fc.constant<PollPlan['faults']>([]) },
	{ weight: 1, arbitrary: fc.array(fault, { minLength: 1, maxLength: 3 }) },
);
export const overlap = fc.option(fc.record({ at, isInside: fc.boolean() }), {
	nil: undefined,
	freq: 5,
});
const poll: fc.Arbitrary<Plan> = fc.record({
	faults,
	meanwhile: fc.option(fc.record({ at, action: happening }), { nil: undefined, freq: 4 }),
	overlap,
});

export const minuteOfDay = fc.nat({ max: 1439 });

/** A minute, an hour, a day, or three weeks away. */
export const waitMs = fc
	.tuple(
		fc.oneof(
			{ weight: 4, arbitrary: fc.constant(MINUTE) },
			{ weight: 3, arbitrary: fc.constant(HOUR) },
			{ weight: 3, arbitrary: fc.constant(DAY) },
			{ weight: 1, arbitrary: fc.constant(21 * DAY) },
		),
		fc.nat({ max: 999 }),
	)
	.map(([wait, extra]) => wait + extra);

const step: fc.Arbitrary<Step> = fc.record({
	waitMs,
	actions: fc.array(action, { maxLength: 4 }),
	restarts: fc.nat({ max: 5 }).map((n) => n === 5),
	poll,
});

/** A service's manners; its clock is known to n8n unless both agree. */
export const manners: fc.Arbitrary<Manners> = fc
	.record({
		largestPage: fc.constantFrom<10 | 25 | 100>(10, 25, 100),
		rejects: fc.boolean(),
		skewMs: fc.constantFrom(0, 0, 5 * MINUTE, -5 * MINUTE, 3 * HOUR, -3 * HOUR, 2 * DAY, -2 * DAY),
		hasDate: fc.nat({ max: 4 }).map((n) => n > 0),
		latencyMs: fc.constantFrom(0, 1, 170),
	})
	.map(({ rejects, skewMs, ...rest }) => ({
		...rest,
		rejectsLimit: rejects && rest.largestPage === 10,
		skewMs: rest.hasDate ? skewMs : 0,
	}));

export const history: fc.Arbitrary<History> = fc.record({
	engine: fc.constantFrom<EngineKind>('memory', 'durable'),
	manners,
	settings: fc.record({
		event,
		isStarred,
		lookbackDays,
		settleMinutes,
		timezone: fc.constantFrom('UTC', 'Asia/Tokyo'),
	}),
	minuteOfDay,
	existing: fc.array(
		fc.record({
			daysAgo,
			minute: fc.nat({ max: 1439 }),
			starred: fc.boolean(),
			unchangedDays: fc.nat({ max: 3 }),
		}),
		{ maxLength: 6 },
	),
	crowd: fc.record({ count: fc.constantFrom(0, 0, 0, 12, 30), daysAgo: fc.nat({ max: 3 }) }),
	first: poll,
	steps: fc.array(step, { minLength: 1, maxLength: 7 }),
});

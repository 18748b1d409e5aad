import type { IPollFunctions } from 'n8n-workflow';

import type { Api } from '../shared/api';
import { connect } from '../shared/api';
import { compareClocks } from './clock';
import type { Reach } from './days';
import { lookback } from './days';
import type { Settings } from './parameters';
import type { State } from './state';
import { newState } from './state';

/** What n8n's in-memory engine gives a poll, in ms; taken where n8n does not say. */
const DEFAULT_BUDGET_MS = 5 * 60_000;
const LONGEST_TIMEOUT_MS = 60_000;
/** How long a poll that has the time waits for the rate limit; and until which share of its time. */
const MAX_WAIT_MS = 120_000;
const WAITING_SHARE = 0.6;
/** The share of its time after which no request goes on. */
const LAST_SHARE = 0.97;
/** After so long a large page is tried again, where it was refused. */
const PAGE_LIMIT_MS = 24 * 60 * 60_000;

/** A poll under way. */
export interface Poll {
	context: IPollFunctions;
	api: Api;
	settings: Settings;
	/** The state it began with; not to be changed. */
	state: State;
	/** Whether there was none to begin with. */
	isFirst: boolean;
	/**
	 * Whether n8n runs it to activate the workflow. An error would keep the workflow from being
	 * activated.
	 */
	isActivation: boolean;
	/** Whether n8n would discard the state of a poll that throws. */
	isDurable: boolean;
	/** Since when large pages are known to be refused, where they are not tried again in this poll. */
	limitedAt?: number;
	/** Where it stands in time, as far as that is known by now. */
	reach(): Reach;
	/** Whether less than this share of the time allowed is used up. */
	isWithinBudget(share: number): boolean;
}

/**
 * Prepares a poll; sends nothing.
 *
 * @param before The state to go on from; undefined for a first poll.
 * @throws NodeOperationError when the credential cannot be used.
 */
export async function begin(
	context: IPollFunctions,
	settings: Settings,
	before: State | undefined,
): Promise<Poll> {
	const beganOwn = Date.now();
	const began = performance.now();
	const passedMs = () => performance.now() - began;
	const budgetMs = pollBudgetMs(context);
	const isDurable = budgetMs !== DEFAULT_BUDGET_MS;
	const isActivation = !isDurable && isFirstOfActivation(context);
	const maxWaitMs = isDurable || isActivation ? 0 : MAX_WAIT_MS;
	const connected = await connect(context, {
		maxWaitMs,
		goesFirst: true,
		retries: 0,
		timeoutMs: Math.min(budgetMs / 4, LONGEST_TIMEOUT_MS),
	});
	const api: Api = {
		...connected,
		endsAt: began + budgetMs * LAST_SHARE,
		get maxWaitMs() {
			const leftMs = Math.max(0, budgetMs * WAITING_SHARE - passedMs());
			return Math.min(maxWaitMs, connected.run.waited.ms + leftMs);
		},
	};
	const reach = (): Reach => {
		const { serviceTime } = api.run;
		const aheadMs = serviceTime && serviceTime - Date.now();
		const time = compareClocks(before?.clock, serviceTime);
		// In full seconds, as the service's clock is: what came within one is rather new than old.
		const beganAt = Math.floor((time.now - passedMs()) / 1000) * 1000;
		return { ...time, began: beganAt, lookbackDays: settings.lookbackDays, aheadMs };
	};
	const { pageLimit, limitedAt } = before ?? {};
	const isLimited = limitedAt !== undefined && Math.abs(reach().now - limitedAt) < PAGE_LIMIT_MS;
	if (isLimited) api.run.pageLimit = pageLimit;
	return {
		context,
		api,
		settings,
		state: before ?? newState(settings.watch, beganOwn, lookback(reach())[0]),
		isFirst: before === undefined,
		isActivation,
		isDurable,
		limitedAt: isLimited ? limitedAt : undefined,
		reach,
		isWithinBudget: (share) => passedMs() < budgetMs * share,
	};
}

/**
 * n8n says 36 s in its durable engine, and 5 minutes elsewhere, at an activation too; before 2.36
 * it says nothing.
 */
function pollBudgetMs(context: IPollFunctions): number {
	return (context as Partial<IPollFunctions>).getPollBudgetMs?.() ?? DEFAULT_BUDGET_MS;
}

/** Contexts and static data of polls that were run. */
const seen = new WeakSet<object>();

/**
 * Whether a poll is the one that n8n's in-memory engine runs to activate a workflow. All polls of
 * an activation have the same context, with the same activation mode, and the same static data; the
 * first of them is that one.
 */
function isFirstOfActivation(context: IPollFunctions): boolean {
	const marks = [context, context.getWorkflowStaticData('node')];
	const isFirst = !marks.some((mark) => seen.has(mark));
	for (const mark of marks) seen.add(mark);
	return isFirst;
}

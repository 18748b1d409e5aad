import type { INodeExecutionData, IPollFunctions, NodeApiError } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import type { Api } from '../shared/transport/connection';
import { connect } from '../shared/transport/connection';
import { decideChats, readChats } from './chats/answers';
import { listChats } from './chats/list';
import { decideAll } from './lifelogs/detect';
import { readInFull } from './lifelogs/emit';
import { listDays } from './lifelogs/list';
import { readSettings } from './parameters';
import {
	isSavedState,
	loadState,
	MAX_ABSENCE_DAYS,
	merge,
	newState,
	saveState,
} from './state/storage';
import type { Found, Outcome, Poll, PollWindow, State } from './state/types';
import { DAY_MS, dayOf } from './state/types';

/** What n8n's in-memory engine gives a poll; the durable one gives 36 s, and n8n before 2.36 says nothing. */
const DEFAULT_BUDGET_MS = 5 * 60_000;
const MAX_TIMEOUT_MS = 60_000;
/** How long a poll waits for the rate limit, and until which share of its time. */
const MAX_WAIT_MS = 120_000;
const WAITING_SHARE = 0.6;
/** The share of its time after which no request goes on (_in-time_). */
const LAST_SHARE = 0.97;
const REPLACED =
	'The saved state of the trigger could not be read and was replaced: what is there now counts as known';
const REPLACED_ADVICE =
	'What was new or changed between the last poll that worked and the replacement was not reported. From now on everything is reported again; this message comes once.';

/** Contexts and static data of polls that were run. */
const seen = new WeakSet<object>();
/** Static data of which the next poll says that its state was replaced; the durable engine copies it. */
const replaced = new WeakSet<object>();

/** A poll in five steps. @returns The items; null if there is nothing to report. */
export async function runPoll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const poll = await startPoll(context);
	const isOfChats = poll.settings.watch.kind === 'chats';
	const found = isOfChats
		? await look(poll, listChats, decideChats, readChats)
		: await look(poll, listDays, decideAll, readInFull);
	return finish(poll, found);
}

/** Steps 2 to 4: lists the due days, decides, and reads in full what is to be reported. */
async function look<L extends Found, T>(
	poll: Poll,
	list: (poll: Poll) => Promise<L>,
	decide: (poll: Poll, listing: L) => { outcomes: Outcome[]; unread: T[] },
	read: (poll: Poll, unread: T[], isBlocked: boolean) => Promise<Found>,
): Promise<Found> {
	const listing = await list(poll);
	const { outcomes, unread } = decide(poll, listing);
	const full = await read(poll, unread, listing.isBlocked === true);
	const isAnswered = listing.isAnswered || full.isAnswered;
	const failures = [...listing.failures, ...full.failures];
	return { days: listing.days, outcomes: [...outcomes, ...full.outcomes], failures, isAnswered };
}

/** Step 1: reads the settings and the state. @throws NodeOperationError if they can't be used. */
async function startPoll(context: IPollFunctions): Promise<Poll> {
	const staticData = context.getWorkflowStaticData('node');
	if (replaced.delete(staticData)) {
		throw new NodeOperationError(context.getNode(), REPLACED, { description: REPLACED_ADVICE });
	}
	const settings = readSettings(context);
	const known = loadState(staticData.state, settings.watch);
	const started = performance.now();
	const passedMs = () => performance.now() - started;
	const budgetMs = (context as Partial<IPollFunctions>).getPollBudgetMs?.() ?? DEFAULT_BUDGET_MS;
	const isDurable = budgetMs !== DEFAULT_BUDGET_MS;
	// All polls of an activation have the same context and static data; the first one activates.
	const isActivation = !isDurable && ![context, staticData].some((mark) => seen.has(mark));
	seen.add(context).add(staticData);
	const maxWaitMs = isDurable || isActivation ? 0 : Math.min(MAX_WAIT_MS, budgetMs * WAITING_SHARE);
	const timeoutMs = Math.min(budgetMs / 4, MAX_TIMEOUT_MS);
	const connected = await connect(context, { maxWaitMs, goesFirst: true, retries: 0, timeoutMs });
	const ends = {
		endsAt: started + budgetMs * LAST_SHARE,
		waitUntil: started + budgetMs * WAITING_SHARE,
	};
	const api = { ...connected, ...ends };
	api.run.pageLimit = pageLimitOf(known)?.size;
	const window = windowOf(api.run, settings.lookbackDays, known, passedMs);
	const state = known ?? newState(settings.watch, window());
	const isFirst = known === undefined;
	const isWithin = (share: number) => passedMs() < budgetMs * share;
	return { context, api, settings, state, isFirst, isActivation, isDurable, window, isWithin };
}

/** The time of a poll, as far as the service has told it. */
function windowOf(
	run: Api['run'],
	lookbackDays: number,
	known: State | undefined,
	passedMs: () => number,
) {
	let began: number | undefined;
	return (): PollWindow => {
		const isService = run.serviceTime !== undefined;
		// Before the first request the time of the last poll will do: its day is due in any case.
		const before = run.requests === 0 ? known?.polledAt?.now : undefined;
		const now = run.serviceTime ?? before ?? Date.now();
		const beganNow = Math.floor((now - passedMs()) / 1000) * 1000;
		if (isService) began ??= beganNow;
		return { now, isService, began: began ?? beganNow, lookbackDays };
	};
}

/** Step 5: saves what was found. @throws NodeApiError to show a failure (_failure-shows_). */
function finish(poll: Poll, found: Found): INodeExecutionData[][] | null {
	const { context, isFirst, isActivation, isDurable } = poll;
	const [failure] = found.failures;
	const isInVain = failure && !found.isAnswered;
	// publishing: an outage doesn't prevent it, and what happens from then on is reported.
	const mayWait = (isFirst || isActivation) && failure && isPassing(failure, !isFirst);
	if (isInVain && !mayWait) throw failure;
	// If nothing could be read, no day or entry failed for its own sake.
	const items = commit(poll, isInVain ? { ...found, days: undefined, outcomes: [] } : found);
	const mayThrow = !isFirst && !isActivation && !isDurable;
	if (items.length === 0 && failure && mayThrow) throw failure;
	for (const { message } of found.failures.slice(0, 3)) {
		const what = isFirst
			? 'the first poll was cut short; what happens from now on is reported all the same'
			: 'not all could be read';
		context.logger.warn(`Lifelog Trigger: ${what}: ${message}`);
	}
	return items.length > 0 ? [items] : null;
}

/** Whether an error may be gone at the next try; an odd first answer suggests a wrong address. */
function isPassing({ httpCode }: NodeApiError, isKnown: boolean): boolean {
	if (httpCode === null || httpCode === '429') return true;
	return Number(httpCode) >= 500 || (isKnown && httpCode === '200');
}

/** Merges what was found into the state and saves it. There must be no `await` in here. */
function commit(poll: Poll, found: Found): INodeExecutionData[] {
	const { context, isFirst } = poll;
	const { watch } = poll.settings;
	const staticData = context.getWorkflowStaticData('node');
	const window = poll.window();
	// no-repeat: another poll was saved meanwhile; what this one found the next one finds again.
	const isOvertaken =
		loadState(staticData.state, watch)?.polls !== (isFirst ? undefined : poll.state.polls);
	if (isOvertaken) return [];
	if (staticData.state !== undefined && !isSavedState(staticData.state)) {
		replaced.add(staticData);
		context.logger.error(`Lifelog Trigger: ${REPLACED}`);
	}
	const before = isFirst ? newState(watch, window) : poll.state;
	const first = before.polledAt && dayOf(before.polledAt.now, 1);
	const last = dayOf(window.now, -MAX_ABSENCE_DAYS);
	if (first !== undefined && first <= last) {
		const days = `the days from ${first} to ${last} are passed over`;
		context.logger.warn(`Lifelog Trigger: the last poll was more than 31 days ago; ${days}`);
	}
	const { state, items } = merge(before, found, window);
	const { pageLimit: size } = poll.api.run;
	state.pageLimit = size ? (pageLimitOf(before) ?? { size, since: Date.now() }) : undefined;
	staticData.state = saveState(state);
	return items;
}

/** A large page is tried again after a day (_cheap_), by n8n's clock: no other is known yet. */
function pageLimitOf({ pageLimit }: Partial<State> = {}): State['pageLimit'] {
	return pageLimit && Math.abs(Date.now() - pageLimit.since) < DAY_MS ? pageLimit : undefined;
}

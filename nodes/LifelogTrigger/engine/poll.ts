import type { INodeExecutionData, IPollFunctions, NodeApiError } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { type Api, connect } from '../../shared/auth/connection';
import { DAY_MS, utcDay } from '../../../lifelog/times.ts';
import { decideChats, listChats, readChats } from '../chats/decide';
import { decideLifelogs } from '../lifelogs/decide';
import { readLifelogs } from '../lifelogs/read';
import { listDays } from '../lifelogs/list';
import { readSettings, type Settings } from '../parameters';
import * as storage from './state';
import type { Found, Listing, Outcome, Poll, PollWindow, State } from './types';

/** Of n8n's in-memory engine; the durable one allows 36 s, and n8n before 2.36 says nothing. */
const DEFAULT_BUDGET_MS = 5 * 60_000;
const MAX_RATE_LIMIT_WAIT_MS = 120_000;
const LAST_SHARE = 0.97; // of its time, after which no request goes on (_in-time_)
const REPLACED =
	"The trigger's saved state could not be read and was replaced: everything that exists now counts as known";
const REPLACED_ADVICE =
	'Anything new or changed since the last successful poll was not reported. From now on, everything is reported again. This message appears only once.';

const seen = new WeakSet<object>();
/** Static data of which the next poll says that its state was replaced; the durable engine copies it. */
const replaced = new WeakSet<object>();

/** A poll in five steps. @returns The items; null if there is nothing to report. */
export async function runPoll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const poll = await startPoll(context);
	const found =
		poll.settings.watch.kind === 'chats'
			? await look(poll, listChats, decideChats, readChats)
			: await look(poll, listDays, decideLifelogs, readLifelogs);
	return finish(poll, found);
}

async function look<Entry, Unread>(
	poll: Poll,
	list: (poll: Poll) => Promise<Listing<Entry>>,
	decide: (poll: Poll, listing: Listing<Entry>) => { outcomes: Outcome[]; unread: Unread[] },
	read: (poll: Poll, unread: Unread[]) => Promise<Outcome[]>,
): Promise<Found> {
	const listing = await list(poll);
	const { outcomes, unread } = decide(poll, listing);
	const full = await read(poll, unread);
	return { days: listing.days, outcomes: [...outcomes, ...full] };
}

/** Reads the settings and the state. @throws NodeOperationError if they can't be used. */
async function startPoll(context: IPollFunctions): Promise<Poll> {
	const staticData = context.getWorkflowStaticData('node');
	if (replaced.delete(staticData)) {
		throw new NodeOperationError(context.getNode(), REPLACED, { description: REPLACED_ADVICE });
	}
	const settings = readSettings(context);
	const { state: saved } = staticData;
	const known = storage.loadState(saved, settings.watch);
	const started = performance.now();
	const budgetMs = (context as Partial<IPollFunctions>).getPollBudgetMs?.() ?? DEFAULT_BUDGET_MS;
	const isDurable = budgetMs !== DEFAULT_BUDGET_MS;
	// All polls of an activation have the same context and static data; the first one activates.
	const isActivation = !isDurable && ![context, staticData].some((mark) => seen.has(mark));
	seen.add(context).add(staticData);
	const maxWaitMs = isDurable || isActivation ? 0 : MAX_RATE_LIMIT_WAIT_MS;
	const timeoutMs = isDurable ? budgetMs / 4 : undefined;
	const connected = await connect(context, { maxWaitMs, hasPriority: true, retries: 0, timeoutMs });
	const api = { ...connected, endsAt: started + budgetMs * LAST_SHARE };
	api.run.pageLimit = pageLimitOf(known)?.size;
	return {
		...{ context, api, settings, saved, known, isActivation, isDurable },
		failures: [],
		isAnswered: false,
		current: currentOf(api, settings, known, started),
		isWithin: (share) => performance.now() - started < budgetMs * share,
	};
}

/** Tells the time of a poll, as far as the service has told it, and the state with its days. */
function currentOf({ run }: Api, settings: Settings, known: State | undefined, started: number) {
	let last: ReturnType<Poll['current']> | undefined;
	return () => {
		// Before the first request the time of the last poll will do: its day is due in any case.
		const before = run.requests === 0 ? known?.polledAt : undefined;
		const now = run.serviceTime ?? before ?? Date.now();
		const elapsed = (run.serviceTimeAt ?? performance.now()) - started;
		const began = Math.max(0, Math.floor((now - elapsed) / 1000) * 1000);
		if (last?.window.now === now && last.window.began === began) return last;
		const window: PollWindow = { now, began, lookbackDays: settings.lookbackDays };
		const state = known ?? storage.newState(settings.watch, window);
		return (last = { state: storage.advanceWindow(state, window), window });
	};
}

/** Saves what was found. @throws NodeApiError of a request (_failure-shows_, _no-false-alarm_). */
function finish(poll: Poll, found: Found): INodeExecutionData[][] | null {
	const { context, known, isActivation, isDurable, failures } = poll;
	const [failure] = failures;
	const isInVain = failure && !poll.isAnswered;
	// _publishing_: an outage doesn't prevent it, and what happens from then on is reported.
	const mayWait = (!known || isActivation) && failure && isPassing(failure, known !== undefined);
	if (isInVain && !mayWait) throw failure;
	// If nothing could be read, no day or entry failed for its own sake.
	const items = commit(poll, isInVain ? { days: new Map(), outcomes: [] } : found);
	if (items.length === 0 && failure && known && !isActivation && !isDurable) throw failure;
	for (const { message } of failures.slice(0, 3)) {
		context.logger.warn(`Lifelog Trigger: some lifelogs or chats couldn't be read: ${message}`);
	}
	return items.length > 0 ? [items] : null;
}

/** Whether an error may be gone at the next try; an odd first answer suggests a wrong address. */
function isPassing({ httpCode }: NodeApiError, isKnown: boolean): boolean {
	if (httpCode === null || httpCode === '429') return true;
	return Number(httpCode) >= 500 || (isKnown && httpCode === '200');
}

/** Merges what was found into the state and saves it. There must be no `await` in here. */
function commit({ context, api, saved, known, current }: Poll, found: Found) {
	const staticData = context.getWorkflowStaticData('node');
	const { state: before, window } = current();
	// Another poll was saved meanwhile; what this one found the next one finds again.
	if (staticData.state !== saved) return [];
	if (!known && saved !== undefined && !storage.isSavedState(saved)) {
		replaced.add(staticData);
		context.logger.error(`Lifelog Trigger: ${REPLACED}`);
	}
	const first = utcDay(known?.polledAt ?? window.now, 1);
	const last = utcDay(window.now, -storage.MAX_ABSENCE_DAYS);
	const skipped = `the last poll was more than 31 days ago; the days from ${first} to ${last} are skipped`;
	if (first <= last) context.logger.warn(`Lifelog Trigger: ${skipped}`);
	const { state, items } = storage.merge(before, found, window);
	const { pageLimit: size } = api.run;
	state.pageLimit = size ? (pageLimitOf(before) ?? { size, since: Date.now() }) : undefined;
	staticData.state = storage.saveState(state);
	return items;
}

/** A large page is tried again after a day, by n8n's clock: no other is known yet. */
function pageLimitOf({ pageLimit }: Partial<State> = {}): State['pageLimit'] {
	return pageLimit && Math.abs(Date.now() - pageLimit.since) < DAY_MS ? pageLimit : undefined;
}

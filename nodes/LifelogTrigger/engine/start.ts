// Step 1: reads the settings and the state.
import type { IPollFunctions } from 'n8n-workflow';

import { type Api, connect } from '../../shared/auth/connection';
import { readSettings, type Settings } from '../parameters';
import { failIfReplaced } from './replaced';
import { loadState } from './saved';
import { advanceWindow, newState, pageLimitOf } from './state';
import type { Poll, PollWindow, State } from './types';

/** Of n8n's in-memory engine; the durable one allows 36 s, and n8n before 2.36 says nothing. */
const DEFAULT_BUDGET_MS = 5 * 60_000;
const MAX_RATE_LIMIT_WAIT_MS = 120_000;
/** The share of its time after which no request of a poll goes on (_in-time_). */
const LAST_SHARE = 0.97;

/** The contexts and the static data of polls that began. */
const seen = new WeakSet<object>();

/** @throws NodeOperationError if the settings can't be used, or the state was replaced. */
export async function startPoll(context: IPollFunctions): Promise<Poll> {
	const staticData = context.getWorkflowStaticData('node');
	failIfReplaced(context, staticData);
	const settings = readSettings(context);
	const { state: saved } = staticData;
	const known = loadState(saved, settings.watch);
	const started = performance.now();
	const budgetMs = (context as Partial<IPollFunctions>).getPollBudgetMs?.() ?? DEFAULT_BUDGET_MS;
	const isDurable = budgetMs !== DEFAULT_BUDGET_MS;
	// All polls of an activation have the same context and static data; the first one activates.
	const isActivation = !isDurable && !seen.has(context) && !seen.has(staticData);
	seen.add(context).add(staticData);
	const connected = await connect(context, {
		maxWaitMs: isDurable || isActivation ? 0 : MAX_RATE_LIMIT_WAIT_MS,
		hasPriority: true,
		retries: 0,
		timeoutMs: isDurable ? budgetMs / 4 : undefined,
	});
	const api = { ...connected, endsAt: started + budgetMs * LAST_SHARE };
	api.run.pageLimit = pageLimitOf(known)?.size;
	return {
		context,
		api,
		settings,
		saved,
		known,
		isActivation,
		isDurable,
		failures: [],
		isAnswered: false,
		current: currentOf(api, settings, known, started),
		isWithin: (share) => performance.now() - started < budgetMs * share,
	};
}

/** Tells the time of a poll, as far as the service has told it, and the state with its days. */
function currentOf(api: Api, settings: Settings, known: State | undefined, started: number) {
	let current: ReturnType<Poll['current']> | undefined;
	return () => {
		const window = windowOf(api, settings, known, started);
		const isSame = current?.window.now === window.now && current.window.began === window.began;
		if (!current || !isSame) {
			const state = known ?? newState(settings.watch, window);
			current = { state: advanceWindow(state, window), window };
		}
		return current;
	};
}

function windowOf(
	{ run }: Api,
	{ lookbackDays }: Settings,
	known: State | undefined,
	started: number,
): PollWindow {
	// Before the first request the time of the last poll will do: its day is due in any case.
	const before = run.requests === 0 ? known?.polledAt : undefined;
	const now = run.serviceTime ?? before ?? Date.now();
	const elapsedMs = (run.serviceTimeAt ?? performance.now()) - started;
	const began = Math.max(0, Math.floor((now - elapsedMs) / 1000) * 1000);
	return { now, began, lookbackDays };
}

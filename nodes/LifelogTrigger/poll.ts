import type { INodeExecutionData, IPollFunctions, NodeApiError } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import type { Api } from '../shared/api';
import { connect } from '../shared/api';
import { findChats } from './chats';
import type { Reach } from './days';
import { lookback } from './days';
import { findLifelogs } from './lifelogs';
import type { Findings } from './merge';
import { merge } from './merge';
import type { Settings } from './parameters';
import { readSettings } from './parameters';
import type { State, Watch } from './state';
import { loadState, newState, saveState } from './state';

/** What n8n's in-memory engine gives a poll, in ms; taken where n8n does not say. */
const DEFAULT_BUDGET_MS = 5 * 60_000;
const LONGEST_TIMEOUT_MS = 60_000;
const REPLACED =
	'The saved state of the trigger could not be read and was replaced: what is there now counts as known';

/** A poll under way. */
export interface Poll {
	context: IPollFunctions;
	api: Api;
	settings: Settings;
	/** The state it began with; not to be changed. */
	state: State;
	/** Whether there was none to begin with. */
	isFirst: boolean;
	/** Where it stands in time, by the service's clock as far as that is known. */
	reach(): Reach;
	/** Whether less than this share of the time allowed is used up. */
	isWithinBudget(share: number): boolean;
}

/** What the poll of a kind of entry gives. */
export interface PollResult extends Findings {
	/** What cut a first poll short. */
	failure?: NodeApiError;
}

/**
 * One poll: reads what is due, and then, in one step, decides on the state of that moment what is
 * emitted and saves the new state. On an error nothing is saved.
 *
 * @returns The items, or null when there is nothing to report.
 * @throws NodeApiError when the service cannot be read, NodeOperationError on parameters that
 *   cannot be used and, once, after a saved state that could not be.
 */
export async function runPoll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	sayReplacement(context);
	const settings = readSettings(context);
	const saved = JSON.stringify(savedState(context));
	const known = loadState(savedState(context));
	const poll = await begin(context, settings, stateFor(settings.watch, known));
	const isOfChats = settings.watch.kind === 'chats';
	const result = isOfChats ? await findChats(poll) : await findLifelogs(poll);

	// From here on nothing is awaited: what is decided and what is saved belong together.
	const isUntouched = JSON.stringify(savedState(context)) === saved;
	const items = commit(poll, result, isUntouched);
	if (items && saved !== undefined && !known) noteReplacement(context);
	return items && items.length > 0 ? [items] : null;
}

async function begin(
	context: IPollFunctions,
	settings: Settings,
	before: State | undefined,
): Promise<Poll> {
	const began = Date.now();
	const budgetMs = pollBudgetMs(context) ?? DEFAULT_BUDGET_MS;
	const timeoutMs = Math.min(budgetMs / 4, LONGEST_TIMEOUT_MS);
	const api = await connect(context, { maxWaitMs: 0, retries: 0, timeoutMs });
	api.run.pageLimit = before?.pageLimit;
	const reach = (): Reach => {
		const { serviceTime } = api.run;
		const aheadMs = serviceTime && serviceTime - Date.now();
		return { now: serviceTime ?? Date.now(), lookbackDays: settings.lookbackDays, aheadMs };
	};
	return {
		context,
		api,
		settings,
		state: before ?? newState(settings.watch, began, lookback(reach())[0]),
		isFirst: before === undefined,
		reach,
		isWithinBudget: (share) => Date.now() - began < budgetMs * share,
	};
}

/**
 * Merges what was found into the state of this moment and saves it.
 *
 * @param isUntouched Whether the saved state is the one the poll began with.
 * @returns The items to emit; undefined when another poll has made a new baseline meanwhile, and
 *   what was found is of no use.
 */
function commit(
	{ context, api, settings, state: before, isFirst, reach }: Poll,
	{ failure, ...findings }: PollResult,
	isUntouched: boolean,
): INodeExecutionData[] | undefined {
	const { watch } = settings;
	const { pageLimit, firstServiceTime = before.since } = api.run;
	const current = isFirst
		? newState(watch, firstServiceTime, lookback(reach())[0])
		: stateFor(watch, loadState(savedState(context)));
	const isSuperseded = isFirst ? !isUntouched : current?.since !== before.since;
	if (!current || isSuperseded) return undefined;

	const { state, items } = merge(before, current, { ...findings, pageLimit }, reach());
	if (failure && api.run.firstServiceTime === undefined) state.isOwnClock = true;
	context.getWorkflowStaticData('node').state = saveState(state);
	if (failure) {
		context.logger.warn(
			`Lifelog Trigger: the first poll was cut short; what happens from now on is reported all the same: ${failure.message}`,
		);
	}
	return items;
}

function savedState(context: IPollFunctions): unknown {
	return context.getWorkflowStaticData('node').state;
}

/** @returns undefined when there is none, or it was recorded for something else. */
function stateFor(watch: Watch, state: State | undefined): State | undefined {
	const { kind, credential, prompt } = watch;
	const isSame = state?.kind === kind && state.credential === credential && state.prompt === prompt;
	return isSame ? state : undefined;
}

/** Absent before n8n 2.36. */
function pollBudgetMs(context: IPollFunctions): number | undefined {
	return (context as Partial<IPollFunctions>).getPollBudgetMs?.();
}

/**
 * Static data in which a state that could not be read was replaced, until that has been said in an
 * execution. The poll that finds such a state does not throw: it mostly is the one that n8n runs to
 * activate the workflow, and n8n would not activate it, nor keep the new state; the durable engine
 * never keeps the state of a poll that throws. The in-memory engine hands the same object to each
 * poll, so it is the next one that throws; the durable one hands a new object to each poll, so that
 * there it remains with the line in the log.
 */
const replaced = new WeakSet<object>();

function noteReplacement(context: IPollFunctions): void {
	replaced.add(context.getWorkflowStaticData('node'));
	context.logger.error(`Lifelog Trigger: ${REPLACED}`);
}

/** @throws NodeOperationError once after {@link noteReplacement}. */
function sayReplacement(context: IPollFunctions): void {
	if (!replaced.delete(context.getWorkflowStaticData('node'))) return;
	throw new NodeOperationError(context.getNode(), REPLACED, {
		description:
			'What was new or changed between the last poll that worked and the replacement was not reported. From now on everything is reported again; this message comes once.',
	});
}

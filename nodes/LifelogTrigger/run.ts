import type { INodeExecutionData, IPollFunctions, NodeApiError } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { findChats } from './chats';
import { lookback, passedOver } from './days';
import { findLifelogs } from './lifelogs';
import type { Findings } from './merge';
import { merge } from './merge';
import { readSettings } from './parameters';
import type { Poll } from './poll';
import { begin } from './poll';
import { isPassing } from './reading';
import { loadState, saveState } from './saved';
import type { State, Watch } from './state';
import { newState } from './state';

const REPLACED =
	'The saved state of the trigger could not be read and was replaced: what is there now counts as known';

/**
 * One poll: reads what is due, and then, in one step, decides on the state of that moment what is
 * emitted and saves the new state. What could not be read holds up nothing else.
 *
 * @returns The items, or null when there is nothing to report.
 * @throws NodeApiError when nothing could be read, and then nothing is saved, unless n8n activates
 *   the workflow: from then on a larger look-back counts; or when something could not and there is
 *   nothing to report, unless n8n would discard what was saved. NodeOperationError on parameters
 *   that cannot be used and, once, after a saved state that could not be.
 */
export async function runPoll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	sayReplacement(context);
	const settings = readSettings(context);
	const saved = JSON.stringify(savedState(context));
	const known = loadState(savedState(context));
	const poll = await begin(context, settings, stateFor(settings.watch, known));
	const isOfChats = settings.watch.kind === 'chats';
	let findings = isOfChats ? await findChats(poll) : await findLifelogs(poll);
	const { failures, isInVain } = findings;
	const [failure] = failures;
	if (failure && isInVain) {
		const mayWait = (poll.isFirst || poll.isActivation) && isPassing(failure, !poll.isFirst);
		if (!mayWait) throw failure;
		// Where nothing can be read, no day or entry fails for its own sake.
		findings = { ...findings, days: new Map(), outcomes: [] };
	}

	// From here on nothing is awaited: what is decided and what is saved belong together.
	const isUntouched = JSON.stringify(savedState(context)) === saved;
	const items = commit(poll, findings, isUntouched);
	if (items && saved !== undefined && !known) noteReplacement(context);
	if (items && items.length > 0) {
		log(poll, failures);
		return [items];
	}
	if (!failure) return null;
	if (!poll.isFirst && !poll.isActivation && !poll.isDurable) throw failure;
	log(poll, failures);
	return null;
}

/**
 * Merges what was found into the state of this moment and saves it.
 *
 * @param isUntouched Whether the saved state is the one the poll began with.
 * @returns The items to emit; undefined when what was found is of no use, as another poll has begun
 *   anew meanwhile.
 */
function commit(
	poll: Poll,
	findings: Findings,
	isUntouched: boolean,
): INodeExecutionData[] | undefined {
	const { context, api, settings, state: before, isFirst } = poll;
	const { watch } = settings;
	const reach = poll.reach();
	const { firstServiceTime = before.since } = api.run;
	const current = isFirst
		? newState(watch, firstServiceTime, lookback(reach)[0])
		: stateFor(watch, loadState(savedState(context)));
	const isSuperseded = isFirst ? !isUntouched : current?.since !== before.since;
	if (!current || isSuperseded) return undefined;

	const passed = passedOver(current, reach);
	if (passed) {
		context.logger.warn(
			`Lifelog Trigger: the last poll was more than 31 days ago; the days from ${passed.join(' to ')} are passed over`,
		);
	}
	const { state, items } = merge(before, current, findings, reach);
	if (isFirst && api.run.firstServiceTime === undefined) state.isOwnClock = true;
	const { pageLimit } = api.run;
	const { now, clock } = reach;
	// n8n's clock counts from the first poll that could read, where the service shows no time.
	const isTold = !findings.isInVain || !clock.isOwn;
	const limitedAt = pageLimit === undefined ? undefined : (poll.limitedAt ?? now);
	const next = { ...state, pageLimit, limitedAt, clock: isTold ? clock : undefined };
	context.getWorkflowStaticData('node').state = saveState(next);
	return items;
}

/** What could not be read, where that is no error of the poll. */
function log({ context, isFirst }: Poll, failures: NodeApiError[]): void {
	for (const { message } of failures.slice(0, 3)) {
		const what = isFirst
			? 'the first poll was cut short; what happens from now on is reported all the same'
			: 'not all could be read';
		context.logger.warn(`Lifelog Trigger: ${what}: ${message}`);
	}
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

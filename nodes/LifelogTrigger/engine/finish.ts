// Step 5: saves what was found, and returns the items or the error.
import type { INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { utcDay } from '../../../lifelog/times.ts';
import { MAX_ABSENCE_DAYS } from './days';
import { noteReplaced } from './replaced';
import { isSavedState, saveState } from './saved';
import { merge, pageLimitOf } from './state';
import type { Found, Poll } from './types';

const MAX_LOGGED_FAILURES = 3;
const NOTHING_FOUND: Found = { days: new Map(), outcomes: [] };

/** Saves what was found. @throws NodeApiError of a request (_failure-shows_, _no-false-alarm_). */
export function finishPoll(poll: Poll, found: Found): INodeExecutionData[][] | null {
	const { context, known, isActivation, isDurable, failures } = poll;
	const failure = failures.at(0);
	const isInVain = failure !== undefined && !poll.isAnswered;
	if (isInVain && !mayPublishWith(poll, failure)) throw failure;
	// If nothing could be read, no day or entry failed for its own sake.
	const items = commit(poll, isInVain ? NOTHING_FOUND : found);
	const mustShow = items.length === 0 && known && !isActivation && !isDurable;
	if (failure && mustShow) throw failure;
	for (const { message } of failures.slice(0, MAX_LOGGED_FAILURES)) {
		context.logger.warn(`Lifelog Trigger: some lifelogs or chats couldn't be read: ${message}`);
	}
	return items.length > 0 ? [items] : null;
}

/** _publishing_: an outage doesn't prevent it, and what happens from then on is reported. */
function mayPublishWith({ known, isActivation }: Poll, failure: NodeApiError): boolean {
	return (!known || isActivation) && isPassing(failure, known !== undefined);
}

/** Whether an error may be gone at the next try; an odd first answer suggests a wrong address. */
function isPassing({ httpCode }: NodeApiError, isKnown: boolean): boolean {
	if (httpCode === null || httpCode === '429') return true;
	return Number(httpCode) >= 500 || (isKnown && httpCode === '200');
}

/** Merges what was found into the state and saves it. There must be no `await` in here. */
function commit(poll: Poll, found: Found): INodeExecutionData[] {
	const { context, api, saved, known } = poll;
	const staticData = context.getWorkflowStaticData('node');
	// Another poll was saved meanwhile; what this one found the next one finds again.
	if (staticData.state !== saved) return [];
	const isUnreadable = !known && saved !== undefined && !isSavedState(saved);
	if (isUnreadable) noteReplaced(context, staticData);
	logSkippedDays(poll);
	const { state: before, window } = poll.current();
	const { state, items } = merge(before, found, window);
	const size = api.run.pageLimit;
	state.pageLimit = size ? (pageLimitOf(before) ?? { size, since: Date.now() }) : undefined;
	staticData.state = saveState(state);
	return items;
}

function logSkippedDays({ context, known, current }: Poll): void {
	const { now } = current().window;
	const first = utcDay(known?.polledAt ?? now, 1);
	const last = utcDay(now, -MAX_ABSENCE_DAYS);
	if (first > last) return;
	context.logger.warn(
		`Lifelog Trigger: the last poll was more than 31 days ago; the days from ${first} to ${last} are skipped`,
	);
}

import type { IDataObject, NodeApiError } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import { MAX_CONCURRENT_READS, mapConcurrent } from '../../shared/transport/concurrency';
import { FAILURES_OF_OUTAGE, isBlocked, isBlocking, isGone, noteFailure } from './failures';
import type { Poll } from './types';

/** The share of a poll's time until which reads begin. */
const READ_SHARE = 0.75;

/** @returns What was read by its ID, or why not; without what was not tried. */
export async function readByIds<T>(
	poll: Poll,
	ids: string[],
	read: (api: Api, id: string, query: IDataObject) => Promise<T>,
	query: IDataObject,
): Promise<Map<string, T | NodeApiError>> {
	const answers = new Map<string, T | NodeApiError>();
	let isAnswered = false;
	await mapConcurrent(poll.api, ids, MAX_CONCURRENT_READS, async (api, id) => {
		const isOutage = answers.size >= FAILURES_OF_OUTAGE && !isAnswered;
		if (isBlocked(poll) || isOutage || !poll.isWithin(READ_SHARE)) return;
		const answer = await read(api, id, query).catch((error: unknown) => error as NodeApiError);
		if (!(answer instanceof Error) || isGone(answer)) {
			isAnswered = true;
			poll.isAnswered = true;
			answers.set(id, answer);
			return;
		}
		noteFailure(poll, answer);
		if (!isBlocking(answer)) answers.set(id, answer);
	});
	return answers;
}

import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { decideChats } from './chats/decide';
import { listChats } from './chats/list';
import { readChats } from './chats/read';
import { finishPoll } from './engine/finish';
import { startPoll } from './engine/start';
import type { Found, Listing, Outcome, Poll } from './engine/types';
import { decideLifelogs } from './lifelogs/decide';
import { listDays } from './lifelogs/list';
import { readLifelogs } from './lifelogs/read';

/** A poll in five steps. @returns The items; null if there is nothing to report. */
export async function runPoll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const poll = await startPoll(context);
	const found =
		poll.settings.watch.kind === 'chats'
			? await look(poll, listChats, decideChats, readChats)
			: await look(poll, listDays, decideLifelogs, readLifelogs);
	return finishPoll(poll, found);
}

async function look<Entry, Unread>(
	poll: Poll,
	list: (poll: Poll) => Promise<Listing<Entry>>,
	decide: (poll: Poll, listing: Listing<Entry>) => { outcomes: Outcome[]; unread: Unread[] },
	read: (poll: Poll, unread: Unread[]) => Promise<Outcome[]>,
): Promise<Found> {
	const listing = await list(poll);
	const { outcomes, unread } = decide(poll, listing);
	return { days: listing.days, outcomes: [...outcomes, ...(await read(poll, unread))] };
}

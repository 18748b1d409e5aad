import type { IDataObject, NodeApiError } from 'n8n-workflow';

import type { Chat } from '../shared/api-types';
import {
	answerOf,
	answerState,
	getChat,
	messageTimes,
	simplifyChat,
	sizeOf,
} from '../shared/chats';
import { unusableAnswerError } from '../shared/errors';
import { logWarning } from '../shared/log';
import type { Listing } from '../shared/pagination';
import { pages } from '../shared/pagination';
import { earliest, latest } from './clock';
import { sinceOf } from './compare';
import { align, dayOf, daysFrom, dueDays, lookback, troubled } from './days';
import type { DayRead, Outcome, PollResult } from './merge';
import type { Settings } from './parameters';
import type { Poll } from './poll';
import { isBlocking, readByIds, toApiError } from './reading';
import type { Entry, State } from './state';
import { timesOf } from './times';

const MINUTE_MS = 60_000;
/** An unanswered chat is waited for until it is so old. */
const LONGEST_WAIT_DAYS = 31;
/** A text beside tool calls counts when nothing more has come for so long. */
const QUIET_MS = 15 * MINUTE_MS;
/** Requests a poll; those for the list, and of these for what is not at its beginning. */
const MOST_REQUESTS = 40;
const MOST_LIST_REQUESTS = 30;
const MOST_FURTHER_REQUESTS = 3;
/** A held chat that is older than yesterday is read every so many polls, or so often. */
const PAUSE_POLLS = 8;
const PAUSE_MS = 60 * MINUTE_MS;

/** What the list of chats gave. */
interface Listed {
	chats: Map<string, Chat>;
	/** Where the list goes on, in the next poll. */
	cursor?: string;
	/** Whether it was read to its end, by this poll or with those before. */
	isComplete: boolean;
	pages: number;
	failures: NodeApiError[];
	blockedBy?: NodeApiError;
}

/** Reads the scheduled chats of the look-back, and those by ID that are older and unanswered. */
export async function findChats(poll: Poll): Promise<PollResult> {
	const { isFirst, settings } = poll;
	const listed = await listChats(poll);
	const reach = poll.reach();
	const state = align(poll.state, reach);
	const held = heldChats(state, earliest(reach), listed.chats);
	const outcomes: Outcome[] = held.tooOld.map((id) => ({ id }));
	for (const chat of listed.chats.values()) {
		const known = state.entries.get(chat.id);
		const day = dayOf(timesOf(chat.createdAt, settings.timezone)[0] ?? 0);
		const isDone = known
			? known.at !== undefined || held.tooOld.includes(chat.id)
			: day < state.from;
		if (isDone) continue;
		const answeredAt = answerTime(chat, settings, latest(reach));
		const since = sinceOf(state, day);
		const isOld =
			isFirst || (answeredAt !== undefined && since !== undefined && answeredAt <= since);
		outcomes.push(judge(poll, chat, known, known?.day ?? day, isOld && !known));
	}
	const waited = await readHeld(poll, state, listed.blockedBy ? [] : held.unlisted);
	return {
		days: new Map(listed.isComplete ? lookback(reach).map((day) => [day, READ]) : []),
		outcomes: [...outcomes, ...waited.outcomes],
		cursor: listed.cursor,
		failures: [...listed.failures, ...waited.failures],
		isInVain: listed.pages + waited.readable === 0,
	};
}

const READ: DayRead = { isComplete: true, failed: false };

/** The chats that are waited for: those that have been for too long, and those not in the list. */
function heldChats({ entries }: State, now: number, listed: Map<string, Chat>) {
	const oldest = daysFrom(dayOf(now), -LONGEST_WAIT_DAYS);
	const held = [...entries].filter(([, { pending }]) => pending);
	return {
		tooOld: held.filter(([, { day }]) => day < oldest).map(([id]) => id),
		unlisted: held.filter(([id, { day }]) => day >= oldest && !listed.has(id)),
	};
}

/**
 * Lists newest first: until a page holds what is known, and from where the last poll left off some
 * pages more, until a page lies wholly beyond the days that are watched.
 */
async function listChats(poll: Poll): Promise<Listed> {
	const { api, settings, state } = poll;
	const { timezone, watch } = settings;
	const query = {
		isScheduled: true,
		globalPromptId: watch.prompt || undefined,
		direction: 'desc',
		timezone,
	};
	const listed: Listed = { chats: new Map(), isComplete: false, pages: 0, failures: [] };
	const oldest = () => {
		const reach = poll.reach();
		const aligned = align(state, reach);
		const due = dueDays(aligned, reach);
		return [lookback(reach)[0], ...due].sort()[0];
	};
	/** Reads on until told to stop. @returns Whether the end was reached. */
	const readOn = async (
		most: number,
		isEnough: (page: Chat[]) => boolean,
		from?: string,
	): Promise<boolean> => {
		let next: string | undefined;
		let left = most;
		let hasEnough = false;
		const listing: Listing = {
			name: 'chats',
			query,
			from,
			onUnusable: (error) => listed.failures.push(error),
			mayGoOn: (cursor) => {
				const mayGoOn = --left > 0 && !hasEnough && poll.isWithinBudget(0.5);
				next = mayGoOn ? undefined : cursor;
				return mayGoOn;
			},
		};
		for await (const page of pages<Chat>(api, listing)) {
			listed.pages++;
			for (const chat of page) listed.chats.set(chat.id, chat);
			const first = oldest();
			const isOld = ({ createdAt }: Chat) => dayOf(timesOf(createdAt, timezone)[0] ?? 0) < first;
			if (page.every(isOld)) return true;
			hasEnough = isEnough(page);
		}
		listed.cursor = next;
		return next === undefined;
	};

	try {
		const isKnown = ({ id }: Chat) => state.entries.has(id);
		const isAtEnd = await readOn(MOST_LIST_REQUESTS, (page) => page.some(isKnown));
		// It goes on at its cursor; but a service that sends nothing else is not to be silent about.
		if (!isAtEnd && listed.pages === 0 && poll.isWithinBudget(0.5)) {
			const answer = { statusCode: 200, headers: {}, body: undefined };
			const problem = `it sent ${MOST_LIST_REQUESTS} empty pages in a row`;
			listed.failures.push(unusableAnswerError(api, { noun: 'chats' }, answer, problem));
		}
		const further = state.cursor ?? listed.cursor;
		const hasTime = listed.pages < MOST_LIST_REQUESTS && poll.isWithinBudget(0.5);
		if (isAtEnd || further === undefined || !hasTime) {
			listed.isComplete = isAtEnd;
			return listed;
		}
		listed.isComplete = await readOn(MOST_FURTHER_REQUESTS, () => false, further);
		if (listed.isComplete) listed.cursor = undefined;
	} catch (error) {
		const failure = toApiError(api, error);
		const hasForgotten =
			failure.httpCode === '400' && state.cursor !== undefined && listed.pages > 0;
		if (!hasForgotten) listed.failures.push(failure);
		if (isBlocking(failure)) listed.blockedBy = failure;
		listed.cursor = undefined;
	}
	return listed;
}

/** Reads held chats, those first that were not read for longest. */
async function readHeld(poll: Poll, state: State, held: Array<[string, Entry]>) {
	const { api, settings } = poll;
	const reach = poll.reach();
	const now = earliest(reach);
	const yesterday = daysFrom(dayOf(now), -1);
	const isDue = ([, { day, trouble }]: [string, Entry]) =>
		day >= yesterday ||
		!trouble ||
		state.polls + 1 - trouble.poll >= PAUSE_POLLS ||
		Math.abs(now - trouble.at) >= PAUSE_MS;
	const triedAt = ({ trouble }: Entry) => trouble?.poll ?? 0;
	const due = new Map(
		held
			.filter(isDue)
			.sort(([, a], [, b]) => triedAt(a) - triedAt(b) || (a.day < b.day ? 1 : -1))
			.slice(0, Math.max(0, MOST_REQUESTS - api.run.requests)),
	);
	const read = async (id: string) => await getChat(api, id, { timezone: settings.timezone });
	const mayGoOn = () => poll.isWithinBudget(0.75);
	const { found, gone, failed, blockedBy } = await readByIds(api, [...due.keys()], read, mayGoOn);
	for (const [id, { message }] of failed) {
		logWarning(api, `Lifelog Trigger: the chat "${id}" could not be read: ${message}`);
	}
	const outcomes = [...due].map(([id, entry]): Outcome => {
		const chat = found.get(id);
		const trouble = troubled(entry.trouble, state, reach);
		if (chat) return judge(poll, chat, entry, entry.day, false, { trouble });
		if (failed.has(id)) return { id, entry: { ...entry, trouble } };
		return { id, entry: gone.has(id) ? undefined : entry };
	});
	const failures = [...failed.values(), ...(blockedBy ? [blockedBy] : [])];
	return { outcomes, failures, readable: found.size + gone.size };
}

/**
 * What becomes of a chat.
 *
 * @param known What is known of it.
 * @param isOld Whether an answer is to be recorded only.
 * @param more What is recorded with it while it is unanswered.
 */
function judge(
	poll: Poll,
	chat: Chat,
	known: Entry | undefined,
	day: string,
	isOld: boolean,
	more: Partial<Entry> = {},
): Outcome {
	const { id } = chat;
	const { settings } = poll;
	const reach = poll.reach();
	const now = earliest(reach);
	// Its own times may be to come by a clock that is behind; how long it has been quiet is watched.
	const at = answerTime(chat, settings, latest(reach));
	// When the results of its tools came a chat does not tell.
	const size = sizeOf(chat);
	const isSame = known?.quiet?.size === size && known.quiet.since <= now;
	const quiet = isSame ? known!.quiet! : { size, since: now };
	const isQuiet = isOld || answerState(chat) !== 'waits' || now - quiet.since >= QUIET_MS;
	if (at === undefined || !isQuiet) {
		return { id, entry: { day, starred: false, flips: 0, pending: true, quiet, ...more } };
	}
	const version = { at, starred: false };
	const entry: Entry = { day, ...version, flips: 0 };
	if (isOld) return { id, version, entry };
	const start = timesOf(chat.startedAt, settings.timezone)[0] ?? 0;
	return { id, version, entry, event: { start, item: { json: chatItem(chat, settings) } } };
}

/** What is emitted for a chat. */
export function chatItem(chat: Chat, { simplify }: Settings): IDataObject {
	return { ...(simplify ? simplifyChat(chat) : chat), eventKey: chat.id };
}

/**
 * When a chat was answered: the time of the last text of the assistant. Beside tool calls it is the
 * answer when they have their results and nothing more has come for 15 minutes.
 *
 * @param now Epoch ms by the service's clock.
 * @returns Epoch ms; undefined when it has not been answered.
 */
export function answerTime(chat: Chat, { timezone }: Settings, now: number): number | undefined {
	const state = answerState(chat);
	if (state === 'none' || state === 'open') return undefined;
	const times = [chat.createdAt, ...messageTimes(chat)].flatMap((time) => timesOf(time, timezone));
	if (state === 'waits' && now - Math.max(...times, 0) < QUIET_MS) return undefined;
	const answer = answerOf(chat)?.createdAt ?? chat.createdAt;
	return Math.max(...timesOf(answer, timezone), 0);
}

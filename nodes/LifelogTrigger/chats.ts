import type { IDataObject } from 'n8n-workflow';

import type { Chat } from '../shared/api-types';
import {
	answerOf,
	answerState,
	getChat,
	messageTimes,
	simplifyChat,
	sizeOf,
} from '../shared/chats';
import { createdOn, listChats } from './chat-list';
import { earliest, latest } from './clock';
import { sinceOf } from './compare';
import { align, dayOf, daysFrom, daysListed, troubled } from './days';
import { logWarning } from './log';
import type { DayRead, Findings, Outcome } from './merge';
import type { Settings } from './parameters';
import type { Poll } from './poll';
import { readByIds } from './reading';
import type { KnownEntry, State } from './state';
import { timesOf } from './times';

const MINUTE_MS = 60_000;
/** An unanswered chat is waited for until it is so old. */
const LONGEST_WAIT_DAYS = 31;
/** A text beside tool calls counts when nothing more has come for so long. */
const QUIET_MS = 15 * MINUTE_MS;
/** Requests a poll. */
const MOST_REQUESTS = 40;
/** A pending chat that is older than yesterday is read every so many polls, or so often. */
const PAUSE_POLLS = 8;
const PAUSE_MS = 60 * MINUTE_MS;
/** The share of the poll's time until which chats are read by ID. */
const READ_SHARE = 0.75;
const READ: DayRead = { isComplete: true, failed: false };

/** Reads the scheduled chats of the look-back, and those by ID that are older and unanswered. */
export async function findChats(poll: Poll): Promise<Findings> {
	const { isFirst, settings } = poll;
	const listed = await listChats(poll);
	const reach = poll.reach();
	const state = align(poll.state, reach);
	const { tooOld, unlisted } = pendingChats(state, earliest(reach), listed.chats);
	const outcomes: Outcome[] = tooOld.map((id) => ({ id }));
	for (const chat of listed.chats.values()) {
		const known = state.entries.get(chat.id);
		const day = createdOn(chat, settings);
		const isDone = known ? known.at !== undefined || tooOld.includes(chat.id) : day < state.from;
		if (isDone) continue;
		const answeredAt = answerTime(chat, settings, latest(reach));
		const since = sinceOf(state, day);
		const isBefore = answeredAt !== undefined && since !== undefined && answeredAt <= since;
		const isOld = !known && (isFirst || isBefore);
		outcomes.push(judge(poll, chat, known, known?.day ?? day, isOld));
	}
	const read = await readPending(poll, state, listed.isBlocked ? [] : unlisted);
	return {
		days: new Map(listed.isComplete ? daysListed(state, reach).map((day) => [day, READ]) : []),
		outcomes: [...outcomes, ...read.outcomes],
		cursor: listed.cursor,
		failures: [...listed.failures, ...read.failures],
		isInVain: listed.pages + read.readable === 0,
	};
}

/** The chats that are waited for: those that have been for too long, and those not in the list. */
function pendingChats({ entries }: State, now: number, listed: Map<string, Chat>) {
	const oldest = daysFrom(dayOf(now), -LONGEST_WAIT_DAYS);
	const pending = [...entries].filter(([, { pending }]) => pending);
	return {
		tooOld: pending.filter(([, { day }]) => day < oldest).map(([id]) => id),
		unlisted: pending.filter(([id, { day }]) => day >= oldest && !listed.has(id)),
	};
}

/** Reads pending chats, those first that were not read for longest. */
async function readPending(poll: Poll, state: State, pending: Array<[string, KnownEntry]>) {
	const { api, settings } = poll;
	const reach = poll.reach();
	const now = earliest(reach);
	const yesterday = daysFrom(dayOf(now), -1);
	const isDue = ([, { day, trouble }]: [string, KnownEntry]) =>
		day >= yesterday ||
		!trouble ||
		state.polls + 1 - trouble.poll >= PAUSE_POLLS ||
		Math.abs(now - trouble.at) >= PAUSE_MS;
	const triedAt = ({ trouble }: KnownEntry) => trouble?.poll ?? 0;
	const due = new Map(
		pending
			.filter(isDue)
			.sort(([, a], [, b]) => triedAt(a) - triedAt(b) || (a.day < b.day ? 1 : -1))
			.slice(0, Math.max(0, MOST_REQUESTS - api.run.requests)),
	);
	const read = async (id: string) => await getChat(api, id, { timezone: settings.timezone });
	const mayGoOn = () => poll.isWithinBudget(READ_SHARE);
	const { found, gone, failed, failures } = await readByIds(api, [...due.keys()], read, mayGoOn);
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
	known: KnownEntry | undefined,
	day: string,
	isOld: boolean,
	more: Partial<KnownEntry> = {},
): Outcome {
	const { id } = chat;
	const { settings } = poll;
	const reach = poll.reach();
	const now = earliest(reach);
	// Its own times may be to come by a clock that is behind; how long it has been quiet is noted.
	const at = answerTime(chat, settings, latest(reach));
	// When the results of its tools came a chat does not tell.
	const size = sizeOf(chat);
	const before = known?.quiet;
	const isSame = before?.size === size && before.since <= now;
	const quiet = isSame ? before : { size, since: now };
	const isQuiet = isOld || answerState(chat) !== 'waits' || now - quiet.since >= QUIET_MS;
	if (at === undefined || !isQuiet) {
		return { id, entry: { day, starred: false, flips: 0, pending: true, quiet, ...more } };
	}
	const version = { at, starred: false };
	const entry: KnownEntry = { day, ...version, flips: 0 };
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

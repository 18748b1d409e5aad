// What one poll hands on to the next, and the words of the trigger. An entry is a lifelog or a chat.
//
// - Watch: what is watched: lifelogs, or the chats of a prompt, by a credential.
// - State: what is known of that. A poll begins with the one that the poll before it saved.
// - KnownDay: what is known of a UTC day. Due: it is to be read, until it has been read when it was
//   over for a whole day.
// - KnownEntry: what is known of an entry: the version last emitted, or recorded as not wanted.
//   Pending: something of it is left to do: it settles, was one too many, or could not be read.
// - Version: what tells one version of an entry from another: its time, and its star.
// - Trouble: what failed, how often, and when; it is tried again less and less often. Polls are
//   counted, and when is told by the count first, as clocks can jump.
// - Clock: what the clocks showed when they last agreed. Reach: the time of a poll by them, and how
//   many days it looks back.
// - Sighting: a lifelog as the list of a day shows it. Change: one that is new or has changed.
// - Outcome: what a poll found out about an entry: what is recorded of it, and what is emitted.
//   Findings: all that it found out; they are merged into the state as it is when it ends.
//
// An example, which is run in test/engine/trigger.test.mts. The first poll has read the day.
//
// - Poll 2, at 12:06, sights `a`, which was updated at 12:05 and is not known; it cannot be read.
//   Known now: pending, trouble (1 time, poll 2), no version. Emitted: nothing.
// - Poll 3, at 12:11, sights `a`, updated at 12:10, and reads it. Known now: version 12:10.
//   Emitted: `created`, with the key `a:2026-03-20T12:10:00.000Z`.
// - Poll 4, at 12:16, sights `a` with a star, and reads it. Known now: version 12:10, star, 1 flip.
//   Emitted: `updated`, with the key `a:2026-03-20T12:10:00.000Z:starred`.
import type { Clock } from './clock';

/** What is watched; for anything else a state is of no use. */
export interface Watch {
	kind: 'lifelogs' | 'chats';
	/** The ID of the credential, never its key. */
	credential: string;
	/** Chats: the scheduled prompt that is watched, '' for all of them. */
	prompt: string;
}

/** What tells one version of an entry from another. */
export interface Version {
	/** `updatedAt`, epoch ms; of a chat, when it was answered. */
	at: number;
	starred: boolean;
}

/** What could not be read, or was in vain. */
export interface Trouble {
	/** How often. */
	times: number;
	/** The count of the last poll that tried. */
	poll: number;
	/** When that was, and when it first failed; epoch ms. */
	at: number;
	since: number;
}

/** What is known of an entry. */
export interface KnownEntry {
	/** The UTC day, `YYYY-MM-DD`, it was last seen on. */
	day: string;
	/** {@link Version.at} of the version last emitted or not wanted; undefined before there is one. */
	at?: number;
	starred: boolean;
	/** How often nothing but the star has changed since `at`. */
	flips: number;
	/** Set while there is something left to do. */
	pending?: boolean;
	/** Set while it has been emitted as the list shows it only, and is still to be read. */
	incomplete?: boolean;
	trouble?: Trouble;
	/** Of a chat: how much there was of it, and when, epoch ms, nothing more had come since. */
	quiet?: { size: number; since: number };
}

/** What is known of a UTC day. */
export interface KnownDay {
	/** The count of the poll that last read it to its end; 0 for none. */
	read: number;
	/** Set while it is to be read. */
	due?: boolean;
	/** Of a day that a larger look-back added: when, epoch ms. */
	since?: number;
	/** When it was first found outside the look-back, done with: the poll's count, and epoch ms. */
	left?: number;
	leftAt?: number;
	/** Where its list goes on, of which a poll had time for a part only; and how many were read so. */
	cursor?: string;
	parts?: number;
	trouble?: Trouble;
}

/** What is known of what is watched. */
export interface State extends Watch {
	/** The service's clock at the first poll, epoch ms. */
	since: number;
	/** Set while `since` is by n8n's clock, as the first poll got no answer. */
	isOwnClock?: boolean;
	/** The first day that is known: one before it is added when a larger look-back comes to it. */
	from: string;
	/** Polls that were saved. */
	polls: number;
	/** What the clocks showed when they last agreed. */
	clock?: Clock;
	/** The largest page the service accepts, where it has refused a larger one, and since when. */
	pageLimit?: number;
	limitedAt?: number;
	/** Chats: where the list goes on that is read in parts. */
	cursor?: string;
	days: Map<string, KnownDay>;
	entries: Map<string, KnownEntry>;
}

/** The state of a trigger that has seen nothing yet. See {@link State} for what is passed. */
export function newState(watch: Watch, since: number, from: string): State {
	return { ...watch, since, from, polls: 0, days: new Map(), entries: new Map() };
}

/** A copy whose days and entries can be replaced, not changed. */
export function copyState(state: State): State {
	return { ...state, days: new Map(state.days), entries: new Map(state.entries) };
}

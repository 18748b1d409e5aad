// Decides what to do for a day of an archive. Pure.
import type { DayManifest } from '../archive/layout.mts';
import { without, type Span } from '../util/spans.mts';
import type { ListedChat, ListedLifelog } from './listing.mts';
import { DAY_MS, HOUR_MS } from '../util/durations.mts';

export type Kind = 'lifelogs' | 'chats' | 'audio';

/** A day at the service, and the state of its files in the archive. */
export interface DayState {
	day: string;
	/** The current manifest; undefined for a new day. */
	manifest: DayManifest | undefined;
	/** By ID, or the reason why they aren't read in this run. */
	lifelogs: Map<string, ListedLifelog> | string;
	chats: Map<string, ListedChat> | string;
	/** Listed IDs that can't be archived. */
	unusable: Set<string>;
	/** IDs deleted from the archive on any day. */
	deleted: { lifelogs: Set<string>; chats: Set<string> };
	/** Paths in the manifest whose file is missing or has another size. */
	damaged: Set<string>;
	withAudio: boolean;
	/** Whether to read the day again, because lists don't show every change. */
	isAgain: boolean;
	/** Epoch ms, by the service's clock. */
	now: number;
}

/** What to read and to write for one day. */
export interface DayPlan {
	day: string;
	/** IDs to read. */
	lifelogs: string[];
	chats: string[];
	/** IDs to read again, because lists don't show every change. */
	again: { lifelogs: string[]; chats: string[] };
	/** Whether nothing else needs to be done. */
	isOnlyAgain: boolean;
	/** IDs that the service no longer has. */
	gone: { lifelogs: string[]; chats: string[] };
	/**
	 * Entries deleted from the archive that the day doesn't mark as such, or that the service has
	 * changed since.
	 */
	deleted: { lifelogs: Map<string, ListedLifelog>; chats: Map<string, ListedChat> };
	/** Ranges to request, in order. */
	audio: Span[];
	/** Why lifelogs or chats aren't read in this run. */
	notRead: { lifelogs?: string; chats?: string };
	/** Paths in the manifest whose file is missing or has another size. */
	damaged: Set<string>;
}

/** Maximum range per request (docs/api-spec.md, section 4.5). */
const MAX_RANGE_MS = 2 * HOUR_MS;
/** Names of audio files have whole seconds. */
const MIN_RANGE_MS = 1000;
/** Late uploads: missing audio is requested once a day for a week. */
const LATE_DAYS = 7;
const LATE_PAUSE_MS = 20 * HOUR_MS;
/** Days during which a lifelog may change. */
export const RECENT_DAYS = 31;

/** Decides what to do for a day; undefined if the archive is up to date. */
export function planDay(state: DayState): DayPlan | undefined {
	const { day, manifest, lifelogs, chats, damaged } = state;
	const failed = new Set(manifest?.failed?.map(({ what }) => what));
	const plan: DayPlan = {
		day,
		lifelogs: [],
		chats: [],
		again: { lifelogs: [], chats: [] },
		isOnlyAgain: false,
		gone: { lifelogs: [], chats: [] },
		deleted: { lifelogs: new Map(), chats: new Map() },
		audio: [],
		notRead: {},
		damaged,
	};
	if (typeof lifelogs === 'string') plan.notRead.lifelogs = lifelogs;
	else {
		for (const [id, listed] of lifelogs) {
			const entry = entryOf(manifest?.lifelogs, id);
			const isSame = entry?.updatedAt === listed.updatedAt && entry.isStarred === listed.isStarred;
			if (state.deleted.lifelogs.has(id)) {
				if (!isSame || !isBuried(entry)) plan.deleted.lifelogs.set(id, listed);
			} else if (!isSame || isRetitled(entry, listed) || !isStored(entry, damaged)) {
				plan.lifelogs.push(id);
			} else if (state.isAgain || mayHaveChanged(listed, state.now)) plan.again.lifelogs.push(id);
		}
		plan.gone.lifelogs = goneOf(manifest?.lifelogs, lifelogs, state.unusable);
	}
	if (typeof chats === 'string') plan.notRead.chats = chats;
	else {
		for (const [id, listed] of chats) {
			const entry = entryOf(manifest?.chats, id);
			const isSame = entry?.messages === listed.messages && !failed.has(`chat ${id}`);
			if (state.deleted.chats.has(id)) {
				if (!isSame || !isBuried(entry)) plan.deleted.chats.set(id, listed);
			} else if (!isSame || !isStored(entry, damaged)) plan.chats.push(id);
			else if (state.isAgain) plan.again.chats.push(id);
		}
		plan.gone.chats = goneOf(manifest?.chats, chats, state.unusable);
	}
	// Entries that failed before and were never stored aren't changes.
	const isNews = (kind: 'lifelog' | 'chat', id: string) => {
		const entries: Record<string, unknown> | undefined = manifest?.[`${kind}s`];
		return !failed.has(`${kind} ${id}`) || entryOf(entries, id) !== undefined;
	};
	const hasChanged =
		plan.lifelogs.some((id) => isNews('lifelog', id)) ||
		plan.chats.some((id) => isNews('chat', id)) ||
		plan.gone.lifelogs.length + plan.gone.chats.length > 0;
	if (state.withAudio) plan.audio = audioToAsk(state, plan.lifelogs, hasChanged);

	// Failed before, and is no longer listed, or was never read.
	const isResolved = [...failed].some(
		(what) =>
			(what.startsWith('lifelog') && !plan.notRead.lifelogs) ||
			(what.startsWith('chat') && !plan.notRead.chats),
	);
	const isToBeRead = plan.lifelogs.length + plan.chats.length + plan.audio.length > 0;
	const isToBeBuried =
		plan.deleted.lifelogs.size + plan.deleted.chats.size > 0 ||
		hasUnburied(manifest?.lifelogs, state.deleted.lifelogs) ||
		hasUnburied(manifest?.chats, state.deleted.chats);
	const isToDo = !manifest || isToBeRead || hasChanged || isResolved || isToBeBuried;
	plan.isOnlyAgain = !isToDo;
	return isToDo || plan.again.lifelogs.length + plan.again.chats.length > 0 ? plan : undefined;
}

const entryOf = <Entry,>(entries: Record<string, Entry> | undefined, id: string) =>
	entries && Object.hasOwn(entries, id) ? entries[id] : undefined;

/** Whether title or end have changed without a new update time. */
const isRetitled = (entry: { listed?: string }, { listed }: ListedLifelog) =>
	entry.listed !== undefined && entry.listed !== listed;

/** Whether a lifelog may have changed without the list showing it. */
const mayHaveChanged = ({ isDated, startMs }: ListedLifelog, now: number) =>
	!isDated && startMs > now - RECENT_DAYS * DAY_MS;

const isStored = (
	{ files, goneAt }: { files: { path: string }[]; goneAt?: string },
	damaged: Set<string>,
) => goneAt === undefined && files.every(({ path }) => !damaged.has(path));

const isBuried = ({ deletedAt, goneAt }: { deletedAt?: string; goneAt?: string }) =>
	deletedAt !== undefined && goneAt === undefined;

/** Whether a day still has files of an entry that was deleted on another day. */
const hasUnburied = (
	entries: Record<string, { deletedAt?: string }> = {},
	deleted: Set<string>,
): boolean =>
	Object.keys(entries).some((id) => deleted.has(id) && entries[id].deletedAt === undefined);

const goneOf = (
	entries: Record<string, { goneAt?: string }> = {},
	listed: Map<string, unknown>,
	unusable: Set<string>,
): string[] =>
	Object.keys(entries).filter(
		(id) => entries[id].goneAt === undefined && !listed.has(id) && !unusable.has(id),
	);

/** The audio ranges to request. */
function audioToAsk(
	{ day, manifest, lifelogs, damaged, isAgain, now }: DayState,
	changedLifelogs: string[],
	hasChanged: boolean,
): Span[] {
	const begin = Date.parse(day);
	const stored = ofPendant(manifest?.audio).filter(({ path }) => !damaged.has(path));
	const missing = manifest?.missingAudio ?? [];
	// Unknown ranges: a new day, failed requests, the rest of a day that wasn't over.
	const wanted = without([{ startMs: begin, endMs: begin + DAY_MS }], [...stored, ...missing]);
	const lateSince = now - LATE_DAYS * DAY_MS;
	const archivedAt = Date.parse(manifest?.archivedAt ?? '');
	const isLate = begin + DAY_MS > lateSince && Math.abs(now - archivedAt) > LATE_PAUSE_MS;
	// A changed day may have new audio, too. Full archive in n8n assumes the same.
	if (isLate || hasChanged || isAgain) wanted.push(...missing);
	// A new or changed lifelog may bring new audio.
	if (manifest && typeof lifelogs !== 'string') {
		for (const id of changedLifelogs) {
			const { startMs, endMs } = lifelogs.get(id)!;
			wanted.push({ startMs, endMs: Math.max(endMs, startMs + 1) });
		}
	}
	const asked: Span[] = [];
	for (let startMs = begin; startMs < begin + DAY_MS; startMs += MAX_RANGE_MS) {
		const range = { startMs, endMs: startMs + MAX_RANGE_MS };
		// Requesting an unfinished range would store only a part of it for good.
		if (range.endMs > now || !wanted.some((span) => overlaps(span, range))) continue;
		const others = stored.filter((file) => !isSame(file, range));
		asked.push(...without([range], others));
	}
	return asked.filter(({ startMs, endMs }) => endMs - startMs >= MIN_RANGE_MS);
}

/** Audio of the pendant. Only that is requested, regardless of other recorders. */
export const ofPendant = <File extends { path: string }>(audio: File[] = []): File[] =>
	audio.filter(({ path }) => path.startsWith('audio/pendant/'));

const overlaps = (a: Span, b: Span) => a.startMs < b.endMs && a.endMs > b.startMs;
const isSame = (a: Span, b: Span) => a.startMs === b.startMs && a.endMs === b.endMs;

// Merges what was read of a day into its manifest.
import { extname } from 'node:path';
import type { Change, Day } from '../archive/changeDays.mts';
import type { Draft } from '../archive/drafts.mts';
import type { ChatEntry, DayManifest, LifelogEntry, NamedFile } from '../archive/layout.mts';
import { inOrder, placesBeside, withEntries } from '../archive/lifelogFiles.mts';
import { type OwnByKind, withOwn } from '../archive/ownChanges.mts';
import { DAY_MS } from '../util/durations.mts';
import { joinSpans, without, type Span } from '../util/spans.mts';
import { iso } from '../util/times.mts';
import { type DayPlan, ofPendant } from './plan.mts';

/** A written file that isn't in its place yet. */
export interface NewFile extends NamedFile, Draft {
	/** Start of the entry, epoch ms; undefined for audio. */
	startMs?: number;
}

export type Read<Entry> = Omit<Entry, 'files'> & { files: NewFile[] };

/** What was read, by ID, and what failed. Entries deleted from the archive have no files. */
export interface Found {
	lifelogs: Map<string, Read<LifelogEntry>>;
	chats: Map<string, Read<ChatEntry>>;
	audio: (NewFile & Span)[];
	missingAudio: Span[];
	failed: { what: string; message: string }[];
	/** An error that ends the run: of the disk, or of the whole service. */
	fatal: unknown;
}

const NOT_OVER = 'the day is not over yet';
export const NOT_ASKED_FOR = 'was not requested (--only)';
const MIN_RANGE_MS = 1000;

export const nameOfAudio = ({ startMs, endMs }: Span) => `audio ${iso(startMs)} to ${iso(endMs)}`;

/**
 * The new manifest of a day, and the paths of its files.
 *
 * @param own Entries created, edited or deleted in the archive.
 * @param now Epoch ms.
 */
export function merge(
	plan: DayPlan,
	{ day, newest: manifest, archivedAt }: Day,
	found: Found,
	own: OwnByKind,
	now: number,
): { file: DayManifest; files: NonNullable<Change['files']> } {
	const files: NonNullable<Change['files']> = [];
	const place = ({ draft, path, bytes, sha256 }: NewFile): NamedFile => {
		files.push({ draft, path });
		return { path, bytes, sha256 };
	};
	const audioByPath = new Map((manifest?.audio ?? []).map((file) => [file.path, file]));
	for (const { startMs, endMs, ...draft } of found.audio) {
		// Skip audio that is shorter than the stored file: the service has deleted a part of it.
		const stored = audioByPath.get(draft.path);
		const isShorter = stored && draft.bytes < stored.bytes && !plan.damaged.has(draft.path);
		if (!isShorter) audioByPath.set(draft.path, { startMs, endMs, ...place(draft) });
	}
	const audio = [...audioByPath.values()].sort((a, b) => a.startMs - b.startMs);
	const notAsked = without(manifest?.missingAudio ?? [], plan.audio);
	const missing = joinSpans([...notAsked, ...found.missingAudio]);
	const missingAudio = without(missing, ofPendant(audio));
	const failed = [
		...notRead(manifest, 'lifelog', plan.notRead.lifelogs),
		...notRead(manifest, 'chat', plan.notRead.chats),
		...found.failed.sort((a, b) => (a.what < b.what ? -1 : 1)),
		...unknownAudio(day, [...ofPendant(audio), ...missingAudio, ...plan.audio], now),
	];
	const file: DayManifest = {
		version: 1,
		day,
		lifelogs: entriesOf<LifelogEntry>('lifelogs', manifest?.lifelogs, found.lifelogs),
		chats: entriesOf<ChatEntry>('chats', manifest?.chats, found.chats),
		audio,
		missingAudio,
		failed,
		archivedAt,
		isComplete: failed.length === 0,
	};
	return { file, files };

	function entriesOf<Entry extends LifelogEntry | ChatEntry>(
		kind: 'lifelogs' | 'chats',
		before: Record<string, Entry> = {},
		read: Map<string, Read<Entry>>,
	): Record<string, Entry> {
		const placeBeside = placesBeside(before);
		const changed: [string, Entry][] = [];
		// The result doesn't depend on the order of reading.
		for (const [id, entry] of [...read].sort(([a], [b]) => (a < b ? -1 : 1))) {
			const change = own[kind].get(id);
			const isDeleted = change?.deletedAt !== undefined;
			if (!isDeleted && entry.files.length === 0) continue;
			// Entries deleted since they were read stay drafts.
			const named = isDeleted
				? []
				: entry.files.map((each) =>
						place({ ...each, path: placeBeside(kind, id, each.startMs!) + extname(each.path) }),
					);
			changed.push([id, { ...entry, files: named } as unknown as Entry]);
		}
		const now = withEntries(before, changed);
		const withGone = withEntries(
			now,
			plan.gone[kind]
				.filter((id) => Object.hasOwn(now, id))
				.map((id) => [id, { ...now[id], goneAt: archivedAt }]),
		);
		// Local edits stay, and entries deleted here on another day are deleted from this one, too.
		const isRead = new Set(changed.map(([id]) => id));
		const withChanges = Object.entries(withGone).map(([id, entry]): [string, Entry] => {
			const change = own[kind].get(id) ?? {};
			const isBuried = change.deletedAt !== undefined && entry.deletedAt === undefined;
			return [id, isRead.has(id) || isBuried ? withOwn(entry, change) : entry];
		});
		return inOrder(withChanges);
	}
}

/** Ranges of a day that were never requested. */
function unknownAudio(day: string, known: Span[], now: number): Found['failed'] {
	const startMs = Date.parse(day);
	const unknown = without([{ startMs, endMs: startMs + DAY_MS }], known);
	return joinSpans(unknown)
		.filter((span) => span.endMs - span.startMs >= MIN_RANGE_MS)
		.map((span) => ({
			what: nameOfAudio(span),
			message: span.endMs > now ? NOT_OVER : NOT_ASKED_FOR,
		}));
}

/** Failures of a kind that isn't read in this run: earlier ones, or the whole day if it is new. */
function notRead(manifest: DayManifest | undefined, kind: 'lifelog' | 'chat', why?: string) {
	if (why === undefined) return [];
	if (!manifest) return [{ what: `${kind}s`, message: why }];
	return (manifest.failed ?? []).filter(({ what }) => what.startsWith(kind));
}

/** Whether an entry is missing only because it isn't due yet. */
export const isPending = ({ message }: { message: string }) =>
	message === NOT_OVER || message === NOT_ASKED_FOR;

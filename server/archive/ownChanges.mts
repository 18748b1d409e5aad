// Entries that lifelog-server created, edited or deleted, unknown to the service
// (docs/reference/archive.md, "Made, edited or deleted here").
import { FileError, type Folder } from './folder.mts';
import type { ChatEntry, Edited, LifelogEntry, MadeHere, NamedFile } from './layout.mts';
import { manifestNames, readManifests } from './manifests.mts';
import type { Span } from '../util/spans.mts';

/** Local changes of one ID. */
export interface OwnChange {
	madeHere?: MadeHere;
	edited?: Edited;
	/** UTC with milliseconds. A deleted ID stays deleted. */
	deletedAt?: string;
	/** Times of the deleted lifelog. */
	spans?: Span[];
}

export interface OwnByKind {
	lifelogs: Map<string, OwnChange>;
	chats: Map<string, OwnChange>;
}

type Entry = OwnChange & { files: NamedFile[]; listed?: string };

interface KnownDay {
	/** Names and fingerprints of the day's manifests. */
	state: string;
	lifelogs: [id: string, change: OwnChange][];
	chats: [id: string, change: OwnChange][];
}

/** Collects local changes from all days. Unchanged days are read once. */
export class OwnChanges {
	readonly #folder: Folder;
	#days = new Map<string, KnownDay>();

	constructor(folder: Folder) {
		this.#folder = folder;
	}

	/** Skips a temporarily unreadable day; the next call reads it again. */
	async read(): Promise<OwnByKind> {
		const days = new Map<string, KnownDay>();
		const own: OwnByKind = { lifelogs: new Map(), chats: new Map() };
		for (const [day, names] of await manifestNames(this.#folder)) {
			const known = await this.#readDay(day, names.sort());
			if (!known) continue;
			days.set(day, known);
			for (const kind of ['lifelogs', 'chats'] as const) {
				for (const [id, change] of known[kind]) {
					own[kind].set(id, joined(own[kind].get(id) ?? {}, change));
				}
			}
		}
		this.#days = days;
		return own;
	}

	async #readDay(day: string, names: string[]): Promise<KnownDay | undefined> {
		const fingerprintOf = (name: string) => this.#folder.fingerprint(`days/${name}`);
		const state = JSON.stringify([names, await Promise.all(names.map(fingerprintOf))]);
		const known = this.#days.get(day);
		if (known?.state === state) return known;
		try {
			const { newest } = await readManifests(this.#folder, day, names);
			return { state, lifelogs: changesOf(newest?.lifelogs), chats: changesOf(newest?.chats) };
		} catch (error) {
			if (!(error instanceof FileError)) throw error;
			return undefined;
		}
	}
}

function changesOf(
	entries: Record<string, LifelogEntry | ChatEntry> = {},
): [id: string, change: OwnChange][] {
	return Object.entries<OwnChange>(entries)
		.filter(([, { madeHere, edited, deletedAt }]) => madeHere ?? edited ?? deletedAt)
		.map(([id, { madeHere, edited, deletedAt, spans }]) => [
			id,
			{ madeHere, edited, deletedAt, spans },
		]);
}

/** Merges two days' changes of an ID: the last edit, and any deletion. */
function joined(one: OwnChange, other: OwnChange): OwnChange {
	const isLater = (other.edited?.at ?? '') > (one.edited?.at ?? '');
	return {
		madeHere: one.madeHere ?? other.madeHere,
		edited: isLater ? other.edited : one.edited,
		deletedAt: one.deletedAt ?? other.deletedAt,
		spans: joinedSpans(one.spans, other.spans),
	};
}

function joinedSpans(one: Span[] = [], other: Span[] = []): Span[] | undefined {
	const all = [...one, ...other].map((span) => JSON.stringify(span));
	return all.length === 0 ? undefined : [...new Set(all)].map((span) => JSON.parse(span) as Span);
}

/**
 * Applies local changes to an entry. A deleted one becomes a tombstone, without files and without
 * edits, which contain its words.
 */
export function withOwn<Kind extends Entry>(entry: Kind, change: OwnChange = {}): Kind {
	const { madeHere, edited, deletedAt } = joined(change, entry);
	const whole = { ...entry, ...(madeHere && { madeHere }), ...(edited && { edited }) };
	if (deletedAt === undefined) return whole;
	const spans = joinedSpans(change.spans, entry.spans);
	delete whole.edited;
	delete whole.listed;
	return { ...whole, files: [], deletedAt, ...(spans && { spans }) };
}

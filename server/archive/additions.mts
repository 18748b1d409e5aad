// Entries and audio that are new on a day, and that the service doesn't know: imported, recorded, or
// made here.
import type { Lifelog } from '../../lifelog/api.ts';
import { writeLifelog } from '../../lifelog/files/formats.ts';
import { type Span, without } from '../util/spans.mts';
import type { Change, Day } from './changeDays.mts';
import type { Draft, Drafts } from './drafts.mts';
import { maxBytes } from './folder.mts';
import {
	type AudioFile,
	type ChatEntry,
	type DayManifest,
	type LifelogEntry,
	type MadeHere,
	type NamedFile,
	RECORDINGS,
} from './layout.mts';
import { inOrder, placesBeside, toJson, withEntries } from './lifelogFiles.mts';
import type { Manifests } from './manifests.mts';

/** Why something can't be added to a day; its message is the end of a sentence. */
export class EntryError extends Error {}

/** An entry whose files are drafts. */
interface NewEntry<Entry> {
	id: string;
	/** Epoch ms. */
	startMs: number;
	/** What the manifest says of it, beside its files. */
	entry: Omit<Entry, 'files' | 'goneAt' | 'madeHere'>;
	madeHere?: MadeHere;
	files: { extension: string; draft: Draft }[];
}

/** Audio that is a draft. */
interface NewAudio extends Span {
	/** The name of its folder. */
	recorder: string;
	draft: Draft;
}

/** What is added to a day. */
export interface Additions {
	lifelogs?: NewEntry<LifelogEntry>[];
	chats?: NewEntry<ChatEntry>[];
	audio?: NewAudio[];
}

/**
 * Writes the drafts of a new lifelog.
 *
 * @param timezone IANA name of the zone of times in Markdown.
 * @throws EntryError if a file would be too large to be read.
 */
export async function draftLifelog(
	drafts: Drafts,
	lifelog: Lifelog,
	timezone: string,
	madeHere?: MadeHere,
): Promise<NewEntry<LifelogEntry>> {
	const { id, startTime, updatedAt, isStarred } = lifelog;
	// One after the other: an import may take little memory.
	const json = await draftText(drafts, toJson(lifelog));
	const markdown = await draftText(drafts, writeLifelog(lifelog, 'markdown', timezone)!.content);
	const files = [
		{ extension: '.json', draft: json },
		{ extension: '.md', draft: markdown },
	];
	return { id, startMs: Date.parse(startTime), entry: { updatedAt, isStarred }, madeHere, files };
}

/** Writes a draft, unless it would be too large to be read. */
export async function draftText(drafts: Drafts, text: string): Promise<Draft> {
	const content = Buffer.from(text);
	if (content.length > maxBytes) {
		throw new EntryError('would create a file larger than 64 MiB, which no server reads');
	}
	return await drafts.write(content);
}

/**
 * The manifest that counts.
 *
 * @returns undefined for a new day.
 * @throws EntryError if the day has manifests, and none that can be read: a new one would hide what
 *   they name.
 */
export function newestOf(day: string, { newest, broken }: Manifests): DayManifest | undefined {
	if (!newest && broken.length > 0) {
		throw new EntryError(`belongs to ${day}, whose day manifest can't be read`);
	}
	return newest;
}

/** The manifest of a day that counts, or one of a day without anything. Throws as `newestOf` does. */
export function manifestBefore(day: Day): DayManifest {
	const none: DayManifest = {
		version: 1,
		day: day.day,
		lifelogs: {},
		chats: {},
		audio: [],
		missingAudio: [],
		failed: [],
		archivedAt: day.archivedAt,
		isComplete: true,
	};
	return { ...none, ...newestOf(day.day, day) };
}

/**
 * Adds to a day. What is added carries `goneAt`, because the service doesn't know it by its ID: so the
 * fingerprint says what the service has, as before. Audio that the day has is left out.
 *
 * @throws EntryError for an entry whose ID the day has.
 */
export function addTo(day: Day, { lifelogs = [], chats = [], audio = [] }: Additions): Change {
	const before = manifestBefore(day);
	const files: NonNullable<Change['files']> = [];
	const place = (path: string, { draft, bytes, sha256 }: Draft): NamedFile => {
		files.push({ draft, path });
		return { path, bytes, sha256 };
	};
	const entriesOf = <Entry extends LifelogEntry | ChatEntry>(
		kind: 'lifelogs' | 'chats',
		known: Record<string, Entry>,
		added: NewEntry<Entry>[],
	) => {
		const placeBeside = placesBeside(known);
		// The same whichever was read first.
		const inTurn = added.toSorted((a, b) => (a.id < b.id ? -1 : 1));
		const entries = inTurn.map(({ id, startMs, entry, madeHere, files: own }) => {
			// Its files can't be read now, and aren't to be replaced.
			if (Object.hasOwn(known, id)) throw new EntryError('is in the archive, and cannot be read');
			const path = placeBeside(kind, id, startMs);
			const named = own.map(({ extension, draft }) => place(path + extension, draft));
			const more = { goneAt: day.archivedAt, ...(madeHere && { madeHere }) };
			return [id, { ...entry, files: named, ...more } as unknown as Entry] as const;
		});
		return entries.length > 0 ? inOrder(Object.entries(withEntries(known, entries))) : known;
	};
	const allAudio: AudioFile[] = [...before.audio];
	for (const { recorder, startMs, endMs, draft } of audio) {
		const isThere = allAudio.some(
			(file) => file.sha256 === draft.sha256 && file.startMs === startMs,
		);
		if (isThere) continue;
		const path = freePath(allAudio, recorder, day.day, { startMs, endMs });
		allAudio.push({ startMs, endMs, ...place(path, draft) });
	}
	const manifest: DayManifest = {
		...before,
		lifelogs: entriesOf('lifelogs', before.lifelogs, lifelogs),
		chats: entriesOf('chats', before.chats, chats),
		audio: allAudio.sort((a, b) => a.startMs - b.startMs),
		missingAudio: without(before.missingAudio ?? [], serviceAudioOf(allAudio)),
		archivedAt: day.archivedAt,
	};
	return files.length > 0 ? { manifests: [manifest], files } : {};
}

/** Audio without recordings of other devices, which may overlap with it. */
export const serviceAudioOf = (audio: AudioFile[]): AudioFile[] =>
	audio.filter(({ path }) => !path.startsWith(`audio/${RECORDINGS}/`));

function freePath(audio: AudioFile[], recorder: string, day: string, { startMs, endMs }: Span) {
	const name = `audio_${compact(startMs)}_${compact(endMs)}`;
	const place = `audio/${recorder}/${day.replaceAll('-', '/')}/${name}`;
	for (let nth = 1; ; nth += 1) {
		const path = `${place}${nth > 1 ? `-${nth}` : ''}.ogg`;
		if (audio.every((file) => file.path !== path)) return path;
	}
}

const compact = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');

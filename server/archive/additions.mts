// Adds entries and audio that the service doesn't know: imported, recorded, or created here.
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

/** Why something can't be added to a day. The message completes a sentence. */
export class EntryError extends Error {}

interface NewEntry<Entry> {
	id: string;
	/** Epoch ms. */
	startMs: number;
	/** The manifest's fields about the entry, without its files. */
	entry: Omit<Entry, 'files' | 'goneAt' | 'madeHere'>;
	madeHere?: MadeHere;
	files: { extension: string; draft: Draft }[];
}

interface NewAudio extends Span {
	/** Name of its folder. */
	recorder: string;
	draft: Draft;
}

export interface Additions {
	lifelogs?: NewEntry<LifelogEntry>[];
	chats?: NewEntry<ChatEntry>[];
	audio?: NewAudio[];
}

/**
 * Writes the drafts of a new lifelog.
 *
 * @param timezone IANA time zone of the Markdown.
 * @throws EntryError if a file would be too large to read.
 */
export async function draftLifelog(
	drafts: Drafts,
	lifelog: Lifelog,
	timezone: string,
	madeHere?: MadeHere,
): Promise<NewEntry<LifelogEntry>> {
	const { id, startTime, updatedAt, isStarred } = lifelog;
	// Sequentially: an import may use only little memory.
	const json = await draftText(drafts, toJson(lifelog));
	const markdown = await draftText(drafts, writeLifelog(lifelog, 'markdown', timezone)!.content);
	const files = [
		{ extension: '.json', draft: json },
		{ extension: '.md', draft: markdown },
	];
	return { id, startMs: Date.parse(startTime), entry: { updatedAt, isStarred }, madeHere, files };
}

/** Writes a draft. @throws EntryError if the file would be too large to read. */
export async function draftText(drafts: Drafts, text: string): Promise<Draft> {
	const content = Buffer.from(text);
	if (content.length > maxBytes) {
		throw new EntryError('would create a file larger than 64 MiB, which no server reads');
	}
	return await drafts.write(content);
}

/**
 * Returns the current manifest, or undefined for a new day.
 *
 * @throws EntryError if the day has manifests but none is readable. A new one would hide what they
 *   name.
 */
export function newestOf(day: string, { newest, broken }: Manifests): DayManifest | undefined {
	if (!newest && broken.length > 0) {
		throw new EntryError(`belongs to ${day}, whose day manifest can't be read`);
	}
	return newest;
}

/** The current manifest of a day, or an empty one. Throws like `newestOf`. */
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
 * Adds entries and audio to a day. They get `goneAt`, because the service doesn't know their IDs. The
 * fingerprint still describes only what the service has. Audio that the day already has is skipped.
 *
 * @throws EntryError for an entry whose ID the day already has.
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
		// The result doesn't depend on the order of reading.
		const inTurn = added.toSorted((a, b) => (a.id < b.id ? -1 : 1));
		const entries = inTurn.map(({ id, startMs, entry, madeHere, files: own }) => {
			// Its files are unreadable now, but must not be replaced.
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

/** Audio without other devices' recordings, which may overlap with it. */
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

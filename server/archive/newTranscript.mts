// Replaces the lifelogs of a recording that was transcribed again.
import type { Lifelog } from '../../lifelog/api.ts';
import { writeLifelog } from '../../lifelog/files/formats.ts';
import { isLabel } from '../../lifelog/speakers.ts';
import type { Span } from '../util/spans.mts';
import { EntryError, manifestBefore } from './additions.mts';
import type { Change, Day } from './changeDays.mts';
import { readArchived } from './entries.mts';
import { FileError, type Folder, maxBytes } from './folder.mts';
import type { DayManifest, Edited, EditedLine, LifelogEntry, MadeHere } from './layout.mts';
import { dayOf, inOrder, namedFile, placesBeside, toJson } from './lifelogFiles.mts';
import { linesThatFit } from './linesAgain.mts';
import { withOwn } from './ownChanges.mts';

export interface Transcribed {
	lifelog: Lifelog;
	/** The words of its lines as heard, before any correction. */
	heard: string[];
}

/** A lifelog of the former transcript. */
export interface Former {
	id: string;
	entry: LifelogEntry;
	stored: Lifelog;
}

/** A lifelog of the new transcript, with its manifest entry apart from files. */
interface Later {
	lifelog: Lifelog;
	entry: Omit<LifelogEntry, 'files'>;
}

export interface NewTranscript {
	/** The former lifelogs, and the days that have their current versions. */
	there: { id: string; day: string }[];
	/** In order of time. They get their IDs here. */
	lifelogs: Transcribed[];
	/** Returns an unused ID for a part, by its number. */
	newId: (part: number) => string;
	madeHere: MadeHere;
	/** IANA time zone of the Markdown. */
	timezone: string;
}

/**
 * Replaces the lifelogs of a recording. Each new one takes the ID of the former one with the
 * greatest overlap, and those edits that fit the new transcript. Former ones without a successor
 * become tombstones. These have no `spans`, because nobody deleted what was said then.
 *
 * @param days All days that name one of the lifelogs, before or after.
 * @returns The change, and the new lifelogs' IDs in order.
 * @throws FileError or EntryError if a file of these days is unreadable, or would be too large.
 */
export async function replaceTranscript(
	folder: Folder,
	days: Map<string, Day>,
	{ there, lifelogs, newId, madeHere, timezone }: NewTranscript,
): Promise<{ change: Required<Change>; ids: string[] }> {
	const former = await Promise.all(there.map((each) => readFormer(folder, days, each)));
	const partners = partnersOf(
		lifelogs.map(({ lifelog }) => timeOf(lifelog)),
		former.map(({ stored }) => timeOf(stored)),
	);
	const namesBefore = labelNames(former);
	const later = lifelogs.map((each, part): Later => {
		const before = former.at(partners.get(part) ?? former.length);
		const { lifelog } = each;
		const kept = { namesBefore, lines: linesThatFit(former, each) };
		if (before) return inPlaceOf(before, lifelog, kept);
		const { updatedAt, isStarred } = lifelog;
		const edited = editsFor({ at: updatedAt }, kept);
		const entry = { updatedAt, isStarred, madeHere, ...(edited && { edited }) };
		return { lifelog: { ...lifelog, id: newId(part) }, entry };
	});
	const change: Required<Change> = {
		...{ manifests: [], files: [], replaced: former.map(({ id }) => id) },
	};
	for (const day of days.values()) {
		if (day.broken.length > 0) throw new FileError('is not readable');
		const ofDay = later.filter(({ lifelog }) => dayOf(timeOf(lifelog).startMs) === day.day);
		const { manifest, files } = changedDay(day, ofDay, { former, later, timezone });
		change.manifests.push(manifest);
		change.files.push(...files);
	}
	return { change, ids: later.map(({ lifelog }) => lifelog.id) };
}

async function readFormer(
	folder: Folder,
	days: Map<string, Day>,
	{ id, day }: { id: string; day: string },
): Promise<Former> {
	const entry = days.get(day)?.newest?.lifelogs[id];
	const stored = entry && (await readArchived(folder, id, entry.files));
	if (!stored) throw new FileError('is not readable');
	return { id, entry, stored };
}

/** A lifelog with the ID of the former one, and the edits that fit. */
function inPlaceOf({ id, entry: before, stored }: Former, lifelog: Lifelog, kept: Kept): Later {
	const { edited, ...entry } = before;
	const latestMs = Math.max(...[stored.updatedAt, edited?.at ?? ''].map(msOf));
	const updatedAt = new Date(Math.max(msOf(lifelog.updatedAt), latestMs + 1)).toISOString();
	const { isStarred } = stored;
	const left = editsFor(edited ?? { at: updatedAt }, kept);
	return {
		lifelog: { ...lifelog, id, isStarred, updatedAt },
		entry: { ...entry, updatedAt, ...(left && { edited: left }) },
	};
}

/** Edits of all former lifelogs that are kept. */
interface Kept {
	namesBefore: Record<string, string>;
	lines: EditedLine[];
}

/** Pairs spans with others: each at most once, the greatest overlap first. */
function partnersOf(spans: Span[], others: Span[]): Map<number, number> {
	const pairs = spans.flatMap((span, at) =>
		others.map((other, of) => ({
			...{ at, of },
			overlapMs: Math.min(span.endMs, other.endMs) - Math.max(span.startMs, other.startMs),
		})),
	);
	const partners = new Map<number, number>();
	const taken = new Set<number>();
	for (const { at, of, overlapMs } of pairs.sort((a, b) => b.overlapMs - a.overlapMs)) {
		// A span of zero length can still be inside another.
		if (overlapMs < 0 || partners.has(at) || taken.has(of)) continue;
		partners.set(at, of);
		taken.add(of);
	}
	return partners;
}

/** Names given to labels of a recording, and these labels. */
function labelNames(former: Former[]): Record<string, string> {
	const given = former.flatMap(({ entry: { edited } }) => [
		...Object.entries(edited?.namesBefore ?? {}),
		...Object.entries(edited?.speakers ?? {})
			.filter(([label, name]) => isLabel(label) && !isLabel(name))
			.map(([label, name]) => [name, label] as const),
	]);
	return Object.fromEntries(given);
}

/**
 * The edits that fit another transcript; undefined if none does. In another transcript, the same
 * label may be another person, so its name is only remembered.
 */
function editsFor(
	{ speakers = {}, ...edited }: Edited,
	{ namesBefore, lines }: Kept,
): Edited | undefined {
	const named = Object.entries(speakers).filter(([name]) => !isLabel(name));
	delete edited.lines;
	const left: Edited = {
		...edited,
		...(named.length > 0 && { speakers: Object.fromEntries(named) }),
		...(Object.keys(namesBefore).length > 0 && { namesBefore }),
		...(lines.length > 0 && { lines }),
	};
	return Object.keys(left).length > 1 ? left : undefined;
}

/** The manifest of a day with the new lifelogs, and their files. */
function changedDay(
	day: Day,
	ofDay: Later[],
	{ former, later, timezone }: { former: Former[]; later: Later[]; timezone: string },
): { manifest: DayManifest; files: Required<Change>['files'] } {
	const before = manifestBefore(day);
	const placeBeside = placesBeside(before.lifelogs);
	const isFormer = (id: string) => former.some((each) => each.id === id);
	const isLater = (id: string) => later.some(({ lifelog }) => lifelog.id === id);
	const deletedAt = day.archivedAt;
	const entries = Object.entries(before.lifelogs).flatMap(([id, entry]) => {
		if (!isFormer(id)) return [[id, entry] as const];
		return isLater(id) ? [] : [[id, withOwn(entry, { deletedAt })] as const];
	});
	const files: Required<Change>['files'] = [];
	for (const { lifelog, entry } of ofDay) {
		const path = placeBeside('lifelogs', lifelog.id, timeOf(lifelog).startMs);
		const texts = [
			{ path: `${path}.json`, content: toJson(lifelog) },
			{ path: `${path}.md`, content: writeLifelog(lifelog, 'markdown', timezone)!.content },
		];
		const named = texts.map(namedFile);
		if (named.some(({ bytes }) => bytes > maxBytes)) {
			throw new EntryError('would create a file larger than 64 MiB, which no server reads');
		}
		files.push(...texts);
		entries.push([lifelog.id, { goneAt: day.archivedAt, ...entry, files: named }]);
	}
	const lifelogs = inOrder(entries.map(([id, entry]) => [id, entry]));
	return { manifest: { ...before, lifelogs, archivedAt: day.archivedAt }, files };
}

const msOf = (time: string) => Date.parse(time) || 0;

const timeOf = ({ startTime, endTime }: Lifelog): Span => ({
	...{ startMs: Date.parse(startTime), endMs: Date.parse(endTime) },
});

import type { IDataObject } from 'n8n-workflow';

import type { Lifelog } from '../../shared/api-types';
import { contentNodes, utterances } from '../../shared/contents';
import { instantOf } from './day';
import { secondLevelHeadings, titleOf } from './headings';
import { oneLine } from './text';

/** A lifelog of the day, as far as a summary tells of it. */
export interface Entry {
	/** The API's fields; null where it sent none. */
	lifelog: {
		id: string;
		title: string | null;
		startTime: string | null;
		endTime: string | null;
	};
	/** In one line, not empty. */
	title: string;
	/** Epoch ms; undefined when the service sent no time that can be read. */
	startMs?: number;
	/** Undefined when the times do not tell, or tell an end before the start. */
	durationMs?: number;
	isStarred: boolean;
	/** Second-level headings, each in one line. */
	headings: string[];
	/** Who spoke, in the order of their first words. */
	speakers: string[];
	/** The names that the service knows the wearer by here. */
	wearers: string[];
	/** The service sent no contents. */
	isWithheld: boolean;
}

/** What happened on a day. */
export interface Summary {
	/** `YYYY-MM-DD`, in `timezone`. */
	date: string;
	timezone: string;
	/** What the entries were chosen by; undefined for all. */
	isStarred?: boolean;
	/** In order of time. */
	entries: Entry[];
	/** The lengths of all entries together. */
	totalDurationMs: number;
	starredCount: number;
	/** Everyone who spoke, in the order of their first words. */
	speakers: string[];
}

/** The wearer, where the service knows no name; the API's word (specification, section 2.2). */
const USER = 'user';
const UNKNOWN = 'unknown';

/**
 * What a summary tells of a lifelog.
 *
 * @param zone In which a time without offset is read.
 */
export function entryOf(lifelog: Lifelog, zone: string): Entry {
	const startMs = instantOf(lifelog.startTime, zone);
	const endMs = instantOf(lifelog.endTime, zone);
	const isTimed = startMs !== undefined && endMs !== undefined && endMs >= startMs;
	return {
		lifelog: {
			id: lifelog.id,
			title: textOrNull(lifelog.title),
			startTime: textOrNull(lifelog.startTime),
			endTime: textOrNull(lifelog.endTime),
		},
		title: titleOf(lifelog) || 'Untitled',
		startMs,
		durationMs: isTimed ? endMs - startMs : undefined,
		isStarred: lifelog.isStarred === true,
		headings: secondLevelHeadings(lifelog),
		...speakersOf(lifelog),
		isWithheld: contentNodes(lifelog.contents).next().done === true,
	};
}

/** @param day What was asked for: see {@link Summary}. */
export function summarize(
	entries: Entry[],
	day: Pick<Summary, 'date' | 'timezone' | 'isStarred'>,
): Summary {
	const ordered = [...entries].sort(byTime);
	return {
		...day,
		entries: ordered,
		totalDurationMs: ordered.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0),
		starredCount: ordered.filter(({ isStarred }) => isStarred).length,
		speakers: distinct(speakersOfDay(ordered)),
	};
}

/** What an item says of the day in every format, beside the day itself. */
export function summaryFields(summary: Summary): IDataObject {
	return {
		lifelogCount: summary.entries.length,
		totalDurationMs: summary.totalDurationMs,
		starredCount: summary.starredCount,
		speakers: summary.speakers,
		lifelogs: summary.entries.map(({ lifelog, isStarred }) => ({ ...lifelog, isStarred })),
	};
}

/** Those who spoke and are known: by name, or as the wearer. */
function speakersOf(lifelog: Lifelog): Pick<Entry, 'speakers' | 'wearers'> {
	const known = utterances(lifelog).map(({ speaker, speakerIdentifier }) => {
		const name = oneLine(speaker);
		const isNamed = name !== '' && name.toLowerCase() !== UNKNOWN;
		const isWearer = speakerIdentifier === USER;
		return { name: isNamed ? name : isWearer ? USER : '', isNamedWearer: isNamed && isWearer };
	});
	const names = (some: typeof known) => distinct(some.map(({ name }) => name).filter(Boolean));
	return {
		speakers: names(known),
		wearers: names(known.filter(({ isNamedWearer }) => isNamedWearer)),
	};
}

/** The wearer by name throughout, where the day knows just one name. */
function speakersOfDay(entries: Entry[]): string[] {
	const [wearer, ...others] = distinct(entries.flatMap(({ wearers }) => wearers));
	const isKnown = wearer !== undefined && others.length === 0;
	const speakers = entries.flatMap((entry) => entry.speakers);
	return speakers.map((name) => (name === USER && isKnown ? wearer : name));
}

/** Each name once, whatever its case. */
function distinct(names: string[]): string[] {
	const byName = new Map<string, string>();
	for (const name of names) {
		const key = name.toLowerCase();
		if (!byName.has(key)) byName.set(key, name);
	}
	return [...byName.values()];
}

/** Those without a time come last; ids decide between equals, so that the order is always the same. */
function byTime(one: Entry, other: Entry): number {
	const [a, b] = [one, other].map(({ startMs }) => startMs ?? Number.MAX_VALUE);
	if (a !== b) return a - b;
	return one.lifelog.id < other.lifelog.id ? -1 : 1;
}

function textOrNull(value: unknown): string | null {
	return typeof value === 'string' ? value : null;
}

import type { IDataObject } from 'n8n-workflow';

import type { Lifelog } from '../../shared/api/apiTypes';
import { contentNodes } from '../../shared/content/utterances';
import { durationOf, instantOf } from '../../shared/util/dateTimes';
import { secondLevelHeadings, titleOf } from '../../shared/content/headings';
import { distinct, type Speakers, speakersOf, USER } from '../../shared/content/speakers';
import { textOrNull } from '../../shared/util/text';
import type { Language } from './words';

/** A lifelog of the day, as far as a summary tells of it. */
export interface Entry extends Speakers {
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
	language: Language;
	detail: Detail;
	/** How many lifelogs are listed at most; 0 for all. */
	maxLifelogs: number;
}

/** The values of the option Detail. */
export const DETAILS = ['starred', 'titles', 'titlesAndHeadings'] as const;
/** How much a summary lists. */
export type Detail = (typeof DETAILS)[number];

/**
 * What a summary tells of a lifelog.
 *
 * @param zone In which a time without offset is read.
 * @param untitled What a lifelog without a title is called.
 */
export function entryOf(lifelog: Lifelog, zone: string, untitled = 'Untitled'): Entry {
	return {
		lifelog: {
			id: lifelog.id,
			title: textOrNull(lifelog.title),
			startTime: textOrNull(lifelog.startTime),
			endTime: textOrNull(lifelog.endTime),
		},
		title: titleOf(lifelog) || untitled,
		startMs: instantOf(lifelog.startTime, zone),
		durationMs: durationOf(lifelog, zone),
		isStarred: lifelog.isStarred === true,
		headings: secondLevelHeadings(lifelog),
		...speakersOf(lifelog),
		isWithheld: contentNodes(lifelog.contents).next().done === true,
	};
}

/** How a summary is written; see {@link Summary}. */
export type SummaryOptions = Partial<Pick<Summary, 'language' | 'detail' | 'maxLifelogs'>>;

/** @param day What was asked for: see {@link Summary}. */
export function summarize(
	entries: Entry[],
	day: Pick<Summary, 'date' | 'timezone' | 'isStarred'>,
	{ language = 'en', detail = 'titlesAndHeadings', maxLifelogs = 0 }: SummaryOptions = {},
): Summary {
	const ordered = [...entries].sort(byTime);
	return {
		...day,
		entries: ordered,
		totalDurationMs: ordered.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0),
		starredCount: ordered.filter(({ isStarred }) => isStarred).length,
		speakers: distinct(speakersOfDay(ordered)),
		language,
		detail,
		maxLifelogs,
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

/** The wearer by name throughout, where the day knows just one name. */
function speakersOfDay(entries: Entry[]): string[] {
	const [wearer, ...others] = distinct(entries.flatMap(({ wearers }) => wearers));
	const isKnown = wearer !== undefined && others.length === 0;
	const speakers = entries.flatMap((entry) => entry.speakers);
	return speakers.map((name) => (name === USER && isKnown ? wearer : name));
}

/** Those without a time come last; ids decide between equals, so that the order is always the same. */
function byTime(one: Entry, other: Entry): number {
	const [a, b] = [one, other].map(({ startMs }) => startMs ?? Number.MAX_VALUE);
	if (a !== b) return a - b;
	return one.lifelog.id < other.lifelog.id ? -1 : 1;
}

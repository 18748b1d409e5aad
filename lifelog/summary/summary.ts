import type { Lifelog } from '../api.ts';
import { durationOf, instantOf, listedDay } from '../times.ts';
import {
	contentNodes,
	distinct,
	secondLevelHeadings,
	type Speakers,
	speakersOf,
	titleOf,
	USER,
} from '../contents.ts';
import { textOrNull } from '../text.ts';
import type { Language } from './words.ts';

/** What a summary says about a lifelog. */
export interface Entry extends Speakers {
	/** The API's fields. */
	lifelog: {
		id: string;
		title: string | null;
		startTime: string | null;
		endTime: string | null;
	};
	/** In one line, not empty. */
	title: string;
	/** Epoch ms; undefined if it is unreadable. */
	startMs?: number;
	/** Undefined if a time is unreadable, or the end is before the start. */
	durationMs?: number;
	isStarred: boolean;
	/** Second-level headings, each in one line. */
	headings: string[];
	/** The service sent no contents. */
	isWithheld: boolean;
}

export interface Summary {
	/** `YYYY-MM-DD`, in `timezone`. */
	date: string;
	timezone: string;
	/** The filter; undefined for all. */
	isStarred?: boolean;
	/** In order of time. */
	entries: Entry[];
	totalDurationMs: number;
	starredCount: number;
	/** The wearer first, then the others in the order of their first words. */
	speakers: string[];
	language: Language;
	detail: Detail;
	/** The maximum number of lifelogs in the list; 0 for all. */
	maxLifelogs: number;
}

export const DETAILS = ['starred', 'titles', 'titlesAndHeadings'] as const;
export type Detail = (typeof DETAILS)[number];

/**
 * @param zone Of times without offset.
 * @param untitled The name of a lifelog without a title.
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

export type SummaryOptions = Partial<Pick<Summary, 'language' | 'detail' | 'maxLifelogs'>>;

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

/** The output fields of every format. */
export function summaryFields(summary: Summary) {
	return {
		lifelogCount: summary.entries.length,
		totalDurationMs: summary.totalDurationMs,
		starredCount: summary.starredCount,
		speakers: summary.speakers,
		lifelogs: summary.entries.map(({ lifelog, isStarred }) => ({ ...lifelog, isStarred })),
	};
}

/** The wearer has a name in all lifelogs if the day has only one for them. */
function speakersOfDay(entries: Entry[]): string[] {
	const wearers = distinct(entries.flatMap((entry) => entry.wearers));
	const all = entries.flatMap(({ speakers }) => speakers);
	const named = all.map((name) => (name === USER && wearers.length === 1 ? wearers[0] : name));
	const isWearer = (name: string) => name === USER || wearers.includes(name);
	return [...named.filter(isWearer), ...named.filter((name) => !isWearer(name))];
}

/** Without a time last; IDs decide between equals, so that the order is always the same. */
function byTime(one: Entry, other: Entry): number {
	const [a, b] = [one, other].map(({ startMs }) => startMs ?? Number.MAX_VALUE);
	if (a !== b) return a - b;
	return one.lifelog.id < other.lifelog.id ? -1 : 1;
}

/** Whether a lifelog is of a day. If its time is unreadable, the service decided it. */
export function beginsOn(startTime: unknown, date: string, zone: string): boolean {
	return (listedDay(startTime, zone) ?? date) === date;
}

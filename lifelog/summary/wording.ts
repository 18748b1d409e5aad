import { DateTime } from 'luxon';

import { shownNames } from '../speakers.ts';
import { MINUTE_MS } from '../times.ts';
import type { Entry, Summary } from './summary.ts';
import { WORDS, type Words } from './words.ts';

/** What all formats say above the list. */
export interface Wording {
	words: Words;
	/** `Daily summary: Sunday, 1 March 2026`. */
	title: string;
	/** `45 lifelogs · 9 h 12 min in all · 2 starred · Europe/Berlin`, or that there are none. */
	totals: string;
	/** Who took part, with labels as people write them. */
	speakers: string[];
}

/** The list, as Detail and Max Lifelogs leave it. */
export interface Listed {
	starred: Entry[];
	/** Empty if only starred lifelogs are wanted. */
	entries: Entry[];
	/** `and 15 more`; empty if nothing is left out. */
	more: string;
}

export const STAR = '⭐';

export function wordingOf(summary: Summary): Wording {
	const { date, timezone, isStarred, entries, totalDurationMs, starredCount, language } = summary;
	const words = WORDS[language];
	const day = DateTime.fromISO(date, { zone: 'utc', locale: language });
	const totals =
		entries.length === 0
			? [words.none(isStarred), timezone]
			: [
					words.lifelogs(entries.length, isStarred),
					words.inAll(lengthOf(totalDurationMs, words)),
					isStarred === undefined && starredCount > 0 && words.starredOf(starredCount),
					timezone,
				];
	return {
		words,
		title: words.title(day.isValid ? day.toFormat(words.dateFormat) : date),
		totals: totals.filter(Boolean).join(' · '),
		speakers: [...shownNames(summary.speakers).values()],
	};
}

export function listedOf({ entries: all, detail, maxLifelogs, language }: Summary): Listed {
	const entries = detail === 'titlesAndHeadings' ? all : all.map(withoutHeadings);
	const starred = entries.filter(({ isStarred }) => isStarred);
	const listed = detail === 'starred' ? starred : entries;
	const maxShown = maxLifelogs === 0 ? Infinity : maxLifelogs;
	const shown = listed.slice(0, maxShown);
	const left = listed.length - shown.length;
	return {
		starred: starred.slice(0, maxShown),
		entries: detail === 'starred' ? [] : shown,
		more: left === 0 ? '' : WORDS[language].more(left),
	};
}

function withoutHeadings(entry: Entry): Entry {
	return { ...entry, headings: [] };
}

/**
 * The words before an entry's title, `09:00 · 24 min · `. Numbers after a title in a right-to-left
 * script would appear in the middle of it.
 *
 * @param isTimeOnly Leaves out the length.
 */
export function leadOf(
	{ startMs, durationMs }: Entry,
	{ timezone, language }: Pick<Summary, 'timezone' | 'language'>,
	isTimeOnly = false,
): string {
	const start =
		startMs === undefined ? undefined : DateTime.fromMillis(startMs, { zone: timezone });
	return [
		start?.setLocale('en').toFormat('HH:mm'),
		isTimeOnly || durationMs === undefined ? undefined : lengthOf(durationMs, WORDS[language]),
	]
		.filter((part) => part !== undefined)
		.map((part) => `${part} · `)
		.join('');
}

/** `1 h 5 min` */
function lengthOf(ms: number, words: Words): string {
	const minutes = Math.round(ms / MINUTE_MS);
	if (minutes === 0) return words.underAMinute;
	const parts = [Math.floor(minutes / 60) && `${Math.floor(minutes / 60)} ${words.hours}`];
	return [...parts, minutes % 60 && `${minutes % 60} ${words.minutes}`].filter(Boolean).join(' ');
}

import { DateTime } from 'luxon';

import type { Entry, Summary } from './summary';
import { WORDS, type Words } from './words';

const MINUTE_MS = 60_000;

/** The words of a summary that all formats have in common. */
export interface Wording {
	words: Words;
	/** `Daily summary: Sunday, 1 March 2026`. */
	title: string;
	/** `45 lifelogs · 9 h 12 min in all · 2 starred · Europe/Berlin`, or that there are none. */
	totals: string;
}

/** What a summary lists, as the options Detail and Max Lifelogs leave it. */
export interface Listed {
	starred: Entry[];
	/** What happened; none where only starred lifelogs are wanted. */
	entries: Entry[];
	/** `and 15 more`; empty if nothing is left out. */
	more: string;
}

/** The mark of what was starred. */
export const STAR = '⭐';

/** @returns What stands above every format's list of what happened. */
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
	};
}

/** @returns The entries that a summary lists, with their headings only if these are wanted. */
export function listedOf({ entries: all, detail, maxLifelogs, language }: Summary): Listed {
	const entries = detail === 'titlesAndHeadings' ? all : all.map(withoutHeadings);
	const starred = entries.filter(({ isStarred }) => isStarred);
	const listed = detail === 'starred' ? starred : entries;
	const shown = maxLifelogs === 0 ? listed : listed.slice(0, maxLifelogs);
	const left = listed.length - shown.length;
	return {
		starred: detail === 'starred' ? shown : starred,
		entries: detail === 'starred' ? [] : shown,
		more: left === 0 ? '' : WORDS[language].more(left),
	};
}

function withoutHeadings(entry: Entry): Entry {
	return { ...entry, headings: [] };
}

/**
 * What stands before an entry's title, `09:00 · 24 min · `. Before and not behind it, as numbers
 * behind a title in a right-to-left script would be shown in the midst of it.
 *
 * @param isStart True for the time alone.
 */
export function leadOf(
	{ startMs, durationMs }: Entry,
	{ timezone, language }: Pick<Summary, 'timezone' | 'language'>,
	isStart = false,
): string {
	const start =
		startMs === undefined ? undefined : DateTime.fromMillis(startMs, { zone: timezone });
	return [
		start?.setLocale('en').toFormat('HH:mm'),
		isStart || durationMs === undefined ? undefined : lengthOf(durationMs, WORDS[language]),
	]
		.filter((part) => part !== undefined)
		.map((part) => `${part} · `)
		.join('');
}

/** A length of time as a person says it, in whole minutes: `1 h 5 min`. */
function lengthOf(ms: number, words: Words): string {
	const minutes = Math.round(ms / MINUTE_MS);
	if (minutes === 0) return words.underAMinute;
	const parts = [Math.floor(minutes / 60) && `${Math.floor(minutes / 60)} ${words.hours}`];
	return [...parts, minutes % 60 && `${minutes % 60} ${words.minutes}`].filter(Boolean).join(' ');
}

import { DateTime } from 'luxon';

import { cutToBytes, oneLine, utf8Bytes } from './text.ts';

/** Half a character, which no URL can have. */
const LONE_SURROGATE = /\p{Surrogate}/u;
/** What makes another address when a proxy decodes it, or looks like something else. */
const MISLEADING = /[/\\%?#\p{Cc}\p{Bidi_Control}]/u;
/** What every file system takes, in bytes of UTF-8. */
const MAX_NAME_BYTES = 255;
/** Of `.json` and `.opus`; the others are shorter. */
const MAX_EXTENSION_BYTES = 5;
const SHORTENED_ID_BYTES = 180;
const HASH_DIGITS = 16;
/** In UTF-16 units. */
const MAX_TITLE_LENGTH = 80;
/**
 * Refused, or given a meaning, by Windows, macOS, Google Drive or S3, or signed wrongly for S3: all of
 * ASCII but letters, digits, blanks and `-_.`, and what can't be seen.
 */
const UNSAFE =
	/[^\P{ASCII}\w .-]|[\p{Cc}\p{Cs}\p{Co}\p{Bidi_Control}\p{Noncharacter_Code_Point}]/gu;

/** The SHA-256 of a text in UTF-8, hexadecimal. It is handed over, because a browser has none that returns at once. */
export type Sha256 = (text: string) => string;

export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value can be an ID: a text that, encoded, is one segment of a path. */
export function isId(value: unknown): value is string {
	return typeof value === 'string' && !/^(\s*|\.\.?)$/.test(value) && !LONE_SURROGATE.test(value);
}

/** Whether an ID stays one segment even if a proxy decodes it: no other entry is read or deleted. */
export function isSafePathSegment(id: string): boolean {
	return isId(id) && !MISLEADING.test(id);
}

/** A filter that lets each ID pass once. */
export function eachOnce(): (entry: { id: string }) => boolean {
	const ids = new Set<string>();
	return ({ id }) => {
		const isNew = !ids.has(id);
		ids.add(id);
		return isNew;
	};
}

/**
 * Where an archive has a lifelog or a chat (`docs/reference/archive.md`), without the extension:
 * `lifelogs/2026/03/01/2026-03-01_08h00m00s_<id>`.
 *
 * @param startMs Epoch ms.
 * @param nth From 2 on it follows the ID, because another entry has the name without it.
 */
export function entryPath(
	collection: 'lifelogs' | 'chats',
	id: string,
	startMs: number,
	sha256: Sha256,
	nth = 1,
): string {
	const { folders, time } = placeInTime(startMs);
	const counter = counterOf(nth);
	const name = idAsName(id, sha256, freeBytes(time + counter));
	return `${collection}/${folders}/${time}${name}${counter}`;
}

/** An ID in a name: each byte of other characters than letters, digits, `-` and `_` becomes `%XX`. */
function idAsName(id: string, sha256: Sha256, maxBytes: number): string {
	const characters = [...id].map((character) =>
		encodeURIComponent(character.replace(LONE_SURROGATE, '\ufffd')).replace(/[.!~*'()]/, percent),
	);
	const name = characters.join('');
	if (name.length <= maxBytes) return name;
	let length = 0;
	const isKept = (each: string) => (length += each.length) <= SHORTENED_ID_BYTES;
	const cut = characters.findIndex((each) => !isKept(each));
	return characters.slice(0, cut).join('') + sha256(id).slice(0, HASH_DIGITS);
}

function percent(character: string): string {
	return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * The name of a file for people, without extension: `2026-11-22 20.47 Mum calls`.
 *
 * @param startMs Epoch ms, named in `zone`.
 * @param nth From 2 on it is at the end, because another file has the name without it.
 */
export function readableName(startMs: number, zone: string, title: unknown, nth = 1): string {
	const time = DateTime.fromMillis(startMs, { zone, locale: 'en' }).toFormat('yyyy-MM-dd HH.mm ');
	const counter = counterOf(nth);
	return (time + titleAsName(title, freeBytes(time + counter))).trim() + counter;
}

/**
 * Where the service's own export has a lifelog, without the extension:
 * `lifelogs/2026/03/01/2026-03-01_08h00m00s_Planning-the-garden`.
 *
 * @param startMs Epoch ms.
 * @param nth From 2 on it is at the end, because another file has the name without it.
 */
export function appExportPath(startMs: number, title: unknown, nth = 1): string {
	const { folders, time } = placeInTime(startMs);
	const counter = counterOf(nth);
	const name = titleAsName(title, freeBytes(time + counter)).replaceAll(' ', '-') || 'Untitled';
	return `lifelogs/${folders}/${time}${name}${counter}`;
}

function titleAsName(title: unknown, maxBytes: number): string {
	const words = oneLine(title).normalize('NFC').replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim();
	const cut = cutToBytes(words, maxBytes, MAX_TITLE_LENGTH);
	// Windows refuses a full stop or a blank at the end.
	let end = cut.length;
	while (end > 0 && /[\s.]/.test(cut[end - 1])) end--;
	return cut.slice(0, end);
}

function placeInTime(startMs: number): { folders: string; time: string } {
	const begin = DateTime.fromMillis(startMs, { zone: 'utc', locale: 'en' });
	const time = begin.toFormat("yyyy-MM-dd_HH'h'mm'm'ss's'_");
	return { folders: begin.toFormat('yyyy/MM/dd'), time };
}

function counterOf(nth: number): string {
	return nth === 1 ? '' : `-${nth}`;
}

function freeBytes(taken: string): number {
	return MAX_NAME_BYTES - MAX_EXTENSION_BYTES - utf8Bytes(taken);
}

/**
 * The first name that is free.
 *
 * @param owners Of names, as {@link sameName} has them. The one that is found is added.
 * @param nameOf The `nth` name to try, from 1 on.
 */
export function freeName(
	owners: Map<string, string>,
	owner: string,
	nameOf: (nth: number) => string,
): string {
	for (let nth = 1; ; nth++) {
		const name = nameOf(nth);
		const key = sameName(name);
		if ((owners.get(key) ?? owner) !== owner) continue;
		owners.set(key, owner);
		return name;
	}
}

/** The same text for names that macOS or Windows may take for one: they ignore case and Unicode form. */
export function sameName(name: string): string {
	return name
		.normalize('NFKD')
		.replace(/\p{Default_Ignorable_Code_Point}/gu, '')
		.toUpperCase()
		.toLowerCase()
		.normalize('NFKD');
}

import { DateTime } from 'luxon';

/**
 * The place of a lifelog's file in an archive (`docs/archive.md`), by the day and time it begins
 * on in UTC: `lifelogs/2026/03/01/2026-03-01_08h00m00s_<id>.md`.
 *
 * @param start Epoch ms.
 */
export function archivePath(id: string, start: number, extension: string): string {
	const begin = DateTime.fromMillis(start, { zone: 'utc' });
	const name = `${begin.toFormat("yyyy-MM-dd_HH'h'mm'm'ss's'")}_${nameOf(id)}.${extension}`;
	return `lifelogs/${begin.toFormat('yyyy/MM/dd')}/${name}`;
}

/** An ID as a part of a file's name: a character that is none everywhere is written as `%XX`. */
function nameOf(id: string): string {
	return id.replace(/[^\w-]/gu, (character) =>
		[...new TextEncoder().encode(character)]
			.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
			.join(''),
	);
}

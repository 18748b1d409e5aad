import { DateTime } from 'luxon';

import type { TimeSpan } from './chunks';

const OGG = 'audio/ogg';
/** Types that say nothing of what the bytes are. */
const UNSPECIFIC = ['', 'application/octet-stream', 'binary/octet-stream'];
/** Where the extension is not the end of the type, or the type not one of audio. */
const EXTENSIONS: Record<string, string> = {
	'application/ogg': 'ogg',
	'audio/mpeg': 'mp3',
	'audio/mp4': 'm4a',
	'audio/vnd.wave': 'wav',
	'audio/wave': 'wav',
};

/** What a file of audio is. */
export interface AudioType {
	mimeType: string;
	/** Without a dot. */
	extension: string;
}

/**
 * The kind of audio an answer says it holds; Ogg where it does not say (specification, section 4.5).
 *
 * @param contentType The header `Content-Type`.
 * @returns undefined when it says that it is no audio.
 */
export function audioType(contentType: unknown): AudioType | undefined {
	const type = String(contentType ?? '')
		.split(';')[0]
		.trim()
		.toLowerCase();
	if (UNSPECIFIC.includes(type)) return { mimeType: OGG, extension: 'ogg' };
	const extension = EXTENSIONS[type] ?? /^audio\/(?:x-)?([a-z0-9][a-z0-9.+-]*)$/.exec(type)?.[1];
	return extension === undefined ? undefined : { mimeType: type, extension };
}

/** Whether bytes begin as a file of this type does; only known of Ogg. */
export function beginsAs({ extension }: AudioType, head: Buffer): boolean {
	return extension !== 'ogg' || head.toString('latin1', 0, 4) === 'OggS';
}

/** A name that sorts by time: `audio_20260301T090000Z_20260301T110000Z.ogg` (UTC). */
export function fileName({ startMs, endMs }: TimeSpan, extension: string): string {
	const [start, end] = [startMs, endMs].map((instant) =>
		DateTime.fromMillis(instant, { zone: 'utc' }).toFormat("yyyyMMdd'T'HHmmss'Z'"),
	);
	return `audio_${start}_${end}.${extension}`;
}

/** A range as output has it: epoch ms, and ISO 8601 with the offset of `zone`. */
export function inZone({ startMs, endMs }: TimeSpan, zone: string) {
	const [startTime, endTime] = [startMs, endMs].map(
		(instant) => DateTime.fromMillis(instant, { zone }).toISO() as string,
	);
	return { startMs, endMs, startTime, endTime };
}

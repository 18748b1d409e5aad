import { DateTime } from 'luxon';

import type { TimeSpan } from './chunks';

/** What a file of audio is. */
export interface AudioType {
	mimeType: string;
	/** Without a dot. */
	extension: string;
}

const OGG: AudioType = { mimeType: 'audio/ogg', extension: 'ogg' };
/** Audio that is not Ogg, by the type an answer gives it. */
const EXTENSIONS = new Map([
	['audio/aac', 'aac'],
	['audio/aiff', 'aiff'],
	['audio/amr', 'amr'],
	['audio/flac', 'flac'],
	['audio/m4a', 'm4a'],
	['audio/mp3', 'mp3'],
	['audio/mp4', 'm4a'],
	['audio/mpeg', 'mp3'],
	['audio/opus', 'opus'],
	['audio/vnd.wave', 'wav'],
	['audio/wav', 'wav'],
	['audio/wave', 'wav'],
	['audio/webm', 'webm'],
	['audio/x-aiff', 'aiff'],
	['audio/x-flac', 'flac'],
	['audio/x-m4a', 'm4a'],
	['audio/x-wav', 'wav'],
]);
const MAX_TYPE_LENGTH = 60;

/** Bytes of the beginning of a file by which it is known. */
export const HEAD_BYTES = 4;

/**
 * The kind of audio that came: Ogg, as documented (specification, section 4.5), is known by its
 * first bytes, whatever the answer calls it; anything else must be called by the type of an audio
 * format in the list. So no name of a file is made of what a service sends.
 *
 * @param contentType The header `Content-Type`.
 * @param head The first {@link HEAD_BYTES} bytes.
 * @returns undefined when it is no audio of a kind that is known.
 */
export function audioType(contentType: unknown, head: Buffer): AudioType | undefined {
	if (head.toString('latin1', 0, HEAD_BYTES) === 'OggS') return OGG;
	const mimeType = essence(contentType);
	const extension = EXTENSIONS.get(mimeType);
	return extension === undefined ? undefined : { mimeType, extension };
}

/** Why an answer is not taken for audio, in words. */
export function whyNoAudio(contentType: unknown, head: Buffer): string {
	if (head.length === 0) return 'it is empty';
	const type = essence(contentType);
	if (/^audio\b|^application\/(ogg|octet-stream)$/.test(type)) {
		return 'it is not audio of a kind that is known';
	}
	const isReadable = type.length <= MAX_TYPE_LENGTH && /^[\w.+-]+\/[\w.+-]+$/.test(type);
	return isReadable ? `it is not audio but ${type}` : 'it is not audio';
}

/** A content type without its parameters, in lower case. */
function essence(contentType: unknown): string {
	return String(contentType ?? '')
		.split(';', 1)[0]
		.trim()
		.toLowerCase();
}

/** A name that sorts by time: `audio_20260301T090000Z_20260301T110000Z.ogg` (UTC). */
export function archiveName({ startMs, endMs }: TimeSpan, extension: string): string {
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

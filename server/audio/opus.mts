import { OggError } from './page.mts';

/** Opus counts time in samples at 48 kHz, whatever the input's sample rate. */
export const samplesPerMs = 48;

const MAGIC = Buffer.from('OpusHead');
const PRE_SKIP_AT = 10;

/** Whether a packet is the header of an Opus stream (RFC 7845, section 5.1). */
export function isOpusHead(packet: Buffer): boolean {
	return packet.length >= 19 && packet.subarray(0, MAGIC.length).equals(MAGIC);
}

/** Samples that a decoder drops at the start of a stream with this header. */
export function preSkipOf(head: Buffer): number {
	return head.readUInt16LE(PRE_SKIP_AT);
}

/** A copy of the header with another pre-skip. */
export function withPreSkip(head: Buffer, samples: number): Buffer {
	const copy = Buffer.from(head);
	copy.writeUInt16LE(samples, PRE_SKIP_AT);
	return copy;
}

/** Whether two headers need the same decoder settings, so that one stream can hold both's packets. */
export function areAlike(a: Buffer, b: Buffer): boolean {
	return withPreSkip(a, 0).equals(withPreSkip(b, 0));
}

// No vendor, no comments (RFC 7845, section 5.2).
const NO_TAGS = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(8)]);

/** A copy of a comments packet, or empty comments for any other packet. */
export function tagsOf(packet: Buffer | undefined): Buffer {
	const isTags = packet?.subarray(0, 8).equals(NO_TAGS.subarray(0, 8));
	return isTags ? Buffer.from(packet!) : NO_TAGS;
}

const frameMs = (config: number): number => {
	if (config < 12) return [10, 20, 40, 60][config & 3];
	if (config < 16) return [10, 20][config & 1];
	return [2.5, 5, 10, 20][config & 3];
};
const frameSamples = Array.from({ length: 32 }, (_, config) => frameMs(config) * samplesPerMs);

/**
 * Samples of the packet in this range of `data` (RFC 6716, section 3.1). Throws an OggError for an
 * invalid packet.
 */
export function samplesOf(data: Buffer, from: number, to: number): number {
	if (to <= from) throw new OggError('has an empty packet');
	const code = data[from] & 3;
	const frames = code === 0 ? 1 : code < 3 ? 2 : to - from > 1 ? data[from + 1] & 63 : 0;
	const samples = frames * frameSamples[data[from] >> 3];
	if (samples === 0 || samples > 120 * samplesPerMs) {
		throw new OggError("has a packet whose length Opus doesn't allow");
	}
	return samples;
}

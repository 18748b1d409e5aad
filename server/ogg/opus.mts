import { OggError } from './page.mts';

/** Opus counts time in samples of 48 kHz, whatever it was recorded with. */
export const samplesPerMs = 48;

const magic = Buffer.from('OpusHead');
const preSkipAt = 10;

/** Whether a packet is the header of an Opus stream (RFC 7845, section 5.1). */
export function isOpusHead(packet: Buffer): boolean {
	return packet.length >= 19 && packet.subarray(0, magic.length).equals(magic);
}

/** Samples that a decoder drops at the beginning of the stream with this header. */
export function preSkipOf(head: Buffer): number {
	return head.readUInt16LE(preSkipAt);
}

/** A copy of the header with another pre-skip. */
export function withPreSkip(head: Buffer, samples: number): Buffer {
	const copy = Buffer.from(head);
	copy.writeUInt16LE(samples, preSkipAt);
	return copy;
}

const frameMs = (config: number): number => {
	if (config < 12) return [10, 20, 40, 60][config & 3];
	if (config < 16) return [10, 20][config & 1];
	return [2.5, 5, 10, 20][config & 3];
};

/** Samples that a packet decodes to (RFC 6716, section 3.1). Throws an OggError for no packet. */
export function samplesOf(packet: Buffer): number {
	if (packet.length === 0) throw new OggError('has an empty packet');
	const frames = [1, 2, 2, (packet[1] ?? 0) & 63][packet[0] & 3];
	const samples = frames * frameMs(packet[0] >> 3) * samplesPerMs;
	if (samples === 0 || samples > 120 * samplesPerMs) {
		throw new OggError('has a packet of no length that Opus has');
	}
	return samples;
}

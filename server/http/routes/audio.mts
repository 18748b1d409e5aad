import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { operations } from '../../../lifelog/api.ts';
import { ApiError } from '../../util/errors.mts';
import type { Audio } from '../../index/store.mts';
import type { Service } from '../service.mts';

/** `audioSource` is a recorder's folder in the archive; the service only knows `pendant`. */
export type AudioQuery = Omit<operations['downloadAudio']['parameters']['query'], 'audioSource'> & {
	audioSource?: string;
};

const maxRangeMs = 7_200_000;
/** A client that reads nothing is disconnected after this time. */
const STALL_MS = 30_000;
/** Number of checks without progress until a client counts as stalled. */
const STALL_LOOKS = 4;

/**
 * Sends the audio between two instants (Unix milliseconds) as Ogg Opus, without gaps. Answers 206
 * or 416 for a byte range (RFC 9110, section 14). Throws an ApiError: 400 for an empty range or one
 * of more than two hours, 404 without audio.
 */
export async function downloadAudio(
	service: Service,
	{ startMs, endMs, audioSource }: AudioQuery,
	headers: IncomingHttpHeaders,
	reply: FastifyReply,
): Promise<FastifyReply> {
	if (endMs <= startMs) throw new ApiError(400, 'endMs must be greater than startMs');
	if (endMs - startMs > maxRangeMs) {
		throw new ApiError(400, 'endMs minus startMs must not exceed 7200000 ms (2 hours)');
	}
	const audio = await service.current().getAudio(startMs, endMs, { only: audioSource });
	if (!audio) throw new ApiError(404, 'No audio for the requested range');
	return sendAudio(audio, headers, reply);
}

/** Sends audio, or the requested byte range (RFC 9110, section 14). */
export function sendAudio(
	{ bytes, tag, read }: Audio,
	headers: IncomingHttpHeaders,
	reply: FastifyReply,
	type = 'audio/ogg',
	disposition = 'inline; filename="audio.ogg"',
): FastifyReply {
	let [from, to] = [0, bytes];
	const etag = `"${tag}"`;
	reply.header('accept-ranges', 'bytes').header('etag', etag);
	const range = rangeOf(headers, bytes, etag);
	if (range) {
		[from, to] = range;
		if (from >= to) {
			reply.code(416).header('content-range', `bytes */${bytes}`);
			return reply.send({ error: `The range is outside of the ${bytes} bytes of this audio` });
		}
		reply.code(206).header('content-range', `bytes ${from}-${to - 1}/${bytes}`);
	}
	reply.header('content-length', to - from);
	closeStalled(reply);
	// For HEAD, Fastify would read the body although it doesn't send it.
	const body = reply.request.method === 'HEAD' ? [] : read(from, to);
	return reply
		.header('content-type', type)
		.header('cache-control', 'public, max-age=3600')
		.header('content-disposition', disposition)
		.send(Readable.from(body, { objectMode: false }));
}

/**
 * Disconnects a client that reads nothing, and closes its files. A socket timeout would restart
 * whenever the system accepts a part of the audio.
 */
export function closeStalled({ raw }: FastifyReply): void {
	const taken = ({ bytesWritten, writableLength }: Socket) => bytesWritten - writableLength;
	let before = -1;
	let looks = 0;
	const timer = setInterval(() => {
		const { socket } = raw;
		if (!socket) return;
		const now = taken(socket);
		// With an empty buffer, the disk is slow, not the client.
		const isStill = now === before && socket.writableLength > 0;
		looks = isStill ? looks + 1 : 0;
		before = now;
		if (looks >= STALL_LOOKS) socket.destroy();
	}, STALL_MS / STALL_LOOKS);
	raw.once('close', () => clearInterval(timer));
}

/**
 * The requested bytes, end exclusive. undefined sends everything, as for several ranges, or if the
 * audio has changed (If-Range).
 */
function rangeOf(
	{ range = '', 'if-range': condition }: IncomingHttpHeaders,
	bytes: number,
	etag: string,
): [from: number, to: number] | undefined {
	const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(range) ?? [];
	if ((!first && !last) || (condition !== undefined && condition !== etag)) return undefined;
	if (!first) return [Math.max(0, bytes - Number(last)), bytes];
	return [Number(first), last ? Math.min(bytes, Number(last) + 1) : bytes];
}

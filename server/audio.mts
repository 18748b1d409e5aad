import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { operations } from '../nodes/shared/api/apiTypes.ts';
import { ApiError } from './errors.mts';
import type { Service } from './service.mts';

export type AudioQuery = operations['downloadAudio']['parameters']['query'];

const longestRange = 7_200_000;

/**
 * Answers the audio recorded between two instants (Unix milliseconds) as Ogg Opus: as long as
 * the recordings inside the range, gaps left out. Throws an ApiError: 400 for an empty range or
 * one of more than two hours, 404 when nothing was recorded in it.
 */
export async function downloadAudio(
	{ store, reading }: Service,
	{ startMs, endMs }: AudioQuery,
	reply: FastifyReply,
): Promise<FastifyReply> {
	if (endMs <= startMs) throw new ApiError(400, 'endMs must be greater than startMs');
	if (endMs - startMs > longestRange) {
		throw new ApiError(400, 'endMs minus startMs must not exceed 7200000 ms (2 hours)');
	}
	const audio = await store.getAudio(startMs, endMs);
	if (!audio) throw new ApiError(404, 'No audio for the requested range');
	if (reading.audioContentLength && audio.bytes !== undefined) {
		reply.header('content-length', audio.bytes);
	}
	return reply
		.header('content-type', 'audio/ogg')
		.header('cache-control', 'public, max-age=3600')
		.header('content-disposition', 'inline; filename="audio.ogg"')
		.send(Readable.from(audio.read(), { objectMode: false }));
}

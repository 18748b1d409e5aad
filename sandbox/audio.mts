import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { operations } from '../nodes/shared/api-types.ts';
import { ApiError } from './errors.mts';
import { planAudio, readClip } from './ogg.mts';
import type { World } from './world.mts';

export type AudioQuery = operations['downloadAudio']['parameters']['query'];

const longestRange = 7_200_000;
const clip = readClip(readFileSync(new URL('clip.ogg', import.meta.url)));

/**
 * Answers the audio recorded between two instants (Unix milliseconds) as Ogg Opus: as long as
 * the recordings inside the range, gaps left out. Throws an ApiError: 400 for an empty range or
 * one of more than two hours, 404 when nothing was recorded in it.
 */
export function downloadAudio(
	world: World,
	{ startMs, endMs }: AudioQuery,
	reply: FastifyReply,
): FastifyReply {
	if (endMs <= startMs) throw new ApiError(400, 'endMs must be greater than startMs');
	if (endMs - startMs > longestRange) {
		throw new ApiError(400, 'endMs minus startMs must not exceed 7200000 ms (2 hours)');
	}
	const durationMs = recordedMs(world, startMs, endMs);
	if (durationMs === 0) throw new ApiError(404, 'No audio for the requested range');
	const audio = planAudio(clip, durationMs, Math.floor(startMs / 1000));
	if (world.dialect.audioContentLength) reply.header('content-length', audio.bytes);
	return reply
		.header('content-type', 'audio/ogg')
		.header('cache-control', 'public, max-age=3600')
		.header('content-disposition', 'inline; filename="audio.ogg"')
		.send(Readable.from(audio.links(), { objectMode: false }));
}

/** Milliseconds of the range that lie inside lifelogs, overlapping ones counted once. */
function recordedMs(world: World, startMs: number, endMs: number): number {
	let total = 0;
	let reached = startMs;
	for (const lifelog of world.lifelogs.list()) {
		const from = Math.max(reached, Date.parse(lifelog.startTime));
		const to = Math.min(endMs, Date.parse(lifelog.endTime));
		if (to > from) {
			total += to - from;
			reached = to;
		}
	}
	return total;
}

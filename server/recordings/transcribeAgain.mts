// Transcribes a recording again, from its audio in the archive.
import { join } from 'node:path';
import { FileError } from '../archive/folder.mts';
import type { ArchiveStore } from '../index/archiveStore.mts';
import type { LifelogsOf } from '../index/store.mts';
import type { Span } from '../util/spans.mts';
import { PAUSE_MS } from './conversations.mts';
import { MediaError } from './ffmpeg.mts';
import type { LaterTitles } from './laterTitles.mts';
import { recordedId } from './lifelog.mts';
import { makeLifelogsAgain, type HeardParts, type Models } from './pipeline.mts';
import type { Queued } from './queue.mts';

export interface AgainOptions extends Models {
	current: () => ArchiveStore;
	later?: LaterTitles;
	/** An empty folder. */
	work: string;
	/** Epoch ms. */
	now: () => number;
	heard: HeardParts;
	correct: (text: string) => string;
	/** Called with the IDs of the new lifelogs before they are added. */
	onIds: (ids: string[]) => void;
	onNote: (note: string) => void;
	signal: AbortSignal;
}

/** Whether a recording is being transcribed again. */
export const isAgain = ({ doneAfter }: Queued): boolean => doneAfter !== undefined;

/** The time of a recording that was read. */
export function spanOf({ startTime, durationMs }: Pick<Queued, 'startTime' | 'durationMs'>): Span {
	const startMs = Date.parse(startTime!);
	return { startMs, endMs: startMs + durationMs! };
}

/**
 * Transcribes a recording again, and replaces its lifelogs.
 *
 * @returns The IDs of all its lifelogs, including deleted ones.
 * @throws MediaError if its audio isn't kept or is unreadable; other errors of `makeLifelogs` and
 *   `Recorded.replaceLifelogs`. Nothing is changed then.
 */
export async function transcribeAgain(
	recording: Queued,
	{ current, later, work, onIds, ...options }: AgainOptions,
): Promise<string[]> {
	const { id: recordingId, lifelogIds, externalId, sha256 } = recording;
	const span = spanOf(recording);
	const path = join(work, 'recording.ogg');
	const audio = await current().recorded.audioOf(span);
	if (!audio) throw new MediaError(NO_AUDIO);
	await current()
		.recorded.copyAudio(audio, path, options.signal)
		.catch((error: unknown) => {
			if (!(error instanceof FileError)) throw error;
			throw new MediaError(`${audio.path} ${error.message}`, { cause: error });
		});
	const before = current().recorded.lifelogsOf({ ids: lifelogIds, ...span });
	const isWanted = (said: Span) => isKept(said, span.startMs, before);
	const { title, language, prompt } = recording;
	const file = { path, title, language, prompt, startMs: span.startMs };
	const { lifelogs, untitled } = await makeLifelogsAgain(file, isWanted, { ...options, work });
	const deleted = before.deleted.map(({ id }) => id);
	const ids = await current().recorded.replaceLifelogs(
		{
			...{ ids: lifelogIds, ...span, deleted, externalId, onIds },
			idOf: (part, nth) => recordedId(externalId ?? sha256, part, nth),
		},
		lifelogs,
	);
	for (const part of untitled) later?.add(ids[part], `Recording ${recordingId}`);
	const former = [...before.there, ...before.deleted].map(({ id }) => id);
	// Some may belong to another recording with the same external ID.
	const others = lifelogIds.filter(
		(id) => !former.includes(id) && current().stateOf(id) === 'known',
	);
	return [...new Set([...ids, ...deleted, ...others])];
}

export const NO_AUDIO = 'Its audio is no longer in the archive';

/**
 * Whether an utterance may be in a lifelog: not if it belongs to a deleted conversation. It belongs
 * to the nearest one, unless a pause separates them.
 */
function isKept(said: Span, recordedMs: number, { there, deleted }: LifelogsOf): boolean {
	const distanceTo = ({ startMs, endMs }: Span) =>
		Math.max(0, startMs - (recordedMs + said.endMs), recordedMs + said.startMs - endMs);
	const nearest = (spans: Span[]) => Math.min(Infinity, ...spans.map(distanceTo));
	const toDeleted = nearest(deleted);
	return toDeleted >= PAUSE_MS || nearest(there) < toDeleted;
}

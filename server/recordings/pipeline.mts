// Converts a file to lifelogs. Stateless.
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lifelog } from '../../lifelog/api.ts';
import type { Transcribed } from '../archive/newTranscript.mts';
import type { RecordedAudio } from '../index/store.mts';
import { splitAtPauses, type Conversation } from './conversations.mts';
import { cutChunks, encodeOpus, type Chunk } from './encoders.mts';
import { isThere } from './inboxFiles.mts';
import {
	chooseId,
	firstSentence,
	latestEnd,
	recordedId,
	toLifelog,
	type StateOf,
} from './lifelog.mts';
import { cutTo, MAX_TITLE_LENGTH, type Segment } from './segments.mts';
import { listen, type Sound } from './sound.mts';
import { startOf, type Start } from './startTime.mts';
import { tryTitle, type Titles } from './title.mts';
import {
	DiarizationError,
	joinChunks,
	nameSpeakers,
	type Diarizer,
	type Heard,
	type Transcriber,
} from './transcribe.mts';

/** Services that convert a recording. */
export interface Models {
	transcriber: Transcriber;
	/** Identifies speakers, if the transcriber doesn't. */
	diarizer?: Diarizer;
	/** Writes titles and headings; without it, a title is the first sentence. */
	titles?: Titles;
}

/** A file and its metadata. */
export interface RecordingFile {
	path: string;
	/** Hexadecimal. */
	sha256: string;
	/** Its original name. */
	fileName: string;
	/** Last modification, epoch ms. */
	modifiedMs: number;
	/** Start, epoch ms, if known. */
	startMs?: number;
	title?: string;
	language?: string;
	/** Expected words; overrides the transcriber's. */
	prompt?: string;
	externalId?: string;
	/** Whether to create deleted lifelogs again. */
	again?: boolean;
}

/** Caches the transcript of each part, because transcribing may cost money. */
export interface HeardParts {
	get: (part: Chunk) => Heard | undefined;
	keep: (part: Chunk, heard: Heard) => void;
}

export interface PipelineOptions extends Models {
	/** An empty folder. */
	work: string;
	/** Path for the audio as Ogg Opus. An existing file is reused. */
	audio: string;
	/** IANA time zone of local times in file names. */
	timezone: string;
	/** Epoch ms. */
	now: () => number;
	/** By default nothing is cached. */
	heard?: HeardParts;
	/** Corrects misheard words; by default unchanged. */
	correct?: (text: string) => string;
	/** By default, no lifelogs exist. */
	stateOf?: StateOf;
	/** Called with the start and the length. Returns the start to use, epoch ms. */
	onStart?: (start: Start, durationMs: number) => number;
	/** Called with what was detected and chosen. Completes a sentence about the recording. */
	onNote?: (note: string) => void;
	signal?: AbortSignal;
}

/** The result for a file. */
export interface Made {
	audio: RecordedAudio;
	/** The new ones. */
	lifelogs: Lifelog[];
	/** IDs of all its lifelogs, including existing and deleted ones. */
	ids: string[];
	/** IDs of lifelogs without a written title. */
	untitled: string[];
	/** Whether the file has more to hear than the stored audio. */
	isPart: boolean;
}

/**
 * Makes the lifelogs of a file.
 *
 * @throws MediaError for an unreadable file; EndpointError if a part couldn't be transcribed; the
 *   reason of `signal`.
 */
export async function makeLifelogs(file: RecordingFile, options: PipelineOptions): Promise<Made> {
	const { work, audio, timezone, signal, onNote = () => {} } = options;
	const nowMs = options.now();
	const sound = await listen(file.path, work, signal);
	sound.notes.forEach((note) => onNote(note));
	const { durationMs, createdMs, isPart } = sound;
	const { fileName, modifiedMs } = file;
	const known = { given: file.startMs, fileName, createdMs, modifiedMs, durationMs };
	const start = startOf({ ...known, timezone, nowMs });
	const startMs = options.onStart?.(start, durationMs) ?? start.startMs;
	if (!(await isThere(audio))) {
		const written = join(work, 'audio.ogg');
		await encodeOpus(sound, written, { signal });
		await rename(written, audio);
	}
	const heard = await transcribe(sound, file, options);
	const segments = heard.map(correctWith(options));
	const made: Made = {
		audio: { path: audio, startMs },
		lifelogs: [],
		ids: [],
		untitled: [],
		isPart,
	};
	for (const [part, conversation] of splitAtPauses(segments).entries()) {
		const idOf = (nth: number) => recordedId(file.externalId ?? file.sha256, part, nth);
		const { id, state } = chooseId(idOf, options.stateOf, file.again);
		made.ids.push(id);
		if (state !== undefined) continue;
		const { lifelog, isUntitled } = await lifelogOf(
			id,
			conversation,
			{ ...file, startMs },
			options,
		);
		if (isUntitled) made.untitled.push(id);
		made.lifelogs.push(lifelog);
	}
	signal?.throwIfAborted();
	return made;
}

type Transcription = Models &
	Pick<PipelineOptions, 'work' | 'now' | 'heard' | 'correct' | 'onNote' | 'signal'>;

const correctWith =
	({ correct = (text) => text }: Pick<PipelineOptions, 'correct'>) =>
	(segment: Segment): Segment => ({ ...segment, text: correct(segment.text) });

/** A lifelog of a conversation. The title is the file's, one written by a model, or the first words. */
async function lifelogOf(
	id: string,
	{ startMs, segments }: Conversation,
	file: Pick<RecordingFile, 'title'> & { startMs: number },
	{ titles, now, onNote, signal }: Transcription,
): Promise<{ lifelog: Lifelog; isUntitled: boolean }> {
	let isUntitled = false;
	const onProblem = (problem: string) => {
		isUntitled = true;
		onNote?.(`has no title yet: ${problem}`);
	};
	const written = await tryTitle(titles, segments, { onProblem, signal });
	const title = file.title ?? written?.title;
	const beginMs = file.startMs + startMs;
	const lifelog = toLifelog({
		id,
		title: title ? cutTo(MAX_TITLE_LENGTH, title) : firstSentence(segments),
		startMs: beginMs,
		endMs: beginMs + latestEnd(segments),
		segments,
		headings: written?.headings ?? [],
		madeMs: now(),
	});
	return { lifelog, isUntitled };
}

/**
 * Makes lifelogs of audio in the archive. They get IDs later.
 *
 * @param isWanted Whether an utterance belongs in a lifelog.
 * @returns `untitled` has the indexes of those without a written title.
 * @throws Like `makeLifelogs`.
 */
export async function makeLifelogsAgain(
	file: Pick<RecordingFile, 'path' | 'title' | 'language' | 'prompt'> & { startMs: number },
	isWanted: (said: Segment) => boolean,
	options: Transcription,
): Promise<{ lifelogs: Transcribed[]; untitled: number[] }> {
	const sound = await listen(file.path, options.work, options.signal);
	const segments = (await transcribe(sound, file, options)).filter(isWanted);
	const lifelogs: Transcribed[] = [];
	const untitled: number[] = [];
	for (const [part, { startMs, segments: heard }] of splitAtPauses(segments).entries()) {
		const conversation = { startMs, segments: heard.map(correctWith(options)) };
		const { lifelog, isUntitled } = await lifelogOf('', conversation, file, options);
		if (isUntitled) untitled.push(part);
		lifelogs.push({ lifelog, heard: heard.map(({ text }) => text) });
	}
	options.signal?.throwIfAborted();
	return { lifelogs, untitled };
}

async function transcribe(
	sound: Sound,
	{ language, prompt }: Pick<RecordingFile, 'language' | 'prompt'>,
	{ work, transcriber, diarizer, heard: known, onNote, signal }: Transcription,
): Promise<Segment[]> {
	const chunks = await cutChunks(sound, work, { format: transcriber.format, signal });
	const parts: { offsetMs: number; segments: Segment[] }[] = [];
	for (const chunk of chunks) {
		const { path, offsetMs, durationMs } = chunk;
		let heard = known?.get(chunk);
		if (!heard) {
			const asked = { durationMs, language, prompt, signal };
			const segments = await transcriber.transcribe(path, asked);
			heard = { segments, isDiarized: false };
			known?.keep(chunk, heard);
		}
		if (diarizer && !heard.isDiarized && heard.segments.length > 0) {
			const turns = await diarizer.diarize(path, { durationMs, signal }).catch((error: unknown) => {
				// The words are known, and the endpoint never accepts this part.
				if (!(error instanceof DiarizationError && error.isRefusal)) throw error;
				onNote?.(
					`has a part without speakers: the diarization endpoint ${error.message}. Check --diarization-model`,
				);
				return [];
			});
			heard = { segments: nameSpeakers(heard.segments, turns), isDiarized: true };
			known?.keep(chunk, heard);
		}
		parts.push({ offsetMs, segments: heard.segments });
	}
	return joinChunks(parts);
}

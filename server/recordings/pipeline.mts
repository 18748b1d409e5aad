// From a file to lifelogs. Nothing of it is remembered here.
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

/** What a recording is made into lifelogs with. */
export interface Models {
	transcriber: Transcriber;
	/** Says who speaks, if the transcriber doesn't. */
	diarizer?: Diarizer;
	/** Writes titles and headings; without it a title is the first sentence. */
	titles?: Titles;
}

/** A file and what is known of it. */
export interface RecordingFile {
	path: string;
	/** In hexadecimal digits. */
	sha256: string;
	/** Its name where it comes from. */
	fileName: string;
	/** When it was changed last, epoch ms. */
	modifiedMs: number;
	/** When it begins, epoch ms, if that is known. */
	startMs?: number;
	title?: string;
	language?: string;
	/** Words to expect, in place of those that the transcriber has. */
	prompt?: string;
	externalId?: string;
	/** Whether lifelogs that were deleted are made again. */
	again?: boolean;
}

/** Keeps what was said in the parts of a recording, because a transcription may cost money. */
export interface HeardParts {
	get: (part: Chunk) => Heard | undefined;
	keep: (part: Chunk, heard: Heard) => void;
}

export interface PipelineOptions extends Models {
	/** An empty folder. */
	work: string;
	/** Where the audio is written as Ogg Opus. If it is there, it was written before. */
	audio: string;
	/** IANA name of the zone of local times in names of files. */
	timezone: string;
	/** Epoch ms. */
	now: () => number;
	/** By default nothing is kept. */
	heard?: HeardParts;
	/** Puts right words in place of those that are heard wrong. By default none are. */
	correct?: (text: string) => string;
	/** By default there are no lifelogs yet. */
	stateOf?: StateOf;
	/** Is told when the recording began, and how long it is. Returns when it begins, epoch ms. */
	onStart?: (start: Start, durationMs: number) => number;
	/** Is told what was found and chosen. The subject is the recording. */
	onNote?: (note: string) => void;
	signal?: AbortSignal;
}

/** What became of a file. */
export interface Made {
	audio: RecordedAudio;
	/** Those that aren't there yet. */
	lifelogs: Lifelog[];
	/** Of all its lifelogs, also those that are there or were deleted. */
	ids: string[];
	/** IDs of lifelogs whose title couldn't be written. */
	untitled: string[];
	/** Whether something of it can only be heard in the file. */
	isPart: boolean;
}

/**
 * Makes the lifelogs of a file.
 *
 * @throws MediaError for a file that can't be read; EndpointError for a part that wasn't transcribed;
 * what `signal` says.
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

/** A lifelog of a conversation. Its title is that of the file, one that a model writes, or its first words. */
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
 * Makes lifelogs of audio that is in the archive. Their IDs are chosen later.
 *
 * @param isWanted Whether something that was said is to be in a lifelog.
 * @returns `untitled` has the places of those whose title couldn't be written.
 * @throws As `makeLifelogs` does.
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
				// The words are there, and the endpoint never takes this part.
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

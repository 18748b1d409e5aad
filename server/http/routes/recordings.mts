import { createReadStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { stat } from 'node:fs/promises';
import { basename, extname, parse } from 'node:path';
import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { timeOf } from '../../recordings/makeLifelog.mts';
import type { Intake, Received } from '../../recordings/intake.mts';
import type { Jobs } from '../../recordings/jobs.mts';
import type { Recording as RecordingAnswer } from '../pageApi/answers.mts';
import { isTooLong, MAX_PROMPT_LENGTH } from '../../recordings/prompt.mts';
import type { Recording, Status } from '../../recordings/queue.mts';
import { asName } from '../../recordings/segments.mts';
import { ApiError, UnavailableError } from '../../util/errors.mts';
import { checkZone, parseInstant } from '../../util/times.mts';
import type { Audio } from '../../index/store.mts';
import { RECORDINGS } from '../../archive/layout.mts';
import { sendAudio } from './audio.mts';
import type { Service } from '../service.mts';

/** Fields of an upload besides the file (server/openapi.yaml, `NewRecording`). */
const FIELDS = [
	'startTime',
	'modifiedTime',
	'timezone',
	'title',
	'language',
	'prompt',
	'externalId',
	'again',
] as const;
type Fields = Partial<Record<(typeof FIELDS)[number], string>>;

/** Parameters of the list of recordings. */
export interface RecordingsQuery {
	status?: Status;
	cursor?: string;
	limit?: number;
}

const DEFAULT_PAGE = 10;
const MAX_FIELD_LENGTH = 1_000;
const MAX_NAME_LENGTH = 200;
/** Maximum size of a form without its file. */
const MAX_FORM_BYTES = 100_000;

/**
 * Accepts a recording as multipart/form-data: 202 once it is flushed to the disk, 200 with the
 * existing recording if its bytes or `externalId` are known.
 *
 * @throws ApiError: 400 for an invalid field or no file, 409 without a transcription endpoint, 413
 *   for a file above `--max-upload`.
 */
export async function uploadRecording(
	service: Service,
	request: FastifyRequest,
	reply: FastifyReply,
): Promise<object> {
	const { intake } = recordingsOf(service);
	if (!request.isMultipart()) {
		throw new ApiError(400, 'The body is not multipart/form-data. Send the recording as `file`');
	}
	// Rejected by its Content-Length, before anything is written to the disk.
	const maxBytes = (service.maxUploadBytes ?? Infinity) + MAX_FORM_BYTES;
	if (Number(request.headers['content-length']) > maxBytes) throw new ApiError(413, TOO_LARGE);
	const fields: Fields = {};
	let file: { received: Received; fileName: string } | undefined;
	try {
		for await (const part of request.parts()) {
			if (part.type === 'file') file = await receive(intake, part, file !== undefined);
			else addField(fields, part);
		}
		if (!file) throw new ApiError(400, "There is no 'file'. Send the recording as `file`");
		if (file.received.bytes === 0) throw new ApiError(400, 'The file is empty. Send a recording');
		const { startTime, modifiedTime, timezone, title, language, prompt } = fields;
		const { externalId, again } = fields;
		const zone = checkZone(timezone);
		const { recording, isNew } = await intake.add(file.received, {
			fileName: file.fileName,
			...(modifiedTime !== undefined && {
				modifiedMs: parseInstant('modifiedTime', modifiedTime, zone),
			}),
			...(startTime !== undefined && { startMs: timeOf('startTime', startTime, zone) }),
			...(title !== undefined && asName(title) !== '' && { title: asName(title) }),
			...(language !== undefined && { language: languageOf(language) }),
			...(prompt !== undefined && { prompt }),
			...(externalId !== undefined && { externalId }),
			again: flagOf('again', again),
		});
		reply.code(isNew ? 202 : 200);
		return { data: { recording: view(service, recording) } };
	} catch (error) {
		if (file) await intake.discard(file.received);
		throw isUnreadable(error as Error) ? new ApiError(400, UNREADABLE) : error;
	}
}

const UNREADABLE =
	"The body isn't complete multipart/form-data. Send all of it, and let your HTTP client write the Content-Type with its boundary";

/** Whether a body is incomplete or doesn't match its Content-Type. The parser's errors have no code. */
const isUnreadable = ({ code, message }: Error & { code?: string }) =>
	code === 'ECONNRESET' || (code === undefined && /multipart data|^Multipart:/.test(message));

async function receive(
	intake: Intake,
	{ file, filename, fieldname }: MultipartFile,
	isSecond: boolean,
): Promise<{ received: Received; fileName: string }> {
	if (fieldname !== 'file' || isSecond) {
		file.resume();
		throw new ApiError(400, `There is more than one file, or it isn't called 'file'`);
	}
	const received = await intake.receive(file);
	if (file.truncated) {
		await intake.discard(received);
		throw new ApiError(413, TOO_LARGE);
	}
	return { received, fileName: safeName(filename) };
}

/** The error for a file above `--max-upload`. */
export const TOO_LARGE =
	'The file is larger than the server accepts. Split it, or start lifelog-server with a larger --max-upload';

/** A name that is valid in file systems, with its extension. */
function safeName(name = ''): string {
	const plain = asName(basename(name.replaceAll('\\', '/'))).replaceAll(/[/:*?"<>|]/g, '_');
	const ending = extname(plain);
	return `${plain.slice(0, plain.length - ending.length).slice(0, MAX_NAME_LENGTH)}${ending.slice(0, 10)}`;
}

function addField(fields: Fields, part: Exclude<Multipart, MultipartFile>): void {
	const name = FIELDS.find((known) => known === part.fieldname);
	if (!name) {
		throw new ApiError(400, `There is no field '${part.fieldname}'. Use ${FIELDS.join(', ')}`);
	}
	const value = String(part.value).trim();
	if (name === 'prompt' && isTooLong(value)) {
		throw new ApiError(400, `prompt is longer than ${MAX_PROMPT_LENGTH} characters. Shorten it`);
	}
	if (value.length > MAX_FIELD_LENGTH || part.valueTruncated) {
		throw new ApiError(400, `${name} is longer than ${MAX_FIELD_LENGTH} characters`);
	}
	// Forms also send empty fields, and an empty ID would match every recording.
	if (value !== '') fields[name] = value;
}

function flagOf(name: string, value = 'false'): boolean {
	if (value === 'true' || value === 'false') return value === 'true';
	throw new ApiError(400, `${name} must be true or false`);
}

function languageOf(language: string): string {
	if (/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(language)) return language;
	throw new ApiError(400, "language isn't a code such as en or de");
}

/** Lists recordings, newest first. Throws an ApiError (400) for an unknown cursor. */
export function listRecordings(service: Service, query: RecordingsQuery): object {
	const { intake } = recordingsOf(service);
	const { status, cursor, limit = DEFAULT_PAGE } = query;
	if (cursor !== undefined && !intake.get(cursor)) {
		throw new ApiError(400, "cursor doesn't come from this server");
	}
	const found = intake.list(status, cursor, limit + 1);
	const page = found.slice(0, limit);
	return {
		data: { recordings: page.map((each) => view(service, each)) },
		meta: {
			recordings: {
				...(found.length > limit && { nextCursor: page.at(-1)!.id }),
				count: page.length,
			},
		},
	};
}

/** Throws an ApiError (404) for an unknown ID. */
export function getRecording(service: Service, id: string): object {
	const recording = recordingsOf(service).intake.get(id);
	if (!recording) throw new ApiError(404, 'Recording not found');
	return { data: { recording: view(service, recording) } };
}

/**
 * Retries a recording, optionally in a given language.
 *
 * @throws ApiError: 404 for an unknown ID, 409 if there is nothing to retry.
 */
export async function retryRecording(
	service: Service,
	id: string,
	{ language }: { language?: string | null } = {},
): Promise<object> {
	const { jobs } = recordingsOf(service);
	const recording = await jobs.retry(id, language && languageOf(language));
	return { data: { recording: view(service, recording) } };
}

/**
 * Transcribes a finished recording again.
 *
 * @throws ApiError: 404 for an unknown ID, 409 if it can't be transcribed again.
 */
export async function transcribeAgain(
	service: Service,
	id: string,
	reply: FastifyReply,
): Promise<object> {
	const { jobs } = recordingsOf(service);
	const recording = await jobs.transcribeAgain(id);
	reply.code(202);
	return { data: { recording: view(service, recording) } };
}

/** Throws an ApiError: 404 for an unknown ID, 409 for a finished recording. */
export async function deleteRecording(service: Service, id: string): Promise<object> {
	const { intake } = recordingsOf(service);
	if (!service.allowDelete) {
		throw new ApiError(403, 'Nothing is deleted: start lifelog-server with --allow-delete');
	}
	await intake.drop(id);
	return { data: { success: true } };
}

/** Throws an ApiError (409) without a transcription endpoint. */
function recordingsOf({ recordings }: Service): { intake: Intake; jobs: Jobs } {
	if (recordings) return recordings;
	throw new ApiError(
		409,
		'This server has no transcription endpoint: start lifelog-server with --transcription-url and --transcription-model',
	);
}

/** A recording in the API. */
function view(service: Service, recording: Recording): RecordingAnswer {
	const { id, status, fileName, startTime, startTimeFrom } = recording;
	const { durationMs, error, attempts, createdAt } = recording;
	const deletedLifelogIds = recording.lifelogIds.filter((each) => isDeleted(service, each));
	const lifelogIds = recording.lifelogIds.filter((each) => !deletedLifelogIds.includes(each));
	return {
		...{ id, status, fileName, lifelogIds, deletedLifelogIds, startTime, startTimeFrom },
		...{ durationMs, error, attempts, createdAt },
	};
}

function isDeleted({ maker }: Service, id: string): boolean {
	try {
		return maker?.current().stateOf(id) === 'deleted';
	} catch (error) {
		// Recordings are also served while the index is being built.
		if (error instanceof UnavailableError) return false;
		throw error;
	}
}

/**
 * Sends the sound of a recording without lifelogs: its file or, if it has no speech, the audio in
 * the archive.
 *
 * @throws ApiError (404) for an unknown ID, or if there is no sound.
 */
export async function downloadRecording(
	service: Service,
	id: string,
	headers: IncomingHttpHeaders,
	reply: FastifyReply,
): Promise<FastifyReply> {
	const { audio, fileName, type } = await audioOf(service, id);
	const disposition = `inline; filename*=UTF-8''${encodeURIComponent(fileName)}`;
	return sendAudio(audio, headers, reply, type, disposition);
}

async function audioOf(
	service: Service,
	id: string,
): Promise<{ audio: Audio; fileName: string; type: string }> {
	const { intake } = recordingsOf(service);
	const recording = intake.get(id);
	if (!recording) throw new ApiError(404, 'Recording not found');
	const { status, fileName, startTime, durationMs, lifelogIds, sha256, path } = recording;
	if (status === 'done' && lifelogIds.length === 0 && startTime !== null && durationMs !== null) {
		const startMs = Date.parse(startTime);
		const only = { only: RECORDINGS };
		const audio = await service.current().getAudio(startMs, startMs + durationMs, only);
		if (audio) return { audio, fileName: `${parse(fileName).name}.ogg`, type: 'audio/ogg' };
	}
	const bytes = status === 'failed' ? await sizeOf(path) : undefined;
	if (bytes === undefined) throw new ApiError(404, 'This recording has no audio of its own');
	const read = (from: number, to: number) => createReadStream(path, { start: from, end: to - 1 });
	const audio = { bytes, tag: sha256, read };
	return {
		audio,
		fileName,
		type: TYPES[extname(fileName).toLowerCase()] ?? 'application/octet-stream',
	};
}

const sizeOf = async (path: string) => (await stat(path).catch(() => undefined))?.size;

/** Types that browsers play. */
const TYPES: Record<string, string> = {
	'.aac': 'audio/aac',
	'.flac': 'audio/flac',
	'.m4a': 'audio/mp4',
	'.mov': 'video/quicktime',
	'.mp3': 'audio/mpeg',
	'.mp4': 'video/mp4',
	'.oga': 'audio/ogg',
	'.ogg': 'audio/ogg',
	'.opus': 'audio/ogg',
	'.wav': 'audio/wav',
	'.webm': 'video/webm',
};

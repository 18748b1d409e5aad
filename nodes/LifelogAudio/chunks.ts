import { createHash } from 'node:crypto';

import { DateTime } from 'luxon';
import type { IBinaryData, IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import { problemOf, type Resource, toNodeError, withResource } from '../shared/errors/nodeErrors';
import { unusableAnswerError } from '../shared/errors/status';
import type { IncomingBody } from '../shared/transport/body';
import { mapConcurrent } from '../shared/transport/concurrency';
import type { Api } from '../shared/auth/connection';
import { readPage } from '../shared/transport/pagination';
import { download } from '../shared/transport/request';
import { readWords } from '../shared/transport/send';
import type { TimeSpan } from './range';

const MAX_DOWNLOADS = 3;
/** After these the rest of a range isn't requested. */
const MAX_FAILURES_IN_A_ROW = 10;

const OGG = 'audio/ogg';
/** The first bytes of every Ogg file. */
const OGG_MARK = 'OggS';

/** In n8n's binary storage. */
interface AudioFile {
	/** What the output says of it; its size is in bytes, its hash hexadecimal. */
	file: { fileName: string; fileSize: number; mimeType: string; sha256: string };
	binary: IBinaryData;
}

/** Each chunk is in one of the lists, in order of time. */
export interface Downloads {
	/** `part` is the number of the chunk, from 1. */
	stored: Array<AudioFile & { span: TimeSpan; part: number }>;
	missing: TimeSpan[];
	failed: Array<TimeSpan & { message: string }>;
}

/**
 * Cuts a range into adjacent chunks: each millisecond is in exactly one, and only the last may be
 * shorter. Fractions of milliseconds are rounded outward.
 *
 * @param chunkMs In whole ms above 0.
 */
export function cutIntoChunks({ startMs, endMs }: TimeSpan, chunkMs: number): TimeSpan[] {
	const end = Math.ceil(endMs);
	const chunks: TimeSpan[] = [];
	for (let start = Math.floor(startMs); start < end; start += chunkMs) {
		chunks.push({ startMs: start, endMs: Math.min(start + chunkMs, end) });
	}
	return chunks;
}

/** Joins adjacent spans that, if they failed, failed in the same way. */
export function joinAdjacent<T extends TimeSpan & { message?: string }>(spans: T[]): T[] {
	const joined: T[] = [];
	for (const span of spans) {
		const last = joined.at(-1);
		const isAdjacent = last?.endMs === span.startMs && last.message === span.message;
		if (isAdjacent) last.endMs = span.endMs;
		else joined.push({ ...span });
	}
	return joined;
}

interface DownloadOptions {
	/** In which errors name a chunk; an IANA name. */
	zone: string;
	/** Whether a chunk that fails is noted, instead of ending all. */
	mayFail: boolean;
	/** The device whose audio is wanted; undefined for the service's choice. */
	audioSource: string | undefined;
	nameOf: (span: TimeSpan) => string;
}

/**
 * Downloads chunks, a few at a time.
 *
 * @throws NodeApiError, naming the chunk, if one fails; with `mayFail` only if all would fail: a
 *   refused key, a wrong address, a broken storage, a canceled execution.
 */
export async function downloadChunks(
	context: IExecuteFunctions,
	api: Api,
	chunks: TimeSpan[],
	{ zone, mayFail, audioSource, nameOf }: DownloadOptions,
): Promise<Downloads> {
	// In order, whichever arrives first, and the same when one is downloaded again.
	const names = chunks.map(nameOf);
	let failures = 0;
	let givenUp: string | undefined;
	const results = await mapConcurrent(api, chunks, MAX_DOWNLOADS, async (own, span, index) => {
		if (givenUp !== undefined) return { failed: { ...span, message: givenUp } };
		const { startTime, endTime } = withTimes(span, zone);
		const resource = { noun: `audio from ${startTime} to ${endTime}` };
		const query = { startMs: span.startMs, endMs: span.endMs, ...(audioSource && { audioSource }) };
		try {
			const audio = await storeAudio(context, own, query, resource, names[index]);
			failures = 0;
			if (audio === undefined) return { missing: span };
			api.run.isServiceKnown = true;
			return { stored: { span, part: index + 1, ...audio } };
		} catch (error) {
			const failure = withResource(toNodeError(context, error), resource);
			if (!mayFail || !isOfOneChunk(own, failure)) throw failure;
			const message = problemOf(failure);
			const isLimited = failure.httpCode === '429';
			if (!isLimited) await requireService(own);
			failures++;
			if (isLimited || failures >= MAX_FAILURES_IN_A_ROW) {
				givenUp ??= `Not requested, because the chunks before it failed: ${message}`;
			}
			return { failed: { ...span, message } };
		}
	});
	return {
		stored: results.flatMap(({ stored }) => stored ?? []),
		missing: results.flatMap(({ missing }) => missing ?? []),
		failed: results.flatMap(({ failed }) => failed ?? []),
	};
}

/**
 * Streams the audio of a range into n8n's binary storage (specification, section 4.5).
 *
 * @returns undefined if there is none.
 * @throws NodeApiError as `download`, and if the answer isn't Ogg, whatever its type says.
 */
async function storeAudio(
	context: IExecuteFunctions,
	api: Api,
	query: IDataObject,
	resource: Resource,
	fileName: string,
): Promise<AudioFile | undefined> {
	return await download(api, '/v1/download-audio', query, resource, async (body, answer) => {
		const head = await body.peek(OGG_MARK.length);
		if (head.toString('latin1', 0, OGG_MARK.length) !== OGG_MARK) {
			const problem = head.length === 0 ? 'it is empty' : "it isn't Ogg audio";
			const said = { ...answer, body: await readWords(body) };
			throw unusableAnswerError(api, resource, said, problem);
		}
		return await store(context, body, head, fileName);
	});
}

async function store(
	context: IExecuteFunctions,
	body: IncomingBody,
	head: Buffer,
	fileName: string,
): Promise<AudioFile> {
	const hash = createHash('sha256').update(head);
	body.onPart = (part) => hash.update(part);
	const binary = await context.helpers.prepareBinaryData(body.stream(), fileName, OGG);
	const [fileSize, sha256] = [body.received, hash.digest('hex')];
	return { file: { fileName, fileSize, mimeType: OGG, sha256 }, binary };
}

/** A name that sorts by time: `audio_20260301T090000Z_20260301T110000Z.ogg` (UTC). */
export function archiveName({ startMs, endMs }: TimeSpan): string {
	const [start, end] = [startMs, endMs].map((instant) =>
		DateTime.fromMillis(instant, { zone: 'utc' }).toFormat("yyyyMMdd'T'HHmmss'Z'"),
	);
	return `audio_${start}_${end}.ogg`;
}

/** Whether the next chunk may succeed: key, address, storage and run are in order. */
function isOfOneChunk(api: Api, failure: Error): failure is NodeApiError {
	return (
		failure instanceof NodeApiError &&
		!api.signal?.aborted &&
		!/^(401|403|404|3\d\d)$/.test(failure.httpCode ?? '')
	);
}

/**
 * Checks, once a run, that the service is at the Base URL. Otherwise the "not found" of another
 * server would mean "no audio". Reads the chats, because the list of lifelogs documents no 401
 * (specification, sections 4.5, 4.6 and 7).
 *
 * @throws NodeApiError if the answer isn't the service's.
 */
export async function requireService(api: Api): Promise<void> {
	if (api.run.isServiceKnown) return;
	const ask = async () => await readPage(api, { name: 'chats', query: {}, pageSize: 1 });
	try {
		await (api.run.serviceCheck ??= ask());
		api.run.isServiceKnown = true;
	} finally {
		api.run.serviceCheck = undefined;
	}
}

/** Adds the times in ISO 8601 with the offset of `zone`. */
export function withTimes({ startMs, endMs }: TimeSpan, zone: string) {
	const [startTime, endTime] = [startMs, endMs].map(
		(instant) => DateTime.fromMillis(instant, { zone }).toISO() as string,
	);
	return { startMs, endMs, startTime, endTime };
}

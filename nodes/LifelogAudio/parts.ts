import { createHash } from 'node:crypto';

import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import type { Api } from '../shared/transport/connection';
import type { IncomingBody } from '../shared/transport/body';
import { mapConcurrent } from '../shared/transport/concurrency';
import type { Answer, Resource } from '../shared/errors/errors';
import {
	messageWithout,
	toNodeError,
	unusableAnswerError,
	withResource,
} from '../shared/errors/errors';
import { download, readWords } from '../shared/transport/request';
import type { TimeSpan } from './chunks';
import { audioType, HEAD_BYTES, inZone, whyNoAudio } from './files';
import { requireService } from './service';

const MAX_DOWNLOADS = 3;
/** After so many failures in a row the rest of a range is not asked for any more. */
const MAX_FAILURES_IN_A_ROW = 10;

/** What the output says of a file; its size is in bytes. */
export interface StoredFile {
	fileName: string;
	fileSize: number;
	mimeType: string;
	/** Hexadecimal. */
	sha256: string;
}

/** A part of a range that has audio. */
export interface StoredPart {
	span: TimeSpan;
	/** Its number in the range, from 1. */
	part: number;
	file: StoredFile;
	binary: IBinaryData;
}

/** A part that could not be downloaded, and why. */
export interface FailedPart extends TimeSpan {
	message: string;
}

/** What became of the parts of a range: each is in one of the lists, in order of time. */
export interface Parts {
	stored: StoredPart[];
	missing: TimeSpan[];
	failed: FailedPart[];
}

/** How the parts of a range are downloaded. */
export interface DownloadSettings {
	/** The time zone in which errors name a part; an IANA name. */
	zone: string;
	/** Whether a part that fails is noted, instead of ending all. */
	mayFail: boolean;
	/** The name of a part's file. */
	nameOf: (span: TimeSpan, extension: string) => string;
}

/**
 * Downloads the parts of a range, a few at a time.
 *
 * @throws NodeApiError, naming the part, when one fails; with `mayFail` only for what concerns every
 *   part: a refused key, a wrong address, a storage that fails, a cancelled execution.
 */
export async function downloadParts(
	context: IExecuteFunctions,
	api: Api,
	chunks: TimeSpan[],
	{ zone, mayFail, nameOf }: DownloadSettings,
): Promise<Parts> {
	let failures = 0;
	let givenUp: string | undefined;
	const parts = await mapConcurrent(api, chunks, MAX_DOWNLOADS, async (own, span, index) => {
		if (givenUp !== undefined) return { failed: { ...span, message: givenUp } };
		const { startTime, endTime } = inZone(span, zone);
		const resource = { noun: `audio from ${startTime} to ${endTime}` };
		try {
			const stored = await downloadPart(context, own, span, resource, nameOf);
			failures = 0;
			if (stored === undefined) return { missing: span };
			api.run.isServiceKnown = true;
			return { stored: { span, part: index + 1, ...stored } };
		} catch (error) {
			const failure = withResource(toNodeError(context, error), resource);
			if (!mayFail || !isOfOnePart(own, failure)) throw failure;
			const message = messageWithout(failure, resource);
			const isLimited = failure.httpCode === '429';
			if (!isLimited) await requireService(own);
			if (isLimited || ++failures >= MAX_FAILURES_IN_A_ROW) {
				givenUp ??= `Not asked for, as what came before failed: ${message}`;
			}
			return { failed: { ...span, message } };
		}
	});
	return {
		stored: parts.map(({ stored }) => stored).filter((part) => part !== undefined),
		missing: parts.map(({ missing }) => missing).filter((part) => part !== undefined),
		failed: parts.map(({ failed }) => failed).filter((part) => part !== undefined),
	};
}

/** Whether the next part may fare better: nothing is wrong with key, address, storage or run. */
function isOfOnePart(api: Api, failure: Error): failure is NodeApiError {
	return (
		failure instanceof NodeApiError &&
		!api.signal?.aborted &&
		!/^(401|403|404|3\d\d)$/.test(failure.httpCode ?? '')
	);
}

/**
 * Streams one part into n8n's binary storage (specification, section 4.5).
 *
 * @returns undefined where there is no audio.
 */
async function downloadPart(
	context: IExecuteFunctions,
	api: Api,
	span: TimeSpan,
	resource: Resource,
	nameOf: DownloadSettings['nameOf'],
): Promise<Pick<StoredPart, 'file' | 'binary'> | undefined> {
	const store = async (body: IncomingBody, answer: Answer) => {
		const contentType = answer.headers['content-type'];
		const head = await body.peek(HEAD_BYTES);
		const type = audioType(contentType, head);
		if (!type) {
			const said = { ...answer, body: await readWords(body) };
			throw unusableAnswerError(api, resource, said, whyNoAudio(contentType, head));
		}
		const name = nameOf(span, type.extension);
		const hash = createHash('sha256').update(head);
		body.onPart = (part) => hash.update(part);
		const binary = await context.helpers.prepareBinaryData(body.stream(), name, type.mimeType);
		const file = {
			fileName: name,
			fileSize: body.received,
			mimeType: type.mimeType,
			sha256: hash.digest('hex'),
		};
		return { binary, file };
	};
	return await download(api, '/v1/download-audio', { ...span }, resource, store);
}

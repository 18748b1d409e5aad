import { createHash } from 'node:crypto';

import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import type { Api } from '../shared/api';
import type { Answer, Subject } from '../shared/errors';
import { messageWithout, toNodeError, unusableAnswerError, withSubject } from '../shared/errors';
import type { IncomingBody } from '../shared/incoming-body';
import { download, readWords } from '../shared/request';
import type { TimeSpan } from './chunks';
import { audioType, fileName, HEAD_BYTES, inZone, whyNoAudio } from './files';
import { requireService } from './service';

/** After so many failures in a row the rest of a range is not asked for any more. */
const MOST_FAILURES_IN_A_ROW = 10;

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

/**
 * Downloads the parts of a range one after another.
 *
 * @param zone The time zone in which errors name a part; an IANA name.
 * @param mayFail Whether a part that fails is noted, instead of ending all.
 * @throws NodeApiError, naming the part, when one fails; with `mayFail` only for what concerns every
 *   part: a refused key, a wrong address, a storage that fails, a cancelled execution.
 */
export async function downloadParts(
	context: IExecuteFunctions,
	api: Api,
	chunks: TimeSpan[],
	zone: string,
	mayFail: boolean,
): Promise<Parts> {
	const parts: Parts = { stored: [], missing: [], failed: [] };
	let failures = 0;
	for (const [index, span] of chunks.entries()) {
		const { startTime, endTime } = inZone(span, zone);
		const subject = { noun: `audio from ${startTime} to ${endTime}` };
		try {
			const stored = await downloadPart(context, api, span, subject);
			failures = 0;
			if (stored === undefined) {
				parts.missing.push(span);
			} else {
				api.run.isServiceKnown = true;
				parts.stored.push({ span, part: index + 1, ...stored });
			}
		} catch (error) {
			const failure = withSubject(toNodeError(context, error), subject);
			if (!mayFail || !isOfOnePart(api, failure)) throw failure;
			const why = messageWithout(failure, subject);
			parts.failed.push({ ...span, message: why });
			const isLimited = failure.httpCode === '429';
			if (!isLimited) await requireService(api);
			if (!isLimited && ++failures < MOST_FAILURES_IN_A_ROW) continue;
			const message = `Not asked for, as what came before failed: ${why}`;
			parts.failed.push(...chunks.slice(index + 1).map((rest) => ({ ...rest, message })));
			return parts;
		}
	}
	return parts;
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
	subject: Subject,
): Promise<Pick<StoredPart, 'file' | 'binary'> | undefined> {
	const store = async (body: IncomingBody, answer: Answer) => {
		const contentType = answer.headers['content-type'];
		const head = await body.peek(HEAD_BYTES);
		const type = audioType(contentType, head);
		if (!type) {
			const said = { ...answer, body: await readWords(body) };
			throw unusableAnswerError(api, subject, said, whyNoAudio(contentType, head));
		}
		const name = fileName(span, type.extension);
		const hash = createHash('sha256');
		const stream = body.stream((bytes) => hash.update(bytes));
		const binary = await context.helpers.prepareBinaryData(stream, name, type.mimeType);
		const file = {
			fileName: name,
			fileSize: body.received,
			mimeType: type.mimeType,
			sha256: hash.digest('hex'),
		};
		return { binary, file };
	};
	return await download(api, '/v1/download-audio', { ...span }, subject, store);
}

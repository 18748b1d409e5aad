import { createHash } from 'node:crypto';

import { DateTime } from 'luxon';
import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import { type Resource, unusableAnswerError } from '../shared/errors/errors';
import type { IncomingBody } from '../shared/transport/body';
import type { Api } from '../shared/transport/connection';
import { download, readWords } from '../shared/transport/request';
import type { TimeSpan } from './range';

const OGG = 'audio/ogg';
/** The first bytes of every Ogg file. */
const OGG_MARK = 'OggS';

/** In n8n's binary storage. */
export interface AudioFile {
	/** What the output says of it; its size is in bytes, its hash hexadecimal. */
	file: { fileName: string; fileSize: number; mimeType: string; sha256: string };
	binary: IBinaryData;
}

/**
 * Streams the audio of a range into n8n's binary storage (specification, section 4.5).
 *
 * @returns undefined if there is none.
 * @throws NodeApiError as `download`, and if the answer isn't Ogg, whatever its type says.
 */
export async function storeAudio(
	context: IExecuteFunctions,
	api: Api,
	span: TimeSpan,
	resource: Resource,
	fileName: () => string,
): Promise<AudioFile | undefined> {
	const query = { startMs: span.startMs, endMs: span.endMs };
	return await download(api, '/v1/download-audio', query, resource, async (body, answer) => {
		const head = await body.peek(OGG_MARK.length);
		if (head.toString('latin1', 0, OGG_MARK.length) !== OGG_MARK) {
			const problem = head.length === 0 ? 'it is empty' : "it isn't Ogg audio";
			const said = { ...answer, body: await readWords(body) };
			throw unusableAnswerError(api, resource, said, problem);
		}
		return await store(context, body, head, fileName());
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

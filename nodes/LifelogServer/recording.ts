import { randomBytes } from 'node:crypto';

import { NodeApiError } from 'n8n-workflow';

import { getRecording, type Recording, recordingOf, RECORDINGS } from '../shared/api/recordings';
import { apiError, canceledError } from '../shared/errors/nodeErrors';
import { pause } from '../shared/transport/concurrency';
import type { Api } from '../shared/auth/connection';
import { sendData } from '../shared/transport/request';
import type { Upload } from '../shared/transport/upload';
import { unsupportedError } from './change';
import { trimmedText } from '../../lifelog/text.ts';

/** What is uploaded: a file with its name and type. */
export interface RecordingFile extends Pick<Upload, 'bytes' | 'open'> {
	name: string;
	mimeType: string;
}

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 10_000;

/**
 * Uploads a recording to lifelog-server (`POST /v1/recordings`). A failed upload is retried like a
 * read, because the server knows the same bytes again.
 *
 * @param fields What is sent beside the file; undefined ones are left out.
 * @returns The recording; the one that exists if the server had it before.
 * @throws NodeApiError that says so if the service takes no recordings.
 */
export async function uploadRecording(
	api: Api,
	file: RecordingFile,
	fields: Record<string, string | undefined>,
): Promise<Recording> {
	const resource = { noun: `recording "${file.name}"`, isChange: true };
	const sent = {
		method: 'POST' as const,
		path: RECORDINGS,
		upload: asForm(file, fields),
		resource,
	};
	const answer = await sendData(api, sent).catch((error: unknown) => {
		const isUnknown = error instanceof NodeApiError && /^(404|405|415)$/.test(error.httpCode ?? '');
		throw isUnknown ? unsupportedError(api, resource) : error;
	});
	return recordingOf(api, answer, resource);
}

/**
 * Asks for a recording until it is done or has failed.
 *
 * @param waitMs For how long.
 * @returns It as it was last.
 */
export async function waitForRecording(
	api: Api,
	recording: Recording,
	waitMs: number,
): Promise<Recording> {
	const endsAt = performance.now() + waitMs;
	let latest = recording;
	for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS)) {
		const leftMs = endsAt - performance.now();
		if (latest.status === 'done' || latest.status === 'failed' || leftMs <= 0) return latest;
		await pause(Math.min(pauseMs, leftMs), api.signal).catch(() => {
			throw canceledError(api.context);
		});
		latest = await getRecording(api, recording.id);
	}
}

/** The error of a recording that failed for good. */
export function failedError(api: Api, { error }: Recording, name: string): NodeApiError {
	return apiError(
		api,
		`The recording "${name}" didn't become a lifelog: ${trimmedText(error)}`,
		["Once the cause is fixed, upload the file again, or choose Retry on the server's page."],
		{ failure: { cause: 'configuration-invalid' } },
	);
}

/** The file as a field of a form, `multipart/form-data` (RFC 7578), after the other fields. */
function asForm(
	{ name, mimeType, bytes, open }: RecordingFile,
	fields: Record<string, string | undefined>,
): Upload {
	const boundary = randomBytes(24).toString('hex');
	const part = (header: string) => `--${boundary}\r\nContent-Disposition: form-data; ${header}`;
	const texts = Object.entries(fields)
		.filter(([, value]) => value !== undefined)
		.map(([field, value]) => `${part(`name="${field}"`)}\r\n\r\n${value}\r\n`);
	const type = /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : 'application/octet-stream';
	// As browsers write it: a quotation mark or a line break would end the name.
	const quoted = name.replace(/["\r\n]/g, encodeURIComponent);
	const head = `${part(`name="file"; filename="${quoted}"`)}\r\nContent-Type: ${type}\r\n\r\n`;
	const before = Buffer.from(`${texts.join('')}${head}`);
	const after = Buffer.from(`\r\n--${boundary}--\r\n`);
	return {
		headers: {
			'content-type': `multipart/form-data; boundary=${boundary}`,
			'content-length': String(before.length + bytes + after.length),
		},
		before,
		after,
		bytes,
		open,
	};
}

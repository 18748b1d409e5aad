import type { IDataObject } from 'n8n-workflow';

import { isId } from '../../../lifelog/names.ts';
import type { Api } from '../auth/connection';
import type { Resource } from '../errors/nodeErrors';
import { unusableAnswerError } from '../errors/status';
import { getJson, pathOf } from '../transport/request';

export const RECORDINGS = '/v1/recordings';

/** A recording of lifelog-server. */
export type Recording = IDataObject & { id: string };

/** @throws NodeApiError if the recording doesn't exist, and as `getJson`. */
export async function getRecording(api: Api, id: string): Promise<Recording> {
	const resource = { noun: 'recording', id, isChange: true };
	const answer = await getJson(api, pathOf(RECORDINGS, id), {}, resource);
	return recordingOf(api, answer, resource);
}

/** Returns the recording in an answer. @throws NodeApiError if it's missing. */
export function recordingOf(api: Api, body: IDataObject, resource: Resource): Recording {
	const { recording } = (body.data ?? {}) as { recording?: IDataObject | null };
	if (isId(recording?.id)) return recording as Recording;
	throw unusableAnswerError(api, resource, { body }, 'it has no recording (data.recording)');
}

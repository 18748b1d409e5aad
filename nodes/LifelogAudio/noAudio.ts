import type { NodeApiError } from 'n8n-workflow';

import type { Api } from '../shared/transport/connection';
import { apiError } from '../shared/errors/errors';

/**
 * The error of a range of time without any audio.
 *
 * @param start Its start as a person reads it, ISO 8601.
 */
export function noAudioError(api: Api, start: string, end: string): NodeApiError {
	return apiError(
		api,
		`There is no audio from ${start} to ${end}`,
		[
			"Recordings may arrive late: try again later. The option 'If No Audio' can give no item, or one without a file, instead of this error.",
		],
		{ httpCode: '404', failure: { cause: 'configuration-invalid' } },
	);
}

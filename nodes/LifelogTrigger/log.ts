import type { Api } from '../shared/api';
import { forPeople } from '../shared/words';

/** In UTF-16 units. */
const LONGEST_LINE = 1_000;

/**
 * Writes a warning into n8n's log: one line, whatever titles, IDs and words of the service are in
 * the message, and without the API key.
 */
export function logWarning({ apiKey, context }: Api, message: string): void {
	context.logger.warn(forPeople(apiKey, message, LONGEST_LINE));
}

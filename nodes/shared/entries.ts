import type { IDataObject } from 'n8n-workflow';
import { DateTime } from 'luxon';

import type { Api } from './api';
import { notFoundError, unusableAnswerError } from './errors';
import { isId } from './ids';
import { getJson, pathOf } from './request';

/** Characters of a text that a list shows. */
const LONGEST_NAME = 80;

/**
 * One lifelog or chat by its ID (specification, sections 4.3 and 4.7).
 *
 * @param noun What it is; also the key of the answer's `data`.
 * @param query Query parameters; undefined ones are not sent.
 * @returns The API's object unchanged.
 * @throws NodeApiError when there is none, said by a 404 or by null, and as `getJson`.
 */
export async function getEntry<T>(
	api: Api,
	noun: 'lifelog' | 'chat',
	id: string,
	query: IDataObject,
): Promise<T> {
	const subject = { noun, id };
	const body = await getJson(api, pathOf(`/v1/${noun}s`, id), query, subject);
	const entry = (body.data as IDataObject | null | undefined)?.[noun];
	if (entry === null) throw notFoundError(api, subject);
	if (!isId((entry as IDataObject | undefined)?.id)) {
		const answer = { statusCode: 200, headers: {}, body };
		throw unusableAnswerError(api, subject, answer, `it lacks the ${noun} (data.${noun})`);
	}
	return entry as unknown as T;
}

/**
 * How an entry is called in the list of a parameter: `2026-03-01 09:00 Planning the garden`.
 *
 * @param time ISO 8601, shown in its own offset; left out where it cannot be read.
 * @param text Shown in one line, its first words where it is long; `Untitled` where there is none.
 */
export function nameInList(time: unknown, text: unknown): string {
	const line = typeof text === 'string' ? text.trim().replace(/\s+/g, ' ') : '';
	const characters = [...(line || 'Untitled')];
	const isLong = characters.length > LONGEST_NAME;
	const name = isLong ? `${characters.slice(0, LONGEST_NAME).join('')}…` : characters.join('');
	const begin = DateTime.fromISO(typeof time === 'string' ? time : '', { setZone: true });
	return begin.isValid ? `${begin.toFormat('yyyy-MM-dd HH:mm')} ${name}` : name;
}

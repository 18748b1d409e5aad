import type { IDataObject, ILoadOptionsFunctions } from 'n8n-workflow';
import { DateTime } from 'luxon';

import type { Api } from '../transport/connection';
import { toInstant } from '../util/dateTimes';
import { notFoundError, unusableAnswerError } from '../errors/errors';
import { isSafePathSegment, isId } from '../util/ids';
import { readZone } from '../parameters/read';
import { getJson, pathOf } from '../transport/request';
import { oneLine } from '../util/text';

/** Characters of a text that a list shows. */
const MAX_NAME_LENGTH = 80;

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
	const resource = { noun, id };
	if (!isSafePathSegment(id)) {
		throw unusableAnswerError(api, resource, {}, 'it listed an ID that no address can hold');
	}
	const body = await getJson(api, pathOf(`/v1/${noun}s`, id), query, resource);
	const entry = (body.data as IDataObject | null | undefined)?.[noun];
	if (entry === null) throw notFoundError(api, resource);
	if (!isId((entry as IDataObject | undefined)?.id)) {
		throw unusableAnswerError(api, resource, { body }, `it lacks the ${noun} (data.${noun})`);
	}
	return entry as unknown as T;
}

/**
 * The time zone that the list of a parameter shows times in: the option Time Zone, else that of the
 * n8n instance, as the editor does not say which one the workflow has. As long as the option is no
 * zone, which can be so while it is typed or an expression, it does not count.
 *
 * @returns An IANA name.
 */
export function zoneOfList(context: ILoadOptionsFunctions): string {
	const option = context.getCurrentNodeParameter('options.timezone');
	try {
		return readZone(context, typeof option === 'string' ? option : '');
	} catch {
		return context.getTimezone();
	}
}

/**
 * How an entry is called in the list of a parameter:
 * `Planning the garden · 1 Mar 2026, 09:00 (Europe/Berlin)`.
 *
 * @param text Shown in one line, its first words where it is long; `Untitled` where there is none.
 * @param time As the service gives it; left out where it cannot be read.
 * @param zone IANA name.
 */
export function nameInList(text: unknown, time: unknown, zone: string): string {
	const characters = [...(oneLine(text) || 'Untitled')];
	const isLong = characters.length > MAX_NAME_LENGTH;
	const name = isLong ? `${characters.slice(0, MAX_NAME_LENGTH).join('')}…` : characters.join('');
	const begin = timeInList(time, zone);
	return begin === '' ? name : `${name} · ${begin} (${zone})`;
}

/**
 * The time in {@link nameInList}, `1 Mar 2026, 09:00`; empty where it cannot be read.
 *
 * @param time As the service gives it.
 * @param zone IANA name.
 */
export function timeInList(time: unknown, zone: string): string {
	const instant = toInstant(time, zone, 'start');
	if (instant === undefined) return '';
	return DateTime.fromMillis(instant, { zone, locale: 'en' }).toFormat('d LLL yyyy, HH:mm');
}

import type { IDataObject } from 'n8n-workflow';

import type { Api } from '../auth/connection';
import { kindOf, toNodeError } from '../errors/nodeErrors';
import { notFoundError, unusableAnswerError } from '../errors/status';
import { isSafePathSegment, isId } from '../../../lifelog/names.ts';
import { getJson, pathOf } from '../transport/request';
import type { Chat, Lifelog } from '../../../lifelog/api.ts';

export { EVERY_PART, METADATA_ONLY } from '../../../lifelog/paging.ts';

/**
 * One lifelog by its ID (specification, section 4.3).
 *
 * @param query `timezone` and the include parameters; undefined ones are not sent.
 * @returns The API's object unchanged.
 * @throws NodeApiError if there is none, by a 404 or by null, and as `getJson`.
 */
export async function getLifelog(api: Api, id: string, query: IDataObject): Promise<Lifelog> {
	return await getEntry<Lifelog>(api, 'lifelog', id, query);
}

/** What is read of an entry; undefined if it was deleted since it was listed. */
export async function unlessDeleted<T>(api: Api, reading: Promise<T>): Promise<T | undefined> {
	try {
		return await reading;
	} catch (error) {
		if (kindOf(error) === 'notFound') return undefined;
		throw toNodeError(api.context, error);
	}
}

/** One chat by its ID, as {@link getLifelog} (specification, section 4.7). */
export async function getChat(api: Api, id: string, query: IDataObject): Promise<Chat> {
	return await getEntry<Chat>(api, 'chat', id, query);
}

/** @param noun Also the key of the answer's `data`. */
async function getEntry<T>(
	api: Api,
	noun: 'lifelog' | 'chat',
	id: string,
	query: IDataObject,
): Promise<T> {
	const resource = { noun, id };
	if (!isSafePathSegment(id)) {
		throw unusableAnswerError(
			api,
			resource,
			{},
			"it listed an ID that can't be part of an address",
		);
	}
	const body = await getJson(api, pathOf(`/v1/${noun}s`, id), query, resource);
	const entry = (body.data as IDataObject | null | undefined)?.[noun];
	if (entry === null) throw notFoundError(api, resource);
	if (!isId((entry as IDataObject | undefined)?.id)) {
		throw unusableAnswerError(api, resource, { body }, `it has no ${noun} (data.${noun})`);
	}
	if ((entry as IDataObject).id !== id) {
		throw unusableAnswerError(api, resource, {}, `it has another ${noun} than the one requested`);
	}
	return entry as unknown as T;
}

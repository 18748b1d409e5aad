import type { IDataObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import { apiError, nameOfResource, type Resource } from '../shared/errors/nodeErrors';
import { unusableAnswerError } from '../shared/errors/status';
import type { Lifelog } from '../../lifelog/api.ts';
import type { Api } from '../shared/auth/connection';
import { getLifelog, METADATA_ONLY } from '../shared/api/entries';
import { type Output, outputOf } from '../shared/parameters/output';
import { pathOf, sendData } from '../shared/transport/request';
import { isId } from '../../lifelog/names.ts';

/**
 * Sends a change to lifelog-server. A failed one is retried like a read, except new names of
 * speakers and lines: sent twice, two names that change places would change back, and a line that was
 * changed isn't there any more.
 *
 * @param id Of the lifelog to change; without it a new one is created.
 * @returns The lifelog; `{ lifelog: null, status: 'deleted' }` if it was deleted before.
 * @throws NodeApiError that says so if the service takes no changes.
 */
export async function sendChange(api: Api, body: IDataObject, id?: string): Promise<IDataObject> {
	const isNew = id === undefined;
	const once = 'speakers' in body || 'lines' in body;
	const resource = {
		noun: isNew ? 'new lifelog' : 'lifelog',
		id,
		isChange: true,
		...(once && { doubt: 'The lifelog may or may not have been changed.' }),
	};
	const path = isNew ? '/v1/lifelogs' : pathOf('/v1/lifelogs', id);
	const method = isNew ? 'POST' : 'PATCH';
	const answer = await sendData(api, { method, path, body, once, resource }).catch(
		async (error: unknown) => {
			const status = error instanceof NodeApiError ? error.httpCode : undefined;
			const isUnknown =
				status === '405' || (status === '404' && (isNew || (await isThere(api, id))));
			throw isUnknown ? unsupportedError(api, resource) : error;
		},
	);
	const data = (answer.data ?? {}) as IDataObject;
	const lifelog = data.lifelog as IDataObject | null | undefined;
	if (isId(lifelog?.id) && (isNew || lifelog!.id === id)) return lifelog!;
	if (isNew && data.status === 'deleted') return data;
	throw unusableAnswerError(api, resource, { body: answer }, 'it has no lifelog (data.lifelog)');
}

/** A lifelog that was created or changed, as the parameter Output wants it. @param timezone Of times without offset. */
export function changedJson(lifelog: IDataObject, output: Output, timezone: string): IDataObject {
	return outputOf(lifelog as unknown as Lifelog, output, { timezone, includeContents: true });
}

/** Whether the service has the lifelog of a 404. Then it doesn't know the change. */
async function isThere(api: Api, id: string): Promise<boolean> {
	return await getLifelog(api, id, METADATA_ONLY).then(
		() => true,
		() => false,
	);
}

/** The error of a service that has no such requests. */
export function unsupportedError(api: Api, resource: Resource): NodeApiError {
	const sent = resource.id === undefined ? 'new lifelogs' : 'changes to lifelogs';
	return apiError(
		api,
		`This service doesn't accept ${sent}. lifelog-server does.`,
		[
			`Enter the address of your lifelog-server as the 'Base URL' of the credential. If it's already there, update lifelog-server.`,
			`Requested: ${nameOfResource(resource)}.`,
		],
		{ about: resource, httpCode: '405', failure: { cause: 'configuration-invalid' } },
	);
}

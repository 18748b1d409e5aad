import type { Api } from '../shared/transport/connection';
import { readPage } from '../shared/transport/pagination';

/**
 * Makes sure, once a run, that the service is at the Base URL: behind a wrong one, "not found"
 * would be taken for "no audio", as many servers say both alike. Asks for the chats, as the list of
 * lifelogs documents no 401 (specification, sections 4.5, 4.6 and 7).
 *
 * @throws NodeApiError when the answer is not the service's.
 */
export async function requireService(api: Api): Promise<void> {
	if (api.run.isServiceKnown) return;
	const ask = async () => await readPage(api, { name: 'chats', query: {}, pageSize: 1 });
	try {
		await (api.run.serviceCheck ??= ask());
		api.run.isServiceKnown = true;
	} finally {
		api.run.serviceCheck = undefined;
	}
}

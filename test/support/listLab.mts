import type { IDataObject } from 'n8n-workflow';
import { startAnyService } from './anyService.mts';
import { startLabAt } from './lab.mts';
import { runNode, use } from './useNode.mts';

/** Lists of a service that behaves as a test wants, while the tests of a file run. */
export function useListLab() {
	const lab = use(async () => await startLabAt(await startAnyService()));

	return {
		get service() {
			return lab.service;
		},
		get engine() {
			return lab.engine;
		},

		/** What Get Many returns, and the requests it makes. */
		async read(node: 'lifelog' | 'lifelogChat', parameters: IDataObject) {
			lab.service.served = [];
			const all = { operation: 'getMany', output: 'raw', ...parameters };
			const { error, json } = await runNode(lab.engine, node, all);
			expect(error).toBeUndefined();
			const ids = json.map(({ id }) => id as string);
			return { ids, requests: lab.service.served };
		},

		/** What the service itself lists, page after page. */
		async listed(name: 'lifelogs' | 'chats', query: Record<string, string>) {
			lab.service.served = [];
			const ids: string[] = [];
			let cursor: string | null = '';
			do {
				const asked = new URLSearchParams({ ...query, limit: '100', ...(cursor && { cursor }) });
				const response = await fetch(`${lab.service.url}/v1/${name}?${asked}`);
				const { data, meta } = (await response.json()) as {
					data: Record<string, Array<{ id: string }>>;
					meta: Record<string, { nextCursor: string | null }>;
				};
				ids.push(...data[name].map(({ id }) => id));
				cursor = meta[name].nextCursor;
			} while (cursor);
			return { ids: [...new Set(ids)], requests: lab.service.served };
		},
	};
}

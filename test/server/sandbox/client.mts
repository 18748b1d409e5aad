import type { Chat, ContentNode, Lifelog, PageMeta } from '../../../lifelog/api.ts';
import { contradictionIn, describesJson } from '../../support/contract.mts';
import type { TestSandbox } from '../../support/sandbox.mts';

/** The body of any answer; which parts are there depends on the endpoint. */
export interface Body {
	data: {
		lifelogs: Lifelog[];
		lifelog: Lifelog | null;
		chats: Chat[];
		chat: Chat | null;
		success: boolean;
	};
	meta: { lifelogs: PageMeta; chats: PageMeta };
	success: boolean;
	error: string;
	retryAfter: string;
}

export interface Answer {
	status: number;
	headers: Headers;
	body: Body;
	/** Whether the contract describes a body for this status, which was then checked. */
	checked: boolean;
}

export type Query = Record<string, string | number | boolean | undefined>;

export interface Client {
	get: (path: string, query?: Query) => Promise<Answer>;
	delete: (path: string) => Promise<Answer>;
	/** Follows `nextCursor` to the end and returns the ids of every page. */
	pages: (path: string, query?: Query) => Promise<string[][]>;
}

/** Returns a client whose every JSON answer is checked against openapi.yaml. */
export function clientOf({ url, apiKey }: TestSandbox, key = apiKey): Client {
	const call = async (method: string, path: string, query: Query = {}): Promise<Answer> => {
		const target = new URL(url + path);
		for (const [name, value] of Object.entries(query)) {
			if (value !== undefined) target.searchParams.set(name, String(value));
		}
		const response = await fetch(target, { method, headers: { 'X-API-Key': key } });
		const { status, headers } = response;
		const text = await response.text();
		const named: Record<string, string> = {};
		headers.forEach((value, name) => (named[name] = value));
		const contradiction = contradictionIn({ method, path, status, headers: named, body: text });
		if (contradiction) throw new Error(contradiction);
		const checked = describesJson(method, path, status);
		return { status, headers, body: JSON.parse(text) as Body, checked };
	};
	const get = (path: string, query?: Query) => call('GET', path, query);
	return {
		get,
		delete: (path) => call('DELETE', path),
		pages: async (path, query) => {
			const pages: string[][] = [];
			let cursor: string | undefined;
			for (;;) {
				const { body } = await get(path, { ...query, cursor });
				const entries = body.data.lifelogs ?? body.data.chats;
				pages.push(entries.map(({ id }) => id));
				cursor = (body.meta.lifelogs ?? body.meta.chats).nextCursor || undefined;
				if (cursor === undefined) return pages;
			}
		},
	};
}

/** All nodes of a tree in reading order. */
export function flatten(nodes: ContentNode[]): ContentNode[] {
	return nodes.flatMap((node) => [node, ...flatten(node.children ?? [])]);
}

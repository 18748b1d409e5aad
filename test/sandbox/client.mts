import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { Chat, ContentNode, Lifelog, PageMeta } from '../../nodes/shared/api-types.ts';
import type { SpawnedSandbox } from '../support/sandbox.mts';

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

const contract = parse(readFileSync(join(process.cwd(), 'openapi.yaml'), 'utf8'));
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(contract, 'contract');

/** Returns a client whose every JSON answer is checked against openapi.yaml. */
export function clientOf({ url, apiKey }: SpawnedSandbox, key = apiKey): Client {
	const call = async (method: string, path: string, query: Query = {}): Promise<Answer> => {
		const target = new URL(url + path);
		for (const [name, value] of Object.entries(query)) {
			if (value !== undefined) target.searchParams.set(name, String(value));
		}
		const response = await fetch(target, { method, headers: { 'X-API-Key': key } });
		const body = (await response.json()) as Body;
		const checked = checkBody(method, path, response.status, body);
		return { status: response.status, headers: response.headers, body, checked };
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

/** Throws when the contract describes the answer otherwise; false when it says nothing. */
function checkBody(method: string, path: string, status: number, body: unknown): boolean {
	const template = path.replace(/^(\/v1\/(?:lifelogs|chats))\/.*$/, '$1/{id}');
	const operation = contract.paths[template]?.[method.toLowerCase()];
	const response = operation?.responses[status];
	const pointer =
		response?.$ref ?? `#/paths/${escape(template)}/${method.toLowerCase()}/responses/${status}`;
	const described = pointer
		.slice(2)
		.split('/')
		.reduce((at: Record<string, unknown>, part: string) => at?.[unescape(part)], contract);
	if (!described?.content?.['application/json']) return false;
	const $ref = `contract${pointer}/content/application~1json/schema`;
	if (!ajv.validate({ $ref }, body)) {
		throw new Error(`${method} ${path} ${status}: ${ajv.errorsText()}`);
	}
	return true;
}

const escape = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1');
const unescape = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** All nodes of a tree in reading order. */
export function flatten(nodes: ContentNode[]): ContentNode[] {
	return nodes.flatMap((node) => [node, ...flatten(node.children ?? [])]);
}

import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

interface Operation {
	security?: object[];
}

/** The parts of the OpenAPI document that the server reads itself. */
export interface Contract {
	servers: { url: string }[];
	paths: Record<string, Record<string, Operation>>;
	components: Record<string, Named>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Reads openapi.yaml, the contract of the service. */
export async function readContract(): Promise<Contract> {
	return parse(await readFile(new URL('../../openapi.yaml', import.meta.url), 'utf8'));
}

/** Reads openapi.yaml together with server/openapi.yaml, which adds the server's own operations. */
export async function readServerContract(): Promise<Contract> {
	const [service, text] = await Promise.all([
		readContract(),
		readFile(new URL('../openapi.yaml', import.meta.url), 'utf8'),
	]);
	// Its schemas refer to those of the service, which are in the same document then.
	const own: Contract = parse(text.replaceAll('../openapi.yaml#', '#'));
	return {
		...service,
		paths: merge(service.paths, own.paths),
		components: merge(service.components, own.components),
	};
}

type Named = Record<string, object>;

const merge = <Group extends object>(a: Record<string, Group>, b: Record<string, Group>) =>
	Object.entries(b).reduce<Record<string, Group>>(
		(merged, [name, group]) => ({ ...merged, [name]: { ...merged[name], ...group } }),
		a,
	);

/** Lists every operation of the contract with its method (upper case) and path. */
export function listOperations(contract: Contract) {
	return Object.entries(contract.paths).flatMap(([path, item]) =>
		methods
			.filter((method) => item[method])
			.map((method) => ({ method: method.toUpperCase(), path, operation: item[method] })),
	);
}

/** Whether the operation needs no API key. */
export function isOpen(contract: Contract, method: string, path: string): boolean {
	return contract.paths[path][method.toLowerCase()].security?.length === 0;
}

import { readFileSync } from 'node:fs';
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

type Named = Record<string, object>;

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

const merge = <Group extends object>(a: Record<string, Group>, b: Record<string, Group>) =>
	Object.entries(b).reduce<Record<string, Group>>(
		(merged, [name, group]) => ({ ...merged, [name]: { ...merged[name], ...group } }),
		a,
	);

/** lifelog/openapi.yaml, the contract of the service. */
export const contract: Contract = parse(read('../../lifelog/openapi.yaml'));

// Its schemas refer to those of the service, which are in the same document then.
const own: Contract = parse(read('../openapi.yaml').replaceAll('../lifelog/openapi.yaml#', '#'));

/** The contract together with server/openapi.yaml, which adds the server's own operations. */
export const serverContract: Contract = {
	...contract,
	paths: merge(contract.paths, own.paths),
	components: merge(contract.components, own.components),
};

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

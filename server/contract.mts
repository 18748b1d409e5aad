import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

interface Operation {
	security?: object[];
}

/** The parts of the OpenAPI document that the server reads itself. */
export interface Contract {
	servers: { url: string }[];
	paths: Record<string, Record<string, Operation>>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Reads openapi.yaml. */
export async function readContract(): Promise<Contract> {
	return parse(await readFile(new URL('../openapi.yaml', import.meta.url), 'utf8'));
}

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

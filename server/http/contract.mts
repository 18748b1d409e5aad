import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

type Named<Value> = Record<string, Value>;
type Parameter = { name?: string; in?: string; required?: boolean; schema?: object; $ref?: string };
type Schema = { $ref?: string; properties?: Named<object>; required?: string[] };

interface Operation {
	operationId: string;
	security?: object[];
	parameters?: Parameter[];
	requestBody?: { content: Named<{ schema: Schema }> };
	responses: Named<object>;
}

type PathItem = Named<Operation> & { parameters?: Parameter[] };

/** The parts of the OpenAPI document that the server uses. */
export interface Contract {
	servers: { url: string }[];
	paths: Named<PathItem>;
	components: Named<Named<object>>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** lifelog/openapi.yaml, the contract of the service. */
export const contract = load(read('../../lifelog/openapi.yaml')) as Contract;

// Its schemas refer to those of the service, which end up in the same document.
const own = load(read('../openapi.yaml').replaceAll('../lifelog/openapi.yaml#', '#')) as Contract;

/**
 * Merges a contract into another by name: paths and operations; parameters, body properties and
 * responses of an operation; properties of a schema; other components. If both have a name, `more`
 * wins.
 */
export function extendContract(contract: Contract, more: Contract): Contract {
	const { schemas, ...others } = more.components;
	const components: Contract['components'] = {
		...byName(contract.components, others, (before, added) => ({ ...before, ...added })),
		schemas: byName(contract.components.schemas, schemas, extendSchema),
	};
	const paths = byName(contract.paths, more.paths, (before, added) => {
		const operations = methods
			.filter((method) => added[method])
			.map((method) => [
				method,
				before[method] ? extendOperation(components, before[method], added[method]) : added[method],
			]);
		const parameters = parametersOf(components, before, added);
		return { ...before, ...Object.fromEntries(operations), ...parameters };
	});
	return { ...contract, paths, components };
}

function extendOperation(
	components: Contract['components'],
	before: Operation,
	added: Operation,
): Operation {
	const content = byName(
		before.requestBody?.content,
		added.requestBody?.content,
		(one, { schema }) => ({ schema: extendSchema(targetOf(components, one.schema), schema) }),
	);
	return {
		...before,
		...added,
		...parametersOf(components, before, added),
		...(added.requestBody && { requestBody: { ...added.requestBody, content } }),
		responses: { ...before.responses, ...added.responses },
	};
}

function extendSchema(before: Schema, added: Schema): Schema {
	if (added.$ref !== undefined) return added;
	return {
		...before,
		...added,
		properties: { ...before.properties, ...added.properties },
		...((before.required || added.required) && {
			required: [...new Set([...(before.required ?? []), ...(added.required ?? [])])],
		}),
	};
}

function parametersOf(
	components: Contract['components'],
	{ parameters: before = [] }: { parameters?: Parameter[] },
	{ parameters: added = [] }: { parameters?: Parameter[] },
): { parameters?: Parameter[] } {
	if (before.length + added.length === 0) return {};
	const nameOf = (parameter: Parameter) => {
		const target = targetOf(components, parameter);
		return `${target.in} ${target.name}`;
	};
	const names = new Set(added.map(nameOf));
	return { parameters: [...before.filter((each) => !names.has(nameOf(each))), ...added] };
}

/** The target of a reference, or the value itself. */
function targetOf<Value extends { $ref?: string }>(
	components: Contract['components'],
	value: Value,
): Value {
	const [group, name] = value.$ref?.split('/').slice(-2) ?? [];
	return name === undefined ? value : (components[group][name] as Value);
}

/** Merges two groups by name. `extend` merges two values with the same name. */
function byName<Value extends object>(
	before: Named<Value> = {},
	added: Named<Value> = {},
	extend: (before: Value, added: Value) => Value,
): Named<Value> {
	const parts = Object.entries(added).map(([name, value]): [string, Value] => [
		name,
		before[name] ? extend(before[name], value) : value,
	]);
	return { ...before, ...Object.fromEntries(parts) };
}

/** The contract with the server's own additions of server/openapi.yaml. */
export const serverContract = extendContract(contract, own);

/** Lists every operation of the contract with its method (upper case) and path. */
export function listOperations(contract: Contract) {
	return Object.entries(contract.paths).flatMap(([path, item]) =>
		methods
			.filter((method) => item[method])
			.map((method) => ({ method: method.toUpperCase(), path, operation: item[method] })),
	);
}

/** Lists the routes of the contract for Fastify, with the schemas of what a request contains. */
export function listRoutes(contract: Contract) {
	return listOperations(contract).map(({ method, path, operation }) => {
		const asked = [...(contract.paths[path].parameters ?? []), ...(operation.parameters ?? [])];
		const parameters = withoutReferences(contract.components, asked) as Parameter[];
		const parts = { params: 'path', querystring: 'query', headers: 'header' };
		const schemas = Object.entries(parts).flatMap(([part, place]) => {
			const those = parameters.filter((parameter) => parameter.in === place);
			const properties = Object.fromEntries(those.map(({ name, schema }) => [name, schema]));
			const required = those.filter((each) => each.required).map(({ name }) => name);
			return those.length > 0 ? [[part, { type: 'object', properties, required }]] : [];
		});
		const body = withoutReferences(contract.components, operation.requestBody);
		const schema = { ...Object.fromEntries(schemas), ...(body !== undefined && { body }) };
		const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
		const isOpen = operation.security?.length === 0;
		return { method, url, schema, isOpen, operationId: operation.operationId };
	});
}

/** Puts the targets of references in their place. A request has no recursive schema. */
function withoutReferences(components: Contract['components'], value: unknown): unknown {
	if (Array.isArray(value)) return value.map((each) => withoutReferences(components, each));
	if (typeof value !== 'object' || value === null) return value;
	if ('$ref' in value) return withoutReferences(components, targetOf(components, value as Schema));
	return Object.fromEntries(
		Object.entries(value).map(([name, each]) => [name, withoutReferences(components, each)]),
	);
}

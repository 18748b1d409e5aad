import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { serverContract } from '../../server/http/contract.mts';

/** An answer of a service, as it came. */
export interface AnswerOfService {
	method: string;
	/** Of the request, without its query. */
	path: string;
	status: number;
	/** By their names in small letters. */
	headers: Record<string, unknown>;
	/** The body; read only where the contract describes JSON, or an error was answered. */
	body: string;
}

interface Described {
	$ref?: string;
	headers?: Record<string, { schema: object }>;
	content?: Record<string, { schema: object }>;
}

interface Document {
	paths: Record<string, Record<string, { responses: Record<string, Described> }>>;
	components: Record<string, Record<string, object>>;
}

const contract = serverContract as unknown as Document;
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(contract, 'contract');

const validators = new Map<string, ValidateFunction>();
const errorSchema = '#/components/schemas/Error';

/** What is wrong with a value by the schema that a pointer leads to; undefined for nothing. */
function wrongBy(pointer: string, value: unknown): string | undefined {
	let validate = validators.get(pointer);
	if (!validate) validators.set(pointer, (validate = ajv.compile({ $ref: `contract${pointer}` })));
	return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

const escaped = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1');

const templates = Object.keys(contract.paths).map((template) => ({
	template,
	pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** What the contract says of an answer, and where it says it; undefined when it does not list it. */
function described(
	method: string,
	path: string,
	status: number,
): { pointer: string; response: Described } | undefined {
	const template = templates.find(({ pattern }) => pattern.test(path))?.template;
	if (template === undefined) return undefined;
	const verb = method.toLowerCase();
	const response = contract.paths[template][verb]?.responses[status];
	if (!response) return undefined;
	const pointer = response.$ref ?? `#/paths/${escaped(template)}/${verb}/responses/${status}`;
	const found = pointer
		.slice(2)
		.split('/')
		.reduce<unknown>(
			(at, part) =>
				(at as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')],
			contract,
		);
	return { pointer, response: found as Described };
}

/** Whether the contract describes a body in JSON for an answer. */
export function describesJson(method: string, path: string, status: number): boolean {
	const { response } = described(method, path, status) ?? {};
	return response?.content?.['application/json'] !== undefined;
}

/**
 * What of an answer is against openapi.yaml: a body or a header that it describes otherwise, a
 * status that it does not list and that refuses nothing, an error that has no `error`; undefined
 * when nothing is.
 */
export function contradictionIn(answer: AnswerOfService): string | undefined {
	const { method, path, status } = answer;
	const problem = problemOf(answer);
	return problem && `${method} ${path} ${status}: ${problem}`;
}

function problemOf({ method, path, status, headers, body }: AnswerOfService): string | undefined {
	const isLater = status === 503 && headers['retry-after'] !== undefined;
	const type = String(headers['content-type'] ?? '').split(';')[0];
	const { pointer, response } = described(method, path, status) ?? {};
	if (status >= 500 && !isLater && !response) {
		return 'the contract has no answer of a server that failed';
	}
	if (!response && status < 400) return 'the contract does not list this status';
	for (const name of Object.keys(response?.headers ?? {})) {
		const schema = `${pointer}/headers/${escaped(name)}/schema`;
		const wrong = wrongBy(schema, headers[name.toLowerCase()]);
		if (wrong) return `${name} ${wrong}`;
	}
	const content = response?.content;
	if (content && !(type in content)) {
		return `the body is ${type || 'of no type'}, not ${Object.keys(content).join(' or ')}`;
	}
	if (content && type !== 'application/json') return undefined;
	if (!content && status < 400) return undefined;
	const schema = content ? `${pointer}/content/application~1json/schema` : errorSchema;
	try {
		return wrongBy(schema, JSON.parse(body));
	} catch (error) {
		if (error instanceof SyntaxError) return "the body isn't JSON";
		throw error;
	}
}

// Shared code of the MCP server's tools: arguments, and parts of answers.
import { z, type ZodRawShape } from 'zod';
import { ApiError } from '../../util/errors.mts';
import { answerFailure, type ServerError } from '../../util/failures.mts';
import { checkZone, zoneFormatter } from '../../util/times.mts';
import { logFailure } from '../log.mts';
import type { Service, Tool } from '../service.mts';

/** Maximum answer length in UTF-16 units: about 5,000 tokens. A single entry may exceed it. */
const MAX_CHARACTERS = 20_000;
/** More entries than an answer has room for. */
export const MAX_ENTRIES = 200;
const MAX_TITLE = 200;
const MAX_NAMED = 5;

/** Makes an argument optional. Some models send null for omitted ones. */
export const optional = <Value,>(argument: z.ZodType<Value>) =>
	argument.nullish().transform((value) => value ?? undefined);
export const integer = (argument: z.ZodInt, preset: number) =>
	argument
		.nullable()
		.default(preset)
		.transform((value) => value ?? preset);

export const timezone = optional(z.string().max(100)).describe(
	'IANA time zone of the times you give and get, such as Europe/Berlin; default UTC',
);
export const offsetOf = (first: string, max = Number.MAX_SAFE_INTEGER) =>
	integer(z.int().min(0).max(max), 0).describe(`${first}: nextOffset of the previous response`);
export const listOffset = offsetOf('Entries to skip');
export const textOffset = offsetOf('Character to begin with');
/**
 * Creates a read-only tool. Unknown arguments are rejected.
 *
 * @param answer Returns texts for a model. Throws an ApiError with a message for it.
 */
export function toolOf<Shape extends ZodRawShape>(
	name: string,
	description: string,
	shape: Shape,
	answer: (service: Service, args: z.output<z.ZodObject<Shape>>) => string[] | Promise<string[]>,
): Tool {
	const known = Object.keys(shape).join(', ');
	const inputSchema: z.ZodObject = z.strictObject(shape, {
		error: ({ code, keys }) =>
			code === 'unrecognized_keys'
				? `Unknown ${namesOf(keys as string[])}: ${name} takes ${known}`
				: undefined,
	});
	const annotations = { readOnlyHint: true };
	return (server, service, request) => {
		server.registerTool(name, { description, inputSchema, annotations }, async (args) => {
			try {
				const texts = await answer(service, args as z.output<z.ZodObject<Shape>>);
				return { content: texts.map((text) => ({ type: 'text', text })) };
			} catch (error) {
				if (error instanceof ApiError) throw error;
				const { statusCode, message } = answerFailure(service.name, error as ServerError);
				logFailure(request, statusCode, error as ServerError);
				throw new Error(`${message} (request ${request.id})`);
			}
		});
	};
}

/** `argument "a"`, or `arguments "a", "b" and 3 more`. */
function namesOf(keys: string[]): string {
	const named = keys.slice(0, MAX_NAMED).map((key) => JSON.stringify(short(key)));
	const more = keys.length > MAX_NAMED ? ` and ${keys.length - MAX_NAMED} more` : '';
	return `argument${keys.length === 1 ? '' : 's'} ${named.join(', ')}${more}`;
}

/** Entries as compact JSON, as many as fit into an answer. */
export class Page {
	readonly #name: string;
	readonly #offset: number;
	readonly #entries: string[] = [];
	#length = 0;

	constructor(name: string, offset: number) {
		this.#name = name;
		this.#offset = offset;
	}

	/** Adds an entry; returns whether it fits. The first one always does. */
	add(entry: object): boolean {
		const json = JSON.stringify(entry);
		this.#length += json.length + 1;
		if (this.#length > MAX_CHARACTERS && this.#entries.length > 0) return false;
		this.#entries.push(json);
		return true;
	}

	/** Returns the page. `total` is the number of known entries, from the first one. */
	end(total: number): string {
		const next = this.#offset + this.#entries.length;
		const more = next < total ? `,"nextOffset":${next}` : '';
		return `{"${this.#name}":[${this.#entries.join()}]${more}}`;
	}
}

export function pageOf(name: string, offset: number, entries: object[]): string {
	const page = new Page(name, offset);
	for (const entry of entries.slice(0, MAX_ENTRIES)) if (!page.add(entry)) break;
	return page.end(offset + entries.length);
}

/**
 * A part of a text, and instructions to continue. They are a separate text, so that nothing said
 * can imitate them.
 */
export function partOf(text: string, offset: number, empty: string): string[] {
	if (text.trim() === '') return [empty];
	if (offset >= text.length) {
		throw new ApiError(
			400,
			`offset ${offset} is past the end: the text has ${text.length} characters`,
		);
	}
	const end = endOfPart(text, offset);
	const part = text.slice(offset, end).toWellFormed();
	if (end === text.length) return [part];
	return [
		part,
		`nextOffset: ${end}. The text has ${text.length} characters: call again with offset ${end} to continue.`,
	];
}

/** The end of a part: after a line if one ends in its second half, and never inside a character. */
function endOfPart(text: string, offset: number): number {
	const end = offset + MAX_CHARACTERS;
	if (end >= text.length) return text.length;
	const line = text.lastIndexOf('\n', end - 1) + 1;
	if (line > offset + MAX_CHARACTERS / 2) return line;
	return /[\ud800-\udbff]/.test(text[end - 1]) ? end - 1 : end;
}

export const pastTheEnd = (offset: number) => `There is nothing from offset ${offset} on.`;

export const short = (text: string) =>
	(text.length > MAX_TITLE ? `${text.slice(0, MAX_TITLE - 1)}…` : text).toWellFormed();

/** Formats times in a time zone, to the second. Throws an ApiError (400) for an unknown one. */
export function shortTimes(timezone: string | undefined): (time: string) => string {
	const format = zoneFormatter(checkZone(timezone));
	return (time) => format(time).replace(/\.\d+/, '');
}

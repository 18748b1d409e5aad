// The log of a server. No line has what was said, asked for or answered, nor a key.
import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';
import { pino, type Logger } from 'pino';
import { printable } from '../util/text.mts';
import { whereIs, type ServerError } from '../util/failures.mts';

/** How a log is written. */
export interface LogOptions {
	/** The least urgent lines to write; `debug` has one for each request. */
	level: 'error' | 'warn' | 'info' | 'debug';
	/** `text`: a time and a sentence a line, for people. `json`: an object a line, for programs. */
	format: 'text' | 'json';
}

/** Opens a log on stderr. */
export function openLog({ level, format }: LogOptions): Logger {
	const displayStream = {
		write: (line: string) => {
			const { time, msg } = JSON.parse(line);
			process.stderr.write(`${time} ${printable(msg)}\n`);
		},
	};
	return pino(
		{
			level,
			base: null,
			timestamp: () => `,"time":"${new Date().toISOString()}"`,
			formatters: { level: (label) => ({ level: label }) },
			// Messages of errors and addresses of requests may quote what was said or asked for.
			serializers: { err: whereIs, req: () => undefined, res: () => undefined },
		},
		format === 'json' ? process.stderr : displayStream,
	);
}

/** What Fastify logs of requests, in words of our own: its own lines quote addresses and errors. */
export class RequestLog extends LogController {
	constructor() {
		super({ disableRequestLogging: true });
	}

	override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
		const facts = factsOf(request, reply.statusCode);
		const ms = Math.round(reply.elapsedTime);
		request.log.debug({ ...facts, ms }, `${lineOf(request, facts)}, ${ms} ms, ${request.ip}`);
	}

	override streamError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
		// A client that went away.
		if ((error as ServerError).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
		logFailure(request, reply.statusCode, error, 'was interrupted');
	}
}

/**
 * Logs a request that failed, with its number and where: an error for one that nobody expected, a
 * warning while the server can't answer yet.
 *
 * @param status The HTTP status of the answer.
 */
export function logFailure(
	request: FastifyRequest,
	status: number,
	error: ServerError,
	how = 'failed',
): void {
	const facts = factsOf(request, status);
	const line = `${lineOf(request, facts)} ${how}: `;
	if (status === 503) return request.log.warn(facts, `${line}${error.message}`);
	const { code, at } = whereIs(error);
	request.log.error({ ...facts, code, at }, `${line}${[code, ...at].join(' ')}`);
}

/** A request by its route: an address can hold the words of a search. */
function factsOf({ method, routeOptions, ip }: FastifyRequest, status: number) {
	return { method, route: routeOptions.url ?? 'no route', status, client: ip };
}

function lineOf({ id }: FastifyRequest, facts: ReturnType<typeof factsOf>): string {
	return `Request ${id}: ${facts.method} ${facts.route} ${facts.status}`;
}

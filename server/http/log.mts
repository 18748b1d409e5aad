// The log of a server. It contains no keys, and nothing that was said, searched or answered.
import { LogController, type FastifyReply, type FastifyRequest } from 'fastify';
import { pino, type Logger } from 'pino';
import { printable } from '../util/text.mts';
import { whereIs, type ServerError } from '../util/failures.mts';

export interface LogOptions {
	/** Minimum level to log; `debug` has one line per request. */
	level: 'error' | 'warn' | 'info' | 'debug';
	/** `text`: a time and a sentence per line, for people. `json`: an object per line, for programs. */
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
			// Error messages and request URLs may quote what was said or searched.
			serializers: { err: whereIs, req: () => undefined, res: () => undefined },
		},
		format === 'json' ? process.stderr : displayStream,
	);
}

/** Logs requests in the server's own words. Fastify's lines would quote URLs and errors. */
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
		// The client disconnected.
		if ((error as ServerError).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
		logFailure(request, reply.statusCode, error, 'was interrupted');
	}
}

/**
 * Logs a failed request with its number and the place of the error: as an error if unexpected, as a
 * warning while the server isn't ready.
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

/** Describes a request by its route: a URL can contain search words. */
function factsOf({ method, routeOptions, ip }: FastifyRequest, status: number) {
	return { method, route: routeOptions.url ?? 'no route', status, client: ip };
}

function lineOf({ id }: FastifyRequest, facts: ReturnType<typeof factsOf>): string {
	return `Request ${id}: ${facts.method} ${facts.route} ${facts.status}`;
}

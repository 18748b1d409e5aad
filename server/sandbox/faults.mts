import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A fault for matching requests. */
export interface Fault {
	/** HTTP method; by default any. */
	method?: string;
	/** Prefix of the raw path; by default any. */
	path?: string;
	/** Number of matching requests to let pass first. */
	skip?: number;
	/** Number of matching requests to affect. Default 1. */
	times?: number;
	/** Answers with this status instead of handling the request. */
	status?: number;
	/** Headers added to the answer. */
	headers?: Record<string, string>;
	/** Answers with this body instead of handling the request (status 200 unless `status` is set). */
	body?: unknown;
	delayMs?: number;
	/** Closes the connection before the request is handled, or after it without an answer. */
	reset?: 'before' | 'after';
	/** Declares the full length, sends half of the answer, and closes the connection. */
	cutBody?: boolean;
}

/** JSON Schema of a list of faults. */
export const faultsSchema = {
	type: 'array',
	items: {
		type: 'object',
		additionalProperties: false,
		properties: {
			method: { type: 'string' },
			path: { type: 'string' },
			skip: { type: 'integer', minimum: 0 },
			times: { type: 'integer', minimum: 1 },
			status: { type: 'integer', minimum: 200, maximum: 599 },
			headers: { type: 'object', additionalProperties: { type: 'string' } },
			body: {},
			delayMs: { type: 'integer', minimum: 0 },
			reset: { enum: ['before', 'after'] },
			cutBody: { type: 'boolean' },
		},
	},
};

/** Applies the world's current faults to requests of `app`. */
export function injectFaults(app: FastifyInstance, world: { readonly faults: Fault[] }): void {
	const active = new WeakMap<FastifyRequest, Fault>();

	app.addHook('onRequest', async (request, reply) => {
		const fault = takeFault(world.faults, request);
		if (!fault) return;
		active.set(request, fault);
		// The timer must not keep the process alive after its connections are closed.
		if (fault.delayMs) await sleep(fault.delayMs, undefined, { ref: false });
		if (fault.reset === 'before') {
			reply.hijack();
			request.raw.socket.destroy();
			return;
		}
		if (fault.headers) reply.headers(fault.headers);
		if (fault.status === undefined && fault.body === undefined) return;
		return reply.code(fault.status ?? 200).send(fault.body ?? '');
	});

	app.addHook('onSend', async (request, reply, payload) => {
		const fault = active.get(request);
		if (fault?.reset === 'after') request.raw.socket.destroy();
		if (!fault?.cutBody) return payload;
		if (typeof payload === 'string') reply.header('content-length', Buffer.byteLength(payload));
		const source = payload instanceof Readable ? payload : Readable.from([payload]);
		const length = Number(reply.getHeader('content-length') ?? undeclared);
		return Readable.from(firstHalf(source, length, request.raw.socket));
	});
}

/** Counts the request for all matching faults; returns the one to apply. */
function takeFault(faults: Fault[], request: FastifyRequest): Fault | undefined {
	for (const fault of faults) {
		if (fault.method && fault.method.toUpperCase() !== request.method) continue;
		if (fault.path && !request.url.startsWith(fault.path)) continue;
		if (fault.skip) {
			fault.skip -= 1;
			continue;
		}
		const { times = 1 } = fault;
		if (times === 0) continue;
		fault.times = times - 1;
		return fault;
	}
	return undefined;
}

// Assumed length of an answer that declares none.
const undeclared = 20_000;
// Time for sent data to arrive before the connection closes.
const flushMs = 20;

async function* firstHalf(
	source: Readable,
	length: number,
	socket: Socket,
): AsyncGenerator<Buffer> {
	let left = Math.floor(length / 2);
	for await (const chunk of source) {
		const part = Buffer.from(chunk).subarray(0, left);
		left -= part.length;
		yield part;
		if (left === 0) break;
	}
	await sleep(flushMs);
	socket.destroy();
}

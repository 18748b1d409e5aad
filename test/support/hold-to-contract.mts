// Loaded into a server before its own program (--import): holds each of its answers, whoever asked,
// against openapi.yaml, and writes what is against it to stderr.
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AGAINST_CONTRACT, contradictionIn } from './contract.mts';

// Outside of the contract, as docs/server.md says.
const isOutside = ({ method, path }: { method: string; path: string }) =>
	method === 'GET' && path === '/health';

subscribe('http.server.request.start', (message) => {
	const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
	const pieces: Buffer[] = [];
	let given: Record<string, unknown> = {};
	const keep = (piece: unknown, encoding: unknown) => {
		if (typeof piece === 'string') pieces.push(Buffer.from(piece, encoding as BufferEncoding));
		else if (piece instanceof Uint8Array && isText(given)) pieces.push(Buffer.from(piece));
	};
	for (const name of ['write', 'end'] as const) {
		const send = response[name].bind(response) as (...args: unknown[]) => never;
		response[name] = (...args: unknown[]) => {
			keep(args[0], typeof args[1] === 'string' ? args[1] : 'utf8');
			return send(...args);
		};
	}
	// What is given here does not stand in `getHeaders()`.
	const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => never;
	response.writeHead = (...args: unknown[]) => {
		const last = args.at(-1);
		if (typeof last === 'object' && last !== null) given = last as Record<string, unknown>;
		return writeHead(...args);
	};
	response.once('finish', () => {
		const asked = {
			method: request.method!,
			path: request.url!.replace(/^https?:\/\/[^/?]*/i, '').replace(/[?#].*$/s, ''),
		};
		if (isOutside(asked)) return;
		const contradiction = contradictionIn({
			...asked,
			status: response.statusCode,
			headers: { ...response.getHeaders(), ...given },
			body: Buffer.concat(pieces).toString(),
		});
		if (contradiction !== undefined) console.error(AGAINST_CONTRACT + contradiction);
	});
});

/** Whether a body is worth keeping: audio is not read. */
function isText(headers: Record<string, unknown>): boolean {
	return !String(headers['content-type'] ?? '').startsWith('audio/');
}

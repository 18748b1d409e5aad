import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AGAINST_CONTRACT } from './againstContract.mts';
import { contradictionIn } from './contract.mts';

// Outside of the contract, as docs/reference/server.md says.
const isOutside = ({ path }: { path: string }) => path === '/health' || path === '/ready';
// The page and what it asks (test/page/http.test.mts).
const isOfPage = ({ path }: { path: string }) =>
	/^\/($|(add|assets|chats|connect|days|lifelogs|people|person|recordings|search|session|status|web|words)($|\/))/.test(
		path,
	);
// Nothing of lifelog-server may be kept on the way, where the service has audio kept for an hour.
const uncached = 'private, no-store';
const cachedByService = 'public, max-age=3600';

/**
 * Holds each answer of servers in this process, whoever asked, against openapi.yaml, and writes what is
 * against it to stderr.
 *
 * @param isHeld Whether the server is meant that is being asked.
 */
export function holdToContract(isHeld = () => true): void {
	subscribe('http.server.request.start', (message) => {
		if (!isHeld()) return;
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
			if (isOutside(asked) || isOfPage(asked)) return;
			const headers: Record<string, unknown> = { ...response.getHeaders(), ...given };
			if (headers['cache-control'] !== uncached) {
				console.error(`${AGAINST_CONTRACT}${asked.method} ${asked.path} may be cached`);
			}
			// The page for an unknown address, which only browsers get (test/page/http.test.mts).
			const type = String(headers['content-type']);
			const isOfApi = /^\/(v\d|mcp)/.test(asked.path);
			if (response.statusCode === 404 && type.startsWith('text/html') && !isOfApi) return;
			// Answered as GET, without a body.
			if (asked.method === 'HEAD') return;
			const contradiction = contradictionIn({
				...asked,
				status: response.statusCode,
				headers: { ...headers, 'cache-control': cachedByService },
				body: Buffer.concat(pieces).toString(),
			});
			if (contradiction !== undefined) console.error(AGAINST_CONTRACT + contradiction);
		});
	});
}

/** Whether a body is worth keeping: audio is not read. */
function isText(headers: Record<string, unknown>): boolean {
	return !String(headers['content-type'] ?? '').startsWith('audio/');
}

// What stands in for Limitless at its own address, for processes that are started with its `env`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from './certificate.mts';

const HOST = 'api.limitless.ai';
const HTML = { 'content-type': 'text/html' };
const GOODBYE = '<!doctype html><title>Goodbye</title>';

interface Answer {
	status: number;
	headers?: Record<string, string>;
	body?: string;
}

/** What Limitless may answer one day; a request's API key names it. */
export const ANSWERS: Record<string, Answer> = {
	'answer-401': { status: 401, body: '{"error":"Unknown key"}' },
	'answer-403': { status: 403, body: '{"error":"No"}' },
	'answer-404': { status: 404, body: '{"error":"Not found"}' },
	'answer-410': { status: 410, body: '{"error":"Gone"}' },
	'answer-redirect': { status: 301, headers: { location: 'https://www.example.com/goodbye' } },
	'answer-html': { status: 200, headers: HTML, body: GOODBYE },
	'answer-html-404': { status: 404, headers: HTML, body: GOODBYE },
	'answer-failing': { status: 503, headers: HTML, body: GOODBYE },
	'answer-empty': { status: 200, body: '{"data":{"lifelogs":[],"chats":[]},"meta":{}}' },
};

/** Loaded before a program: the host can't be found, or refuses connections. */
const preloadOf = (how: 'ENOTFOUND' | 'ECONNREFUSED') => `
	import net from 'node:net';
	import { syncBuiltinESMExports } from 'node:module';
	import dns from 'node:dns';
	const lookup = dns.lookup;
	dns.lookup = (host, options, callback = options) => {
		if (host !== '${HOST}') return lookup(host, options, callback);
		const error = Object.assign(new Error('${how} ${HOST}'), { code: '${how}', syscall: 'connect' });
		process.nextTick(callback, error);
	};
	syncBuiltinESMExports();
`;

/** Starts it, and a proxy that leads to it. */
export async function startLimitless() {
	const folder = mkdtempSync(join(tmpdir(), 'limitless-'));
	const certificate = selfSigned(HOST);
	const path = join(folder, 'certificate.pem');
	writeFileSync(path, certificate.cert);
	const service = createTlsServer(certificate, ({ headers }, response) => {
		const { status, headers: own, body } = ANSWERS[String(headers['x-api-key'])];
		response.writeHead(status, own ?? { 'content-type': 'application/json' }).end(body);
	});
	const proxy = createServer((_request, response) => response.writeHead(502).end());
	proxy.on('connect', ({ url }, client) => {
		if (url !== `${HOST}:443`) return client.destroy();
		const upstream = connect((service.address() as AddressInfo).port, '127.0.0.1', () => {
			client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
			upstream.pipe(client).pipe(upstream);
		});
		for (const end of [client, upstream]) {
			end.on('error', () => {
				client.destroy();
				upstream.destroy();
			});
		}
	});
	for (const server of [service, proxy]) await once(server.listen(0, '127.0.0.1'), 'listening');
	const preloads = Object.fromEntries(
		(['ENOTFOUND', 'ECONNREFUSED'] as const).map((how) => {
			const file = join(folder, `${how}.mjs`);
			writeFileSync(file, preloadOf(how));
			return [how, file] as const;
		}),
	);
	return {
		/** For a process whose requests are answered by `ANSWERS`. */
		env: {
			HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
			NO_PROXY: '127.0.0.1,localhost',
			NODE_EXTRA_CA_CERTS: path,
			NODE_USE_ENV_PROXY: '1',
		},
		/** For a process that doesn't reach the host. */
		envWithout: (how: 'ENOTFOUND' | 'ECONNREFUSED') => ({
			NODE_OPTIONS: `--import ${preloads[how]}`,
			HTTPS_PROXY: '',
			https_proxy: '',
		}),
		close() {
			for (const server of [service, proxy]) server.close().closeAllConnections();
			rmSync(folder, { recursive: true });
		},
	};
}

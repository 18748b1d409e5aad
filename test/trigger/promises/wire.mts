// The ways to the service: over HTTP, or within the process, which takes a third of the time.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { AxiosAdapter, AxiosStatic } from 'axios';
import type { Reply } from './service.mts';

/** What answers requests. */
export interface Answering {
	answer(path: string, timeBudgetMs?: number): Promise<Reply | undefined>;
}

/** Serves worlds, one at a time, each under an address of its own. */
export interface Wire {
	/** @returns A new address, under which the world is served from now on. */
	serve(world: Answering): string;
	close(): void;
}

/** Worlds by address: a request of a history that is over reaches none. */
function addresses() {
	let world: Answering | undefined;
	let count = 0;
	return {
		next(served: Answering): string {
			world = served;
			return `/w${++count}`;
		},
		async answer(path: string, timeBudgetMs?: number): Promise<Reply | undefined> {
			const [, key, rest] = /\/(w\d+)(\/.*)$/.exec(path)!;
			if (key !== `w${count}`) throw new Error('A request of a history that is over');
			return await world!.answer(rest, timeBudgetMs);
		},
	};
}

/** A server on this machine. */
export async function overHttp(): Promise<Wire> {
	const worlds = addresses();
	const server = createServer((request, response) => {
		void worlds.answer(request.url!).then((reply) => {
			if (!reply) {
				request.socket.destroy();
				return;
			}
			const { status, headers, body, isCut } = reply;
			response.sendDate = false;
			if (!isCut) {
				response.writeHead(status, headers).end(body);
				return;
			}
			response.writeHead(status, { ...headers, 'Content-Length': body.length + 10 });
			response.write(body.slice(0, body.length / 2), () => request.socket.destroy());
		});
	});
	await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
	const { port } = server.address() as AddressInfo;
	return {
		serve: (world) => `http://127.0.0.1:${port}${worlds.next(world)}`,
		close() {
			server.closeAllConnections();
			server.close();
		},
	};
}

const requireOfCore = createRequire(createRequire(resolve('package.json')).resolve('n8n-core'));
const requireOfClient = createRequire(requireOfCore.resolve('@n8n/backend-network'));

interface Sent {
	url?: string;
	params?: Record<string, unknown>;
	timeout?: number;
}

/** n8n's HTTP client as it is, but that what it would send does not leave the process. */
export function inProcess(): Wire {
	const worlds = addresses();
	const axios = requireOfClient('axios') as AxiosStatic;
	const { adapter } = axios.defaults;
	const reset = () => Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
	const answer: AxiosAdapter = async (config) => {
		const { url = '', params, timeout } = config as Sent;
		const sent = Object.entries(params ?? {}).filter(([, value]) => value !== undefined);
		const query = new URLSearchParams(sent.map(([name, value]) => [name, String(value)]));
		const reply = await worlds.answer(`${url}?${query}`, timeout);
		if (!reply) throw new axios.AxiosError('socket hang up', 'ECONNRESET', config);
		const { status, body, isCut } = reply;
		const named = Object.entries(reply.headers).map(([name, value]) => [name.toLowerCase(), value]);
		const headers = Object.fromEntries(named) as Reply['headers'];
		const data = Readable.from(
			(function* () {
				yield Buffer.from(isCut ? body.slice(0, body.length / 2) : body);
				if (isCut) throw reset();
			})(),
		);
		return { status, statusText: '', headers, config, data: data as unknown };
	};
	axios.defaults.adapter = answer;
	return {
		serve: (world) => `http://127.0.0.1:1${worlds.next(world)}`,
		close() {
			axios.defaults.adapter = adapter;
		},
	};
}

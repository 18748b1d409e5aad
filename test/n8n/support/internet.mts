// A proxy that answers, over HTTPS, for the hosts whose addresses are fixed in n8n's nodes.
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { installServices, SERVICES_FOLDER } from '../install.mts';
import { temporaryFolder } from './server.mts';

/** A request that a node sent. */
export interface SentRequest {
	method: string;
	host: string;
	path: string;
	headers: Record<string, string | string[] | undefined>;
	/** As JSON; empty for anything else. */
	body: IDataObject;
	bytes: Buffer;
}

/** What a host answers: a body with 200, JSON or bytes, or with another status. */
export type Answer = IDataObject | Buffer | { status: number; body: IDataObject };

/** What stands in for one host. */
export type Host = (request: SentRequest) => Answer | Promise<Answer>;

/** A running proxy. */
export interface Internet {
	/** Environment variables that send n8n's requests through it. */
	env: NodeJS.ProcessEnv;
	/** Everything that was sent to a host so far, in order. */
	sent: (host: string) => SentRequest[];
	/** Lets a host answer otherwise. */
	answer: (host: string, how: Host) => void;
	close: () => Promise<void>;
}

/** What is used of mockttp. */
interface Mockttp {
	generateCACertificate: (options: object) => Promise<{ key: string; cert: string }>;
	getLocal: (options: object) => {
		port: number;
		start: () => Promise<void>;
		stop: () => Promise<void>;
		forAnyRequest: () => {
			thenCallback: (
				answer: (request: {
					method: string;
					url: string;
					headers: SentRequest['headers'];
					body: { getDecodedBuffer: () => Promise<Buffer | undefined> };
				}) => Promise<{ statusCode: number; json?: object; body?: Buffer }>,
			) => Promise<unknown>;
		};
	};
}

/**
 * Starts the proxy on a free port of 127.0.0.1. A host that nothing stands in for answers 502.
 *
 * @param hosts What stands in for which host.
 */
export async function startInternet(hosts: Record<string, Host>): Promise<Internet> {
	await installServices();
	const services = createRequire(join(SERVICES_FOLDER, 'package.json'));
	const { generateCACertificate, getLocal } = services('mockttp') as Mockttp;
	const https = await generateCACertificate({ subject: { commonName: 'Lifelog tests' } });
	const folder = await temporaryFolder('lifelog-ca');
	const certificate = join(folder.path, 'ca.pem');
	await writeFile(certificate, https.cert);

	const answers = new Map(Object.entries(hosts));
	const requests: SentRequest[] = [];
	const proxy = getLocal({ https, recordTraffic: false });
	await proxy.start();
	await proxy.forAnyRequest().thenCallback(async ({ method, url, headers, body }) => {
		const { host, pathname, search } = new URL(url);
		const bytes = (await body.getDecodedBuffer()) ?? Buffer.alloc(0);
		const path = pathname + search;
		const request = { method, host, path, headers, body: asJson(headers, bytes), bytes };
		requests.push(request);
		const answer = (await answers.get(host)?.(request)) ?? {
			status: 502,
			body: { message: `Nothing stands in for ${host}` },
		};
		if (Buffer.isBuffer(answer)) return { statusCode: 200, body: answer };
		const isWhole = typeof answer.status === 'number' && typeof answer.body === 'object';
		return isWhole
			? { statusCode: answer.status as number, json: answer.body as object }
			: { statusCode: 200, json: answer };
	});
	return {
		env: {
			HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
			NO_PROXY: '127.0.0.1,localhost',
			NODE_EXTRA_CA_CERTS: certificate,
		},
		sent: (host) => requests.filter((request) => request.host === host),
		answer: (host, how) => answers.set(host, how),
		close: async () => {
			await proxy.stop();
			await folder.remove();
		},
	};
}

function asJson(headers: SentRequest['headers'], bytes: Buffer): IDataObject {
	const isFile = headers['content-type'] === 'application/octet-stream';
	return isFile || bytes.length === 0 ? {} : (JSON.parse(bytes.toString()) as IDataObject);
}

// A lifelog-server that calls webhooks, and can be killed and started again at the same address.
import { spawnLifelogServer } from '../../support/lifelogServer.mts';
import { freePorts } from '../../support/ports.mts';
import { temporaryFolder } from './server.mts';

interface Webhook {
	url: string;
	types: string[];
	status: string;
	lastDelivery: { at: string; status: number | null } | null;
}

export interface EventServer {
	url: string;
	apiKey: string;
	webhooks: () => Promise<Webhook[]>;
	/** Creates a lifelog with a title. Returns its ID. */
	create: (title: string) => Promise<string>;
	remove: (id: string) => Promise<void>;
	/** Uploads a recording that isn't audio. */
	uploadBroken: (fileName: string) => Promise<void>;
	/** Kills it, and starts it again. */
	restart: (whileAway?: () => Promise<void>) => Promise<void>;
	close: () => Promise<void>;
}

/** In seconds: n8n may take a minute to start on a busy machine. */
const PAUSES = '1,2,5,10,20,30,60';

/** It tries again soon. */
export async function startEventServer(): Promise<EventServer> {
	const folder = await temporaryFolder('lifelog-events');
	const [port] = await freePorts(1);
	const args = ['--allow-changes', '--allow-delete', '--webhook-pauses', PAUSES];
	// Nobody is there: nothing is transcribed that isn't audio.
	args.push('--transcription-url', 'http://127.0.0.1:9/v1', '--transcription-model', 'none');
	const spawn = () => spawnLifelogServer(folder.path, [...args, '--port', String(port)]);
	let started = spawn();
	const { url, apiKey } = await started.ready;
	let created = 0;

	async function ask<T>(method: string, path: string, body?: object): Promise<T> {
		const response = await fetch(`${url}/v1/${path}`, {
			method,
			headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
			...(body && { body: JSON.stringify(body) }),
		});
		if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
		return ((await response.json()) as { data: T }).data;
	}

	return {
		url,
		apiKey,
		webhooks: async () => (await ask<{ webhooks: Webhook[] }>('GET', 'webhooks')).webhooks,
		async create(title) {
			const startTime = new Date(Date.now() - 3_600_000 + 1_000 * created++).toISOString();
			const transcript = [{ text: `This is ${title}.`, start: 0, end: 1 }];
			const body = { startTime, title, transcript };
			const { lifelog } = await ask<{ lifelog: { id: string } }>('POST', 'lifelogs', body);
			return lifelog.id;
		},
		remove: async (id) => void (await ask('DELETE', `lifelogs/${id}`)),
		async uploadBroken(fileName) {
			const form = new FormData();
			form.append('file', new Blob(['This is not audio.']), fileName);
			const headers = { 'x-api-key': apiKey };
			const response = await fetch(`${url}/v1/recordings`, { method: 'POST', headers, body: form });
			if (!response.ok) throw new Error(await response.text());
		},
		async restart(whileAway) {
			started.child.kill('SIGKILL');
			await started.exited;
			await whileAway?.();
			started = spawn();
			await started.ready;
		},
		async close() {
			await (await started.ready).close();
			await folder.remove();
		},
	};
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Lifelog } from '../../lifelog/api.ts';
import type { ResetOptions, Status } from '../../server/sandbox/control.mts';
import type { Dialect, DialectChange } from '../../server/sandbox/dialect.mts';
import type { Fault } from '../../server/sandbox/faults.mts';
import type { LoggedRequest } from '../../server/sandbox/requestLog.mts';
import type { Sandbox, SandboxOptions } from '../../server/sandbox/server.mts';
import type { StoredChat } from '../../server/sandbox/data/storedChat.mts';
import { nativeRequire } from './nativeRequire.mts';

export type { Dialect, DialectChange, Fault, LoggedRequest, ResetOptions, Status, StoredChat };

/** The control interface of a sandbox, one method for each of its endpoints. */
export interface SandboxControl {
	/** Generates all data anew; forgets requests, faults, used rate limits and dialect. */
	reset: (options?: ResetOptions) => Promise<Status>;
	status: () => Promise<Status>;
	/** Fixes the clock at an ISO time without touching the data; null: real time. */
	clock: (now: string | null) => Promise<Status>;
	/** Changes some switches and returns all. */
	dialect: (change: DialectChange) => Promise<Dialect>;
	/** Replaces all faults; an empty list removes them. */
	faults: (faults: Fault[]) => Promise<void>;
	requests: () => Promise<LoggedRequest[]>;
	clearRequests: () => Promise<void>;
	/** Every lifelog as it is stored (times in UTC), by start. */
	lifelogs: () => Promise<Lifelog[]>;
	/** Adds a lifelog; what is missing is filled in. */
	addLifelog: (lifelog?: Partial<Lifelog>) => Promise<Lifelog>;
	/** Changes a lifelog; its `updatedAt` becomes now unless given. */
	updateLifelog: (id: string, change: Partial<Lifelog>) => Promise<Lifelog>;
	deleteLifelog: (id: string) => Promise<void>;
	/** Every chat as it is stored, foreign ones too, by creation. */
	chats: () => Promise<StoredChat[]>;
	addChat: (chat?: Partial<StoredChat>) => Promise<StoredChat>;
	updateChat: (id: string, change: Partial<StoredChat>) => Promise<StoredChat>;
	deleteChat: (id: string) => Promise<void>;
}

export interface TestSandbox extends Sandbox {
	control: SandboxControl;
}

/** Starts a sandbox in this process, on free ports of 127.0.0.1. */
export async function startSandbox(options?: SandboxOptions): Promise<TestSandbox> {
	const service = nativeRequire(
		'./server/sandbox/server.mts',
	) as typeof import('../../server/sandbox/server.mts');
	const sandbox = await service.startSandbox(options);
	return { ...sandbox, control: controlOf(sandbox.controlUrl) };
}

/** Starts a sandbox as a process of its own: what is measured in this one is then not the sandbox's. */
export async function spawnSandbox(args: string[] = []): Promise<TestSandbox> {
	const main = join(process.cwd(), 'server', 'sandbox', 'main.mts');
	const child = spawn(process.execPath, [main, '--json', '--port', '0', ...args], {
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	const exited = once(child, 'exit');
	const ready = once(createInterface(child.stdout), 'line');
	const [line] = await Promise.race([
		ready,
		exited.then(([code]) => Promise.reject(new Error(`The sandbox exited with ${code}`))),
	]);
	const { url, controlUrl, apiKey } = JSON.parse(line);
	return {
		url,
		controlUrl,
		apiKey,
		control: controlOf(controlUrl),
		close: async () => {
			child.stdin.end();
			await exited;
		},
	};
}

/** Returns the control interface at `controlUrl`. Its methods reject with the error it answers. */
export function controlOf(controlUrl: string): SandboxControl {
	const call = async (method: string, path: string, body?: unknown) => {
		const response = await fetch(controlUrl + path, {
			method,
			...(body !== undefined && {
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify(body),
			}),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
		return text === '' ? undefined : JSON.parse(text);
	};
	const at = (collection: string, id: string) => `/${collection}/${encodeURIComponent(id)}`;
	return {
		reset: (options = {}) => call('POST', '/reset', options),
		status: () => call('GET', '/status'),
		clock: (now) => call('PUT', '/clock', { now }),
		dialect: (change) => call('PATCH', '/dialect', change),
		faults: (faults) => call('PUT', '/faults', faults),
		requests: () => call('GET', '/requests'),
		clearRequests: () => call('DELETE', '/requests'),
		lifelogs: () => call('GET', '/lifelogs'),
		addLifelog: (lifelog = {}) => call('POST', '/lifelogs', lifelog),
		updateLifelog: (id, change) => call('PATCH', at('lifelogs', id), change),
		deleteLifelog: (id) => call('DELETE', at('lifelogs', id)),
		chats: () => call('GET', '/chats'),
		addChat: (chat = {}) => call('POST', '/chats', chat),
		updateChat: (id, change) => call('PATCH', at('chats', id), change),
		deleteChat: (id) => call('DELETE', at('chats', id)),
	};
}

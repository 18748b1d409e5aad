import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that serves the API. */
export interface Served {
	url: string;
	apiKey: string;
	/** Since it was started until it was ready, in ms; the CPU that it took, of all its threads. */
	readyMs: number;
	readyCpuMs: number;
	/** CPU taken so far, in ms. */
	cpuMs: () => number;
	/** Resident memory now, and the most there was, in bytes. */
	memory: () => { now: number; max: number };
	close: () => Promise<void>;
}

const TICK_MS = 10;

/** Starts a script that prints `{url, apiKey}` when it is ready, and stops when its stdin closes. */
export async function serve(script: string, args: string[]): Promise<Served> {
	const began = performance.now();
	const child = spawn(process.execPath, [script, ...args], {
		stdio: ['pipe', 'pipe', 'inherit'],
		env: { ...process.env, LIFELOG_SERVER_KEY: 'a-key-of-the-bench' },
	});
	const exited = once(child, 'exit');
	const ended = exited.then(() => Promise.reject(new Error(`${script} did not start`)));
	ended.catch(() => {});
	const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
	const of = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8');
	const cpuMs = () => {
		const fields = of('stat').split(') ').at(-1)!.split(' ');
		return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
	};
	const bytesOf = (name: string) =>
		Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(of('status'))![1]) * 1024;
	return {
		...(JSON.parse(String(line)) as { url: string; apiKey: string }),
		readyMs: performance.now() - began,
		readyCpuMs: cpuMs(),
		cpuMs,
		memory: () => ({ now: bytesOf('VmRSS'), max: bytesOf('VmHWM') }),
		close: async () => {
			child.stdin.end();
			await exited;
		},
	};
}

/** How long a script takes until its port answers, in ms, and what it then says of being ready. */
export async function openMs(
	script: string,
	args: string[],
): Promise<{ ms: number; status: number; body: string }> {
	const port = await freePort();
	const began = performance.now();
	const child = spawn(process.execPath, [script, ...args, '--port', String(port)], {
		stdio: ['pipe', 'ignore', 'inherit'],
		env: { ...process.env, LIFELOG_SERVER_KEY: 'a-key-of-the-bench' },
	});
	const exited = once(child, 'exit');
	try {
		const url = `http://127.0.0.1:${port}`;
		while (!(await fetch(`${url}/health`).catch(() => undefined))?.ok) {
			if (child.exitCode !== null) throw new Error(`${script} did not start`);
			await sleep(2);
		}
		const ms = performance.now() - began;
		const ready = await fetch(`${url}/ready`);
		return { ms, status: ready.status, body: await ready.text() };
	} finally {
		child.kill();
		await exited;
	}
}

async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	server.close();
	await once(server, 'close');
	return port;
}

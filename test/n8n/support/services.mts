// The services that n8n's queue mode needs, each with data of its own that is thrown away.
import { chown, readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePorts } from '../../support/ports.mts';
import { runProgram, startProcess, type RunningProcess } from './processes.mts';
import { temporaryFolder } from './server.mts';

/** A running service on 127.0.0.1. */
export interface Service extends RunningProcess {
	port: number;
}

/** Starts a Redis that writes nothing to disk. */
export async function startRedis(): Promise<Service> {
	const [port] = await freePorts(1);
	const service = await startProcess({
		name: 'Redis',
		command: 'redis-server',
		args: ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
		isReady: async () => await accepts(port),
	});
	return { ...service, port };
}

/** Starts a new PostgreSQL with the user `n8n`, who needs no password, and the database `postgres`. */
export async function startPostgres(): Promise<Service> {
	const [port] = await freePorts(1);
	const programs = await postgresPrograms();
	const folder = await temporaryFolder('lifelog-postgres');
	const user = await postgresUser();
	if (user) await chown(folder.path, user.uid, user.gid);
	const data = join(folder.path, 'data');
	const init = ['-A', 'trust', '-U', 'n8n', '-D', data, '-E', 'UTF8', '--no-sync'];
	await runProgram(join(programs, 'initdb'), init, { cwd: folder.path, ...user });
	const settings = ['listen_addresses=127.0.0.1', 'fsync=off', 'max_connections=200'];
	const service = await startProcess({
		name: 'PostgreSQL',
		command: join(programs, 'postgres'),
		args: [
			...['-D', data, '-p', String(port), '-k', folder.path],
			...settings.flatMap((setting) => ['-c', setting]),
		],
		cwd: folder.path,
		...user,
		isReady: async () => {
			await runProgram(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]);
			return true;
		},
	});
	const stop = async () => {
		await service.stop();
		await folder.remove();
	};
	return { ...service, stop, port };
}

/** Debian keeps the programs of each version in a folder of their own, not on the PATH. */
async function postgresPrograms(): Promise<string> {
	const root = '/usr/lib/postgresql';
	const versions = await readdir(root).catch(() => []);
	const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
	if (!newest) {
		throw new Error('PostgreSQL is not installed. On Debian: sudo test/n8n/install-system.sh');
	}
	return join(root, newest, 'bin');
}

/** PostgreSQL refuses to run as root: then it runs as its own user. */
async function postgresUser(): Promise<{ uid: number; gid: number } | undefined> {
	if (process.getuid?.() !== 0) return undefined;
	const id = async (option: string) => Number(await runProgram('id', [option, 'postgres']));
	return { uid: await id('-u'), gid: await id('-g') };
}

async function accepts(port: number): Promise<boolean> {
	const socket = connect(port, '127.0.0.1');
	await once(socket, 'connect');
	socket.destroy();
	return true;
}

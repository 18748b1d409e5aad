// An S3-compatible server that keeps its objects in a temporary folder.
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { installServices, SERVICES_FOLDER } from '../install.mts';
import { freePorts } from '../../support/ports.mts';
import { startProcess } from './processes.mts';
import { temporaryFolder } from './server.mts';

/** A running S3 server with one bucket. */
export interface S3 {
	bucket: string;
	/** The data of n8n's `s3` credential for it. */
	credential: IDataObject;
	/** The keys that were written so far, one for each time. */
	writes: () => string[];
	/** Forgets the writes so far. */
	forgetWrites: () => void;
	/** The keys that are there, sorted. */
	keys: () => Promise<string[]>;
	/** The bytes of an object. */
	object: (key: string) => Promise<Buffer>;
	close: () => Promise<void>;
}

const BUCKET = 'lifelog';
// The key pair that s3rver knows. A request signed with another one is refused.
const KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/** Starts s3rver on a free port of 127.0.0.1, with an empty bucket. */
export async function startS3(): Promise<S3> {
	await installServices();
	const [port] = await freePorts(1);
	const folder = await temporaryFolder('lifelog-s3');
	const endpoint = `http://127.0.0.1:${port}`;
	let writes: string[] = [];
	const server = await startProcess({
		name: 's3rver',
		command: process.execPath,
		args: [
			join(SERVICES_FOLDER, 'node_modules', 's3rver', 'bin', 's3rver.js'),
			...['--directory', folder.path, '--address', '127.0.0.1', '--port', String(port)],
			...['--no-vhost-buckets', '--configure-bucket', BUCKET],
		],
		isReady: async () => (await fetch(`${endpoint}/${BUCKET}`)).ok,
		onLine: (line) => {
			const written = /Stored object "(.+)" in bucket/.exec(line);
			if (written) writes.push(written[1]);
		},
	});
	const read = async (path: string) => {
		const response = await fetch(`${endpoint}/${BUCKET}${path}`);
		if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
		return Buffer.from(await response.arrayBuffer());
	};
	return {
		bucket: BUCKET,
		credential: { endpoint, region: 'us-east-1', forcePathStyle: true, ...KEYS },
		writes: () => [...writes],
		forgetWrites: () => (writes = []),
		keys: async () => {
			const list = String(await read('?list-type=2&max-keys=1000'));
			return [...list.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key).sort();
		},
		object: async (key) => await read(`/${key}`),
		close: async () => {
			await server.stop();
			await folder.remove();
		},
	};
}

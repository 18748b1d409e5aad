import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addApi, createApp } from './api.mts';
import { Folder } from './archive/folder.mts';
import { isInterrupted, recover } from './archive/commit.mts';
import { HealingStore } from './archive/healing.mts';
import { tryLock, type HeldLock } from './archive/lock.mts';
import { ArchiveStore } from './archive/store.mts';
import { readContract } from './contract.mts';
import { UnavailableError } from './errors.mts';
import { KeyError, loadKey, safeLength } from './key.mts';
import { allTools } from './mcpTools.mts';
import { defaultReading } from './reading.mts';
import { EmbeddingsEndpoint, type EndpointOptions } from './meaning/endpoint.mts';
import { Meaning } from './meaning/meaning.mts';
import { SlidingLog } from './slidingLog.mts';
import { refusePages } from './webPages.mts';

/** How an archive is served. */
export interface ServerOptions {
	/** The folder of the archive. */
	folder: string;
	host: string;
	/** 0 takes any free one. */
	port: number;
	/** The file of the index. */
	index: string;
	/** The key to accept; without one, it is made at the first start. */
	apiKey: string | undefined;
	allowDelete: boolean;
	/** Where lifelogs are turned into vectors, to be searched by meaning. */
	embeddings: EndpointOptions | undefined;
	/** Requests a minute; without it there is no limit. */
	rateLimit: number | undefined;
	/** Told of files that are left out, of days that are gone, and of times at which the folder could not be read. */
	log: (line: string) => void;
	/** Told of days while the index is brought up to the folder. */
	onProgress: (done: number, total: number) => void;
}

/** A running server. */
export interface RunningServer {
	/** Base address, without a trailing slash. */
	url: string;
	/** The key where it is known: given, or made just now. */
	apiKey: string | undefined;
	/** Whether the key was made just now, and is not to be had again. */
	isKeyNew: boolean;
	store: HealingStore;
	/** Missing where search is full text alone. */
	meaning: Meaning | undefined;
	/** Whether deletes are answered: not if another server may delete from the same folder. */
	canDelete: boolean;
	close: () => Promise<void>;
}

const documentation =
	'https://github.com/n8n-nodes-lifelog/n8n-nodes-lifelog/blob/main/docs/server.md';
// Half of the time within which a new day is to be served.
const lookEveryMs = 2_000;

/**
 * Indexes an archive and serves it. Rejects with an Error that says what to do for a folder that is
 * not there, an index or a key that cannot be used, and a port that is taken. A damaged index is
 * rebuilt, and requests are answered 503 meanwhile.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
	const { host, port, log } = options;
	const folder = await Folder.open(options.folder).catch(() => {
		throw new Error(`There is no folder ${options.folder}: give the folder of an archive`);
	});
	await Folder.open(dirname(options.index)).catch(() => {
		throw new Error(
			`There is no folder for the index ${options.index}: choose another file with --index`,
		);
	});
	const endpoint = options.embeddings && new EmbeddingsEndpoint(options.embeddings);
	const deleting = await mayDelete(folder, options);
	const store = new HealingStore({
		index: options.index,
		log,
		onProgress: options.onProgress,
		serve: (rows) => {
			const meaning = endpoint && new Meaning(endpoint, rows, log);
			const archive = new ArchiveStore(folder, rows, {
				allowDelete: deleting.lock !== undefined,
				refusal: deleting.refusal,
				meaning,
				onProblem: (path, reason) => log(`Left out: ${printable(path)} ${reason}`),
				log: (line) => log(printable(line)),
			});
			return { store: archive, meaning };
		},
	});
	const app = createApp();
	const stopped = new AbortController();
	let looking: Promise<void> = Promise.resolve();
	const close = async () => {
		stopped.abort();
		await Promise.all([app.close(), looking, store.close()]);
		deleting.lock?.release();
	};
	try {
		await store.begin();
		const key = loadKey(options.apiKey, `${options.index}.key`);
		if (!isLoopback(host) && key.text !== undefined && key.text.length < safeLength) {
			throw new KeyError(
				`Beyond this machine (--host ${host}) a key of ${safeLength} characters or more is needed: give LIFELOG_SERVER_KEY a longer one, or none to have one made`,
			);
		}
		refusePages(app);
		app.get('/health', (_request, reply) => {
			const { retryAfterS } = store;
			if (retryAfterS === undefined) return { status: 'ok' };
			return reply.code(503).header('retry-after', retryAfterS).send({ status: 'rebuilding' });
		});
		await addApi(
			app,
			{
				name: 'lifelog-server',
				documentation,
				store,
				tools: allTools,
				reading: {
					...defaultReading,
					rateLimit: { max: options.rateLimit ?? Infinity, windowMs: 60_000 },
				},
				rateLimits: options.rateLimit === undefined ? undefined : new SlidingLog(),
				onError: (error) => log(`A request failed: ${placeOf(error)}`),
				acceptsKey: key.accepts,
				now: Date.now,
			},
			await readContract(),
		);
		const url = await app.listen({ host, port });
		key.keep?.();
		await store.heal();
		looking = keepLooking(store, stopped.signal, log);
		return {
			...{ url, apiKey: key.text, isKeyNew: key.isNew, store, close },
			meaning: store.served?.meaning,
			canDelete: deleting.lock !== undefined,
		};
	} catch (error) {
		await close();
		throw error;
	}
}

/**
 * Takes the lock of the one server that may delete, and finishes a change of the archive that was
 * interrupted.
 */
async function mayDelete(
	{ root }: Folder,
	{ allowDelete, log }: ServerOptions,
): Promise<{ lock?: HeldLock; refusal?: string }> {
	if (!allowDelete) {
		if (await isInterrupted(root)) {
			log(
				'A change of the archive was interrupted: the next start with --allow-delete, or the next import, finishes it',
			);
		}
		return {};
	}
	let lock: HeldLock | undefined;
	try {
		lock = tryLock(root, 'server');
		if (lock) await recover(root);
	} catch (error) {
		lock?.release();
		throw new Error(
			`The archive cannot be changed (${(error as Error).message}): make its folder writable, or start without --allow-delete`,
		);
	}
	if (lock) return { lock };
	const refusal =
		'Another lifelog-server with --allow-delete serves this archive, so this one deletes nothing: delete from that one, or stop it and start this one again';
	log(refusal);
	return { refusal };
}

async function keepLooking(
	store: HealingStore,
	signal: AbortSignal,
	log: ServerOptions['log'],
): Promise<void> {
	let told = '';
	const daysNow = () => new Set(store.days().map(({ day }) => day));
	let days = store.served ? daysNow() : new Set<string>();
	while (!signal.aborted) {
		await sleep(lookEveryMs, undefined, { signal }).catch(() => {});
		if (signal.aborted) return;
		try {
			await store.refreshIfDue();
			const left = daysNow();
			const gone = [...days].filter((day) => !left.has(day)).length;
			if (gone > 0) log(`Days that are no longer in the folder: ${gone} of ${days.size}`);
			days = left;
			told = '';
		} catch (error) {
			// It is told already why the index is rebuilt.
			if (error instanceof UnavailableError) continue;
			// A folder that is not there, a full disk: what is in the index is served on.
			const problem = `Cannot look for new days: ${(error as Error).message}`;
			if (problem !== told) log(problem);
			told = problem;
		}
	}
}

/** What an error is and where it happened, without its message, which may quote what was said. */
function placeOf({ name, code, stack = '' }: Error & { code?: string }): string {
	const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line));
	return [code ?? name, ...frames.slice(0, 5).map((line) => line.trim())].join(' ');
}

/** Whether a host is this machine alone. */
function isLoopback(host: string): boolean {
	return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A name from the folder, without what a terminal would take for a command. */
function printable(path: string): string {
	return path.replaceAll(/[^\x20-\x7e]/g, '?');
}

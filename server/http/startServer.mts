import { existsSync } from 'node:fs';
import { access as mayAccess, constants, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { addApi, answerErrors } from './api.mts';
import { type NeededOptions, prepare } from './prepare.mts';
import { type Folder, MissingFolderError } from '../archive/folder.mts';
import { clearDrafts, isInterrupted } from '../archive/drafts.mts';
import { Events } from '../events/events.mts';
import { Archiving } from '../backup/archiving.mts';
import { Importing } from '../import/importing.mts';
import { Serving } from '../index/serving.mts';
import { tryLock, type HeldLock } from '../archive/lock.mts';
import { ArchiveStore } from '../index/archiveStore.mts';
import { listenProblem } from '../util/commandLine.mts';
import { answerOfDisk, throwIfFull } from '../util/failures.mts';
import { serverContract } from './contract.mts';
import { asError, UnavailableError } from '../util/errors.mts';
import { Access } from './auth/access.mts';
import { EVERY_ADDRESS, hostName } from './auth/hosts.mts';
import { sessionSecret } from './auth/session.mts';
import { Inbox } from '../recordings/inbox.mts';
import { Intake } from '../recordings/intake.mts';
import { Jobs } from '../recordings/jobs.mts';
import { LaterTitles } from '../recordings/laterTitles.mts';
import type { Models } from '../recordings/pipeline.mts';
import { Queue } from '../recordings/queue.mts';
import { Meaning } from '../index/meaning.mts';
import { SlidingLog } from './slidingLog.mts';
import type { Service } from './service.mts';
import { addWeb } from './pageApi/pageApi.mts';
import type { Ways } from './pageApi/ways.mts';
import { Endpoints } from './endpoints.mts';
import { printableAscii } from '../util/text.mts';

export interface ServerOptions extends NeededOptions {
	/** 0 selects a free one. */
	port: number;
	allowDelete: boolean;
	/** Whether lifelogs can be created and changed. */
	allowChanges?: boolean;
	/** Maximum size of an uploaded recording, in bytes. */
	maxUploadBytes?: number;
	/** Requests per minute; by default unlimited. */
	rateLimit: number | undefined;
	/** IANA time zone of the page's days. */
	timezone?: string;
	/** Further names of the server for browsers, besides its own and that of `publicUrl`. */
	allowedHosts?: string[];
	/** The server's origin for browsers. */
	publicUrl?: string;
	/** Whether the page is served over plain HTTP to other machines. */
	allowHttp?: boolean;
	/** Whether to create a key if none exists. */
	makesKey?: boolean;
	/** Whether webhooks are notified. */
	webhooks?: boolean;
	/** Pauses between the attempts of a delivery, in ms. */
	webhookPauses?: number[];
	/** The service that the page can archive; without it, the page neither archives nor imports. */
	archiving?: { url: string; requestsPerMinute: number };
	/** Called with days while the index is updated from the folder. */
	onProgress: (done: number, total: number) => void;
}

/** A server that answers 503 until its index is up to date. */
export interface StartingServer {
	/** Base URL without a trailing slash. */
	url: string;
	/**
	 * Resolves when everything is served. Rejects with an Error that says what to do if the index is
	 * unusable; the server is closed then. Stays pending if the server is closed earlier.
	 */
	ready: Promise<RunningServer>;
	close: () => Promise<void>;
}

export interface RunningServer {
	/** Base URL without a trailing slash. */
	url: string;
	/** The key if known: given, or just created. */
	apiKey: string | undefined;
	access: Access;
	/** Address of links, without a trailing slash. */
	address: string;
	/** Whether there is a page. Only a checkout may lack it, before the build. */
	hasPage: boolean;
	store: ArchiveStore;
	/** Missing if search uses only full text. */
	meaning: Meaning | undefined;
	endpoints: Endpoints;
	/** Whether deletes and changes are possible: not if another server may change the same folder. */
	canChange: boolean;
}

const documentation =
	'https://github.com/n8n-nodes-lifelog/n8n-nodes-lifelog/blob/main/docs/reference/server.md';
// Half of the time after which a new day must be served.
const LOOK_EVERY_MS = 2_000;

/**
 * Starts a server, then indexes the archive. Rejects with an Error that says what to do for all
 * problems of `prepare`, and if the port is in use. Rebuilds a damaged index.
 */
export async function startServer(options: ServerOptions): Promise<StartingServer> {
	const { host, port, log } = options;
	const { folder, access: accessFile, titles, hearing, endpoint, app } = await prepare(options);
	const info = (line: string) => log.info(line);
	const warn = (line: string) => log.warn(line);
	const changing = await mayChange(folder, options);
	const events =
		options.webhooks === false
			? undefined
			: new Events({
					path: `${options.index}.events`,
					pauses: options.webhookPauses,
					...{ warn, now: Date.now },
				});
	const serving = new Serving({
		index: options.index,
		log: warn,
		onProgress: options.onProgress,
		serve: (rows) => {
			const meaning = endpoint && new Meaning(endpoint, rows, info, {}, warn);
			const archive = new ArchiveStore(folder, rows, {
				allowDelete: options.allowDelete && changing.lock !== undefined,
				allowChanges: options.allowChanges && changing.lock !== undefined,
				refusal: changing.refusal,
				...{ meaning, births: events?.births },
				timezone: options.timezone,
				onProblem: (path, reason) => warn(`Left out: ${printableAscii(path)} ${reason}`),
				onNote: (path, note) => warn(`${printableAscii(path)} ${note}`),
				log: (line) => info(printableAscii(line)),
			});
			return { store: archive, meaning };
		},
	});
	const current = () => serving.current();
	const endpoints = new Endpoints(options);
	const ways = await waysOf(folder, options);
	let queue: Queue | undefined;
	let later: LaterTitles | undefined;
	let recordings: { intake: Intake; jobs: Jobs } | undefined;
	let inbox: Inbox | undefined;
	let access: Access | undefined;
	const stopped = new AbortController();
	let looking: Promise<void> = Promise.resolve();
	const close = async () => {
		stopped.abort();
		recordings?.intake.close();
		const filling = [ways?.archiving.close(), ways?.importing.close()];
		await Promise.all([app.close(), looking, inbox?.close(), recordings?.jobs.close(), ...filling]);
		await later?.close();
		await events?.close();
		queue?.close();
		access?.close();
		await serving.close();
		events?.closeFile();
		changing.lock?.release();
	};
	try {
		const queueFile = `${options.index}.recordings`;
		// The queue also knows which lifelogs belong to one recording.
		const needsQueue = hearing !== undefined || titles !== undefined || existsSync(queueFile);
		if (changing.lock && needsQueue) queue = new Queue(queueFile);
		later =
			queue && titles && new LaterTitles({ titles, queue, current, info, warn, now: Date.now });
		recordings =
			queue &&
			hearing &&
			recordingsOf(folder, current, options, queue, { ...hearing, titles, later, events });
		inbox = recordings && (await inboxOf(recordings.intake, options));
		keepFromCaches(app);
		const secret = sessionSecret(`${options.index}.session`);
		const known = new Access(options.index, accessFile, options.apiKey, secret);
		access = known;
		const service: Service = {
			name: 'lifelog-server',
			documentation,
			current,
			tools: async () => (await import('./routes/mcpTools.mts')).allTools,
			...(options.rateLimit !== undefined && {
				rateLimit: { max: options.rateLimit, windowMs: 60_000 },
				rateLimits: new SlidingLog(),
			}),
			visitorOfKey: (key) => known.visitorOfKey(key),
			maker: { current, titles, later, warn, now: Date.now },
			recordingOf: (id) => queue?.recordingOf(id),
			deleteLifelog: async (id, remove) => {
				const recording = queue?.recordingOf(id);
				if (!recording) return await remove();
				if (recordings) return await recordings.jobs.deleteLifelogOf(recording.id, remove);
				queue?.discardHeard(recording.id);
				return await remove();
			},
			...{ events, recordings, later, hasInbox: inbox !== undefined },
			...{ allowDelete: options.allowDelete, maxUploadBytes: options.maxUploadBytes ?? 2e9 },
			now: Date.now,
		};
		answerErrors(app, service);
		addProbes(app, folder, serving);
		const { publicUrl, allowHttp = false, timezone = 'UTC' } = options;
		const allowedHosts = [
			...(options.allowedHosts ?? []),
			...(publicUrl === undefined ? [] : [hostName(new URL(publicUrl).host)]),
		];
		const mayChange = changing.lock !== undefined;
		const canUpload = recordings !== undefined && options.allowChanges === true;
		const hasPage = await addWeb(app, service, serving, {
			...{ session: { host, allowedHosts, allowHttp, access: known }, publicUrl },
			...{ endpoints, ways, archive: { folder: folder.root, index: options.index } },
			page: {
				...{ timezone, version: await readVersion() },
				canChange: mayChange && options.allowChanges === true,
				canDelete: mayChange && options.allowDelete,
				hasRecordings: inbox !== undefined || canUpload,
				...{ canUpload, inbox: options.transcription?.inbox ?? null },
				canTitle: later !== undefined && options.allowChanges === true,
				refusal: changing.refusal ?? null,
				...{ canFill: ways !== undefined, hasWebhooks: events !== undefined },
			},
		});
		// The page replaces the redirect to the documentation.
		const paths = Object.entries(serverContract.paths).filter(
			([path]) => (path !== '/' || !hasPage) && (events || !/^\/v1\/(events|webhooks)/.test(path)),
		);
		await addApi(app, service, { ...serverContract, paths: Object.fromEntries(paths) });
		const url = await app.listen({ host, port }).catch((error: unknown) => {
			throw listenProblem(asError(error), host, port);
		});
		const start = async (): Promise<RunningServer> => {
			// Before serving, so that no upload has started yet.
			await recordings?.intake.prepare();
			await ways?.archiving.begin();
			await serving.begin();
			stopped.signal.throwIfAborted();
			const apiKey =
				options.apiKey ?? (options.makesKey === true ? known.makeFirstKey() : undefined);
			const address = publicUrl ?? ownAddress(url);
			keepAddress(known, address, warn);
			await serving.heal();
			if (queue) events?.recordingsEnded(() => queue!.ended());
			events?.begin();
			recordings?.jobs.begin();
			later?.begin();
			inbox?.begin();
			looking = keepLooking(serving, stopped.signal, warn);
			return {
				...{ url, apiKey, access: known, address, hasPage, store: current() },
				...{ meaning: serving.served?.meaning, endpoints },
				canChange: changing.lock !== undefined,
			};
		};
		const ready = start().catch(async (error: unknown) => {
			if (stopped.signal.aborted) return await new Promise<never>(() => {});
			await close();
			const { message } = answerOfDisk(asError(error)) ?? asError(error);
			throw new Error(message, { cause: error });
		});
		return { url, ready, close };
	} catch (error) {
		await close();
		throw error;
	}
}

function recordingsOf(
	{ root }: Folder,
	current: () => ArchiveStore,
	{ transcription, timezone = 'UTC', log }: ServerOptions,
	queue: Queue,
	{ events, ...models }: Models & { later?: LaterTitles; events?: Events },
): { intake: Intake; jobs: Jobs } {
	const common = { root, queue, timezone, now: Date.now, warn: (line: string) => log.warn(line) };
	const jobs = new Jobs({
		...{ ...common, ...models, current },
		keepOriginals: transcription?.keepOriginals ?? false,
		info: (line) => log.info(line),
		onEnded: () => events?.recordingsEnded(() => queue.ended()),
	});
	return { jobs, intake: new Intake({ ...common, jobs }) };
}

/** Archiving and importing for the page, unless the folder isn't writable, as in a read-only volume. */
async function waysOf(
	{ root: folder }: Folder,
	{ archiving, index, timezone = 'UTC', log }: ServerOptions,
): Promise<Ways | undefined> {
	const canWrite = await mayAccess(folder, constants.W_OK).then(
		() => true,
		() => false,
	);
	if (!archiving || !canWrite) return undefined;
	const common = { folder, timezone, warn: (line: string) => log.warn(line) };
	return {
		archiving: new Archiving({ ...common, ...archiving }),
		importing: new Importing({ ...common, marker: `${index}.importing` }),
		service: new URL(archiving.url).host,
	};
}

async function inboxOf(
	intake: Intake,
	{ transcription, log }: ServerOptions,
): Promise<Inbox | undefined> {
	if (transcription?.inbox === undefined) return undefined;
	const { inbox: folder, inboxIsCopied: isCopied, inboxTimes } = transcription;
	const warn = (line: string) => log.warn(line);
	return await Inbox.open({ folder, isCopied, intake, warn, ...inboxTimes });
}

/** Takes the lock of the only server that may change the archive, and finishes an interrupted change. */
async function mayChange(
	{ root }: Folder,
	{ allowDelete, allowChanges, transcription, log }: ServerOptions,
): Promise<{ lock?: HeldLock; refusal?: string }> {
	if (!allowDelete && !allowChanges && transcription?.inbox === undefined) {
		if (isInterrupted(root)) {
			log.warn(
				'A change of the archive was interrupted: the next start with --allow-delete, --allow-changes or --inbox, or the next import, finishes it',
			);
		}
		return {};
	}
	let lock: HeldLock | undefined;
	try {
		lock = tryLock(root, 'server');
		if (lock) await clearDrafts(root);
	} catch (error) {
		lock?.release();
		throwIfFull(asError(error));
		throw new Error(
			`The archive cannot be changed (${(error as Error).message}): make its folder writable, or start without --allow-delete, --allow-changes and --inbox`,
		);
	}
	if (lock) return { lock };
	const refusal =
		'Another lifelog-server with --allow-delete, --allow-changes or --inbox serves this archive, so this one changes nothing: use that one, or stop it and start this one again';
	log.warn(refusal);
	return { refusal };
}

/** The server's URL on its own machine. A server that listens on all addresses uses localhost. */
function ownAddress(url: string): string {
	const address = new URL(url);
	if (EVERY_ADDRESS.includes(hostName(address.host))) address.hostname = '127.0.0.1';
	return address.origin;
}

function keepAddress(access: Access, address: string, warn: (line: string) => void): void {
	try {
		access.setAddress(address);
	} catch (error) {
		// If the disk is full, everything else still works.
		warn(`The address of the server can't be kept (${asError(error).code}): links don't name it`);
	}
}

async function keepLooking(
	serving: Serving,
	signal: AbortSignal,
	log: (line: string) => void,
): Promise<void> {
	let told = '';
	const daysNow = () =>
		new Set(
			serving
				.current()
				.days()
				.map(({ day }) => day),
		);
	let days = serving.served ? daysNow() : new Set<string>();
	while (!signal.aborted) {
		await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
		if (signal.aborted) return;
		try {
			await serving.current().refreshIfDue();
			const left = daysNow();
			const gone = [...days].filter((day) => !left.has(day)).length;
			if (gone > 0) log(`Days that are no longer in the folder: ${gone} of ${days.size}`);
			days = left;
			told = '';
		} catch (error) {
			// The server's URL on its own machine: 127.0.0.1 if it listens on all addresses.
			if (error instanceof UnavailableError && !(error instanceof MissingFolderError)) continue;
			// If the folder is missing or the disk is full, the index is still served.
			const problem = `Cannot look for new days: ${(error as Error).message}`;
			if (problem !== told) log(problem);
			told = problem;
		}
	}
}

/** Disables caching by proxies and browsers. */
function keepFromCaches(app: FastifyInstance): void {
	app.addHook('onSend', async ({ routeOptions }, reply) => {
		// Files of the page contain no user data.
		if (routeOptions.url === '/assets/*') return;
		reply.header('cache-control', 'private, no-store');
	});
}

/** `/health`: the process answers. `/ready`: the archive is served, too. Neither needs the key. */
function addProbes(app: FastifyInstance, folder: Folder, serving: Serving): void {
	const method = ['GET', 'HEAD'];
	app.route({ method, url: '/health', handler: async () => ({ status: 'ok' }) });
	app.route({
		method,
		url: '/ready',
		handler: async (_request, reply) => {
			const isMissing = !(await folder.isThere()) || (await serving.isFolderMissing());
			const { waiting, retryAfterS = 10, progress } = serving;
			const status = isMissing ? 'folder missing' : waiting;
			if (status === undefined) return { status: 'ready' };
			return reply
				.code(503)
				.header('retry-after', retryAfterS)
				.send({ status, ...progress });
		},
	});
}

async function readVersion(): Promise<string> {
	// In the package, package.json is one folder higher.
	for (const path of ['../package.json', '../../package.json']) {
		const text = await readFile(new URL(path, import.meta.url), 'utf8').catch(() => undefined);
		if (text !== undefined) return String(JSON.parse(text).version);
	}
	return 'unknown';
}

// Archives a service in the background. The page asks for the progress.
import { setTimeout as sleep } from 'node:timers/promises';
import { OWN_RUN, readReport } from '../archive/otherRun.mts';
import { ApiError, asError } from '../util/errors.mts';
import { DAY_MS } from '../util/durations.mts';
import { printable } from '../util/text.mts';
import { checkedKey } from './access.mts';
import { openFolder, runAlone } from './archiveFolder.mts';
import { Output, type Progress } from './output.mts';
import { type Kind, RECENT_DAYS } from './plan.mts';
import { reasonOf } from './reasons.mts';
import type { Problem, RunResult } from './report.mts';
import { runArchive } from './run.mts';
import { Refused, ServiceClient } from './service.mts';

export interface ArchivingState {
	/** `unfinished`: an earlier run was interrupted. */
	state: 'idle' | 'running' | 'stopping' | 'unfinished' | 'complete' | 'failed';
	/** Of the current or the last run. */
	progress: Progress | null;
	/** ISO time until which the service asked to pause. */
	waitsUntil: string | null;
	/** Why it failed and what to do, or that the service is empty. */
	message: string | null;
	/** What is missing; only the first problems. */
	problems: Problem[];
	problemsCount: number;
	/** Whether it can continue without the key being entered again. */
	hasKey: boolean;
}

interface ArchivingOptions {
	/** Folder of the archive. */
	folder: string;
	/** Address of the service, without `/v1`. */
	url: string;
	requestsPerMinute: number;
	/** IANA time zone of the Markdown. */
	timezone: string;
	warn: (line: string) => void;
}

const ALL = new Set<Kind>(['lifelogs', 'chats', 'audio']);
const MAX_PROBLEMS = 20;
/** When the server stops, a file that is being written may be dropped. The next run reads it again. */
const MAX_CLOSE_MS = 5_000;

/** Runs `archive` in this process, one run at a time. The key is kept in memory only. */
export class Archiving {
	readonly #options: ArchivingOptions;
	#apiKey: string | undefined;
	#stop: AbortController | undefined;
	#running: Promise<void> = Promise.resolve();
	#progress: () => Progress | null = () => null;
	#waitsUntil = 0;
	#ended: Pick<ArchivingState, 'state' | 'message' | 'problems' | 'problemsCount'> = idle;

	constructor(options: ArchivingOptions) {
		this.#options = options;
	}

	/** Checks whether an earlier run was interrupted. */
	async begin(): Promise<void> {
		const report = (await readReport(this.#options.folder)) ?? {};
		const { runId, daysDone, daysToDo, updatedAt } = report;
		const isOwn = String(runId).startsWith(OWN_RUN);
		const isRecent = Date.now() - Date.parse(String(updatedAt)) < RECENT_DAYS * DAY_MS;
		if (isOwn && isRecent && Number(daysDone) < Number(daysToDo)) {
			this.#ended = { ...idle, state: 'unfinished' };
		}
	}

	get isRunning(): boolean {
		return this.#stop !== undefined;
	}

	state(): ArchivingState {
		const { aborted } = this.#stop?.signal ?? {};
		const running = aborted === undefined ? undefined : aborted ? 'stopping' : 'running';
		return {
			...this.#ended,
			...(running && { state: running }),
			progress: this.#progress(),
			waitsUntil:
				running === 'running' && this.#waitsUntil > Date.now()
					? new Date(this.#waitsUntil).toISOString()
					: null,
			hasKey: this.#apiKey !== undefined,
		};
	}

	/**
	 * Starts or continues a run.
	 *
	 * @param given The key; by default that of the previous run.
	 * @throws ApiError: 400 without a key, 409 during a run.
	 */
	start(given: string | undefined): void {
		if (this.isRunning) throw new ApiError(409, 'It is being archived already');
		const apiKey = given === undefined ? this.#apiKey : keyOf(given);
		if (apiKey === undefined) throw new ApiError(400, 'The API key is missing. Enter it again');
		this.#apiKey = apiKey;
		this.#ended = idle;
		this.#waitsUntil = 0;
		const stop = new AbortController();
		this.#stop = stop;
		this.#running = this.#run(apiKey, stop.signal).catch((error: unknown) =>
			this.#fail(asError(error)),
		);
	}

	/** Stops after the files that are being written. */
	stop(): void {
		this.#stop?.abort();
	}

	async close(): Promise<void> {
		this.stop();
		await Promise.race([this.#running, sleep(MAX_CLOSE_MS, undefined, { ref: false })]);
	}

	async #run(apiKey: string, stop: AbortSignal): Promise<void> {
		const { folder, url, requestsPerMinute, timezone } = this.#options;
		const service = new ServiceClient({
			...{ url, apiKey, requestsPerMinute, stop },
			onWait: (seconds) => (this.#waitsUntil = Date.now() + seconds * 1000),
		});
		const output = new Output('silent', () => ({
			sent: service.requests,
			inLastMinute: service.requestsInLastMinute(),
		}));
		this.#progress = () => output.progress;
		const opened = await openFolder(folder);
		const result = await runAlone(opened, service, false, () =>
			runArchive(
				service,
				{
					...{ folder, timezone, kinds: ALL, newestFirst: true, withToday: false },
					...{ from: undefined, to: undefined, again: undefined },
				},
				output,
				stop,
			),
		);
		const isEmpty = result.isComplete && result.firstDay === undefined;
		this.#end(stop, result, isEmpty ? service.aboutNothing('The service has no data') : null);
	}

	#end(stop: AbortSignal, { isComplete, problems }: RunResult, message: string | null): void {
		this.#stop = undefined;
		this.#ended = {
			state: isComplete ? 'complete' : 'unfinished',
			message,
			// Users who stop a run know that days are missing.
			problems: stop.aborted ? [] : problems.slice(0, MAX_PROBLEMS),
			problemsCount: stop.aborted ? 0 : problems.length,
		};
		if (isComplete) this.#apiKey = undefined;
	}

	#fail(error: Error): void {
		const isStopped = this.#stop!.signal.aborted;
		this.#stop = undefined;
		if (isStopped) {
			this.#ended = { ...idle, state: 'unfinished' };
			return;
		}
		const { warn, folder } = this.#options;
		const message = reasonOf(error, folder);
		warn(`Archiving failed: ${printable(message)}`);
		if (error instanceof Refused) this.#apiKey = undefined;
		this.#ended = { ...idle, state: 'failed', message };
	}
}

const idle = {
	state: 'idle',
	message: null,
	problems: [],
	problemsCount: 0,
} as const satisfies Partial<ArchivingState>;

function keyOf(given: string): string {
	try {
		return checkedKey(given);
	} catch (error) {
		throw new ApiError(400, asError(error).message);
	}
}

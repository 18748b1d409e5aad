// Writes titles and headings that failed when a lifelog was created, or that a user requests.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifelog } from '../../lifelog/api.ts';
import type { ArchiveStore } from '../index/archiveStore.mts';
import { EndpointError } from '../util/modelEndpoint.mts';
import { ApiError } from '../util/errors.mts';
import { reasonOf } from '../util/failures.mts';
import { firstSentence, isMadeHere, segmentsIn, toLifelog } from './lifelog.mts';
import type { Queue, Untitled } from './queue.mts';
import type { Titles, Written } from './title.mts';

export interface LaterTitlesOptions {
	titles: Titles;
	queue: Queue;
	current: () => ArchiveStore;
	info: (line: string) => void;
	warn: (line: string) => void;
	/** Epoch ms. */
	now: () => number;
}

const MINUTE_MS = 60_000;
/** Pauses before the retries. */
const PAUSES_MS = [1, 5, 30, 120, 360, 720].map((minutes) => minutes * MINUTE_MS);
/** Timers are limited to 25 days, and the clock may be changed meanwhile. */
const MAX_WAIT_MS = 10 * MINUTE_MS;

/** Writes titles and headings of lifelogs created here, with pauses of up to half a day. */
export class LaterTitles {
	readonly #options: LaterTitlesOptions;
	readonly #closed = new AbortController();
	#wake = new AbortController();
	#working: Promise<void> = Promise.resolve();

	constructor(options: LaterTitlesOptions) {
		this.#options = options;
	}

	/**
	 * Schedules writing a title.
	 *
	 * @param id ID of the lifelog.
	 * @param name Name for the log.
	 */
	add(id: string, name: string): void {
		const { queue, now } = this.#options;
		queue.putUntitled({ id, name, tries: 0, nextMs: now() + PAUSES_MS[0] });
		this.#wake.abort();
	}

	/** Continues the work of the last run. */
	begin(): void {
		this.#working = this.#work();
	}

	async close(): Promise<void> {
		this.#closed.abort();
		await this.#working;
	}

	/**
	 * Writes the title and headings of a lifelog now. It replaces a title that the user has edited.
	 *
	 * @throws ApiError: 404 for an unknown ID, 409 for a lifelog that wasn't created here, 502 if the
	 *   endpoint fails.
	 */
	async write(id: string): Promise<void> {
		const { current, titles } = this.#options;
		const lifelog = current().getLifelog(id);
		if (!lifelog) throw new ApiError(404, 'Lifelog not found');
		if (!isMadeHere(id)) {
			throw new ApiError(
				409,
				"This lifelog wasn't made here, so its headings stay as they are. Change its title instead",
			);
		}
		const written = await titles.write(segmentsIn(lifelog)).catch((error: unknown) => {
			if (!(error instanceof EndpointError)) throw error;
			throw new ApiError(502, `The chat endpoint ${error.message}`);
		});
		await this.#rewrite(id, written, true);
	}

	async #work(): Promise<void> {
		const { queue, now } = this.#options;
		const { signal } = this.#closed;
		while (!signal.aborted) {
			const [next] = queue.untitled();
			if (next && next.nextMs <= now()) {
				await this.#try(next);
				continue;
			}
			this.#wake = new AbortController();
			const waitMs = Math.min(next ? next.nextMs - now() : MAX_WAIT_MS, MAX_WAIT_MS);
			const either = AbortSignal.any([signal, this.#wake.signal]);
			await sleep(waitMs, undefined, { signal: either, ref: false }).catch(() => {});
		}
	}

	async #try(untitled: Untitled): Promise<void> {
		const { current, titles, queue, info, warn, now } = this.#options;
		const { id, name, tries } = untitled;
		const { signal } = this.#closed;
		try {
			const lifelog = current().getLifelog(id);
			if (lifelog) {
				const written = await titles.write(segmentsIn(lifelog), signal);
				await this.#rewrite(id, written, false);
				info(`${name} has its title and headings now`);
			}
			queue.removeUntitled(id);
		} catch (error) {
			if (signal.aborted) return;
			const next = PAUSES_MS.at(tries + 1);
			if (next !== undefined) {
				return queue.putUntitled({ ...untitled, tries: tries + 1, nextMs: now() + next });
			}
			queue.removeUntitled(id);
			const problem =
				error instanceof EndpointError
					? `the chat endpoint ${error.message}`
					: reasonOf(error as Error);
			warn(
				`${name} keeps its first sentence as its title: ${problem}. To try again, choose "Write title and headings" on its page`,
			);
		}
	}

	async #rewrite(id: string, written: Written, isAsked: boolean): Promise<void> {
		const { current, queue, now } = this.#options;
		const rewrite = (lifelog: Lifelog) => withWritten(lifelog, written, isAsked, now());
		await current().rewriteLifelog(id, rewrite, { replacesTitle: isAsked });
		queue.removeUntitled(id);
	}
}

/** A lifelog with new headings and, unless the user has edited it, a new title. */
function withWritten(
	lifelog: Lifelog,
	written: Written,
	replacesTitle: boolean,
	nowMs: number,
): Lifelog {
	const segments = segmentsIn(lifelog);
	const isGiven = lifelog.title !== firstSentence(segments);
	return {
		...toLifelog({
			id: lifelog.id,
			title: isGiven && !replacesTitle ? (lifelog.title ?? '') : written.title,
			startMs: Date.parse(lifelog.startTime),
			endMs: Date.parse(lifelog.endTime),
			segments,
			headings: written.headings,
			// Later than the previous version, so that the trigger reports it.
			madeMs: Math.max(nowMs, Date.parse(lifelog.updatedAt) + 1),
		}),
		isStarred: lifelog.isStarred,
	};
}

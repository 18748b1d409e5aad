// Notifies webhooks about lifelogs and recordings (docs/reference/webhooks.md).
import { HOUR_MS, MINUTE_MS } from '../util/durations.mts';
import { ApiError, UnavailableError } from '../util/errors.mts';
import { webhookAddress } from './addresses.mts';
import { AGAIN_MS, EventBirths, type EndedRecording } from './births.mts';
import { Deliveries } from './deliveries.mts';
import { EventFile } from './eventFile.mts';
import { EventLog } from './eventLog.mts';
import type { Delivery, Event, EventType, Outcome, Webhook } from './types.mts';
import { WebhookList } from './webhookList.mts';

export interface EventsOptions {
	/** File that stores them. */
	path: string;
	/**
	 * Pauses between the attempts of a delivery, in ms; by default those of the specification. The
	 * last one repeats until ten attempts are made.
	 */
	pauses?: number[];
	warn: (line: string) => void;
	/** Epoch ms. */
	now: () => number;
}

/** Result of a test: the status of the answer, or why there was none. */
export type Reached = { status: number } | { error: string };

/** The pauses that Standard Webhooks proposes: ten attempts in 75 hours. */
const PAUSES = [
	...[5_000, 5 * MINUTE_MS, 30 * MINUTE_MS],
	...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];

/** The events of an archive and its webhooks. */
export class Events {
	readonly #file: EventFile;
	readonly #log: EventLog;
	readonly #webhooks: WebhookList;
	readonly #deliveries: Deliveries;
	/** Called with changes of the served data. */
	readonly births: EventBirths;
	#again: NodeJS.Timeout | undefined;

	constructor({ path, pauses: given = PAUSES, warn, now }: EventsOptions) {
		const pauses = [...given, ...PAUSES.slice(given.length).map(() => given.at(-1)!)];
		const file = new EventFile(path);
		const log = new EventLog(file, now);
		const webhooks = new WebhookList(file, now);
		this.#file = file;
		this.#log = log;
		this.#webhooks = webhooks;
		this.#deliveries = new Deliveries({ file, log, webhooks, pauses, warn, now });
		const onBorn = () => this.#deliveries.wake();
		this.births = new EventBirths({ file, log, onBorn, warn, now });
	}

	/** Starts sending. */
	begin(): void {
		this.#deliveries.begin();
	}

	/** Sends due deliveries without waiting for the timer. */
	wake(): void {
		this.#deliveries.wake();
	}

	/** Whether an attempt is in progress. */
	get isSending(): boolean {
		return this.#webhooks.underWay.size > 0;
	}

	/** Compares the recordings that are done or have failed. Never throws: failures are retried. */
	recordingsEnded(ended: () => EndedRecording[]): void {
		clearTimeout(this.#again);
		if (this.births.compareRecordings(ended)) return;
		this.#again = setTimeout(() => this.recordingsEnded(ended), AGAIN_MS).unref();
	}

	/**
	 * Adds a webhook, or renews the one with the same URL, and sends it a test.
	 *
	 * @throws ApiError: 400 for a forbidden address, 404 if the webhook is removed meanwhile.
	 */
	async create(wanted: {
		url: string;
		types?: EventType[];
		description?: string;
	}): Promise<{ webhook: Webhook & { secret: string }; reached: Reached; isNew: boolean }> {
		const url = await webhookAddress(wanted.url);
		const { row, isNew } = this.#use(() => this.#webhooks.put({ ...wanted, url }));
		const reached = reachedBy(await this.#deliveries.test(row));
		this.#deliveries.release(row.id);
		const webhook = {
			...this.#webhooks.view(this.#webhooks.known(row.id)),
			secret: row.secret,
		};
		return { webhook, reached, isNew };
	}

	list(): Webhook[] {
		return this.#use(() => this.#webhooks.list());
	}

	/** Throws an ApiError (404) for an unknown ID. */
	remove(id: string): void {
		this.#use(() => this.#webhooks.remove(id));
	}

	/** Sends a test. A success resumes a paused webhook. Throws an ApiError (404) for an unknown ID. */
	async test(id: string): Promise<{ webhook: Webhook; reached: Reached }> {
		const row = this.#use(() => this.#webhooks.known(id));
		const reached = reachedBy(await this.#deliveries.test(row));
		return { webhook: this.#webhooks.view(this.#webhooks.known(id)), reached };
	}

	/** The log of a webhook, newest first. Throws an ApiError (404) for an unknown ID. */
	deliveries(id: string, limit: number): Delivery[] {
		return this.#use(() => {
			this.#webhooks.known(id);
			return this.#webhooks.deliveries(id, limit);
		});
	}

	/** The events after a number, oldest first. Throws an ApiError (400) for a number of another server. */
	after(after: number, limit: number): { events: Event[]; after: number } {
		const found = this.#use(() => this.#log.list(after, limit));
		if (found) return found;
		throw new ApiError(400, "after doesn't come from this server. Leave it out to begin anew");
	}

	async close(): Promise<void> {
		clearTimeout(this.#again);
		await this.#deliveries.close();
	}

	/** Closes the file. Call it after the last comparison. */
	closeFile(): void {
		this.#file.close();
	}

	/** Uses the file. Throws an UnavailableError (503) if it can't be opened. */
	#use<Result>(work: () => Result): Result {
		try {
			this.#file.open();
		} catch {
			throw new UnavailableError(
				"The events of the server can't be opened. Its log says why. Try again in 10 seconds",
				10,
			);
		}
		return work();
	}
}

const reachedBy = ({ status, error = '' }: Outcome): Reached =>
	status === undefined ? { error } : { status };

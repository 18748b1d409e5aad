// Sends waiting deliveries to webhooks. Retries until a delivery arrives or the last attempt fails.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent } from 'undici';
import { DAY_MS, HOUR_MS } from '../util/durations.mts';
import { asError } from '../util/errors.mts';
import { reasonOf } from '../util/failures.mts';
import { safeAgent } from './addresses.mts';
import type { EventFile } from './eventFile.mts';
import type { EventLog } from './eventLog.mts';
import { attempt, isSuccess } from './sending.mts';
import type { Event, Outcome } from './types.mts';
import type { WebhookList, WebhookRow } from './webhookList.mts';

interface DeliveriesOptions {
	file: EventFile;
	log: EventLog;
	webhooks: WebhookList;
	/** Pauses between the attempts of a delivery, in ms. */
	pauses: number[];
	warn: (line: string) => void;
	/** Epoch ms. */
	now: () => number;
}

interface DueRow {
	number: number;
	event: number;
	subject: string;
	step: number;
	planned_ms: number;
}

/** Concurrent attempts per webhook, to protect slow receivers. */
const AT_ONCE = 5;
/** A webhook without a success for this time is paused. */
const MAX_FAILING_MS = 5 * DAY_MS;
/** Longer than any pause. A failure after it starts a new series. */
const QUIET_FOR_MS = 2 * DAY_MS;
/** Spreads the retries of many events. */
const JITTER = 0.1;
const MAX_WAIT_MS = DAY_MS;
/** Maximum timer delay. Due deliveries are looked for at least this often. */
const MAX_TIMER_MS = 60_000;
const AGAIN_MS = 2_000;
/** Idle time before cleaning up. */
const QUIET_MS = 5_000;

/** Sends waiting deliveries. Order is kept within a subject; subjects don't wait for each other. */
export class Deliveries {
	readonly #options: DeliveriesOptions;
	readonly #agent: Agent = safeAgent();
	readonly #stopped = new AbortController();
	readonly #running = new Set<Promise<void>>();
	/** Number of attempts in progress per webhook. */
	readonly #counts = new Map<string, number>();
	/** Times until which webhooks asked to wait, epoch ms. */
	readonly #heldUntil = new Map<string, number>();
	#timer: NodeJS.Timeout | undefined;
	/** Whether sending is on, and deliveries of the last run are due. */
	#isOn = false;
	#hasBegun = false;
	#prunedAt = -Infinity;
	#told = '';

	constructor(options: DeliveriesOptions) {
		this.#options = options;
	}

	/** Starts sending. Deliveries of the last run are due at once. */
	begin(): void {
		this.#isOn = true;
		this.wake();
	}

	#makeDue(): void {
		try {
			const { file, log, webhooks } = this.#options;
			file.transaction(() => {
				log.release();
				webhooks.makeDue();
			});
			this.#hasBegun = true;
			this.wake();
		} catch (error) {
			this.#tell(error);
			this.#wakeIn(AGAIN_MS);
		}
	}

	/** Sends due deliveries, and schedules the next ones. Never throws. */
	wake(): void {
		if (!this.#isOn || this.#stopped.signal.aborted) return;
		if (!this.#hasBegun) return this.#makeDue();
		try {
			if (performance.now() - this.#prunedAt > HOUR_MS) {
				this.#prunedAt = performance.now();
				this.#options.log.prune();
			}
			const nextMs = this.#start();
			this.#wakeIn(nextMs);
			if (this.#running.size === 0 && nextMs >= QUIET_MS) this.#options.file.settle();
			this.#told = '';
		} catch (error) {
			this.#tell(error);
			this.#wakeIn(AGAIN_MS);
		}
	}

	/** Stops waiting for a webhook that asked to wait. */
	release(webhook: string): void {
		this.#heldUntil.delete(webhook);
		this.wake();
	}

	/** Sends a test event immediately, without retries. */
	async test(webhook: WebhookRow): Promise<Outcome> {
		const testing = this.#test(webhook);
		const ended = testing.then(
			() => {},
			() => {},
		);
		this.#running.add(ended);
		void ended.then(() => this.#running.delete(ended));
		return await testing;
	}

	async #test(webhook: WebhookRow): Promise<Outcome> {
		const { file, log, webhooks, now } = this.#options;
		const { number, ...event } = log.addTest(webhook.id);
		const begunMs = now();
		const outcome = await this.#send(event, webhook);
		file.transaction(() => {
			if (!webhooks.row(webhook.id)) return;
			file.run(
				`INSERT INTO delivery (webhook, event, subject, state, step, attempts, planned_ms, begun_ms,
					status, error)
				VALUES (?, ?, ?, ?, 0, 1, ?, ?, ?, ?)`,
				...[webhook.id, number, `webhook ${webhook.id}`],
				...[isSuccess(outcome) ? 'delivered' : 'failed', begunMs, begunMs],
				...[outcome.status ?? null, outcome.error ?? null],
			);
			this.#note(webhook.id, outcome, true);
			if (isSuccess(outcome)) webhooks.resume(webhook.id);
		});
		if (isSuccess(outcome)) this.release(webhook.id);
		return outcome;
	}

	async close(): Promise<void> {
		this.#stopped.abort();
		clearTimeout(this.#timer);
		await Promise.all(this.#running);
		await this.#agent.destroy();
	}

	/** Starts due attempts. Returns the delay until the next one, in ms. */
	#start(): number {
		const { file, webhooks, now } = this.#options;
		const nowMs = now();
		let nextMs = nowMs + MAX_TIMER_MS;
		for (const webhook of webhooks.active()) {
			const heldUntil = this.#heldUntil.get(webhook.id) ?? 0;
			if (heldUntil > nowMs) {
				nextMs = Math.min(nextMs, heldUntil);
				continue;
			}
			const free = AT_ONCE - (this.#counts.get(webhook.id) ?? 0);
			if (free === 0) continue;
			const waiting = file.all<DueRow & { next_ms: number }>(
				`SELECT number, event, subject, step, planned_ms, next_ms FROM delivery
				WHERE webhook = ? AND state = 'waiting' AND next_ms IS NOT NULL
				ORDER BY next_ms, event LIMIT ?`,
				...[webhook.id, free + 1],
			);
			const due = waiting.filter(({ next_ms }) => next_ms <= nowMs).slice(0, free);
			const [later] = waiting.filter(({ next_ms }) => next_ms > nowMs);
			if (later) nextMs = Math.min(nextMs, later.next_ms);
			if (due.length === 0) continue;
			// Recorded before the attempt starts, because its answer may be lost.
			file.transaction(() => {
				for (const { number } of due) {
					file.run(
						`UPDATE delivery SET attempts = attempts + 1, begun_ms = ?, next_ms = NULL
						WHERE number = ?`,
						...[nowMs, number],
					);
				}
			});
			for (const row of due) this.#run(webhook, row, nowMs);
		}
		return nextMs - nowMs;
	}

	#run(webhook: WebhookRow, row: DueRow, begunMs: number): void {
		const { id } = webhook;
		const { underWay } = this.#options.webhooks;
		this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
		underWay.add(row.number);
		const running = this.#deliver(webhook, row, begunMs).finally(() => {
			this.#running.delete(running);
			underWay.delete(row.number);
			this.#counts.set(id, this.#counts.get(id)! - 1);
			this.wake();
		});
		this.#running.add(running);
	}

	/** Makes an attempt. Never rejects. Waits while the file is unusable. */
	async #deliver(webhook: WebhookRow, row: DueRow, begunMs: number): Promise<void> {
		const { file, log } = this.#options;
		let outcome: Outcome | undefined;
		// The next start repeats an attempt that was interrupted by a shutdown.
		while (!this.#stopped.signal.aborted) {
			try {
				const event = log.eventOf(row.event);
				if (!event) return;
				const known = (outcome ??= await this.#send(event, webhook));
				if (this.#stopped.signal.aborted) return;
				file.transaction(() => this.#settle(webhook.id, row, begunMs, known));
				return;
			} catch (error) {
				this.#tell(error);
				await sleep(AGAIN_MS, undefined, { signal: this.#stopped.signal, ref: false }).catch(
					() => {},
				);
			}
		}
	}

	async #send(event: Event, { url, secret }: WebhookRow): Promise<Outcome> {
		const { signal } = this.#stopped;
		return await attempt(event, { url, secret, dispatcher: this.#agent, signal });
	}

	/** Records the outcome of an attempt, and what follows from it. */
	#settle(
		webhook: string,
		{ number, subject, step, planned_ms }: DueRow,
		begunMs: number,
		outcome: Outcome,
	): void {
		const { file, webhooks, pauses, now } = this.#options;
		const nowMs = now();
		const { status = null, error = null, waitMs = 0 } = outcome;
		const end = (state: 'delivered' | 'failed') => {
			file.run(
				'UPDATE delivery SET state = ?, status = ?, error = ?, next_ms = NULL WHERE number = ?',
				...[state, status, error, number],
			);
			// Next delivery of the subject.
			file.run(
				`UPDATE delivery SET next_ms = max(planned_ms, ?1), planned_ms = max(planned_ms, ?1)
				WHERE number = (
					SELECT number FROM delivery WHERE webhook = ? AND subject = ? AND state = 'waiting'
					ORDER BY event LIMIT 1
				) AND next_ms IS NULL`,
				...[nowMs, webhook, subject],
			);
		};
		this.#note(webhook, outcome);
		if (isSuccess(outcome)) return end('delivered');
		// An early attempt at startup doesn't count for the schedule.
		const wasPlanned = planned_ms <= begunMs;
		const nextStep = wasPlanned ? step + 1 : step;
		if (nextStep > pauses.length) return end('failed');
		const pauseMs = wasPlanned ? withJitter(pauses[step]) : planned_ms - nowMs;
		// A receiver may ask for a longer pause, up to a limit.
		const nextMs = nowMs + Math.max(pauseMs, Math.min(waitMs, MAX_WAIT_MS));
		file.run(
			`UPDATE delivery SET step = ?, planned_ms = ?2, next_ms = ?2, status = ?, error = ?
			WHERE number = ?`,
			...[nextStep, nextMs, status, error, number],
		);
		if (waitMs > 0) this.#heldUntil.set(webhook, nowMs + Math.min(waitMs, MAX_WAIT_MS));
		if (status === 410) {
			this.#pause(webhook, 'the receiver said that it is gone (410)');
		} else if (nowMs - (webhooks.row(webhook)?.failing_since_ms ?? nowMs) >= MAX_FAILING_MS) {
			this.#pause(webhook, 'nothing arrived for five days');
		}
	}

	/** Records the last outcome, and since when everything has failed. A failed test doesn't count. */
	#note(webhook: string, outcome: Outcome, isTest = false): void {
		const nowMs = this.#options.now();
		const { status = null, error = null } = outcome;
		this.#options.file.run(
			`UPDATE webhook SET last_ms = ?1, last_status = ?, last_error = ?,
			failing_since_ms = CASE
				WHEN ? THEN NULL
				WHEN ? THEN failing_since_ms
				WHEN failing_since_ms IS NULL OR last_ms < ? THEN ?1
				ELSE failing_since_ms END
			WHERE id = ?`,
			...[nowMs, status, error, Number(isSuccess(outcome)), Number(isTest)],
			...[nowMs - QUIET_FOR_MS, webhook],
		);
	}

	#pause(webhook: string, reason: string): void {
		const { webhooks, warn } = this.#options;
		const row = webhooks.row(webhook);
		if (!row || row.paused !== null) return;
		webhooks.pause(webhook, reason);
		warn(`The webhook to ${new URL(row.url).host} is paused: ${reason}`);
	}

	#wakeIn(ms: number): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.wake(), Math.max(0, ms));
		this.#timer.unref();
	}

	#tell(thrown: unknown): void {
		const error = asError(thrown);
		const problem = `Deliveries wait: ${error.cause ? error.message : reasonOf(error)}`;
		if (problem !== this.#told) this.#options.warn(problem);
		this.#told = problem;
	}
}

/** Varies a pause, so that many deliveries don't retry at the same moment. */
const withJitter = (ms: number) => Math.round(ms * (1 + JITTER * (2 * Math.random() - 1)));

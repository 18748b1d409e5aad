import { randomBytes } from 'node:crypto';
import { ApiError } from '../util/errors.mts';
import type { EventFile } from './eventFile.mts';
import { TYPES, type Delivery, type EventType, type Webhook } from './types.mts';

/** A webhook's row, for sending. */
export interface WebhookRow {
	id: string;
	url: string;
	types: string;
	description: string | null;
	secret: string;
	created_ms: number;
	/** Reason for pausing it; null if it isn't paused. */
	paused: string | null;
	/** Time of the first failure since the last success. */
	failing_since_ms: number | null;
	last_ms: number | null;
	last_status: number | null;
	last_error: string | null;
}

interface DeliveryRow {
	id: string;
	type: string;
	data: string;
	born_ms: number;
	state: Delivery['state'];
	attempts: number;
	status: number | null;
	error: string | null;
	begun_ms: number | null;
	next_ms: number | null;
}

export interface WantedWebhook {
	/** As returned by `webhookAddress`. */
	url: string;
	types?: EventType[];
	description?: string;
}

export class WebhookList {
	readonly #file: EventFile;
	readonly #now: () => number;
	/** Numbers of the deliveries with an attempt in progress. */
	readonly underWay = new Set<number>();

	constructor(file: EventFile, now: () => number) {
		this.#file = file;
		this.#now = now;
	}

	/**
	 * Adds a webhook. If the URL exists, it gets a new secret and the new settings. It is resumed,
	 * and its waiting deliveries are due.
	 */
	put({ url, types = [...TYPES], description }: WantedWebhook): {
		row: WebhookRow;
		isNew: boolean;
	} {
		const secret = `whsec_${randomBytes(32).toString('base64')}`;
		const wanted = JSON.stringify(TYPES.filter((type) => types.includes(type)));
		return this.#file.transaction(() => {
			const known = this.#file.get<{ id: string }>('SELECT id FROM webhook WHERE url = ?', url);
			const id = known?.id ?? `wh_${randomBytes(12).toString('hex')}`;
			this.#file.run(
				`INSERT INTO webhook (id, url, types, description, secret, created_ms)
				VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET
				types = excluded.types, description = excluded.description, secret = excluded.secret`,
				...[id, url, wanted, description ?? null, secret, this.#now()],
			);
			this.#file.run(
				`DELETE FROM delivery WHERE webhook = ? AND state = 'waiting' AND event IN (
					SELECT number FROM event WHERE type NOT IN (SELECT value FROM json_each(?))
				)`,
				...[id, wanted],
			);
			this.resume(id);
			return { row: this.row(id)!, isNew: !known };
		});
	}

	row(id: string): WebhookRow | undefined {
		return this.#file.get<WebhookRow>('SELECT * FROM webhook WHERE id = ?', id);
	}

	/** Throws an ApiError (404) for an unknown ID. */
	known(id: string): WebhookRow {
		const row = this.row(id);
		if (!row) throw new ApiError(404, 'Webhook not found');
		return row;
	}

	/** Webhooks that aren't paused. */
	active(): WebhookRow[] {
		return this.#file.all<WebhookRow>('SELECT * FROM webhook WHERE paused IS NULL ORDER BY number');
	}

	list(): Webhook[] {
		const rows = this.#file.all<WebhookRow>('SELECT * FROM webhook ORDER BY number');
		return rows.map((row) => this.view(row));
	}

	/** A webhook without its secret. */
	view(row: WebhookRow): Webhook {
		const { id, url, types, description, created_ms, paused } = row;
		const { last_ms, last_status: status, last_error: error } = row;
		const sql = `SELECT count(*) AS n FROM delivery WHERE webhook = ? AND state = 'waiting'`;
		return {
			...{ id, url, types: JSON.parse(types) as EventType[], description },
			...{ status: paused === null ? 'active' : 'paused', reason: paused },
			createdAt: iso(created_ms),
			waiting: this.#file.get<{ n: number }>(sql, id)!.n,
			lastDelivery: last_ms === null ? null : { at: iso(last_ms), status, error },
		};
	}

	/** Removes a webhook with its deliveries. Throws an ApiError (404) for an unknown ID. */
	remove(id: string): void {
		this.#file.transaction(() => {
			this.known(id);
			this.#file.run('DELETE FROM delivery WHERE webhook = ?', id);
			this.#file.run('DELETE FROM webhook WHERE id = ?', id);
		});
	}

	pause(id: string, reason: string): void {
		this.#file.run('UPDATE webhook SET paused = ? WHERE id = ?', reason, id);
	}

	/** Makes waiting deliveries of one or all webhooks due: the first of each subject. */
	makeDue(id?: string): void {
		this.#file.run(
			`UPDATE delivery SET next_ms = CASE WHEN EXISTS (
				SELECT 1 FROM delivery AS d WHERE d.webhook = delivery.webhook
				AND d.subject = delivery.subject AND d.state = 'waiting' AND d.event < delivery.event
			) THEN NULL ELSE ?1 END
			WHERE state = 'waiting' AND (?2 IS NULL OR webhook = ?2)
			AND number NOT IN (SELECT value FROM json_each(?3))`,
			...[this.#now(), id ?? null, JSON.stringify([...this.underWay])],
		);
	}

	resume(id: string): void {
		const sql = 'UPDATE webhook SET paused = NULL, failing_since_ms = NULL WHERE id = ?';
		this.#file.run(sql, id);
		this.makeDue(id);
	}

	/** The log of a webhook, newest first. */
	deliveries(id: string, limit: number): Delivery[] {
		const rows = this.#file.all<DeliveryRow>(
			`SELECT event.id, type, data, born_ms, state, attempts, status, error, begun_ms, next_ms
			FROM delivery JOIN event ON event.number = delivery.event
			WHERE webhook = ? ORDER BY delivery.event DESC LIMIT ?`,
			...[id, limit],
		);
		return rows.map(({ born_ms, begun_ms, next_ms, data, ...row }) => ({
			...{ id: row.id, type: row.type, data: JSON.parse(data), state: row.state },
			...{ attempts: row.attempts, status: row.status, error: row.error },
			createdAt: iso(born_ms),
			lastAttemptAt: begun_ms === null ? null : iso(begun_ms),
			nextAttemptAt: next_ms === null ? null : iso(next_ms),
		}));
	}
}

const iso = (ms: number) => new Date(ms).toISOString();

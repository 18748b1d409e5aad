const HOUR_MS = 60 * 60_000;
/** Clocks that are no further apart agree. */
const TOLERANCE_MS = HOUR_MS;
/** A jump that has lasted so long is believed. */
const BELIEVED_AFTER_MS = 48 * HOUR_MS;

/** Tells this process from others, whose steady clocks began elsewhere. */
const PROCESS = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);

/** What the clocks showed when they last agreed. All in ms. */
export interface Clock {
	/** The service's time, epoch. */
	now: number;
	/** n8n's time, epoch. */
	own: number;
	/** A clock that nobody sets, within one process. */
	steady: number;
	process: number;
	/** Set while `now` is by n8n's clock, as the service shows none. */
	isOwn?: boolean;
	/** n8n's time when they were first found to disagree. */
	doubtedAt?: number;
}

/** What time it is. */
export interface Time {
	/** Epoch ms by the service's clock; where it shows none, by how much has passed. */
	now: number;
	/** What it would be by how much has passed, where that is something else. */
	else?: number;
	/** What is to be remembered. */
	clock: Clock;
}

/**
 * Compares what the clocks show with what has passed since they last agreed, by n8n's clock and, in
 * the same process, by one that cannot be set. One that agrees is enough. While none does, both
 * times count; a jump that stays is believed in the end.
 *
 * @param known What was remembered.
 * @param service The service's time, epoch ms; undefined where it shows none.
 */
export function compareClocks(known: Clock | undefined, service: number | undefined): Time {
	const own = Date.now();
	const steady = Math.floor(performance.now());
	const isOwn = service === undefined && (known?.isOwn ?? true);
	const agreed = (now: number): Time => ({
		now,
		clock: { now, own, steady, process: PROCESS, ...(isOwn && { isOwn }) },
	});
	if (!known || (known.isOwn && !isOwn)) return agreed(service ?? own);

	const byOwn = known.now + own - known.own;
	const bySteady = known.process === PROCESS ? [known.now + steady - known.steady] : [];
	const now = service ?? byOwn;
	const others = service === undefined ? bySteady : [...bySteady, byOwn];
	if (others.some((time) => isNear(time, now))) return agreed(now);

	// Time does not run back: a clock that does says nothing about what has passed.
	const other = others.find((time) => !isBefore(time, known.now));
	const doubtedAt = known.doubtedAt ?? own;
	if (other === undefined || Math.abs(own - doubtedAt) >= BELIEVED_AFTER_MS) return agreed(now);
	return { now, else: other, clock: { ...known, doubtedAt } };
}

/** The earlier of the times that it may be: what may be over is not over by that. */
export function earliest({ now, else: other = now }: Pick<Time, 'now' | 'else'>): number {
	return Math.min(now, other);
}

/** The later of the times that it may be. */
export function latest({ now, else: other = now }: Pick<Time, 'now' | 'else'>): number {
	return Math.max(now, other);
}

function isNear(a: number, b: number): boolean {
	return Math.abs(a - b) < TOLERANCE_MS;
}

function isBefore(time: number, known: number): boolean {
	return time < known - TOLERANCE_MS;
}

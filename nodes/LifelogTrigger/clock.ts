const HOUR_MS = 60 * 60_000;
/** Clocks that are no further apart agree. */
const TOLERANCE_MS = HOUR_MS;
/** A jump that has lasted so long is believed, unless two clocks speak against it. */
const BELIEVED_AFTER_MS = 48 * HOUR_MS;
/** What a restart of n8n, over which no steady clock goes on, adds to that at most. */
const LONGEST_RESTART_MS = 24 * HOUR_MS;

/** What n8n's clocks show, in ms. */
interface Own {
	/** n8n's time, epoch. */
	own: number;
	/** A clock that nobody sets, within one process. */
	steady: number;
	/** Tells a process from others, whose steady clocks began elsewhere. */
	process: number;
}

/** What the clocks showed when they last agreed. All in ms. */
export interface Clock extends Own {
	/** The service's time, epoch. */
	now: number;
	/** Set while `now` is by n8n's clock, as the service has shown none. */
	isOwn?: boolean;
	/** Set while they disagree: for how long, and what n8n's showed when that was last measured. */
	doubt?: Own & { ms: number };
}

/** What time it is. */
export interface Time {
	/** Epoch ms by the service's clock; where it shows none or is outvoted, by how much has passed. */
	now: number;
	/** What it may be as well, where the clocks say something else. */
	else?: number;
	/** Set where `now` is certain all the same, as two clocks agree on it. */
	isSure?: boolean;
	/** What is to be remembered. */
	clock: Clock;
}

/**
 * Compares what the clocks show with what has passed since they last agreed, by n8n's clock and, in
 * the same process, by one that cannot be set.
 *
 * - The service's is right where one of the others agrees with it.
 * - Where the other two agree against it, they are right. One that is ahead of both counts beside
 *   them all the same: they stand still together while a machine sleeps.
 * - While none agree, both times count, and a jump that stays is believed in the end.
 * - How much has passed on the service's clock cannot be told where it showed none before: n8n's may
 *   have been wrong from the beginning, so it does not outvote that.
 *
 * @param known What was remembered.
 * @param service The service's time, epoch ms; undefined where it shows none.
 */
export function compareClocks(known: Clock | undefined, service: number | undefined): Time {
	const shown = ownClocks();
	const isOwn = service === undefined && (known === undefined || known.isOwn === true);
	const agreed = (now: number): Time => ({
		now,
		clock: { now, ...shown, ...(isOwn && { isOwn }) },
	});
	if (!known) return agreed(service ?? shown.own);

	const byOwn = known.now + shown.own - known.own;
	const isSameProcess = known.process === shown.process;
	const bySteady = isSameProcess ? known.now + shown.steady - known.steady : undefined;
	const now = service ?? byOwn;
	const others = [bySteady, ...(service === undefined ? [] : [byOwn])].filter(
		(time) => time !== undefined,
	);
	if (others.some((time) => isNear(time, now))) return agreed(now);

	// A service that is where n8n's clock is may have been wrong before.
	const mayBeOutvoted = !known.isOwn && !isNear(now, shown.own);
	const isOutvoted = mayBeOutvoted && bySteady !== undefined && isNear(bySteady, byOwn);
	if (isOutvoted) return { ...agreed(byOwn), else: now > byOwn ? now : undefined, isSure: true };

	// Time does not run back: a clock that does says nothing about what has passed.
	const other = others.find((time) => !isBefore(time, known.now));
	const doubtedMs = (known.doubt?.ms ?? 0) + (known.doubt ? passedSince(known.doubt, shown) : 0);
	if (other === undefined || doubtedMs >= BELIEVED_AFTER_MS) return agreed(now);
	return { now, else: other, clock: { ...known, doubt: { ...shown, ms: doubtedMs } } };
}

function ownClocks(): Own {
	return {
		own: Date.now(),
		steady: Math.floor(performance.now()),
		process: Math.floor(performance.timeOrigin),
	};
}

/** How much has passed; over a restart n8n's clock may have been set, so a day at most. */
function passedSince(before: Own, shown: Own): number {
	if (before.process === shown.process) return shown.steady - before.steady;
	return Math.min(Math.max(0, shown.own - before.own), LONGEST_RESTART_MS);
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

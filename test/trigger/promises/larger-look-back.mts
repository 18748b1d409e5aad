import type { PollSeen } from './stage.mts';

/**
 * A larger look-back counts from the first poll with it, which is that of the publication unless
 * that is refused, or its state thrown away. The service's times are whole seconds.
 */
export class LargerLookBack {
	/** The look-back before, in days, while no poll with the larger one has been kept. */
	private smaller?: number;

	/** Call when the look-back is set, in days. */
	set(before: number, days: number): void {
		const smaller = this.smaller ?? before;
		this.smaller = days > smaller ? smaller : undefined;
	}

	/** Call when the trigger makes its first reading. */
	begins(): void {
		this.smaller = undefined;
	}

	/** @returns What was not promised: what happened before `since`, beyond the `smaller` look-back. */
	polled({
		began,
		error,
		isActivation,
		isKept,
	}: PollSeen): { smaller: number; since: number } | undefined {
		const { smaller } = this;
		if (smaller === undefined) return undefined;
		if (error) return isActivation ? { smaller, since: Infinity } : undefined;
		if (!isKept) return undefined;
		this.smaller = undefined;
		return { smaller, since: Math.floor(began / 1000) * 1000 };
	}
}

// Knows whether the clock that counts is wrong, and from when on nothing is promised for it.
import type { World } from './service.mts';
import type { PollSeen } from './stage.mts';

/** Watches the clock that counts: the service's, or n8n's if a poll hears of no `Date`. */
export class ClockWatch {
	/** Whether it was wrong in the first poll, or in two polls in a row. */
	isMisled = false;
	/** Whether it was wrong in the last poll, or is now; and as n8n saved that. */
	private wasWrong = false;
	private wasSavedWrong = false;
	/** When it was last wrong: what waits for a time may come early or late by that. */
	wrongAt = -Infinity;
	private readonly world: World;

	constructor(world: World) {
		this.world = world;
	}

	/** Call when the trigger begins anew. */
	begins(poll: PollSeen): void {
		this.isMisled = this.isWrong(poll);
		this.wasWrong = false;
		this.wasSavedWrong = false;
	}

	/** Call when n8n goes back to what it saved last. */
	restarted(): void {
		this.wasWrong = this.wasSavedWrong;
	}

	/** Call when a poll is over. */
	polled(poll: PollSeen): void {
		const isWrong = this.isWrong(poll);
		if (isWrong) this.wrongAt = poll.ended;
		if (!poll.isKept || (poll.error && !isWrong)) return;
		this.isMisled ||= isWrong && this.wasWrong;
		this.wasWrong = isWrong;
		if (poll.isSaved) this.wasSavedWrong = isWrong;
	}

	private isWrong({ log = this.world.log }: PollSeen): boolean {
		const { manners, dateAheadMs, time } = this.world;
		const isHeard = log.some(({ fault }) => fault !== 'cut' && fault !== 'hangs');
		const isDated = isHeard && manners.hasDate && dateAheadMs !== null;
		return isDated ? dateAheadMs !== 0 : time.aheadMs !== 0;
	}
}

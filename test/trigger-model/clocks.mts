// Knows which clocks are wrong, and from when on nothing is promised for it.
import type { World } from './service.mts';
import type { PollSeen } from './stage.mts';

const HOUR = 60 * 60_000;
/** For so long a clock is doubted that no two others speak against. */
const DOUBT_MS = 48 * HOUR;
const TOLERANCE_MS = 2 * HOUR;

const isNear = (a: number, b: number) => Math.abs(a - b) <= TOLERANCE_MS;

/** Watches the clocks of one history. */
export class ClockWatch {
	/** Whether a clock was wrong in a way for which nothing is promised. */
	isMisled = false;
	private readonly world: World;
	/** How far n8n's clock was ahead at first, and when the time was last told; and as that was last saved. */
	private readonly firstOwn: number;
	private own: number;
	private savedOwn: number;
	/** Since when the clock that counts is wrong, and whether n8n was started meanwhile. */
	private wrongSince?: number;
	private wasStarted = false;
	/** Whether the service has told no time yet; and as that was last saved. */
	private isUntold = false;
	private wasSavedUntold = false;
	/** Since when the service's clock, right as it is, and n8n's disagree, with no third one to tell. */
	private ownDoubtedSince?: number;

	constructor(world: World) {
		this.world = world;
		this.firstOwn = world.time.aheadMs;
		this.own = this.firstOwn;
		this.savedOwn = this.own;
	}

	/** Whether the clock that counts is right: the service's, or n8n's where it sends no `Date`. */
	get isTimeTold(): boolean {
		const { dateAheadMs, time } = this.world;
		return this.isDated ? dateAheadMs === 0 : time.aheadMs === this.own;
	}

	private get isDated(): boolean {
		const { manners, dateAheadMs } = this.world;
		return manners.hasDate && dateAheadMs !== null;
	}

	/** Call when n8n goes back to what it saved last. */
	restarted(): void {
		this.own = this.savedOwn;
		this.isUntold = this.wasSavedUntold;
	}

	/** Call when n8n runs in a new process. */
	started(): void {
		this.wasStarted = true;
	}

	/** Call when the trigger begins anew: with a clock that is wrong then nothing is promised. */
	begins(): void {
		const { dateAheadMs, time } = this.world;
		this.isMisled = this.isDated ? dateAheadMs !== 0 : time.aheadMs !== this.firstOwn;
		this.own = time.aheadMs;
		this.wrongSince = undefined;
		this.wasStarted = false;
		this.isUntold = !this.isDated;
		this.wasSavedUntold = this.isUntold;
		this.ownDoubtedSince = undefined;
	}

	/** Call when a poll is over. */
	polled({ began, error, isKept, isSaved }: PollSeen): void {
		if (this.isTimeTold) {
			if (error || !isKept) return;
			this.wrongSince = undefined;
			// By how much the service's is ahead of n8n's, at the first poll, cannot be told any more.
			this.isMisled ||= this.isUntold && this.isDated && this.world.time.aheadMs !== this.own;
			if (this.isOwnDoubted(began)) return;
			this.own = this.world.time.aheadMs;
			if (this.isDated) this.isUntold = false;
			if (isSaved) {
				this.savedOwn = this.own;
				this.wasSavedUntold = this.isUntold;
			}
			this.wasStarted = false;
			return;
		}
		this.wrongSince ??= began;
		const hasLasted = began - this.wrongSince >= DOUBT_MS;
		this.isMisled ||= this.mayMislead(hasLasted);
	}

	/** Whether no two clocks agree, as n8n was started and its clock jumped; for two days at most. */
	private isOwnDoubted(began: number): boolean {
		const isAhead = this.world.time.aheadMs - this.own > TOLERANCE_MS;
		if (!this.wasStarted || !isAhead) this.ownDoubtedSince = undefined;
		else this.ownDoubtedSince ??= began;
		return this.ownDoubtedSince !== undefined && began - this.ownDoubtedSince < DOUBT_MS;
	}

	private mayMislead(hasLasted: boolean): boolean {
		const { dateAheadMs, time } = this.world;
		const ownJump = time.aheadMs - this.own;
		if (!this.isDated) return hasLasted || this.wasStarted;
		if (ownJump === 0) {
			const isAlone = this.wasStarted || this.isUntold || isNear(dateAheadMs!, time.aheadMs);
			return hasLasted && isAlone;
		}
		return hasLasted || this.wasStarted || isNear(dateAheadMs!, ownJump);
	}
}

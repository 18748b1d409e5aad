// Knows what became of every lifelog, and what of it the user was promised to be told.
import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';
import { ClockWatch } from './clocks.mts';
import type { Settings } from './history.mts';
import { LargerLookBack } from './larger-look-back.mts';
import { isWell } from './polls.mts';
import { Broken, type Promised } from './promises.mts';
import type { World } from './service.mts';
import type { PollSeen } from './stage.mts';
import type { Answered } from './troubles.mts';
import {
	dayOf,
	daysBefore,
	isAlive,
	latest,
	type Lifelog,
	mayCountFrom,
	type Version,
} from './truth.mts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** After an absence of so many days every day counts; one less, as the day may change meanwhile. */
const MAX_ABSENCE_DAYS = 30;
/** Up to so many new lifelogs are reported by the very next poll. */
const FEW = 20;
const SWIFT_MS = 170;

interface Emission {
	key: string;
	at: number;
	starred: boolean;
	isIncomplete: boolean;
}

/** What was promised of a lifelog, and what came of it. */
interface Note {
	emissions: Emission[];
	/**
	 * What is to be reported, since when, and when the poll before that was over; recent is what lies
	 * on a day that every poll reads. And when the polls were over that could read it and are not
	 * forgotten.
	 */
	owed?: { since: number; polledAt: number; isRecent: boolean; readAt: number[] };
	/** Whether it changed on a day that does not count, which polls read all the same so far. */
	mayStillCome?: boolean;
	/** Whether it ever was older than the look-back, or was left out of the first reading. */
	isOutside: boolean;
	/** Whether the first reading was cut short before it came to its day. */
	isUntold: boolean;
	/** Whether a poll that saw it was lost because n8n was stopped before it saved. */
	wasUnsaved: boolean;
	/** Since when the trigger must know of it. */
	knownAt?: number;
	/** When its single read first failed and has failed ever since. */
	failsSince?: number;
}

interface Baseline {
	began: number;
	ended: number;
	/** What was there before is not to be reported; the service's times are whole seconds. */
	since: number;
	/** For what credential it was made. */
	credential: string;
	/** The days it must have read, the newest first, with what the service answered it; by a wrong clock, those it did read. */
	days: Set<string>;
}

const wantsCreated = ({ event }: Settings) => event !== 'lifelogUpdated';
const wantsUpdated = ({ event }: Settings) => event !== 'lifelogCreated';
const matches = ({ isStarred }: Settings, starred: boolean) =>
	isStarred === undefined || isStarred === starred;
const isSame = (a: { at: number; starred: boolean }, b: { at: number; starred: boolean }) =>
	a.at === b.at && a.starred === b.starred;

/** Watches the lifelogs of one history. */
export class LifelogObserver {
	private readonly world: World;
	/** Whether a clock goes wrong for good somewhere in the history. */
	private readonly isClockUnsure: boolean;
	private readonly aheadMs: number;
	private readonly notes = new Map<string, Note>();
	private readonly keys = new Set<string>();
	/** The settings so far, and since when; the last ones are in force. */
	private readonly past: Array<{ since: number; settings: Settings }>;
	private baseline?: Baseline;
	/** The last poll that ended without error and is not forgotten; and as it was last saved. */
	private lastPoll?: PollSeen;
	private lastSaved?: PollSeen;
	private readonly clocks: ClockWatch;
	private readonly larger = new LargerLookBack();
	/** When days were last read to their end, by polls that showed as failed too, after they were over for a day. */
	private readonly readOver = new Map<string, number>();

	constructor(world: World, settings: Settings, isClockUnsure: boolean) {
		this.world = world;
		this.past = [{ since: 0, settings }];
		this.isClockUnsure = isClockUnsure;
		this.aheadMs = world.time.aheadMs;
		this.clocks = new ClockWatch(world);
	}

	private get settings(): Settings {
		return this.past.at(-1)!.settings;
	}

	/** All settings that were in force at an instant or later. */
	private settingsSince(instant: number): Settings[] {
		return this.past
			.filter((_, index) => (this.past[index + 1]?.since ?? Infinity) >= instant)
			.map(({ settings }) => settings);
	}

	/** Whether the trigger has made its first reading. */
	get hasBaseline(): boolean {
		return this.baseline?.credential === this.settings.credential;
	}

	private note({ id }: Lifelog): Note {
		let note = this.notes.get(id);
		if (!note) {
			note = { emissions: [], isOutside: false, isUntold: false, wasUnsaved: false };
			this.notes.set(id, note);
		}
		return note;
	}

	/** Call when the trigger's parameters change. */
	set(settings: Settings): void {
		this.larger.set(this.settings.lookbackDays, settings.lookbackDays);
		this.past.push({ since: this.world.now, settings });
	}

	/** Call when a lifelog has been created or changed. */
	changed(lifelog: Lifelog): void {
		if (!this.baseline || this.clocks.isMisled) return;
		const note = this.note(lifelog);
		const day = dayOf(latest(lifelog).start);
		const isRecent = this.isSinceLast(day, 1);
		const isCounted = (this.isSinceLast(day) && !this.isTooOld(day)) || day >= this.oldestDay(1);
		const isUnseen = note.isUntold && note.knownAt === undefined;
		const isUntouched = latest(lifelog).at < this.world.now;
		if (isCounted && !(isUnseen && isUntouched)) {
			const since = this.world.now;
			note.owed = { since, polledAt: this.lastPoll?.ended ?? since, isRecent, readAt: [] };
		} else {
			note.owed = undefined;
			note.mayStillCome = true;
		}
		if (!isRecent && day < this.oldestDay()) note.isOutside = true;
	}

	/** The first day of the look-back; one later where clocks are not sure. */
	private oldestDay(margin = 0): string {
		const days = this.settings.lookbackDays - 1 - (this.isClockUnsure ? margin : 0);
		return daysBefore(this.world.now, days);
	}

	/** Whether a day has come since the last poll that worked (or so many days before), and no poll read it since it was over. */
	private isSinceLast(day: string, before = 0): boolean {
		if (!this.lastPoll || day < daysBefore(this.lastPoll.began, before)) return false;
		const { isPolled, log } = this.world;
		if (isPolled && log.some((one) => readsOver(one, day, this.world.now))) return false;
		return (this.readOver.get(day) ?? 0) <= this.lastPoll.ended;
	}

	private isTooOld(day: string): boolean {
		return day < daysBefore(this.world.now, MAX_ABSENCE_DAYS - 1);
	}

	/** Call when n8n goes back to what it saved last. */
	restarted(): void {
		this.clocks.restarted();
		for (const [day, ended] of this.readOver) {
			if (ended > (this.lastSaved?.ended ?? 0)) this.readOver.delete(day);
		}
		if (this.lastPoll === this.lastSaved) return;
		for (const lifelog of this.world.lifelogs.values()) {
			const note = this.note(lifelog);
			const { owed } = note;
			if (owed) owed.readAt = owed.readAt.filter((at) => at <= (this.lastSaved?.ended ?? 0));
			if (note.emissions.length > 0) continue;
			note.wasUnsaved = true;
			if ((note.knownAt ?? 0) > (this.lastSaved?.ended ?? 0)) note.knownAt = undefined;
		}
		this.lastPoll = this.lastSaved;
	}

	/** Call when a poll is over. @throws Broken */
	polled(poll: PollSeen): void {
		this.noteReads(poll);
		if (this.baseline?.credential !== this.settings.credential) {
			if (poll.items) throw new Broken('nothing-old', 'the first poll emitted something');
			if (!poll.error && poll.isKept) this.begins(poll);
			return;
		}
		this.clocks.polled(poll);
		const next = this.whatComesNext();
		if (poll.items) this.emitted(poll, poll.items);
		const isWellNow = isWell(poll) && this.isOrderly();
		if (isWellNow) this.checkNext(poll, next);
		this.excuse(poll);
		if (!poll.error && poll.isKept) this.lastPoll = poll;
		if (poll.isSaved) this.lastSaved = poll;
		for (const lifelog of this.world.lifelogs.values()) this.age(lifelog, poll, isWellNow);
	}

	/** What is not promised, as a larger look-back did not count yet. */
	private excuse(poll: PollSeen): void {
		const excused = this.larger.polled(poll);
		if (!excused) return;
		const { smaller, since } = excused;
		for (const lifelog of this.world.lifelogs.values()) {
			const note = this.note(lifelog);
			const { start, time } = latest(lifelog);
			const day = dayOf(start);
			const isCounted = day >= daysBefore(this.world.now, smaller - 1) || this.isSinceLast(day);
			if (!note.owed || isCounted || time >= since) continue;
			note.owed = undefined;
			note.mayStillCome = true;
			note.isOutside = true;
		}
	}

	/** Whether the service is swift, the key free and every clock right. */
	private isOrderly(): boolean {
		const { manners, dateAheadMs, time } = this.world;
		const areClocksRight = dateAheadMs === 0 && time.aheadMs === this.aheadMs;
		return manners.latencyMs <= SWIFT_MS && manners.others === 0 && areClocksRight;
	}

	private begins(poll: PollSeen): void {
		const { log = [], began, ended } = poll;
		this.notes.clear();
		this.keys.clear();
		this.clocks.begins(poll);
		this.larger.begins();
		const given = log.filter(({ isTooLarge, fault }) => !isTooLarge || fault !== undefined);
		const firstFault = given.findIndex(({ fault }) => fault !== undefined);
		const answered = firstFault < 0 ? given.length : firstFault;
		const { credential } = this.settings;
		const days = this.world.areClocksRight ? this.newestDays(answered) : daysRead(log);
		this.baseline = { began, ended, since: mayCountFrom(began), credential, days };
		this.lastPoll = poll;
		if (poll.isSaved) this.lastSaved = poll;
		for (const lifelog of this.world.lifelogs.values()) {
			const note = this.note(lifelog);
			const { start, time } = latest(lifelog);
			if (dayOf(start) < this.oldestDay() || wasMoved(lifelog, began)) note.isOutside = true;
			if (lifelog.hiddenAt !== undefined) note.isOutside = true;
			note.isUntold = !this.baseline.days.has(dayOf(start));
			const isSeen = !note.isOutside && !note.isUntold;
			if (isSeen && isWell(poll) && time < began) note.knownAt = ended;
			// A change during this poll may be reported by a later one, in the place of another lifelog.
			if (time >= this.baseline.since) note.mayStillCome = true;
		}
	}

	/** The days whose pages are not more than so many together, from today backwards. */
	private newestDays(pages: number): Set<string> {
		const { world, settings } = this;
		const days = new Set<string>();
		for (let ago = 0; ago < settings.lookbackDays; ago++) {
			const day = daysBefore(world.now, ago);
			const lifelogs = [...world.lifelogs.values()].filter(isAlive);
			const count = lifelogs.filter((lifelog) => dayOf(latest(lifelog).start) === day).length;
			pages -= Math.max(1, Math.ceil(count / world.manners.maxPageSize));
			if (pages < 0) break;
			days.add(day);
		}
		return days;
	}

	private noteReads({ log: own, ended, isKept }: PollSeen): void {
		const log = (own ?? this.world.log).filter(({ isOpen }) => !isOpen);
		for (const one of log) {
			if (isKept && one.isWhole && readsOver(one, one.name, ended))
				this.readOver.set(one.name, ended);
		}
		const isPartial = log.some(({ fault }) => !fault);
		for (const { of, name, fault } of log) {
			if (isPartial && fault && of === 'lifelogs') this.troubles(name);
			const lifelog = of === 'lifelog' && this.world.lifelogs.get(name);
			if (!lifelog) continue;
			const note = this.note(lifelog);
			// Of two polls that overlap, the one that could not read it may be the one that counts.
			const isUnsure = !own && log.some((one) => one.name === name && one.fault);
			if (!fault && !isUnsure) note.failsSince = undefined;
			else note.failsSince ??= this.world.now;
		}
	}

	/** What is waiting, where that is little; else what of it is new, where that is little. */
	private whatComesNext(): Lifelog[] {
		const lifelogs = [...this.world.lifelogs.values()];
		const waiting = lifelogs.filter((lifelog) => {
			const { owed, mayStillCome } = this.note(lifelog);
			return owed !== undefined || mayStillCome === true;
		});
		if (waiting.length <= FEW) return waiting;
		const unreported = waiting.filter((one) => this.isNew(one));
		if (unreported.length > FEW || !wantsCreated(this.settings)) return [];
		return unreported.filter((one) => this.isKnownAsCreated(one));
	}

	/** What is new on the days that every poll reads comes at once: before what changes again. */
	private checkNext(poll: PollSeen, next: Lifelog[]): void {
		if (this.settings.settleMinutes > 0 || this.clocks.isMisled) return;
		for (const lifelog of next) {
			const { time, start } = latest(lifelog);
			const { owed, failsSince } = this.note(lifelog);
			const day = dayOf(start);
			const wasHidden = (lifelog.hiddenAt ?? 0) >= (owed?.since ?? 0);
			const wasTroubled = this.wasEverTroubled.has(day) || this.wasEverTroubled.has(lifelog.id);
			const isFresh = time < poll.began && day >= daysBefore(poll.began, 1);
			if (!owed || !isFresh || wasHidden || wasTroubled || failsSince) continue;
			const promise = this.owedOf(lifelog);
			if (promise) {
				throw new Broken('next-poll', `${describe(lifelog)} (${promise}) is not in ${stamp(poll)}`);
			}
		}
	}

	/** Days and IDs that were in trouble of their own: they are read again, but less often. */
	private readonly wasEverTroubled = new Set<string>();

	/** Call when a day or an entry is in trouble. */
	troubles(name: string): void {
		this.wasEverTroubled.add(name);
	}

	/** What the passing of time makes of a promise. */
	private age(lifelog: Lifelog, poll: PollSeen, isWellNow: boolean): void {
		const note = this.note(lifelog);
		const { owed } = note;
		const { start, time } = latest(lifelog);
		const day = dayOf(start);
		const isFresh = time < poll.began && day >= daysBefore(poll.began, 1);
		const isLeftOut = (lifelog.hiddenAt ?? 0) >= poll.began;
		if (isLeftOut && note.isUntold && note.knownAt === undefined) note.isOutside = true;
		if (isLeftOut && owed) owed.isRecent = false;
		const isShown = !isLeftOut && !this.isUnreadable(lifelog);
		if (isWellNow && poll.isKept && isFresh && isShown) note.knownAt ??= poll.ended;
		if (this.clocks.isMisled) note.owed = undefined;
		if (note.owed && owed) {
			const days = this.settingsSince(owed.since).map(({ lookbackDays }) => lookbackDays);
			const enough = owed.isRecent ? 1 : Math.max(...days);
			const isOver = owed.isRecent ? this.isTooOld(day) : day < this.oldestDay(1);
			if (isOver && owed.readAt.length < enough) {
				note.owed = undefined;
				note.mayStillCome = true;
			}
			const couldRead = isWellNow && isShown && poll.began > owed.since;
			if (couldRead && poll.isKept) owed.readAt.push(poll.ended);
		}
		const isDayRead = poll.log?.some(({ of, name }) => of === 'lifelogs' && name === day);
		if (isWellNow && !isDayRead) note.mayStillCome = false;
		if (day < this.oldestDay() && !note.owed) note.isOutside = true;
	}

	private emitted(poll: PollSeen, items: IDataObject[]): void {
		if (items.length === 0) throw new Broken('nothing-untrue', 'an emission of nothing');
		let last = '';
		for (const json of items) {
			const lifelog = this.world.lifelogs.get(json.id as string);
			if (!lifelog)
				throw new Broken('nothing-untrue', `an item without a lifelog: ${String(json.id)}`);
			const version = this.evaluate(poll, lifelog, json);
			if (this.isUnplaced(lifelog, version.start, poll)) continue;
			const place = `${String(version.start).padStart(16, '0')} ${lifelog.id}`;
			if (place <= last) throw new Broken('as-asked', `out of order: ${place} behind ${last}`);
			last = place;
		}
	}

	/** Whether it cannot be told where it belongs: no list shows it, and its start may be one of two. */
	private isUnplaced(lifelog: Lifelog, start: number, { began }: PollSeen): boolean {
		const isLeftOut = (lifelog.hiddenAt ?? 0) >= began;
		const { timezone: zone } = this.settings;
		const isTwofold = DateTime.fromMillis(start, { zone }).getPossibleOffsets().length > 1;
		return isLeftOut && isTwofold && !this.world.manners.hasOffsets;
	}

	private evaluate(poll: PollSeen, lifelog: Lifelog, json: IDataObject): Version {
		const note = this.note(lifelog);
		const { settings } = this;
		const { began, ended } = poll;
		const key = json.eventKey as string;
		const changeType = json.changeType as string;
		const wrong = (promise: Promised, what: string): never => {
			throw new Broken(promise, `${what}: ${changeType} ${key} in ${stamp(poll)}`);
		};

		const [, id, stampOf] =
			/^([^:]+):(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)(:(un)?starred(:\d+)?)?(:\w+)?$/.exec(
				key,
			) ?? [];
		const at = Date.parse(stampOf);
		const starred = json.isStarred as boolean;
		const isIncomplete = json.incomplete === true;
		const emission: Emission = { key, at, starred, isIncomplete };
		const zone = isIncomplete ? 'UTC' : settings.timezone;
		const isThen = (version: Version) =>
			isSame(version, emission) && this.world.write(version.start, zone) === json.startTime;
		const version = lifelog.versions.filter(isThen).at(-1);
		if (id !== lifelog.id || !version) return wrong('nothing-untrue', 'not a version there was');
		if (this.keys.has(key) && !note.isOutside && !this.clocks.isMisled)
			wrong('no-repeat', 'emitted twice');
		this.keys.add(key);

		const ends = (index: number) => lifelog.versions[index + 1]?.time ?? Infinity;
		const isCurrent = lifelog.versions.some((one, index) => isThen(one) && ends(index) >= began);
		if (!isCurrent && !isIncomplete) wrong('nothing-untrue', 'not how it was');
		if (lifelog.deletedAt !== undefined && lifelog.deletedAt < began) {
			wrong('nothing-untrue', 'deleted before');
		}
		const isWanted = changeType === 'created' ? wantsCreated(settings) : wantsUpdated(settings);
		const isCompletion = note.emissions.at(-1)?.isIncomplete === true && changeType === 'updated';
		const isAsked = isWanted && matches(settings, starred);
		if (!isAsked && !isCompletion) wrong('as-asked', 'not asked for');
		const isSettled = ended + 1000 - at >= settings.settleMinutes * MINUTE;
		if (!isSettled && this.isOrderly()) wrong('as-asked', 'not settled');

		if (isIncomplete) {
			const { failsSince = Infinity } = note;
			// If a clock was wrong meanwhile, the 24 hours can be over early.
			const isOver = ended - failsSince >= DAY - MINUTE || this.clocks.wrongAt >= failsSince;
			if (!isOver) wrong('whole', 'incomplete, though not a day has passed');
		} else if (json.markdown !== `# Entry ${lifelog.id}`) wrong('whole', 'without its content');

		this.evaluateNews(lifelog, changeType, emission, wrong);
		note.emissions.push(emission);
		note.knownAt ??= ended;
		if (isSame(emission, latest(lifelog)) && !isIncomplete) {
			note.owed = undefined;
			note.mayStillCome = false;
		}
		return version;
	}

	private evaluateNews(
		lifelog: Lifelog,
		changeType: string,
		emission: Emission,
		wrong: (promise: Promised, what: string) => never,
	): void {
		if (this.clocks.isMisled) return;
		const note = this.note(lifelog);
		const { since } = this.baseline!;
		const [first] = lifelog.versions;
		const wasThere = first.time < since;
		const isUnchanged = lifelog.versions.every(({ time }) => time < since);
		if (isUnchanged && lifelog.hiddenAt === undefined) wrong('nothing-old', 'unchanged since then');
		if (note.isOutside || isUnchanged) return;
		const isNews = lifelog.versions.some(
			(version) => version.time >= since && isSame(version, emission),
		);
		if (!isNews) wrong('nothing-old', 'nothing new');
		if (changeType === 'created') {
			if (wasThere && !note.isUntold) wrong('created-once', 'it was there before');
			if (note.emissions.length > 0) wrong('created-once', 'created once more');
			return;
		}
		const isPlain = this.settingsSince(first.time).every(
			(past) => wantsCreated(past) && past.isStarred === undefined,
		);
		const mustBeCreated = note.emissions.length === 0 && isPlain;
		if (mustBeCreated && this.isKnownAsCreated(lifelog)) {
			wrong('created-once', 'not reported as created');
		}
	}

	/** Whether it was uploaded after the first poll and never reported. */
	private isNew(lifelog: Lifelog): boolean {
		const [{ time }] = lifelog.versions;
		return time > this.baseline!.ended && this.note(lifelog).emissions.length === 0;
	}

	/** Whether it was uploaded after the first poll, and no state was lost that tells so. */
	private isKnownAsCreated(lifelog: Lifelog): boolean {
		const { ended, days } = this.baseline!;
		const [{ time }] = lifelog.versions;
		const { wasUnsaved, isOutside, knownAt = Infinity } = this.note(lifelog);
		// Until a poll has seen it, it may be moved to a day that the first poll did not get to.
		const isTold = lifelog.versions
			.filter((version) => version.time <= knownAt)
			.every(({ start }) => start > ended || days.has(dayOf(start)));
		return time > ended && isTold && !wasUnsaved && !isOutside;
	}

	/** Whether it is, at present, not to be had from the service. */
	private isUnreadable(lifelog: Lifelog): boolean {
		const { world } = this;
		const day = dayOf(latest(lifelog).start);
		const resources = [
			{ of: 'lifelogs', name: day } as const,
			{ of: 'lifelog', name: lifelog.id } as const,
		];
		return resources.some((resource) => world.isUnreadable(resource));
	}

	/** The first thing that is still to be reported. */
	outstanding(): Broken | undefined {
		for (const lifelog of this.world.lifelogs.values()) {
			const promise = this.owedOf(lifelog);
			if (!promise) continue;
			const { emissions } = this.note(lifelog);
			const keys = emissions.map(({ key }) => key).join(', ') || 'never';
			return new Broken(promise, `missed: ${describe(lifelog)}; emitted: ${keys}`);
		}
		return undefined;
	}

	private owedOf(lifelog: Lifelog): Promised | undefined {
		const { owed, emissions, isOutside, knownAt, failsSince } = this.note(lifelog);
		if (!owed || !isAlive(lifelog) || !this.baseline) return undefined;
		const settings = this.settingsSince(owed.since);
		const last = emissions.at(-1);
		const now = latest(lifelog);
		const all = (test: (past: Settings) => boolean) => settings.every(test);
		if (this.world.isUnreadable({ of: 'lifelogs', name: dayOf(now.start) })) return undefined;
		const single = this.world.isTroubled({ of: 'lifelog', name: lifelog.id });
		if (single?.kind === '404') return undefined;
		if (single && this.world.now - (failsSince ?? Infinity) < DAY + 60 * MINUTE) return undefined;
		if (single && failsSince === undefined) return undefined;

		if (last?.isIncomplete && !single) return 'completed';
		if (last && isSame(last, now)) return undefined;
		if (!all((past) => matches(past, now.starred))) return undefined;
		const before = lifelog.versions.slice(0, -1);
		const isBack = before.some((version) => isSame(version, now));
		if (isBack && (emissions.length === 0 || !all((past) => past.isStarred === undefined))) {
			return undefined;
		}
		const isNew = this.isNew(lifelog);
		if (all((past) => wantsCreated(past) && wantsUpdated(past))) {
			if (isOutside && now.at < owed.since) return undefined;
			return isNew ? 'created-once' : 'final-version';
		}
		if (all(wantsCreated)) {
			const isPlain = this.settingsSince(lifelog.versions[0].time).every(
				(past) =>
					wantsCreated(past) && lifelog.versions.every(({ starred }) => matches(past, starred)),
			);
			return isNew && isPlain && this.isKnownAsCreated(lifelog) ? 'created-once' : undefined;
		}
		const isKnown = knownAt !== undefined && knownAt < now.time && !isOutside;
		// A change of a new lifelog that still settled at the poll before is part of its creation.
		const settles = this.settingsSince(owed.polledAt).some((past) => past.settleMinutes > 0);
		return all(wantsUpdated) && isKnown && !settles ? 'final-version' : undefined;
	}

	/** Whether something stays to be done that may take a day. */
	isWaiting(): boolean {
		return [...this.notes.values()].some(
			({ owed, failsSince }) => owed !== undefined && failsSince !== undefined,
		);
	}
}

/** Whether a lifelog has been moved to another day since an instant. */
const wasMoved = ({ versions }: Lifelog, since: number) =>
	new Set(
		versions
			.filter((_, index) => (versions[index + 1]?.time ?? Infinity) >= since)
			.map(({ start }) => dayOf(start)),
	).size > 1;

/** The days of which a poll was given the whole list. */
const daysRead = (log: Answered[]) =>
	new Set(log.filter(({ of, isWhole }) => of === 'lifelogs' && isWhole).map(({ name }) => name));

/** Whether a request is for the list of a day that has been over for a day. */
const readsOver = ({ of, name }: Answered, day: string, now: number) =>
	of === 'lifelogs' && name === day && now >= Date.parse(day) + 2 * DAY;

const stamp = ({ began }: PollSeen) => `the poll at ${new Date(began).toISOString()}`;

function describe(lifelog: Lifelog): string {
	const { at, starred, start } = latest(lifelog);
	const [first] = lifelog.versions;
	return (
		`${lifelog.id} of ${dayOf(start)}, uploaded ${new Date(first.time).toISOString()}, ` +
		`version ${new Date(at).toISOString()}${starred ? ', starred' : ''}`
	);
}

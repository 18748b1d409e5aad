// Knows the truth and judges what the trigger makes of it.
import type { IDataObject } from 'n8n-workflow';
import type { Settings } from './history.mts';
import type { PollSeen } from './stage.mts';
import {
	alive,
	dayOf,
	daysBefore,
	latest,
	type Shown,
	type Truth,
	type TrueVersion,
	type World,
} from './service.mts';

type Poll = PollSeen & { settings: Settings };

interface Emission {
	key: string;
	changeType: string;
	at: number;
	starred: boolean;
}

/**
 * What cannot be promised, by name. Everything else is.
 * - `older`: created or edited while it was older than the look-back, e.g. moved back into it.
 * - `leftOut`: left out by the service of the very reading that should have made it known.
 * - `died`: made known, itself or its day, only in polls that emitted nothing before an in-memory
 *   engine died.
 * - `unread`: never read before its start changed, to a day never read or of an entry that was there
 *   at the baseline, or before the star of such an entry changed without a new `updatedAt`.
 */
type Exemption = 'older' | 'leftOut' | 'died' | 'unread';

/** What the observer has noted of an entry. */
interface Note {
	exempt: Set<Exemption>;
	emissions: Emission[];
	/** When it was first listed by a poll that counts. */
	listedAt?: number;
	/** When it was first emitted, or passed over for certain. */
	recordedAt?: number;
	/** When the service last left it out of a list. */
	leftOutAt: number;
	/** Whether the day it was created on had been read before. */
	creationDayWasRead: boolean;
}

interface Memory {
	polls: number;
	readDays: Set<string>;
	listed: Map<string, number | undefined>;
}

const wantsCreated = ({ event }: Settings) => event !== 'lifelogUpdated';
const wantsUpdated = ({ event }: Settings) => event !== 'lifelogCreated';
const matches = ({ isStarred }: Settings, starred: boolean) =>
	isStarred === undefined || isStarred === starred;

/** Watches one history. Throws an Error as soon as a promise is broken. */
export class Observer {
	private readonly world: World;
	private readonly notes = new Map<string, Note>();
	private readonly keys = new Set<string>();
	/** Polls that ended well and were not forgotten in a restart. */
	private polls: Poll[] = [];
	private readDays = new Set<string>();
	private saved: Memory = { polls: 0, readDays: new Set(), listed: new Map() };
	private readonly settingsSoFar: Settings[];
	/** When the first poll began and ended. */
	private readonly firstBegan: number;
	private firstEnded = Infinity;
	/** Entries on days before this were not covered by the state a restart went back to. */
	private lostBefore: Array<{ time: number; from: string }> = [];

	constructor(world: World, settings: Settings) {
		this.world = world;
		this.settingsSoFar = [settings];
		this.firstBegan = world.now;
	}

	private note({ id }: Truth): Note {
		let note = this.notes.get(id);
		if (!note) {
			note = { exempt: new Set(), emissions: [], leftOutAt: 0, creationDayWasRead: false };
			this.notes.set(id, note);
		}
		return note;
	}

	/** Call before an entry changes. */
	changes(entry: Truth, change: Partial<TrueVersion>): void {
		const { exempt, listedAt } = this.note(entry);
		if (this.isOlder(latest(entry).start)) exempt.add('older');
		if (listedAt !== undefined) return;
		const wasThere = entry.versions[0].time <= this.firstEnded;
		const isMoved = change.start !== undefined;
		const isUntold = wasThere && (isMoved || change.at === undefined);
		const isLost = isMoved && !this.readDays.has(dayOf(change.start!));
		if (isUntold || isLost) exempt.add('unread');
	}

	/** Call when an entry has been created. */
	created(entry: Truth): void {
		const { start } = latest(entry);
		const note = this.note(entry);
		note.creationDayWasRead = this.readDays.has(dayOf(start));
		if (this.isOlder(start)) note.exempt.add('older');
	}

	/** Whether an instant is older than the look-back that is in force now. */
	private isOlder(start: number): boolean {
		const { lookbackDays } = (this.polls.at(-1) ?? { settings: this.settingsSoFar[0] }).settings;
		return dayOf(start) < daysBefore(this.world.now, lookbackDays - 1);
	}

	/** Call with the settings of each poll before it. */
	begins(settings: Settings): void {
		this.settingsSoFar.push(settings);
	}

	/**
	 * Call when a poll ended well, before anything else happens.
	 *
	 * @param output What it emitted.
	 * @param shown What the service showed it.
	 */
	ended(poll: Poll, output: IDataObject[] | null, shown: Shown): void {
		if (this.firstEnded === Infinity) {
			if (output) throw new Error('The first poll emitted something');
			this.firstEnded = poll.ended;
		}
		if (output) this.emitted(poll, output);
		const isCredited = shown.days.size > 0 && !this.world.hasFailed;
		if (isCredited && poll.began > this.firstEnded) this.checkDays(poll, shown);
		this.polls.push(poll);
		this.shows(shown, poll);
		for (const entry of this.world.entries.values()) {
			if (!this.isOlder(latest(entry).start)) continue;
			Object.assign(this.note(entry), { listedAt: undefined, recordedAt: undefined });
		}
	}

	/** Every day from the one before the last poll's to today has been read, where nothing failed. */
	private checkDays({ began, ended, settings }: Poll, { days }: Shown): void {
		const due = daysBefore(this.polls.at(-1)!.ended, 1);
		const from = daysBefore(ended, settings.lookbackDays - 1);
		for (let ago = 0; daysBefore(began, ago) >= from; ago++) {
			const day = daysBefore(began, ago);
			if (day >= due && !days.has(day)) throw new Error(`The day ${day} was not read`);
		}
	}

	private shows({ days, listed, leftOut }: Shown, { settings }: Poll): void {
		const { now } = this.world;
		for (const id of leftOut) {
			const note = this.note(this.world.entries.get(id)!);
			note.leftOutAt = now;
			if (note.listedAt === undefined) note.exempt.add('leftOut');
		}
		const isPassedOver = this.polls.length === 1 || !wantsCreated(settings);
		for (const id of listed) {
			const note = this.note(this.world.entries.get(id)!);
			note.listedAt ??= now;
			if (isPassedOver) note.recordedAt ??= now;
		}
		for (const day of days) this.readDays.add(day);
		for (const day of this.readDays) if (this.isOlder(Date.parse(day))) this.readDays.delete(day);
	}

	/** Call when n8n has saved the state. */
	saves(): void {
		const listed = [...this.notes].map(([id, { listedAt }]) => [id, listedAt] as const);
		this.saved = {
			polls: this.polls.length,
			readDays: new Set(this.readDays),
			listed: new Map(listed),
		};
	}

	/** Call when n8n starts again with the state it saved last. */
	restarts(): void {
		if (this.polls.length === this.saved.polls) return;
		this.polls = this.polls.slice(0, this.saved.polls);
		this.readDays = new Set(this.saved.readDays);
		for (const [id, note] of this.notes) {
			const known = this.saved.listed.get(id);
			const { start } = this.world.entries.get(id)!.versions[0];
			const isForgotten = note.listedAt !== undefined && known === undefined;
			const isDayForgotten = note.creationDayWasRead && !this.readDays.has(dayOf(start));
			if (isForgotten || (isDayForgotten && known === undefined)) note.exempt.add('died');
			note.listedAt = known;
			if (note.recordedAt! > this.polls.at(-1)!.ended) note.recordedAt = undefined;
		}
		const last = this.polls.at(-1)!;
		const from = daysBefore(last.ended, last.settings.lookbackDays - 1);
		this.lostBefore.push({ time: this.world.now, from });
	}

	private emitted({ began, settings }: Poll, output: IDataObject[]): void {
		if (output.length === 0 || output.length > 50) throw new Error(`${output.length} items`);
		let last = '';
		for (const json of output) {
			const start = Date.parse(json.startTime as string);
			const place = `${String(start).padStart(16, '0')} ${json.id as string}`;
			if (place <= last) throw new Error(`Out of order: ${place} behind ${last}`);
			last = place;
			this.judge(began, settings, json);
		}
	}

	private judge(began: number, settings: Settings, json: IDataObject): void {
		const entry = this.world.entries.get(json.id as string)!;
		const note = this.note(entry);
		const emission: Emission = {
			key: json.eventKey as string,
			changeType: json.changeType as string,
			at: Date.parse(json.updatedAt as string),
			starred: json.isStarred as boolean,
		};
		const { key, changeType, at, starred } = emission;
		const wrong = (what: string) => {
			throw new Error(
				`${what}: ${changeType} ${key} in a poll at ${new Date(began).toISOString()}`,
			);
		};

		const versionKey = `${entry.id}:${new Date(at).toISOString()}`;
		const isKey = /^(:(un)?starred(:\d+)?)?$/.test(key.slice(versionKey.length));
		if (!key.startsWith(versionKey) || !isKey) wrong('Not the key of this version');
		if (this.keys.has(key) && !note.exempt.has('older')) wrong('Emitted twice');
		this.keys.add(key);
		if (json.incomplete) wrong('Incomplete');
		if (typeof json.markdown !== 'string') wrong('Without its content');

		const isThen = (version: TrueVersion) => version.at === at && version.starred === starred;
		const { now } = this.world;
		const current = entry.versions.filter(
			({ time }, index) => time >= began || (entry.versions[index + 1]?.time ?? Infinity) >= began,
		);
		if (!current.some(isThen)) wrong('Not how it was during the poll');
		if (entry.deletedAt !== undefined && entry.deletedAt < began) wrong('Deleted before');

		const isWanted = changeType === 'created' ? wantsCreated(settings) : wantsUpdated(settings);
		if (!isWanted || !matches(settings, starred)) wrong('Not asked for');
		if (now - at < settings.settleMinutes * 60_000) wrong('Not settled');

		const since = Math.floor(this.firstBegan / 1000) * 1000;
		const wasThere = entry.versions[0].time < since;
		if (note.exempt.size === 0) {
			const isNews = entry.versions.some((version) => version.time >= since && isThen(version));
			if (!isNews) wrong('Nothing new since the baseline');
			if (changeType === 'created' && wasThere) wrong('Was there at the baseline');
			if (changeType === 'created' && note.emissions.length > 0) wrong('Created, but known');
			const mustBeCreated =
				note.emissions.length === 0 && this.isKnownAsCreated(entry) && this.isPlain();
			if (mustBeCreated && changeType !== 'created') wrong('Not reported as created');
		}
		note.emissions.push(emission);
		note.recordedAt ??= now;
	}

	/** Call at the end, after enough polls without trouble. */
	finishes(): void {
		for (const entry of this.world.entries.values()) {
			if (alive(entry) && this.isDue(entry)) this.checkFinal(entry);
		}
	}

	/** Whether the last version has been in the look-back for as many polls as it may take. */
	private isDue(entry: Truth): boolean {
		const { time, start } = latest(entry);
		const day = dayOf(start);
		if (time <= this.firstEnded) return false;
		const before = this.polls.filter(({ ended }) => ended < time).at(-1);
		const inForce = before?.settings ?? this.settingsSoFar[0];
		if (day < daysBefore(time, inForce.lookbackDays - 1)) return false;
		if (this.lostBefore.some((lost) => time <= lost.time && day < lost.from)) return false;

		const visibleSince = Math.max(time, this.note(entry).leftOutAt);
		const later = this.polls.filter(({ began }) => began > time);
		let longest = 2;
		let polls = 0;
		for (const { began, ended, settings, counts } of later) {
			if (day < daysBefore(ended, settings.lookbackDays - 1)) return false;
			longest = Math.max(longest, settings.lookbackDays);
			if (counts && began > visibleSince && ++polls >= Math.max(1, longest - 2)) return true;
		}
		return false;
	}

	private checkFinal(entry: Truth): void {
		const note = this.note(entry);
		const { time, at, starred } = latest(entry);
		const settings = this.polls.filter(({ ended }) => ended >= time).map((poll) => poll.settings);
		const last = note.emissions.at(-1);
		const isEmitted = last?.at === at && last.starred === starred;
		const missed = (what: string) => {
			throw new Error(
				`${what}: ${entry.id} of ${new Date(at).toISOString()}, ${starred ? '' : 'not '}starred; ` +
					`emitted: ${note.emissions.map(({ key }) => key).join(', ') || 'never'}`,
			);
		};

		if (!settings.every((past) => matches(past, starred))) return;
		if (note.exempt.size > 0 && at < time) return;
		if (settings.every((past) => wantsCreated(past) && wantsUpdated(past))) {
			if (!isEmitted && !this.isBack(entry)) missed('The final version was missed');
			return;
		}
		const [creation] = entry.versions;
		if (settings.every(wantsCreated) && creation.time === time && note.exempt.size === 0) {
			if (!isEmitted && this.isKnownAsCreated(entry)) missed('The creation was missed');
		}
		const isKnown = note.recordedAt !== undefined && note.recordedAt < time;
		const settles = this.settingsSoFar.some(({ settleMinutes }) => settleMinutes > 0);
		if (settings.every(wantsUpdated) && isKnown && !settles && note.exempt.size === 0) {
			if (!isEmitted && !this.isBack(entry)) missed('The update was missed');
		}
	}

	/**
	 * Whether the trigger can tell that an entry was created after the baseline: not when it began
	 * before, on a day that a first poll in trouble did not get to read.
	 */
	private isKnownAsCreated(entry: Truth): boolean {
		const [{ time, start }] = entry.versions;
		const isTold = this.note(entry).creationDayWasRead || start > this.firstEnded;
		return time > this.firstEnded && isTold;
	}

	/** Whether the last version is one that was known before, as the star was set and removed again. */
	private isBack(entry: Truth): boolean {
		const { at, starred, time } = latest(entry);
		const isSame = (version: TrueVersion) => version.at === at && version.starred === starred;
		const known = entry.versions.filter((version) => version.time < time && isSame(version));
		if (!this.isPlain()) return known.length > 0;
		const isUnreported = this.note(entry).emissions.length === 0;
		return isUnreported && known.some((version) => version.time <= this.firstEnded);
	}

	/** Whether nothing was ever filtered out. */
	private isPlain(): boolean {
		return this.settingsSoFar.every(
			({ event, isStarred }) => event === 'lifelogCreatedOrUpdated' && isStarred === undefined,
		);
	}
}

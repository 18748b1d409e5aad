// Knows what became of every scheduled chat, and what of it the user was promised to be told.
import type { IDataObject } from 'n8n-workflow';
import { ClockWatch } from './clocks.mts';
import type { Settings } from './history.mts';
import { LargerLookBack } from './larger-look-back.mts';
import { Broken, type Promised } from './promises.mts';
import type { World } from './service.mts';
import type { PollSeen } from './stage.mts';
import {
	answerAt,
	answeredAt,
	type Chat,
	dayOf,
	daysBefore,
	isAlive,
	mayCountFrom,
	turningPoints,
} from './truth.mts';

/** A chat is waited for until it is so old; one less, as the day may change meanwhile. */
const MAX_WAIT_DAYS = 30;

/**
 * From the last of a chat to where it must have come: until a poll has seen it, a quarter of an hour,
 * and as many polls as an old one waits for.
 */
const SEEN_MS = 25 * 60_000;

/** When a chat last changed before an instant. */
const lastStep = ({ messages }: Chat, instant: number) =>
	Math.max(
		...messages.flatMap(({ at, resultsAt = at }) => [at, resultsAt]).filter((at) => at <= instant),
	);

/** Watches the chats of one history. */
export class ChatObserver {
	private readonly world: World;
	private readonly isClockUnsure: boolean;
	private readonly emitted = new Set<string>();
	/** Chats that must be reported once they are answered. */
	private readonly owed = new Set<string>();
	private settings: Settings;
	private baseline?: PollSeen & { credential: string; prompt: string; isTimeRight: boolean };
	private lastPoll?: PollSeen;
	private lastSaved?: PollSeen;
	private readonly clocks: ClockWatch;
	private readonly larger = new LargerLookBack();

	constructor(world: World, settings: Settings, isClockUnsure: boolean) {
		this.world = world;
		this.settings = settings;
		this.isClockUnsure = isClockUnsure;
		this.clocks = new ClockWatch(world);
	}

	get hasBaseline(): boolean {
		const { credential, prompt } = this.settings;
		return this.baseline?.credential === credential && this.baseline.prompt === prompt;
	}

	/** Call when the trigger's parameters change. */
	set(settings: Settings): void {
		this.larger.set(this.settings.lookbackDays, settings.lookbackDays);
		this.settings = settings;
	}

	/** Call when a chat has come to be there. */
	asked(chat: Chat): void {
		const day = dayOf(chat.createdAt);
		const isRecent = this.lastPoll !== undefined && day >= daysBefore(this.lastPoll.began, 1);
		if (!this.hasBaseline || !this.baseline?.isTimeRight || !this.isMeant(chat)) return;
		if (isRecent || day >= this.oldestDay()) this.owed.add(chat.id);
	}

	private oldestDay(): string {
		const days = this.settings.lookbackDays - 1 - (this.isClockUnsure ? 1 : 0);
		return daysBefore(this.world.now, days);
	}

	private isMeant({ prompt }: Chat): boolean {
		return this.settings.prompt === '' || this.settings.prompt === prompt;
	}

	/** Call when n8n goes back to what it saved last. */
	restarted(): void {
		this.clocks.restarted();
		this.lastPoll = this.lastSaved;
	}

	/** @throws Broken */
	polled(poll: PollSeen): void {
		if (!this.hasBaseline) {
			if (poll.items) throw new Broken('nothing-old', 'the first poll emitted something');
			if (poll.error || !poll.isKept) return;
			this.begins(poll);
		} else {
			this.clocks.polled(poll);
			if (this.clocks.isMisled) this.owed.clear();
			if (poll.items) this.evaluateAll(poll, poll.items);
			this.excuse(poll);
		}
		if (!poll.error && poll.isKept) this.lastPoll = poll;
		if (poll.isSaved) this.lastSaved = poll;
		this.age(poll);
	}

	private begins(poll: PollSeen): void {
		const { credential, prompt } = this.settings;
		const isTimeRight = this.world.areClocksRight;
		this.baseline = { ...poll, credential, prompt, isTimeRight };
		this.clocks.begins(poll);
		this.larger.begins();
		this.owed.clear();
		this.emitted.clear();
		const isListed = poll.log?.some(({ of, isWhole }) => of === 'chats' && isWhole) ?? false;
		for (const chat of this.world.chats.values()) {
			const isOpen = (answeredAt(chat) ?? Infinity) > poll.ended;
			const isInReach = dayOf(chat.createdAt) >= this.oldestDay();
			if (isOpen && isListed && isInReach && this.isMeant(chat)) this.owed.add(chat.id);
		}
	}

	/** What is not promised, as a larger look-back did not count yet when it was answered. */
	private excuse(poll: PollSeen): void {
		const excused = this.larger.polled(poll);
		if (!excused) return;
		const { smaller, since } = excused;
		for (const id of this.owed) {
			const chat = this.world.chats.get(id)!;
			const isCounted = dayOf(chat.createdAt) >= daysBefore(this.world.now, smaller - 1);
			if (!isCounted && (answeredAt(chat) ?? Infinity) < since) this.owed.delete(id);
		}
	}

	/** A chat that left the look-back before it could be listed is not promised. */
	private age(poll: PollSeen): void {
		const isListed = poll.log?.some(({ of, isWhole }) => of === 'chats' && isWhole) ?? false;
		for (const id of this.owed) {
			const { createdAt, askedAt } = this.world.chats.get(id)!;
			if (dayOf(createdAt) < daysBefore(this.world.now, MAX_WAIT_DAYS - 1)) {
				this.owed.delete(id);
			}
			const day = dayOf(createdAt);
			const isLeaving = day < this.oldestDay() && day < daysBefore(askedAt, 1);
			if (isLeaving && !isListed && !poll.isSaved) this.owed.delete(id);
		}
	}

	private evaluateAll(poll: PollSeen, items: IDataObject[]): void {
		let last = '';
		for (const { id, startedAt, eventKey, response } of items) {
			const chat = this.world.chats.get(id as string);
			if (!chat) throw new Broken('nothing-untrue', `an item without a chat: ${String(id)}`);
			const place = `${startedAt as string} ${chat.id}`;
			if (place <= last) throw new Broken('as-asked', `out of order: ${place} behind ${last}`);
			last = place;
			if (eventKey !== id) throw new Broken('no-repeat', `not the key of ${chat.id}`);
			this.evaluate(chat, response, poll);
		}
	}

	private evaluate(chat: Chat, response: unknown, { began, ended }: PollSeen): void {
		const wrong = (promise: Promised, what: string) => {
			const when = new Date(began).toISOString();
			throw new Broken(promise, `${what}: ${chat.id} in a poll at ${when}`);
		};
		if (this.emitted.has(chat.id)) wrong('chat-once', 'emitted twice');
		this.emitted.add(chat.id);
		this.owed.delete(chat.id);
		const within = turningPoints(chat).filter((instant) => instant >= began && instant <= ended);
		const answers = [began, ...within, ended].map((instant) => answerAt(chat, instant));
		if (!answers.includes(response as string)) {
			wrong('chat-answered', `its answer is not "${String(response)}" but "${answers[0] ?? ''}"`);
		}
		if (!isAlive(chat) && chat.deletedAt! < began) wrong('nothing-untrue', 'deleted before');
		if (!this.isMeant(chat)) wrong('as-asked', 'of another prompt');
		const since = mayCountFrom(this.baseline!.began);
		const isOld = answeredAt(chat)! < since && answerAt(chat, since) === response;
		const isTold = chat.askedAt < this.baseline!.began && this.baseline!.isTimeRight;
		if (isOld && isTold) wrong('nothing-old', 'answered before');
	}

	/** The first chat that is still to be reported. */
	outstanding(): Broken | undefined {
		for (const id of this.owed) {
			const chat = this.world.chats.get(id)!;
			if (!isAlive(chat) || (answeredAt(chat) ?? Infinity) > this.world.now) continue;
			if (this.world.now - lastStep(chat, this.world.now) < SEEN_MS) continue;
			const isTroubled =
				this.world.isTroubled({ of: 'chat', name: id }) ??
				this.world.isTroubled({ of: 'chats', name: '' });
			if (isTroubled) continue;
			const asked = new Date(chat.askedAt).toISOString();
			return new Broken('chat-once', `missed: ${id}, asked ${asked}`);
		}
		return undefined;
	}

	isWaiting(): boolean {
		return false;
	}
}

// Plays a history of lifelogs.
import type { Action, History, Plan, Settings } from './history.mts';
import { Observer } from './observer.mts';
import { alive, dayOf, daysBefore, latest, type Truth, type TrueVersion } from './service.mts';
import type { Stage, Watcher } from './stage.mts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Polls at the end until everything must have been reported. */
const MOST_LAST_POLLS = 90;

/** @throws Error naming the promise that was broken. */
export async function playLifelogs(history: History, stage: Stage): Promise<void> {
	await new Play(history, stage).complete();
}

class Play {
	private readonly history: History;
	private readonly stage: Stage;
	private readonly observer: Observer;
	private settings: Settings;

	constructor(history: History, stage: Stage) {
		this.history = history;
		this.stage = stage;
		this.settings = history.settings;
		this.observer = new Observer(stage.world, history.settings);
	}

	async complete(): Promise<void> {
		const { world } = this.stage;
		this.populate();
		await this.poll(this.history.first);
		for (const step of this.history.steps) {
			world.now += step.waitMs;
			for (const action of step.actions) this.act(action);
			world.now += 1;
			if (step.restarts) this.stage.restart(this.watcher());
			await this.poll(step.poll);
		}
		await this.rest();
		this.observer.finishes();
	}

	private populate(): void {
		const { existing, crowd } = this.history;
		const { world } = this.stage;
		const { now } = world;
		const midnight = now - (now % DAY);
		const add = (begins: number, unchangedMs: number, starred: boolean) => {
			const start = Math.min(begins, now - MINUTE);
			world.create(start, starred, Math.min(start + unchangedMs, now - 2000));
		};
		world.now = now - 2000;
		for (const { daysAgo, minute, starred, unchangedDays } of existing) {
			add(midnight - daysAgo * DAY + minute * MINUTE, unchangedDays * DAY + MINUTE, starred);
		}
		for (let index = 0; index < crowd.count; index++) {
			add(midnight - crowd.daysAgo * DAY + index * MINUTE, MINUTE, false);
		}
		world.now = now;
	}

	/** Polls without trouble until nothing comes any more. */
	private async rest(): Promise<void> {
		const { settings } = this;
		const { world } = this.stage;
		world.now += (settings.settleMinutes + 5) * MINUTE;
		let quiet = 0;
		for (let polls = 0; quiet < Math.max(2, settings.lookbackDays - 1); polls++) {
			if (polls === MOST_LAST_POLLS) throw new Error('The trigger comes to no rest');
			const items = await this.poll({ faults: [] });
			const isNewDay = dayOf(world.now) !== dayOf(world.now - 2 * MINUTE);
			const isIdle = items === 0 && world.reads === 0 && world.shown.days.size <= 3;
			quiet = isIdle || (isNewDay && quiet > 0) ? quiet + 1 : 0;
			world.now += MINUTE;
		}
	}

	private async poll({ meanwhile, ...plan }: Plan): Promise<number> {
		const { event, isStarred, lookbackDays, settleMinutes, timezone } = this.settings;
		const parameters = {
			event,
			filters: isStarred === undefined ? {} : { isStarred },
			options: { lookbackDays, settleMinutes, timezone },
		};
		this.observer.begins(this.settings);
		return await this.stage.poll(
			parameters,
			plan,
			this.watcher(),
			meanwhile && { at: meanwhile.at, happens: () => this.act(meanwhile.action) },
		);
	}

	private watcher(): Watcher {
		const { observer, settings } = this;
		return {
			ended: (poll, output, shown) => observer.ended({ ...poll, settings }, output, shown),
			saves: () => observer.saves(),
			restarts: () => observer.restarts(),
		};
	}

	/** The nth last created; or the one that will be the next to leave the look-back. */
	private pick(which: number | 'oldest'): Truth | undefined {
		const { world } = this.stage;
		const entries = [...world.entries.values()].filter(alive);
		if (which !== 'oldest')
			return entries[entries.length - 1 - (which % Math.max(entries.length, 1))];
		const from = daysBefore(world.now, this.settings.lookbackDays - 1);
		return entries
			.filter((entry) => dayOf(latest(entry).start) >= from)
			.sort((a, b) => latest(a).start - latest(b).start)[0];
	}

	private create(start: number): void {
		this.observer.created(this.stage.world.create(start));
	}

	private change(entry: Truth, to: Partial<TrueVersion>, touches = true): void {
		const { world } = this.stage;
		world.now += 1;
		const change = { ...to, ...(touches && { at: world.now }) };
		this.observer.changes(entry, change);
		world.change(entry, change);
	}

	private act(action: Action): void {
		const { world } = this.stage;
		switch (action.do) {
			case 'create':
				return this.create(world.now - action.minutesAgo * MINUTE);
			case 'createMany':
				for (let index = 0; index < action.count; index++) {
					this.create(world.now - action.daysAgo * DAY - index * 1000);
				}
				return;
			case 'uploadLate':
				return this.create(world.now - action.daysAgo * DAY - MINUTE);
			case 'updateAll':
				for (const entry of world.entries.values()) if (alive(entry)) this.change(entry, {});
				return;
			case 'set':
				this.settings = { ...this.settings, ...action.settings };
				return;
		}
		const entry = this.pick(action.which);
		if (!entry) return;
		switch (action.do) {
			case 'update':
				for (let time = 0; time < action.times; time++) this.change(entry, {});
				return;
			case 'move': {
				const start = world.now - action.daysAgo * DAY - 2 * MINUTE;
				return this.change(entry, { start }, action.touches);
			}
			case 'star':
				return this.change(entry, { starred: !latest(entry).starred }, action.touches);
			case 'delete':
				entry.deletedAt = world.now;
				return;
			case 'hide':
				entry.hideNext = true;
		}
	}
}

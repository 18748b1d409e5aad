// Time that passes only where something takes time: every clock and timer of this process follows it.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

/** Turns of the event loop without anything new, after which all are taken to be waiting. */
const QUIET_TURNS = 4;
const REQUEST_STARTS = 'http.client.request.start';
const RESPONSE_ENDS = 'http.client.response.finish';

interface Timer {
	at: number;
	wake: () => void;
}

/** Time while it is installed. */
export class VirtualTime {
	/** What time it really is, epoch ms. */
	now: number;
	/** How far n8n's clock is ahead of that, in ms. */
	aheadMs = 0;
	private readonly timers = new Set<Timer>();
	/** Requests that were sent and not yet answered, and those of them that the service holds. */
	private readonly inFlight = new Set<ClientRequest>();
	private held = 0;
	private turns = 0;
	private isTurning = false;
	private restore?: () => void;
	/** When the process that n8n runs in was started. */
	private started = 0;

	constructor(now: number) {
		this.now = now;
		this.startProcess();
	}

	/** From now on it is another process, whose steady clock begins anew. */
	startProcess(): void {
		this.started = this.now;
	}

	/** Sets `Date.now`, `performance`, `setTimeout` and `clearTimeout` to this time. */
	install(): void {
		const { setTimeout, clearTimeout } = globalThis;
		const realNow = Date.now;
		const sent = (message: unknown) => {
			const { request } = message as { request: ClientRequest };
			this.inFlight.add(request);
			this.turns = 0;
			request.once('close', () => this.inFlight.delete(request));
		};
		const ended = (message: unknown) => {
			this.inFlight.delete((message as { request: ClientRequest }).request);
			this.turns = 0;
		};
		subscribe(REQUEST_STARTS, sent);
		subscribe(RESPONSE_ENDS, ended);
		Date.now = () => this.now + this.aheadMs;
		const steady = {
			now: { value: () => this.now - this.started },
			timeOrigin: { get: () => this.started },
		};
		for (const [name, clock] of Object.entries(steady)) {
			Object.defineProperty(performance, name, { ...clock, configurable: true });
		}
		const fake = (wake: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
			this.add(ms, () => wake(...given));
		const cancel = (timer: unknown) => {
			if (!this.timers.delete(timer as Timer)) clearTimeout(timer as NodeJS.Timeout);
		};
		Object.assign(globalThis, { setTimeout: fake, clearTimeout: cancel });
		this.restore = () => {
			unsubscribe(REQUEST_STARTS, sent);
			unsubscribe(RESPONSE_ENDS, ended);
			Date.now = realNow;
			for (const name of Object.keys(steady))
				delete (performance as unknown as Record<string, unknown>)[name];
			Object.assign(globalThis, { setTimeout, clearTimeout });
		};
	}

	uninstall(): void {
		this.restore?.();
		this.timers.clear();
	}

	/** A request is held by the service for so long, or until `until` is done. */
	async hold(until: number | (() => void | Promise<void>)): Promise<void> {
		this.held++;
		try {
			if (typeof until === 'function') await until();
			else await new Promise<void>((wake) => this.add(until, wake));
		} finally {
			this.held--;
			this.turns = 0;
		}
	}

	private add(ms: number, wake: () => void): Timer & { unref(): void; ref(): void } {
		const timer = { at: this.now + Math.max(0, ms), wake, unref() {}, ref() {} };
		this.timers.add(timer);
		this.turns = 0;
		if (!this.isTurning) {
			this.isTurning = true;
			setImmediate(() => this.turn());
		}
		return timer;
	}

	/** When all that goes on is waiting, time goes on to where the first wait ends. */
	private turn(): void {
		if (this.inFlight.size > this.held) this.turns = 0;
		if (++this.turns > QUIET_TURNS) {
			const [first] = [...this.timers].sort((a, b) => a.at - b.at);
			if (first) {
				this.timers.delete(first);
				this.now = Math.max(this.now, first.at);
				this.turns = 0;
				first.wake();
			}
		}
		this.isTurning = this.timers.size > 0;
		if (this.isTurning) setImmediate(() => this.turn());
	}
}

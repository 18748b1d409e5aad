// Output of a run: a progress bar on a terminal, lines elsewhere, or JSON for programs.
import { SingleBar } from 'cli-progress';
import type { DayManifest } from '../archive/layout.mts';
import { plural, printable } from '../util/text.mts';
import type { Kind } from './plan.mts';
import type { Problem, RunResult } from './report.mts';

/** `terminal` and `lines` write to standard error, `json` to standard output, `silent` nowhere. */
export type Mode = 'terminal' | 'lines' | 'json' | 'quiet' | 'silent';

export interface Progress {
	/** Current work, such as `2026-03-01 audio`. */
	phase: string;
	daysDone: number;
	/** 0 until known. */
	daysToDo: number;
	lifelogs: number;
	chats: number;
	audio: number;
	bytes: number;
	requestsInLastMinute: number;
	/** 0 until known. */
	secondsLeft: number;
}

const LINE_EVERY_MS = 30_000;
const UPDATE_EVERY_MS = 200;
const MAX_PROBLEMS = 20;

/** Reports the progress of a run. */
export class Output {
	readonly #mode: Mode;
	/** Requests in total, and in the last minute. */
	readonly #requests: () => { sent: number; inLastMinute: number };
	readonly #bar: SingleBar | undefined;
	#timer: NodeJS.Timeout | undefined;
	#phase = 'looking';
	#days = { done: 0, toDo: 0 };
	#counts = { lifelogs: 0, chats: 0, audio: 0, bytes: 0 };
	/** Requests that the run needs, how many were sent before it, and when it began. */
	#work = { toDo: 0, before: 0, beganAt: 0 };
	#secondsLeft = 0;

	constructor(mode: Mode, requests: () => { sent: number; inLastMinute: number }) {
		this.#mode = mode;
		this.#requests = requests;
		if (mode !== 'terminal') return;
		this.#bar = new SingleBar({
			format: '[{bar}] {text}',
			stream: process.stderr,
			hideCursor: true,
			clearOnComplete: true,
			gracefulExit: false,
			linewrap: false,
			barsize: 20,
		});
	}

	/** Starts reporting at intervals. */
	start(): void {
		if (this.#mode === 'terminal') {
			this.#bar?.start(1, 0, { text: this.#line() });
			this.#timer = setInterval(() => {
				this.#bar?.update(this.#days.done, { text: this.#line() });
			}, UPDATE_EVERY_MS);
		} else if (this.#mode === 'lines') {
			this.#timer = setInterval(() => this.#say(this.#line()), LINE_EVERY_MS);
		} else if (this.#mode === 'json') {
			this.#timer = setInterval(() => this.#emit('progress', this.progress), LINE_EVERY_MS);
		}
	}

	stop(): void {
		clearInterval(this.#timer);
		this.#bar?.stop();
	}

	/** Entries of a list so far. */
	looking(kind: 'lifelogs' | 'chats', entries: number): void {
		this.#phase = `looking: ${entries.toLocaleString('en')} ${kind}`;
	}

	/** Called before the first day. `requests` is the number of requests for all days. */
	begin({ days, requests }: { days: number; requests: number }): void {
		this.#days = { done: 0, toDo: days };
		this.#counts = { lifelogs: 0, chats: 0, audio: 0, bytes: 0 };
		this.#work = { toDo: requests, before: this.#requests().sent, beganAt: performance.now() };
		this.#secondsLeft = 0;
		this.#bar?.setTotal(Math.max(1, days));
		this.#emit('begin', { days, requests });
		if (this.#mode === 'lines') this.#say(`${plural(days, 'day')} to archive`);
	}

	phase(phase: Kind, day: string): void {
		this.#phase = `${day} ${phase}`;
	}

	file(kind: Kind, bytes: number): void {
		this.#counts[kind] += 1;
		this.#counts.bytes += bytes;
	}

	/** Called after each day; returns the remaining time in seconds. */
	day({ day, lifelogs, chats, audio, isComplete }: DayManifest): number {
		this.#days.done += 1;
		const sent = this.#requests().sent - this.#work.before;
		const seconds = (performance.now() - this.#work.beganAt) / 1000;
		const left = Math.max(0, this.#work.toDo - sent);
		this.#secondsLeft = sent > 0 ? Math.round((left * seconds) / sent) : 0;
		this.#emit('day', {
			...this.progress,
			day,
			isComplete,
			ofDay: {
				lifelogs: Object.keys(lifelogs).length,
				chats: Object.keys(chats).length,
				audioFiles: audio.length,
			},
		});
		return this.#secondsLeft;
	}

	problem(problem: Problem): void {
		this.#emit('problem', { ...problem });
		if (this.#mode !== 'json' && this.#mode !== 'silent') this.#say(lineOf(problem));
	}

	wait(seconds: number): void {
		this.#emit('waiting', { seconds });
		if (this.#mode === 'lines' || this.#mode === 'terminal') {
			this.#say(`The service asks for a pause of ${Math.ceil(seconds)} s`);
		}
	}

	/** A message for people. */
	note(text: string): void {
		if (this.#mode === 'lines' || this.#mode === 'terminal') this.#say(text);
	}

	/** The end of a run. `advice` says what to do next. */
	end(result: RunResult, advice: string): void {
		const { found, stored, totals, problems, isComplete } = result;
		this.#emit('end', { isComplete, found, stored, ...totals, problems });
		if (this.#mode !== 'lines' && this.#mode !== 'terminal') return;
		process.stdout.write(`${[...tableOf(result), '', advice].join('\n')}\n`);
	}

	get progress(): Progress {
		return {
			phase: this.#phase,
			daysDone: this.#days.done,
			daysToDo: this.#days.toDo,
			...this.#counts,
			requestsInLastMinute: this.#requests().inLastMinute,
			secondsLeft: this.#secondsLeft,
		};
	}

	#line(): string {
		const { done, toDo } = this.#days;
		const { lifelogs, chats, audio, bytes } = this.#counts;
		if (toDo === 0) return `${this.#phase} …`;
		const entries = [
			plural(lifelogs, 'lifelog'),
			plural(chats, 'chat'),
			plural(audio, 'audio file'),
		].join(', ');
		const left = this.#secondsLeft > 0 ? `, ${duration(this.#secondsLeft)} left` : '';
		return `day ${done} of ${toDo} (${this.#phase}): ${entries}, ${size(bytes)}; ${this.#requests().inLastMinute} requests in the last minute${left}`;
	}

	#say(line: string): void {
		if (this.#mode === 'terminal' && process.stderr.isTTY) process.stderr.write('\r\x1b[K');
		process.stderr.write(`${printable(line)}\n`);
	}

	#emit(event: string, values: object): void {
		if (this.#mode === 'json') {
			// Also escape what JSON allows but terminals interpret.
			const json = JSON.stringify({ event, ...values });
			const escape = (character: string) => `\\u00${character.charCodeAt(0).toString(16)}`;
			process.stdout.write(`${json.replace(/[\x7f-\x9f]/g, escape)}\n`);
		}
	}
}

function tableOf({ found, stored, totals, problems }: RunResult): string[] {
	const number = (value: number) => value.toLocaleString('en').padStart(10);
	const row = (name: string, has: number, kept: number) =>
		`${name.padEnd(12)}${number(has)}${number(kept)}${number(has - kept)}`;
	const hours = Math.round(totals.hoursWithoutAudio);
	const silence =
		hours === 0
			? ''
			: ` For ${plural(hours, 'hour')} of these days, the service has no audio. That's normal: nobody records all day.`;
	const missing = problems.slice(0, MAX_PROBLEMS).map((problem) => `  ${lineOf(problem)}`);
	if (problems.length > MAX_PROBLEMS) {
		missing.push(`  and ${problems.length - MAX_PROBLEMS} more (report.md has all)`);
	}
	return [
		`${''.padEnd(12)}${['found', 'stored', 'missing'].map((name) => name.padStart(10)).join('')}`,
		row('Lifelogs', found.lifelogs, stored.lifelogs),
		row('Chats', found.chats, stored.chats),
		`${'Audio files'.padEnd(12)}${''.padStart(10)}${number(totals.audioFiles)}${number(problems.filter(({ what }) => what.startsWith('audio')).length)}`,
		'',
		`The archive has ${plural(totals.daysInArchive, 'day')} and ${size(totals.bytes)}.${silence}`,
		...(missing.length > 0 ? ['', 'Missing:', ...missing.map(printable)] : []),
	];
}

const lineOf = ({ day, what, message }: Problem) =>
	`${day === undefined ? '' : `${day}: `}${what}: ${message}`;

function size(bytes: number): string {
	if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
	return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

function duration(seconds: number): string {
	if (seconds < 90) return `${Math.ceil(seconds)} s`;
	if (seconds < 5400) return `${Math.ceil(seconds / 60)} min`;
	return `${(seconds / 3600).toFixed(1)} h`;
}

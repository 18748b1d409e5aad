// lifelog-server archive: options, one or several runs, exit code.
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dayOf } from '../archive/lifelogFiles.mts';
import {
	CannotStart,
	commandName,
	displayed,
	type ExitCode,
	throwIfAny,
} from '../util/commandLine.mts';
import { readCommand, timezoneOr } from '../util/options.mts';
import { readApiKey } from '../backup/access.mts';
import { type OpenedFolder, openFolder, runAlone } from '../backup/archiveFolder.mts';
import { reasonOf } from '../backup/reasons.mts';
import { type Mode, Output } from '../backup/output.mts';
import { type Kind, RECENT_DAYS } from '../backup/plan.mts';
import type { RunResult } from '../backup/report.mts';
import { runArchive, type RunOptions } from '../backup/run.mts';
import { ServiceClient } from '../backup/service.mts';
import { DAY_MS } from '../util/durations.mts';
import { printable } from '../util/text.mts';
import { archive as declared, unknownOnes } from './commands.mts';

const WEEK_MS = 7 * DAY_MS;

interface Options {
	folder: string;
	url: string;
	kinds: Set<Kind>;
	from: string | undefined;
	to: string | undefined;
	again: string | undefined;
	newestFirst: boolean;
	timezone: string;
	watchMinutes: number | undefined;
	requestsPerMinute: number;
	force: boolean;
	mode: Mode;
}

/** Runs `lifelog-server archive`; returns its exit code. */
export async function archiveCommand(args: string[]): Promise<ExitCode> {
	let opened: OpenedFolder | undefined;
	try {
		const options = readOptions(args);
		if (!options) return 0;
		const apiKey = await readApiKey();
		opened = await openFolder(options.folder);
		return await archive(options, apiKey);
	} catch (error) {
		process.stderr.write(explain(error, opened?.folder));
		return opened?.hasBegun ? 1 : 2;
	}

	async function archive(options: Options, apiKey: string): Promise<ExitCode> {
		const stop = stopOnSignal(options.mode);
		const service = new ServiceClient({
			url: options.url,
			apiKey,
			requestsPerMinute: options.requestsPerMinute,
			stop,
			onWait: (seconds) => output.wait(seconds),
		});
		const output: Output = new Output(options.mode, () => ({
			sent: service.requests,
			inLastMinute: service.requestsInLastMinute(),
		}));
		const run = async (from: string | undefined): Promise<RunResult> =>
			await runAlone(opened!, service, options.force, async () => {
				output.start();
				try {
					const settings: RunOptions = {
						...options,
						from,
						withToday: options.watchMinutes !== undefined,
					};
					const result = await runArchive(service, settings, output, stop);
					output.stop();
					const nothing = service.aboutNothing('the service has no data');
					output.end(result, adviceFor(result, options, stop.aborted, nothing));
					return result;
				} finally {
					output.stop();
				}
			});
		if (options.watchMinutes === undefined) return (await run(options.from)).isComplete ? 0 : 1;
		return await watch(options, options.watchMinutes, run, output, stop);
	}
}

/** Repeats runs until stopped. A failed run is retried. */
async function watch(
	options: Options,
	minutes: number,
	run: (from: string | undefined) => Promise<RunResult>,
	output: Output,
	stop: AbortSignal,
): Promise<ExitCode> {
	let wholeAt = -Infinity;
	let isComplete = false;
	while (!stop.aborted) {
		const isWhole = performance.now() - wholeAt >= WEEK_MS;
		const since = dayOf(Date.now() - RECENT_DAYS * DAY_MS);
		const from = isWhole || (options.from ?? '') > since ? options.from : since;
		try {
			({ isComplete } = await run(from));
			if (isWhole) wholeAt = performance.now();
		} catch (error) {
			isComplete = false;
			// The first run shows whether key, address and folder are right.
			if (wholeAt === -Infinity) throw error;
			process.stderr.write(explain(error, options.folder));
		}
		if (stop.aborted) break;
		output.note(`Looks again in ${minutes} min. Ctrl+C stops it.`);
		await sleep(minutes * 60_000, undefined, { signal: stop }).catch(() => {});
	}
	return isComplete ? 0 : 1;
}

/** @returns undefined if the help was requested. */
function readOptions(args: string[]): Options | undefined {
	const given = readCommand(declared, args);
	if (!given) return undefined;
	const { values, operands, problems } = given;
	const { from, to, again, watch, json, quiet } = values;
	if (from !== undefined && to !== undefined && from > to) {
		problems.push(`--from ${from} is later than --to ${to}`);
	}
	if (again !== undefined) {
		if (again < (from ?? again) || again > (to ?? again)) {
			problems.push(`--again ${again} isn't in the days of --from and --to`);
		}
		if (again >= dayOf(Date.now())) problems.push(`--again ${again} isn't over yet`);
	}
	throwIfAny(problems);
	for (const line of unknownOnes()) process.stderr.write(`${printable(line)}\n`);
	return {
		folder: resolve(operands[0]),
		url: values.url,
		kinds: values.only,
		...{ from, to, again, newestFirst: values.newestFirst, force: values.force },
		timezone: timezoneOr(values.timezone),
		watchMinutes: watch,
		requestsPerMinute: values.rateLimit,
		mode: json ? 'json' : quiet ? 'quiet' : process.stderr.isTTY ? 'terminal' : 'lines',
	};
}

/** Aborted by Ctrl+C or SIGTERM. A second signal ends the process immediately. */
function stopOnSignal(mode: Mode): AbortSignal {
	const controller = new AbortController();
	const stop = () => {
		if (controller.signal.aborted) process.exit(1);
		controller.abort();
		if (mode !== 'quiet' && mode !== 'json') {
			process.stderr.write('\nStopping after the current files. Ctrl+C again stops at once.\n');
		}
	};
	process.on('SIGINT', stop);
	process.on('SIGTERM', stop);
	return controller.signal;
}

function adviceFor(
	{ isComplete, firstDay, lastDay }: RunResult,
	{ folder }: Options,
	wasStopped: boolean,
	nothing: string,
): string {
	const again = `Continue: ${commandName} archive "${folder}"`;
	if (wasStopped) return `Stopped. Stored files are kept.\n${again}`;
	if (!isComplete) return `Not complete. Run it again later. Stored files are kept.\n${again}`;
	const days = firstDay === undefined ? nothing : `${firstDay} to ${lastDay}`;
	return [
		`Complete: ${days}.`,
		`Check it:      ${commandName} check "${folder}"`,
		`Look at it:    ${commandName} serve "${folder}"`,
	].join('\n');
}

/** Why it ended, for display. */
function explain(error: unknown, folder?: string): string {
	return displayed(error instanceof CannotStart ? error : new Error(reasonOf(error, folder)));
}

// lifelog-server archive: options, the run or the runs, exit code.
import { existsSync } from 'node:fs';
import { access, constants, mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LIMITLESS_URL } from '../../lifelog/limitless.ts';
import { DRAFTS } from '../archive/layout.mts';
import { FileError } from '../archive/folder.mts';
import { dayOf } from '../archive/lifelogFiles.mts';
import { type HeldLock, LockedError, lockPath, tryLock } from '../archive/lock.mts';
import { otherRunSince } from '../archive/otherRun.mts';
import { commandName, type ExitCode, timezoneOf, wholeNumber } from '../util/commandLine.mts';
import { CannotStart, checkedServiceUrl, readApiKey } from '../backup/access.mts';
import { type Mode, Output } from '../backup/output.mts';
import { type Kind, KINDS, RECENT_DAYS } from '../backup/plan.mts';
import type { RunResult } from '../backup/report.mts';
import { mayBeArchive, runArchive, type RunOptions } from '../backup/run.mts';
import { ServiceClient, ServiceError, Stopped } from '../backup/service.mts';
import { DAY_MS } from '../util/durations.mts';
import { printable } from '../util/text.mts';
import { asError } from '../util/errors.mts';

const usage = `Usage: ${commandName} archive <folder> [options]

Saves everything that the service has, lifelogs, chats and audio, in a folder. Run it again at any
time: it reads only what is new, changed or missing. Ctrl+C stops it, and the next run continues.

  --only <kinds>      what to archive, e.g. lifelogs,chats (default: lifelogs,chats,audio)
  --from <day>        the first day, e.g. 2025-01-31 (default: the first day there is)
  --to <day>          the last day (default: yesterday; days are in UTC)
  --again <day>       read the lifelogs and chats of a day again, e.g. after a speaker was renamed
  --oldest-first      the order of the days (the default)
  --newest-first
  --timezone <name>   zone of times in Markdown, e.g. Europe/Berlin (default: the system's)
  --watch <minutes>   keep running: check today and the last 31 days at this interval,
                      and everything once a week
  --rate-limit <n>    requests a minute (default 150; the service allows 180 for each key)
  --url <address>     the service (default ${LIMITLESS_URL})
  --force             start even if Full archive in n8n seems to be writing to the folder
  --json              print one line of JSON for each event
  --quiet             print only problems
  --help              print this

The API key is in LIFELOG_API_KEY, or in the file that LIFELOG_API_KEY_FILE names. Otherwise the
command asks for it. Exit code: 0 everything is archived, 1 something is missing, 2 it could not start.
`;

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

/** Carries out `lifelog-server archive`, and returns its exit code. */
export async function archiveCommand(args: string[]): Promise<ExitCode> {
	let opened: OpenedFolder | undefined;
	try {
		const options = readOptions(args);
		if (!options) return 0;
		const apiKey = await readApiKey();
		opened = await openFolder(options);
		return await archive(options, apiKey);
	} catch (error) {
		process.stderr.write(`${printable(explain(error, opened?.folder))}\n`);
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
		const run = async (from: string | undefined): Promise<RunResult> => {
			const lock = await lockForRun(options, opened!);
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
				opened!.hasBegun ||= service.hasAnswered;
				if (opened!.isNew && !opened!.hasBegun) await removeNew(opened!.folder);
				lock.release();
				if (opened!.isNew && !opened!.hasBegun) await removeLocks(opened!.folder);
			}
		};
		if (options.watchMinutes === undefined) return (await run(options.from)).isComplete ? 0 : 1;
		return await watch(options, options.watchMinutes, run, output, stop);
	}
}

/** Runs again and again until it is stopped. A run that fails is tried again. */
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
			process.stderr.write(`${printable(explain(error, options.folder))}\n`);
		}
		if (stop.aborted) break;
		output.note(`Looks again in ${minutes} min. Ctrl+C stops it.`);
		await sleep(minutes * 60_000, undefined, { signal: stop }).catch(() => {});
	}
	return isComplete ? 0 : 1;
}

function readOptions(args: string[]): Options | undefined {
	const { values, positionals } = parse(args);
	if (values.help) {
		process.stdout.write(usage);
		return undefined;
	}
	if (positionals.length !== 1 || !positionals[0]) {
		throw new CannotStart(`Give the folder of the archive: ${commandName} archive <folder>`);
	}
	if (values['oldest-first'] && values['newest-first']) {
		throw new CannotStart("--oldest-first and --newest-first can't be used together");
	}
	const { from, to, again } = values;
	for (const [name, day] of Object.entries({ from, to, again })) {
		if (day !== undefined && !isDay(day)) {
			throw new CannotStart(`--${name} must be a day such as 2025-01-31, not "${day}"`);
		}
	}
	if (from !== undefined && to !== undefined && from > to) {
		throw new CannotStart(`--from ${from} is later than --to ${to}`);
	}
	if (again !== undefined) requireReadable(again, values);
	try {
		return {
			folder: resolve(positionals[0]),
			url: checkedServiceUrl(values.url),
			kinds: readKinds(values.only),
			from,
			to,
			again,
			newestFirst: values['newest-first'],
			timezone: timezoneOf(values.timezone),
			watchMinutes:
				values.watch === undefined ? undefined : wholeNumber('watch', values.watch, 1, 10_080),
			requestsPerMinute: wholeNumber('rate-limit', values['rate-limit'], 1, 1_000_000),
			force: values.force,
			mode: values.json
				? 'json'
				: values.quiet
					? 'quiet'
					: process.stderr.isTTY
						? 'terminal'
						: 'lines',
		};
	} catch (error) {
		throw new CannotStart((error as Error).message);
	}
}

function parse(args: string[]) {
	try {
		return parseArgs({
			args,
			allowPositionals: true,
			options: {
				only: { type: 'string', default: KINDS.join(',') },
				from: { type: 'string' },
				to: { type: 'string' },
				again: { type: 'string' },
				'oldest-first': { type: 'boolean', default: false },
				'newest-first': { type: 'boolean', default: false },
				timezone: { type: 'string' },
				watch: { type: 'string' },
				'rate-limit': { type: 'string', default: '150' },
				url: { type: 'string', default: LIMITLESS_URL },
				force: { type: 'boolean', default: false },
				json: { type: 'boolean', default: false },
				quiet: { type: 'boolean', default: false },
				help: { type: 'boolean', short: 'h', default: false },
			},
		});
	} catch (error) {
		throw new CannotStart(`${(error as Error).message}. Options: ${commandName} archive --help`);
	}
}

/** Rejects a day that this run wouldn't look at. */
function requireReadable(
	again: string,
	{ from = again, to = again, watch }: { from?: string; to?: string; watch?: string },
): void {
	if (watch !== undefined) throw new CannotStart("--again and --watch can't be used together");
	if (again < from || again > to) {
		throw new CannotStart(`--again ${again} isn't in the days of --from and --to`);
	}
	if (again >= dayOf(Date.now())) throw new CannotStart(`--again ${again} isn't over yet`);
}

function isDay(text: string): boolean {
	const ms = Date.parse(`${text}T00:00:00Z`);
	return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(ms) && dayOf(ms) === text;
}

function readKinds(text: string): Set<Kind> {
	const names = text.split(',').map((name) => name.trim());
	const unknown = names.find((name) => !KINDS.includes(name as Kind));
	if (unknown !== undefined) {
		throw new CannotStart(
			`--only takes ${KINDS.join(', ')}, separated by commas, not "${unknown}"`,
		);
	}
	return new Set(names as Kind[]);
}

interface OpenedFolder {
	folder: string;
	/** Whether there was none before. */
	isNew: boolean;
	/** Whether the service has answered since. */
	hasBegun: boolean;
}

/** Makes the folder if needed, and sees to it that everything can be written. */
async function openFolder({ folder }: Options): Promise<OpenedFolder> {
	const isNew = (await mkdir(folder, { recursive: true })) !== undefined;
	if (!(await mayBeArchive(folder))) {
		throw new CannotStart(
			`${folder} has files in it and is not an archive. Choose an empty folder, or a new one. If it is the app's export, convert it: ${commandName} import "${folder}" <folder of the archive>`,
		);
	}
	await requireWritable(folder);
	return { folder, isNew, hasBegun: false };
}

/** Takes the run lock, unless another run is writing to the archive. */
async function lockForRun(
	{ folder, force }: Options,
	{ hasBegun }: OpenedFolder,
): Promise<HeldLock> {
	// Between two looks its disk may have gone, and what is left is where it was mounted.
	if (hasBegun) await access(join(folder, 'days'));
	const lock = tryLock(folder, 'run');
	if (!lock) {
		throw new CannotStart(
			'Another run is writing to this archive (archive or import). Wait until it has ended',
		);
	}
	const since = force ? undefined : await otherRunSince(folder);
	if (since !== undefined) {
		lock.release();
		throw new CannotStart(
			`Full archive in n8n has been writing to this archive since ${since}. Wait until it has ended. If it was stopped, start with --force`,
		);
	}
	await mkdir(join(folder, 'days'), { recursive: true });
	return lock;
}

/** Removes what a run made in a new folder before the service had answered. */
async function removeNew(folder: string): Promise<void> {
	for (const name of ['report.json', 'report.md']) await rm(join(folder, name), { force: true });
	await rmdir(join(folder, 'days')).catch(() => {});
}

/** Removes the locks, and the folder if nothing else is in it. */
async function removeLocks(folder: string): Promise<void> {
	for (const name of ['run', 'write']) await rm(lockPath(folder, name), { force: true });
	await rmdir(folder).catch(() => {});
}

/** Rejects if a folder of the archive can't be written, as those of another user. */
async function requireWritable(folder: string): Promise<void> {
	const levels = { days: 1, lifelogs: 4, chats: 4, audio: 5, [DRAFTS]: 2 };
	const { W_OK, X_OK } = constants;
	const { dev } = await stat(folder);
	const check = async (path: string, depth: number, mode = W_OK | X_OK): Promise<void> => {
		const found = await stat(path).catch(() => undefined);
		if (found && found.dev !== dev) {
			throw new CannotStart(
				`${path} is on another disk than the archive, so files can't be moved there. Put all of it on one disk`,
			);
		}
		await access(path, mode).catch((error: unknown) => {
			const { code } = asError(error);
			if (code === 'ENOENT') return;
			if (code === 'EROFS') throw error;
			const user = process.getuid?.();
			const [who, how] =
				user === undefined
					? ['you', 'Change the permissions of the folder']
					: [`user ${user}, who runs this`, `Run sudo chown -R ${user} "${folder}"`];
			throw new CannotStart(`${path} can't be written by ${who} (${code}). ${how}`);
		});
		if (depth === 0) return;
		const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
		for (const entry of entries) {
			if (entry.isDirectory()) await check(join(path, entry.name), depth - 1);
		}
	};
	await check(folder, 0);
	for (const name of ['run', 'write']) await check(lockPath(folder, name), 0, W_OK);
	for (const [name, depth] of Object.entries(levels)) await check(join(folder, name), depth - 1);
}

/** Aborted by Ctrl+C or SIGTERM. The second one ends the process at once. */
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

const FILE_ERRORS: Record<string, string> = {
	ENOSPC: 'The disk is full. Make room, and run the command again. Stored files are kept',
	EDQUOT: 'The disk quota is used up. Make room, and run the command again. Stored files are kept',
	EFBIG: "The disk doesn't support files of that size. Choose another disk",
	EROFS: 'The folder is on a disk that is read-only. Choose another one, or mount it for writing',
	EACCES: "The folder can't be written to. Make the user who runs this command its owner",
	EPERM: "The folder can't be written to. Make the user who runs this command its owner",
	ENOENT:
		"The archive's folder is missing. Check that its disk is connected, then run the command again",
	EIO: 'The disk reports an error. Check the disk, then run the command again',
};

function explain(error: unknown, folder?: string): string {
	if (error instanceof CannotStart || error instanceof ServiceError) return error.message;
	if (error instanceof FileError) return `A file of the archive ${error.message}. Remove the link`;
	if (error instanceof Stopped) return 'Stopped. Stored files are kept';
	if (error instanceof LockedError) return `${error.message}. Try again later`;
	const { code, message, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
	const isKnown = code !== 'ENOENT' || folder === undefined || !existsSync(folder);
	const known = (isKnown ? FILE_ERRORS[code ?? ''] : undefined) ?? SQLITE_ERRORS[errcode ?? 0];
	return known === undefined ? message : `${known} (${code})`;
}

/** Of the file that is the lock. */
const SQLITE_ERRORS: Record<number, string> = {
	8: FILE_ERRORS.EACCES,
	10: FILE_ERRORS.EIO,
	13: FILE_ERRORS.ENOSPC,
	14: FILE_ERRORS.ENOENT,
};

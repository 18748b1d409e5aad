// lifelog-server archive: options, the run or the runs, exit code.
import { existsSync } from 'node:fs';
import { access, constants, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DRAFTS } from '../archive/layout.mts';
import { FileError } from '../archive/folder.mts';
import { dayOf } from '../archive/lifelogFiles.mts';
import { type HeldLock, LockedError, lockPath, tryLock } from '../archive/lock.mts';
import { makeDays, makeFolder, removeLocks, removeNew } from '../archive/newArchive.mts';
import { otherRunSince } from '../archive/otherRun.mts';
import {
	CannotStart,
	commandName,
	displayed,
	type ExitCode,
	throwIfAny,
} from '../util/commandLine.mts';
import { readCommand, timezoneOr } from '../util/options.mts';
import { readApiKey } from '../backup/access.mts';
import { type Mode, Output } from '../backup/output.mts';
import { type Kind, RECENT_DAYS } from '../backup/plan.mts';
import type { RunResult } from '../backup/report.mts';
import { mayBeArchive, runArchive, type RunOptions } from '../backup/run.mts';
import { ServiceClient, ServiceError, Stopped } from '../backup/service.mts';
import { DAY_MS } from '../util/durations.mts';
import { printable } from '../util/text.mts';
import { asError } from '../util/errors.mts';
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
			process.stderr.write(explain(error, options.folder));
		}
		if (stop.aborted) break;
		output.note(`Looks again in ${minutes} min. Ctrl+C stops it.`);
		await sleep(minutes * 60_000, undefined, { signal: stop }).catch(() => {});
	}
	return isComplete ? 0 : 1;
}

/** @returns Undefined if the help was asked for. */
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

interface OpenedFolder {
	folder: string;
	/** Whether there was none before. */
	isNew: boolean;
	/** Whether the service has answered since. */
	hasBegun: boolean;
}

/** Makes the folder if needed, and sees to it that everything can be written. */
async function openFolder({ folder }: Options): Promise<OpenedFolder> {
	const isNew = await makeFolder(folder);
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
	await makeDays(folder);
	return lock;
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
	EEXIST: 'There is a file where the folder of the archive should be. Choose another folder',
	ENOTDIR: 'There is a file where the folder of the archive should be. Choose another folder',
	EIO: 'The disk reports an error. Check the disk, then run the command again',
};

/** Why it ended, for display. */
function explain(error: unknown, folder?: string): string {
	return displayed(error instanceof CannotStart ? error : new Error(reasonOf(error, folder)));
}

function reasonOf(error: unknown, folder?: string): string {
	if (error instanceof ServiceError) return error.message;
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

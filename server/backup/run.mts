// One run: compares service and archive, then archives the days that differ.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { MAX_PAGE_SIZE_WITH_CONTENTS } from '../../lifelog/paging.ts';
import { clearDrafts } from '../archive/drafts.mts';
import { FileError, Folder } from '../archive/folder.mts';
import type { DayManifest } from '../archive/layout.mts';
import { dayOf } from '../archive/lifelogFiles.mts';
import { manifestNames, readManifests } from '../archive/manifests.mts';
import { OwnChanges, type OwnChange } from '../archive/ownChanges.mts';
import { DAY_MS, HOUR_MS } from '../util/durations.mts';
import { printable } from '../util/text.mts';
import { archiveDay } from './day.mts';
import { isPending, NOT_ASKED_FOR } from './mergedDay.mts';
import {
	daysBetween,
	FIRST_LIKELY_DAY,
	listChats,
	listLifelogs,
	type Listing,
} from './listing.mts';
import { type DayPlan, type Kind, planDay } from './plan.mts';
import type { Output } from './output.mts';
import {
	newRunId,
	type Problem,
	type Report,
	type RunResult,
	type Totals,
	writeReport,
} from './report.mts';
import { type ServiceClient, Stopped } from './service.mts';

export interface RunOptions {
	folder: string;
	kinds: Set<Kind>;
	/** First and last day, `YYYY-MM-DD` in UTC. */
	from: string | undefined;
	to: string | undefined;
	newestFirst: boolean;
	/** IANA time zone of the Markdown. */
	timezone: string;
	/** Whether to archive the part of today that is over. */
	withToday: boolean;
	/** A day to read again even if the lists show no change. */
	again: string | undefined;
}

const MAX_CLOCK_DIFFERENCE_MS = 12 * HOUR_MS;
const REPORT_EVERY_MS = 5000;
const MAX_CONCURRENT_STATS = 16;

/**
 * Archives what the archive lacks (docs/reference/archive.md). The caller holds the run lock.
 *
 * @throws ServiceError if the service is unusable, and disk errors. The report is written first if
 *   possible.
 */
export async function runArchive(
	service: ServiceClient,
	options: RunOptions,
	output: Output,
	stop: AbortSignal,
): Promise<RunResult> {
	const folder = await Folder.open(options.folder);
	await clearDrafts(folder.root);
	const startedAt = new Date().toISOString();
	const report: Report = {
		version: 1,
		state: 'starting',
		runId: newRunId(startedAt),
		startedAt,
		failed: [],
	};
	let isBroken = false;
	try {
		await writeReport(folder, report);
		const run = await beginRun(service, options, output, folder);
		const days = daysToLookAt(run, dayOf(service.now()));
		const plans = await planDays(run, days);
		const inOrder = [...days].sort();
		const [firstDay, lastDay] = [inOrder.at(0), inOrder.at(-1)];
		Object.assign(report, run.totals, {
			state: 'running',
			firstDay: firstDay ?? null,
			lastDay: lastDay ?? null,
			daysToDo: plans.length,
			daysDone: 0,
		});
		await archiveDays(run, plans, report, stop);
		const { found, stored, totals, problems } = run;
		if (stop.aborted) problems.push({ what: 'the rest', message: new Stopped().message });
		report.failed = failuresOf(problems);
		return {
			isComplete: problems.length === 0,
			found,
			stored,
			totals,
			problems,
			firstDay,
			lastDay,
		};
	} catch (error) {
		isBroken = true;
		report.failed.push({ message: (error as Error).message });
		throw error;
	} finally {
		report.state = 'ended';
		report.secondsLeft = 0;
		await writeReport(folder, report).catch((error: unknown) => {
			if (!isBroken) throw error;
		});
		await clearDrafts(folder.root).catch((error: unknown) => {
			if (!isBroken) throw error;
		});
	}
}

/** Dependencies, counts and problems of a run. */
type Run = Awaited<ReturnType<typeof beginRun>>;

/** Reads the state of archive and service. */
async function beginRun(
	service: ServiceClient,
	options: RunOptions,
	output: Output,
	folder: Folder,
) {
	const names = await manifestNames(folder);
	const listing = await look(service, options, firstDayOf(names), output);
	const own = new OwnChanges(folder);
	const changes = await own.read();
	const run = {
		...{ service, options, output, folder, own, names, listing },
		deleted: { lifelogs: deletedOf(changes.lifelogs), chats: deletedOf(changes.chats) },
		/** Days with a temporarily unreadable manifest. */
		unreadable: new Map<string, string>(),
		totals: emptyTotals(),
		found: { lifelogs: 0, chats: 0 },
		stored: { lifelogs: 0, chats: 0 },
		problems: [] as Problem[],
		isEmptyNoted: false,
	};
	for (const problem of listing.problems) noteProblem(run, problem);
	if (service.clockDifferenceMs() > MAX_CLOCK_DIFFERENCE_MS) {
		const hours = Math.round(service.clockDifferenceMs() / HOUR_MS);
		output.note(
			`The clocks of this machine and of the service are ${hours} hours apart. The service's clock decides what day it is`,
		);
	}
	return run;
}

/** Counts what the archive has, and plans the days that differ from the service. */
async function planDays(run: Run, days: Set<string>): Promise<DayPlan[]> {
	const plans: DayPlan[] = [];
	for (const day of new Set([...run.names.keys(), ...days])) {
		const manifest = await readManifest(run, day);
		if (manifest) addTo(run.totals, manifest, 1);
		if (!days.has(day)) {
			noteUnchecked(run, manifest);
			continue;
		}
		const plan = await planOf(run, day, manifest);
		if (plan) plans.push(plan);
	}
	plans.sort((a, b) => (a.day < b.day ? -1 : 1));
	return run.options.newestFirst ? plans.reverse() : plans;
}

function noteUnchecked(run: Run, manifest: DayManifest | undefined) {
	if (manifest && !manifest.isComplete && !manifest.failed?.every(isPending)) {
		const message = "it isn't complete, and this run didn't check it";
		noteProblem(run, { day: manifest.day, what: 'the day', message });
	}
}

/** The plan of a day; undefined if it is up to date, or its manifest is unreadable. */
async function planOf(
	run: Run,
	day: string,
	manifest: DayManifest | undefined,
): Promise<DayPlan | undefined> {
	const { service, options, folder, listing, deleted } = run;
	const withLifelogs = options.kinds.has('lifelogs');
	if (withLifelogs) run.found.lifelogs += countFound(listing.lifelogs.get(day), deleted.lifelogs);
	run.found.chats += countFound(listing.chats?.get(day), deleted.chats);
	const reason = run.unreadable.get(day);
	if (reason !== undefined) {
		const message = `it is left as it is, because ${reason}`;
		noteProblem(run, { day, what: 'the day', message });
		return undefined;
	}
	addStored(run, day, manifest, 1);
	const present = Object.values(manifest?.lifelogs ?? {});
	const hasLifelogs = present.some(({ goneAt }) => goneAt === undefined);
	if (hasLifelogs && listing.lifelogs.size === 0 && !run.isEmptyNoted) {
		run.isEmptyNoted = true;
		const message =
			"it's empty, but the archive has lifelogs. Check that the key belongs to the same account";
		noteProblem(run, { what: 'the list of lifelogs', message: service.aboutNothing(message) });
	}
	const plan = planDay({
		day,
		manifest,
		lifelogs: lifelogsOf(day, options, listing, hasLifelogs),
		chats: chatsOf(day, options, listing),
		unusable: listing.unusable,
		deleted,
		damaged: manifest ? await findDamaged(folder, manifest) : new Set(),
		withAudio: options.kinds.has('audio'),
		isAgain: options.again === day,
		now: service.now(),
	});
	const broken = listing.brokenDays.get(day);
	if (broken !== undefined) {
		noteProblem(run, { day, what: 'the list of lifelogs', message: `ends early: ${broken}` });
	}
	if (!plan && manifest) await noteDamage(run, manifest);
	return plan;
}

/** Archives planned days until stopped, and updates the report. */
async function archiveDays(
	run: Run,
	plans: DayPlan[],
	report: Report,
	stop: AbortSignal,
): Promise<void> {
	const { service, output, folder, own, listing, totals, problems } = run;
	output.begin({ days: plans.length, requests: requestsFor(plans) });
	let reportedAt = -Infinity;
	for (const [done, plan] of plans.entries()) {
		if (stop.aborted) break;
		const { day } = plan;
		const manifest = await readManifest(run, day);
		const listed = {
			lifelogs: listing.lifelogs.get(day) ?? new Map(),
			chats: listing.chats?.get(day),
		};
		const context = {
			service,
			archive: folder,
			own,
			timezone: run.options.timezone,
			onPhase: (phase: Kind) => output.phase(phase, day),
			onFile: (kind: Kind, bytes: number) => output.file(kind, bytes),
		};
		const file = await archiveDay(context, plan, listed, manifest);
		addStored(run, day, manifest, -1);
		addStored(run, day, file, 1);
		if (manifest) addTo(totals, manifest, -1);
		addTo(totals, file, 1);
		for (const failure of file.failed ?? []) {
			if (!isPending(failure)) noteProblem(run, { day, ...failure });
		}
		if (plan.damaged.size > 0) await noteDamage(run, file);
		report.daysDone = done + 1;
		report.secondsLeft = output.day(file);
		Object.assign(report, totals, { failed: failuresOf(problems) });
		if (performance.now() - reportedAt > REPORT_EVERY_MS) {
			await writeReport(folder, report);
			reportedAt = performance.now();
		}
	}
}

function noteProblem({ problems, output }: Run, problem: Problem) {
	problems.push(problem);
	output.problem(problem);
}

async function noteDamage(run: Run, manifest: DayManifest): Promise<void> {
	for (const path of await findDamaged(run.folder, manifest)) {
		const message = "it is missing or damaged in the archive, and the service doesn't have it";
		noteProblem(run, { day: manifest.day, what: path, message });
	}
}

/** Counts a day's listed entries that are in the archive; -1 subtracts them. */
function addStored(
	{ options, listing, stored }: Run,
	day: string,
	manifest: DayManifest | undefined,
	sign: 1 | -1,
) {
	const listed = options.kinds.has('lifelogs') ? listing.lifelogs.get(day) : undefined;
	stored.lifelogs += sign * countStored(manifest?.lifelogs, listed);
	stored.chats += sign * countStored(manifest?.chats, listing.chats?.get(day));
}

function requestsFor(plans: DayPlan[]): number {
	const cost = ({ audio, chats, lifelogs, again }: DayPlan) =>
		audio.length +
		chats.length +
		again.chats.length +
		Math.ceil((lifelogs.length + again.lifelogs.length) / MAX_PAGE_SIZE_WITH_CONTENTS);
	return plans.reduce((sum, plan) => sum + cost(plan), 0);
}

const firstDayOf = (names: Map<string, string[]>) => [...names.keys()].sort().at(0);

async function look(
	service: ServiceClient,
	{ kinds, from, to }: RunOptions,
	knownFirst: string | undefined,
	output: Output,
): Promise<Listing> {
	const lifelogs = await listLifelogs(service, { from, to }, knownFirst, (entries) =>
		output.looking('lifelogs', entries),
	);
	const chats = kinds.has('chats')
		? await listChats(service, { from, to }, (entries) => output.looking('chats', entries))
		: { chats: undefined, unusable: new Set<string>(), problems: [] };
	return {
		...lifelogs,
		...chats,
		unusable: new Set([...lifelogs.unusable, ...chats.unusable]),
		problems: [...lifelogs.problems, ...chats.problems],
	};
}

function lifelogsOf(
	day: string,
	{ kinds }: RunOptions,
	{ lifelogs, brokenDays }: Listing,
	hasLifelogs: boolean,
) {
	if (!kinds.has('lifelogs')) return NOT_ASKED_FOR;
	const broken = brokenDays.get(day);
	// A suddenly empty list is an error, or another account.
	if (lifelogs.size === 0 && hasLifelogs) return 'the list is empty';
	return broken === undefined ? (lifelogs.get(day) ?? new Map()) : `the list ends early: ${broken}`;
}

function chatsOf(day: string, { kinds }: RunOptions, { chats }: Listing) {
	if (!kinds.has('chats')) return NOT_ASKED_FOR;
	return chats ? (chats.get(day) ?? new Map()) : 'the list of chats ends early';
}

/** All days of the range, and days outside it on which an entry begins. */
function daysToLookAt({ options, listing, names }: Run, today: string): Set<string> {
	const { from, to, withToday } = options;
	const { lifelogs, chats } = listing;
	const knownFirst = firstDayOf(names);
	const listed = [...new Set([...lifelogs.keys(), ...(chats?.keys() ?? [])])].sort();
	const yesterday = dayOf(Date.parse(today) - DAY_MS);
	const end = withToday ? today : yesterday;
	const last = to !== undefined && to < end ? to : end;
	const known = [...listed, ...(knownFirst === undefined ? [] : [knownFirst])];
	const first = from ?? known.filter((day) => day >= FIRST_LIKELY_DAY).sort()[0];
	const days = new Set(first === undefined ? [] : daysBetween(first, last));
	for (const day of listed) if (day !== today || withToday) days.add(day);
	return days;
}

/** The current manifest of a day, which is the latest. */
async function readManifest(
	{ folder, names, unreadable }: Run,
	day: string,
): Promise<DayManifest | undefined> {
	try {
		return (await readManifests(folder, day, names.get(day))).newest;
	} catch (error) {
		if (!(error instanceof FileError)) throw error;
		unreadable.set(day, `one of its files in days/ ${error.message}`);
		return undefined;
	}
}

/** Files of a manifest that are missing or have another size. */
async function findDamaged(folder: Folder, manifest: DayManifest): Promise<Set<string>> {
	const { lifelogs, chats, audio } = manifest;
	const entries = [...Object.values(lifelogs), ...Object.values(chats)];
	const files = [...entries.flatMap((entry) => entry.files), ...audio];
	const damaged = new Set<string>();
	const look = async ({ path, bytes }: { path: string; bytes: number }) => {
		const found = await lstat(join(folder.root, path)).catch(() => undefined);
		if (found?.size !== bytes) damaged.add(path);
	};
	await pMap(files, look, { concurrency: MAX_CONCURRENT_STATS });
	return damaged;
}

const emptyTotals = (): Totals => ({
	daysInArchive: 0,
	lifelogs: 0,
	chats: 0,
	audioFiles: 0,
	bytes: 0,
	hoursWithoutAudio: 0,
});

function addTo(
	totals: Totals,
	{ lifelogs, chats, audio, missingAudio }: DayManifest,
	sign: 1 | -1,
) {
	const entries = [...Object.values(lifelogs), ...Object.values(chats)];
	const files = [...entries.flatMap((entry) => entry.files), ...audio];
	const missingMs = (missingAudio ?? []).reduce((sum, span) => sum + span.endMs - span.startMs, 0);
	totals.daysInArchive += sign;
	totals.lifelogs += sign * Object.values(lifelogs).filter(isKept).length;
	totals.chats += sign * Object.values(chats).filter(isKept).length;
	totals.audioFiles += sign * audio.length;
	totals.bytes += sign * files.reduce((sum, { bytes }) => sum + bytes, 0);
	totals.hoursWithoutAudio += (sign * missingMs) / HOUR_MS;
}

const isKept = ({ deletedAt }: { deletedAt?: string }) => deletedAt === undefined;

const deletedOf = (changes: Map<string, OwnChange>) =>
	new Set([...changes.keys()].filter((id) => changes.get(id)!.deletedAt !== undefined));

/** Number of listed entries that should be in the archive. */
const countFound = (listed: Map<string, unknown> | undefined, deleted: Set<string>) =>
	[...(listed?.keys() ?? [])].filter((id) => !deleted.has(id)).length;

/** Number of listed entries that a manifest has. */
function countStored(
	entries: Record<string, { goneAt?: string; deletedAt?: string }> | undefined,
	listed: Map<string, unknown> | undefined,
): number {
	if (!entries || !listed) return 0;
	return [...listed.keys()].filter(
		(id) => Object.hasOwn(entries, id) && entries[id].goneAt === undefined && isKept(entries[id]),
	).length;
}

const failuresOf = (problems: Problem[]): Report['failed'] =>
	problems.map(({ day, what, message }) => ({
		...(day !== undefined && { day }),
		message: printable(`${what}: ${message}`),
	}));

const OF_ARCHIVE = ['days', 'report.json'];
/** Files and folders that operating systems create in the root of a disk. */
const OF_SYSTEM = ['lost+found', 'System Volume Information', '$RECYCLE.BIN', 'desktop.ini'];

/** Whether a folder is an archive, or is empty and can become one. */
export async function mayBeArchive(folder: string): Promise<boolean> {
	const names = await readdir(folder);
	const isOfSystem = (name: string) => name.startsWith('.') || OF_SYSTEM.includes(name);
	return names.some((name) => OF_ARCHIVE.includes(name)) || names.every(isOfSystem);
}

// One run: look what the service has and what the archive has, then archive the days that differ.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { clearDrafts, recover } from '../archive/commit.mts';
import { FileError, Folder } from '../archive/folder.mts';
import type { DayFile } from '../archive/layout.mts';
import { dayOf } from '../archive/lifelogFiles.mts';
import { manifestNames, readManifests } from '../archive/manifests.mts';
import { OwnChanges, type OwnChange } from '../archive/ownChanges.mts';
import { DAY_MS, HOUR_MS } from '../util/durations.mts';
import { printable } from '../util/text.mts';
import { archiveDay, isPending, NOT_ASKED_FOR } from './day.mts';
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
import { type Service, Stopped } from './service.mts';

/** What a run is to do. */
export interface RunOptions {
	folder: string;
	kinds: Set<Kind>;
	/** First and last day, `YYYY-MM-DD` in UTC. */
	from: string | undefined;
	to: string | undefined;
	newestFirst: boolean;
	/** Whether today is archived, as far as it is over. */
	withToday: boolean;
}

const MAX_CLOCK_DIFFERENCE_MS = 12 * HOUR_MS;
const REPORT_EVERY_MS = 5000;
const STATS_AT_ONCE = 16;
const PAGE_SIZE_WITH_CONTENTS = 25;

/**
 * Archives what the service has and the archive lacks (docs/reference/archive.md). The caller holds the run lock.
 *
 * @throws ServiceError if the service can't be used, and errors of the disk, after the report was
 *   written as far as that is possible.
 */
export async function runArchive(
	service: Service,
	options: RunOptions,
	output: Output,
	stop: AbortSignal,
): Promise<RunResult> {
	const folder = await Folder.open(options.folder);
	await recover(folder.root);
	await clearDrafts(folder.root);
	const startedAt = new Date().toISOString();
	const report: Report = {
		version: 1,
		state: 'starting',
		runId: newRunId(startedAt),
		startedAt,
		failed: [],
	};
	const problems: Problem[] = [];
	const noteProblem = (problem: Problem) => {
		problems.push(problem);
		output.problem(problem);
	};
	let isBroken = false;
	try {
		return await run();
	} catch (error) {
		isBroken = true;
		report.failed.push({ message: (error as Error).message });
		throw error;
	} finally {
		report.state = 'ended';
		report.secondsLeft = 0;
		await writeReport(folder.root, report).catch((error: unknown) => {
			if (!isBroken) throw error;
		});
		await clearDrafts(folder.root).catch((error: unknown) => {
			if (!isBroken) throw error;
		});
	}

	async function run(): Promise<RunResult> {
		await writeReport(folder.root, report);
		const names = await manifestNames(folder);
		const knownFirst = [...names.keys()].sort()[0];
		const listing = await look(service, options, knownFirst, output);
		listing.problems.forEach(noteProblem);
		if (service.clockDifferenceMs() > MAX_CLOCK_DIFFERENCE_MS) {
			const hours = Math.round(service.clockDifferenceMs() / HOUR_MS);
			output.note(
				`The clocks of this machine and of the service are ${hours} hours apart. The service's clock decides what day it is`,
			);
		}
		const today = dayOf(service.now());
		const days = daysToLookAt(options, listing, knownFirst, today);
		const totals = emptyTotals();
		// Days with a manifest that can't be read for now.
		const unreadable = new Map<string, string>();
		let isEmptyNoted = false;
		const plans: DayPlan[] = [];
		const withLifelogs = options.kinds.has('lifelogs');
		const own = new OwnChanges(folder);
		const changes = await own.read();
		const deleted = { lifelogs: deletedOf(changes.lifelogs), chats: deletedOf(changes.chats) };
		const found = { lifelogs: 0, chats: 0 };
		const stored = { lifelogs: 0, chats: 0 };
		const count = (day: string, manifest: DayFile | undefined, sign: 1 | -1) => {
			const listed = withLifelogs ? listing.lifelogs.get(day) : undefined;
			stored.lifelogs += sign * countStored(manifest?.lifelogs, listed);
			stored.chats += sign * countStored(manifest?.chats, listing.chats?.get(day));
		};
		for (const day of new Set([...names.keys(), ...days])) {
			const manifest = await readManifest(folder, day, names.get(day) ?? [], unreadable);
			if (manifest) addTo(totals, manifest, 1);
			if (!days.has(day)) {
				if (manifest && !manifest.isComplete && !manifest.failed?.every(isPending)) {
					noteProblem({
						day,
						what: 'the day',
						message: 'it is not complete, and this run did not look at it',
					});
				}
				continue;
			}
			if (withLifelogs) found.lifelogs += countFound(listing.lifelogs.get(day), deleted.lifelogs);
			found.chats += countFound(listing.chats?.get(day), deleted.chats);
			const reason = unreadable.get(day);
			if (reason !== undefined) {
				noteProblem({ day, what: 'the day', message: `it is left as it is, because ${reason}` });
				continue;
			}
			count(day, manifest, 1);
			const present = Object.values(manifest?.lifelogs ?? {});
			const hasLifelogs = present.some(({ goneAt }) => goneAt === undefined);
			if (hasLifelogs && listing.lifelogs.size === 0 && !isEmptyNoted) {
				isEmptyNoted = true;
				const message =
					"it's empty, but the archive has lifelogs. Check that the key belongs to the same account";
				noteProblem({ what: 'the list of lifelogs', message });
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
				now: service.now(),
			});
			const broken = listing.brokenDays.get(day);
			if (broken !== undefined) {
				noteProblem({ day, what: 'the list of lifelogs', message: `ends early: ${broken}` });
			}
			if (plan) plans.push(plan);
			else if (manifest) await noteDamage(manifest);
		}
		plans.sort((a, b) => (a.day < b.day ? -1 : 1));
		if (options.newestFirst) plans.reverse();
		const inOrder = [...days].sort();
		Object.assign(report, totals, {
			state: 'running',
			firstDay: inOrder.at(0) ?? null,
			lastDay: inOrder.at(-1) ?? null,
			daysToDo: plans.length,
			daysDone: 0,
		});

		const cost = (plan: DayPlan) =>
			plan.audio.length +
			plan.chats.length +
			Math.min(plan.lifelogs.length, Math.ceil(plan.lifelogs.length / PAGE_SIZE_WITH_CONTENTS));
		const requestsToDo = plans.reduce((sum, plan) => sum + cost(plan), 0);
		output.begin({ days: plans.length, requests: requestsToDo });
		let reportedAt = -Infinity;
		for (const [done, plan] of plans.entries()) {
			if (stop.aborted) break;
			const { day } = plan;
			const manifest = await readManifest(folder, day, names.get(day) ?? [], unreadable);
			const listed = {
				lifelogs: listing.lifelogs.get(day)?.size ?? 0,
				chats: listing.chats?.get(day),
			};
			const context = {
				service,
				archive: folder,
				own,
				onPhase: (phase: Kind) => output.phase(phase, day),
				onFile: (kind: Kind, bytes: number) => output.file(kind, bytes),
			};
			const file = await archiveDay(context, plan, listed);
			count(day, manifest, -1);
			count(day, file, 1);
			if (manifest) addTo(totals, manifest, -1);
			addTo(totals, file, 1);
			for (const failure of file.failed ?? []) {
				if (!isPending(failure)) noteProblem({ day, ...failure });
			}
			if (plan.damaged.size > 0) await noteDamage(file);
			report.daysDone = done + 1;
			report.secondsLeft = output.day(file);
			Object.assign(report, totals, { failed: failuresOf(problems) });
			if (performance.now() - reportedAt > REPORT_EVERY_MS) {
				await writeReport(folder.root, report);
				reportedAt = performance.now();
			}
		}
		async function noteDamage(manifest: DayFile): Promise<void> {
			for (const path of await findDamaged(folder, manifest)) {
				const message = 'it is missing or damaged in the archive, and the service does not have it';
				noteProblem({ day: manifest.day, what: path, message });
			}
		}

		if (stop.aborted) problems.push({ what: 'the rest', message: new Stopped().message });
		report.failed = failuresOf(problems);
		return {
			isComplete: problems.length === 0,
			found,
			stored,
			totals,
			problems,
			firstDay: inOrder.at(0),
			lastDay: inOrder.at(-1),
		};
	}
}

async function look(
	service: Service,
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
	// A list that is empty all at once is a mistake, or another account's.
	if (lifelogs.size === 0 && hasLifelogs) return 'the list is empty';
	return broken === undefined ? (lifelogs.get(day) ?? new Map()) : `the list ends early: ${broken}`;
}

function chatsOf(day: string, { kinds }: RunOptions, { chats }: Listing) {
	if (!kinds.has('chats')) return NOT_ASKED_FOR;
	return chats ? (chats.get(day) ?? new Map()) : 'the list of chats ends early';
}

/** Every day from the first to the last, and those outside of them on which something begins. */
function daysToLookAt(
	{ from, to, withToday }: RunOptions,
	{ lifelogs, chats }: Listing,
	knownFirst: string | undefined,
	today: string,
): Set<string> {
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

/** The manifest of a day that counts, the one that was written last. */
async function readManifest(
	folder: Folder,
	day: string,
	names: string[],
	unreadable: Map<string, string>,
): Promise<DayFile | undefined> {
	try {
		return (await readManifests(folder, day, names)).at(0)?.file;
	} catch (error) {
		if (!(error instanceof FileError)) throw error;
		unreadable.set(day, `one of its files in days/ ${error.message}`);
		return undefined;
	}
}

/** The files that a manifest names and that are not there, or have another size. */
async function findDamaged(folder: Folder, manifest: DayFile): Promise<Set<string>> {
	const { lifelogs, chats, audio } = manifest;
	const entries = [...Object.values(lifelogs), ...Object.values(chats)];
	const files = [...entries.flatMap((entry) => entry.files), ...audio];
	const damaged = new Set<string>();
	const look = async ({ path, bytes }: { path: string; bytes: number }) => {
		const found = await lstat(join(folder.root, path)).catch(() => undefined);
		if (found?.size !== bytes) damaged.add(path);
	};
	await pMap(files, look, { concurrency: STATS_AT_ONCE });
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

function addTo(totals: Totals, { lifelogs, chats, audio, missingAudio }: DayFile, sign: 1 | -1) {
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

/** How many listed entries are to be in the archive. */
const countFound = (listed: Map<string, unknown> | undefined, deleted: Set<string>) =>
	[...(listed?.keys() ?? [])].filter((id) => !deleted.has(id)).length;

/** How many of the listed entries a manifest holds. */
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
/** What systems put into the root of a disk. */
const OF_SYSTEM = ['lost+found', 'System Volume Information', '$RECYCLE.BIN', 'desktop.ini'];

/** Whether a folder may become an archive: it is one, or has nothing in it. */
export async function mayBeArchive(folder: string): Promise<boolean> {
	const names = await readdir(folder);
	const isOfSystem = (name: string) => name.startsWith('.') || OF_SYSTEM.includes(name);
	return names.some((name) => OF_ARCHIVE.includes(name)) || names.every(isOfSystem);
}

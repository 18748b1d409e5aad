// What the suites of the example Full archive share: an n8n that may write to a folder, days to archive, runs.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	assertArchived,
	DAY_MS,
	dayOf,
	type Expectation,
	makeFolders,
	onDisk,
	type Storage,
} from './archive.mts';
import { type Changes, importExample, runExample } from './examples.mts';
import { startLab, type Lab } from './lab.mts';
import { runProgram } from './processes.mts';
import type { Execution, SavedWorkflow } from './rest.mts';
import { temporaryFolder } from './server.mts';

const root = resolve(import.meta.dirname, '../../..');
export const BY_HAND = "When clicking 'Execute workflow'";
const UNLIMITED = { rateLimit: { max: 1_000_000 } };
/** Far beyond what it takes: only what hangs is to fail. */
export const RUN_TIMEOUT_MS = 900_000;

export const daysAgo = (count: number) => dayOf(Date.now() - count * DAY_MS);
export const yesterday = () => daysAgo(1);
export const reportOf = async ({ read }: Storage) => JSON.parse(String(await read('report.json')));
export const dayManifests = async (folder: string) => (await readdir(join(folder, 'days'))).sort();

/** Waits until something is so. */
export async function until(isSo: () => Promise<boolean | undefined>, what: string): Promise<void> {
	const deadline = Date.now() + RUN_TIMEOUT_MS;
	while (!(await isSo())) {
		assert.ok(Date.now() < deadline, `${what}: never`);
		await sleep(100);
	}
}

/** An archive in a new folder, and the example set to it. */
export type Archive = Awaited<ReturnType<ReturnType<typeof useArchiveLab>['newArchive']>>;

/** Gives the tests of a `describe` an n8n with the example, a service that is empty, and what they do with both. */
export function useArchiveLab(version: string) {
	let started: Lab | undefined;
	let disk: Awaited<ReturnType<typeof temporaryFolder>> | undefined;
	const lab = () => started!;
	const archives = () => disk!.path;
	before(async () => {
		disk = await temporaryFolder('lifelog-archive');
		started = await startLab({
			version,
			sandbox: ['--days', '1'],
			env: {
				// Beside a folder of the tests one in which nobody may write, not even root.
				N8N_RESTRICT_FILE_ACCESS_TO: `${archives()};/sys`,
				// How often n8n deletes what executions that are not kept have left, in minutes.
				EXECUTIONS_DATA_PRUNE_HARD_DELETE_INTERVAL: '0.1',
			},
		});
	});
	after(async () => {
		await started?.close();
		await disk?.remove();
	});
	beforeEach(async () => await lab().sandbox.control.faults([]));

	/** Nothing at the service, and nothing asked of it. */
	async function emptyService(): Promise<void> {
		await lab().sandbox.control.reset({ empty: true, dialect: UNLIMITED });
	}

	/** Adds a lifelog of half a minute. */
	async function addLifelog(day: string, time: string, seconds = 30) {
		const startMs = Date.parse(`${day}T${time}Z`);
		return await lab().sandbox.control.addLifelog({
			title: `At ${time}`,
			startTime: new Date(startMs).toISOString(),
			endTime: new Date(startMs + seconds * 1000).toISOString(),
		});
	}

	/** A day with two lifelogs, a chat, and one that a scheduled prompt made. */
	async function live(day: string): Promise<void> {
		await addLifelog(day, '08:15:00');
		await addLifelog(day, '19:00:01');
		const { control } = lab().sandbox;
		await control.addChat({ createdAt: `${day}T12:00:00.000Z` });
		await control.addChat({ createdAt: `${day}T20:30:00.000Z`, globalPromptId: 'recap' });
	}

	/** A new folder for an archive of some days, and the example set to it. */
	async function newArchive(name: string, [first, last]: [string, string], changes: Changes = {}) {
		const folder = join(archives(), name);
		await makeFolders(folder, first, last);
		const settings = { folder, ...changes.settings };
		const workflow = await importExample(lab(), 'full-archive', { ...changes, settings });
		return { folder, storage: onDisk(folder), workflow };
	}

	/** Runs it by hand to its end, the requests before being forgotten. */
	async function run(workflow: SavedWorkflow): Promise<Execution> {
		await lab().sandbox.control.clearRequests();
		return await runExample(lab(), workflow, BY_HAND, RUN_TIMEOUT_MS);
	}

	async function succeeds(workflow: SavedWorkflow): Promise<void> {
		const { status, error } = await run(workflow);
		assert.equal(error?.message, undefined);
		assert.equal(status, 'success');
	}

	async function fails(workflow: SavedWorkflow): Promise<string> {
		const { status, error } = await run(workflow);
		assert.equal(status, 'error');
		return String(error?.message);
	}

	const requests = async (path: string) =>
		(await lab().sandbox.control.requests()).filter((request) => request.path.startsWith(path));

	/** The days of which lifelogs were read with contents since the requests were forgotten. */
	async function daysRead(): Promise<string[]> {
		const days = (await requests('/v1/lifelogs'))
			.filter(({ query }) => query.includeContents === 'true')
			.map(({ query }) => String(query.date));
		return [...new Set(days)];
	}

	/** The ranges of audio asked for since the requests were forgotten, by their starts. */
	const audioAsked = async () =>
		(await requests('/v1/download-audio')).map(({ query }) => Number(query.startMs));

	/** What docs/reference/archive.md's own checker says, alone or against the service too. */
	async function assertProven(folder: string, withService = true): Promise<void> {
		const main = join(root, 'server', 'lifelog-server.cjs');
		const { apiKey, url } = lab().sandbox;
		const env = { ...process.env, LIFELOG_API_KEY: apiKey, LIFELOG_BASE_URL: url };
		const args = [main, 'check', folder, '--json', ...(withService ? ['--service'] : [])];
		const said = await runProgram(process.execPath, args, { env });
		assert.equal(JSON.parse(said).isComplete, true, said);
	}

	async function assertWhole(folder: string, expectation: Expectation): Promise<void> {
		await assertArchived(lab().sandbox, onDisk(folder), expectation);
		await assertProven(folder);
	}

	return {
		lab,
		/** The folder that n8n may write to. */
		archives,
		emptyService,
		addLifelog,
		live,
		newArchive,
		succeeds,
		fails,
		requests,
		daysRead,
		audioAsked,
		assertProven,
		assertWhole,
	};
}

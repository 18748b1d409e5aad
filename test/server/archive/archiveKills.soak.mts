// Everything that changes an archive, killed at random moments, most of them in the middle of a change:
// what was done stays done, the rest counts for nothing, and check finds nothing.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { en, Faker } from '@faker-js/faker';
import { clearDrafts } from '../../../server/archive/drafts.mts';
import {
	archiving,
	checkFolder,
	contentsOf,
	runCommand,
	startCommand,
} from '../../support/archiveCommand.mts';
import { isAmidChange } from '../../support/amidChange.mts';
import { checkHere } from '../../support/commands.mts';
import { newestManifests } from '../../support/manifests.mts';
import { type TestSandbox, startSandbox } from '../../support/sandbox.mts';
import { makeTones } from '../../support/tones.mts';
import { temporaryFolder } from '../sources.mts';
import { KILLS, randomSeed } from '../../support/size.mts';

const seed = randomSeed();
const MAX_DELAY_MS = 20;
const DAY_MS = 86_400_000;

let random: Faker;
let folder: string;
let sandbox: TestSandbox;

beforeAll(async () => (sandbox = await startSandbox({ days: 1 })));
afterAll(async () => await sandbox.close());
beforeEach(() => {
	random = new Faker({ locale: en, seed });
	folder = join(temporaryFolder(), 'archive');
	mkdirSync(join(folder, 'days'), { recursive: true });
});

/** Kills processes: as a rule amid a change, and at times a moment later. */
async function killAmid(children: ChildProcess[]): Promise<void> {
	const isOver = () => children.some(({ exitCode }) => exitCode !== null);
	while (!isAmidChange(folder) && !isOver()) await sleep(1);
	if (random.number.float() < 0.3) await sleep(random.number.float() * MAX_DELAY_MS);
	for (const child of children) child.kill('SIGKILL');
}

/** Clears what was left, as the next command does, and checks the archive. */
async function expectWhole(): Promise<void> {
	await clearDrafts(folder);
	for (const name of ['.lifelog-drafts', '.lifelog-journal.json']) {
		expect(existsSync(join(folder, name))).toBe(false);
	}
	// Before the first day there is nothing to check.
	if (readdirSync(join(folder, 'days')).length === 0) return;
	expect((await checkHere(folder)).findings).toEqual([]);
}

/** What a process of test/support/archiveWriter.mts has said that it has done. */
class Promised {
	readonly there = new Set<string>();
	readonly gone = new Set<string>();
	readonly titles = new Map<string, number>();
	/** What Anna was called. */
	readonly names = new Set<string>();

	hear(line: string): void {
		const [what, id, number] = line.split(' ');
		if (what === 'made') this.there.add(id);
		if (what === 'deleted') this.gone.add(id);
		if (what === 'renamed') this.names.add(line.slice('renamed '.length));
		if (what === 'edited') this.titles.set(id, Number(number));
	}

	expectKept(): void {
		const entries = new Map(
			[...newestManifests(folder).values()].flatMap(({ lifelogs }) => Object.entries(lifelogs)),
		);
		for (const id of this.there) expect(entries.get(id)?.files).toHaveLength(2);
		for (const id of this.gone) expect(entries.get(id)?.deletedAt).toBeDefined();
		for (const [id, number] of this.titles) {
			const title = entries.get(id)?.edited?.title;
			expect(Number(title?.replace('Title ', ''))).toBeGreaterThanOrEqual(number);
		}
		expectReplaced();
		if (this.names.size === 0) return;
		const { people } = JSON.parse(readFileSync(join(folder, 'people.json'), 'utf8'));
		expect(people).toHaveLength(1);
		expect([people[0].name, ...people[0].alsoCalled]).toEqual(
			expect.arrayContaining(['Anna', ...this.names]),
		);
	}
}

/** Each day has a replacement that is listed in all of its lifelogs, or in none. */
function expectReplaced(): void {
	const path = join(folder, 'replacements.json');
	const listed: { id: string }[] = existsSync(path)
		? JSON.parse(readFileSync(path, 'utf8')).replacements
		: [];
	for (const { lifelogs } of newestManifests(folder).values()) {
		const replaced = Object.entries(lifelogs)
			.filter(([id]) => id.startsWith('replaced'))
			.map(([, { edited }]) => edited?.lines?.flatMap((line) => line.replaced ?? [])[0]);
		expect(new Set(replaced.map((each) => each?.id)).size).toBeLessThanOrEqual(1);
		const [one] = replaced;
		if (one) expect(listed).toContainEqual(expect.objectContaining(one));
	}
}

/** A full disk, one that can only be read, and a file that another program holds. */
const FAULTS = ['ENOSPC', 'EROFS', 'EBUSY'];

/** What makes a process's changes of the disk fail at times. */
const failing = (isFaulty: boolean): Record<string, string> =>
	isFaulty
		? {
				NODE_OPTIONS: `--import ${pathToFileURL('test/support/faultyDisk.mts').href}`,
				TEST_FAULT: random.helpers.arrayElement(FAULTS),
				TEST_SEED: String(random.number.int()),
			}
		: {};

/** Kills processes that change the archive in these ways at the same time. */
async function killWriters(whats: string[], isFaulty = false): Promise<void> {
	const root = temporaryFolder();
	const recording = join(root, 'recording.opus');
	await makeTones(recording, { seconds: 1 });
	const promised = new Promised();
	let amid = 0;
	let done = 0;
	for (let kill = 0; kill < KILLS; kill += 1) {
		const writer = join(process.cwd(), 'test/support/archiveWriter.mts');
		const children = whats.map((what) =>
			spawn(
				process.execPath,
				[
					...[writer, what, folder, join(root, `${what}-index`)],
					...[String(kill * 1000), recording],
				],
				{ env: { ...process.env, ...failing(isFaulty) } },
			),
		);
		const lines = children.map(({ stdout }) => {
			const read = createInterface(stdout);
			read.on('line', (line) => {
				promised.hear(line);
				done += 1;
			});
			return read;
		});
		const ended = children.map(async (child) => await once(child, 'exit'));
		const errors = children.map(() => '');
		for (const [nth, { stderr }] of children.entries()) {
			stderr.on('data', (text) => (errors[nth] += String(text)));
		}
		// Each has written, and some of them more than once.
		await Promise.race([
			...ended,
			Promise.all(lines.map(async (read) => await once(read, 'line'))),
		]);
		const more = done + random.number.int(4);
		while (done < more && children.every(({ exitCode }) => exitCode === null)) await sleep(1);
		await killAmid(children);
		const ends = await Promise.all(ended);
		const problems = ends.map(([code, signal], nth) =>
			signal === 'SIGKILL' ? '' : `Exit code ${code}: ${errors[nth]}`,
		);
		expect({ kill, problems }).toEqual({ kill, problems: whats.map(() => '') });
		if (isAmidChange(folder)) amid += 1;
		await expectWhole();
		promised.expectKept();
	}
	expect({ amid, isMost: amid >= KILLS / 2 }).toEqual({ amid, isMost: true });
}

test.each([
	['an edit', ['edit']],
	['a delete', ['delete']],
	['a new lifelog', ['create']],
	['a recording', ['record']],
	['a new name', ['rename']],
	['a replacement', ['replace']],
	['a replacement and an edit at once', ['replace', 'edit']],
	['an edit and a recording at once', ['edit', 'record']],
	['a delete and a new lifelog at once', ['delete', 'create']],
])(`%s, killed ${KILLS} times, is done or has no effect (seed ${seed})`, async (_name, whats) => {
	await killWriters(whats);
});

test(`all of them, killed ${KILLS} times, on a disk that fails at times (seed ${seed})`, async () => {
	await killWriters(['edit', 'rename', 'replace', 'delete', 'create', 'record'], true);
});

/** Kills a command again and again. One whose disk fails may end before it's killed. */
async function killCommand(
	args: () => Promise<[string[], Record<string, string>]>,
	isFaulty: boolean,
): Promise<void> {
	let amid = 0;
	for (let kill = 0; kill < KILLS; kill += 1) {
		const [command, env] = await args();
		const running = startCommand(command, { ...env, ...failing(isFaulty) });
		for (let changes = random.number.int(3); changes > 0; changes -= 1) {
			while (!isAmidChange(folder) && running.child.exitCode === null) await sleep(1);
			await sleep(random.number.float() * MAX_DELAY_MS);
		}
		await killAmid([running.child]);
		await running.ended;
		if (isAmidChange(folder)) amid += 1;
		await expectWhole();
	}
	if (!isFaulty) expect({ amid, isMost: amid >= KILLS / 2 }).toEqual({ amid, isMost: true });
}

const DISKS = [
	['', false],
	[', on a disk that fails at times', true],
] as const;

test.each(DISKS)(
	`an import, killed ${KILLS} times, adds all in the end%s (seed ${seed})`,
	async (_disk, isFaulty) => {
		const source = temporaryFolder();
		let last = 0;
		const importing = async (): Promise<[string[], Record<string, string>]> => {
			for (let n = 0; n < 60; n += 1) {
				const at = new Date(Date.UTC(2026, 0, 1) + (last += 1) * 3 * 3_600_000).toISOString();
				const name = at.slice(0, 19).replace('T', '_').replace(':', 'h').replace(':', 'm');
				const path = `lifelogs/${at.slice(0, 10).replaceAll('-', '/')}/${name}s_Number-${last}.md`;
				mkdirSync(dirname(join(source, path)), { recursive: true });
				writeFileSync(join(source, path), `# Number ${last}\n`);
			}
			return [['import', source, folder], {}];
		};
		await killCommand(importing, isFaulty);
		expect((await runCommand(...(await importing()))).status).toBe(0);
		await expectWhole();
		const lifelogs = [...newestManifests(folder).values()].map((file) =>
			Object.keys(file.lifelogs),
		);
		expect(lifelogs.flat()).toHaveLength(last);
	},
);

test.each(DISKS)(
	`archive, killed ${KILLS} times, makes the same archive as one run%s (seed ${seed})`,
	async (_disk, isFaulty) => {
		const { control } = sandbox;
		await control.reset({ empty: true, dialect: { rateLimit: { max: 1_000_000 } } });
		for (let n = 1; n <= 24; n += 1) {
			const day = new Date(Date.now() - (1 + (n % 6)) * DAY_MS).toISOString().slice(0, 10);
			const startTime = new Date(Date.parse(day) + n * 600_000).toISOString();
			await control.addLifelog({ title: `Number ${n}`, startTime });
		}
		const changed = async (): Promise<[string[], Record<string, string>]> => {
			// So that every day is written anew.
			for (const { id } of await control.lifelogs()) {
				await control.updateLifelog(id, { title: random.lorem.words() });
			}
			return archiving(sandbox, folder);
		};
		await killCommand(changed, isFaulty);
		expect((await runCommand(...archiving(sandbox, folder))).status).toBe(0);
		expect(await checkFolder(folder, sandbox)).toMatchObject({ isComplete: true, findings: [] });
		const inOneRun = join(temporaryFolder(), 'one-run');
		expect((await runCommand(...archiving(sandbox, inOneRun))).status).toBe(0);
		const killed = contentsOf(folder);
		for (const [path, content] of Object.entries(contentsOf(inOneRun))) {
			expect(killed[path]).toBe(content);
		}
	},
);

// export, killed at random moments while others change the archive and the folder: no word of theirs is
// lost, and the last export makes the same files as one run.
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { en, Faker } from '@faker-js/faker';
import { startCommand } from '../../support/archiveCommand.mts';
import { openStore } from '../../support/archiveStore.mts';
import { writeArchive } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { writeOgg } from '../../support/ogg.mts';
import { KILLS, randomSeed } from '../../support/size.mts';
import { temporaryFolder } from '../sources.mts';
import { exported, filesIn } from './exporting.mts';

const seed = randomSeed();
const LIFELOGS = 120;
const MAX_DELAY_MS = 60;
const start = Date.UTC(2026, 2, 1);
const idIn = (text: string) => /^id: "(\w+)"$/m.exec(text)![1];
const startOf = (n: number) => new Date(start + n * 600_000).toISOString();

const DISKS = [
	['', undefined],
	[', on a disk that is full at times', 'ENOSPC'],
	[', beside a program that has files open at times', 'EBUSY'],
] as const;

test.each(DISKS)(
	`an export, killed ${KILLS} times, loses nothing of anybody%s (seed ${seed})`,
	async (_disk, fault) => {
		const random = new Faker({ locale: en, seed });
		const [archive, folder] = [temporaryFolder(), temporaryFolder()];
		const lifelogs = Array.from({ length: LIFELOGS }, (_, n) =>
			lifelogOf(`number${n}`, startOf(n), { title: random.lorem.words(2) }),
		);
		const packets = Array.from({ length: 50 * 60 }, () => Buffer.alloc(40, 0xf8));
		const content = writeOgg({ serial: 1, preSkip: 0, packets, perPage: 50 });
		await writeArchive(archive, {
			lifelogs,
			audio: [{ startMs: start, endMs: start + 60_000, content }],
		});
		const { store, close } = await openStore(archive, join(temporaryFolder(), 'index'));
		await store.refresh();
		const mine = new Map<string, string>();
		const own = join(folder, '.lifelog-export/drafts');
		let amid = 0;
		for (let kill = 0; kill < KILLS; kill += 1) {
			for (const { id } of random.helpers.arrayElements(lifelogs, LIFELOGS / 3)) {
				if (store.stateOf(id) !== 'known') continue;
				if (random.number.float() < 0.05) await store.deleteLifelog(id);
				else await store.changeLifelog(id, { title: random.lorem.words(2) });
			}
			write(kill);
			const env = fault && {
				NODE_OPTIONS: `--import ${pathToFileURL('test/support/faultyDisk.mts').href}`,
				...{ TEST_FAULT: fault, TEST_SEED: String(random.number.int()) },
			};
			const zone = ['--timezone', 'Europe/Berlin'];
			const { child, ended } = startCommand(['export', archive, folder, '--audio', ...zone], env);
			const before = names();
			// While it writes drafts, or while it puts them at their places.
			const hasBegun = kill % 2 === 0 ? () => existsSync(own) : () => names() !== before;
			while (!hasBegun() && child.exitCode === null) await sleep(1);
			await sleep(random.number.float() * MAX_DELAY_MS);
			child.kill('SIGKILL');
			await ended;
			if (existsSync(own)) amid += 1;
			expectKept();
		}
		const last = await exported(archive, folder, '--audio');
		expectKept();
		expect({ status: last.status, failed: last.failed }).toEqual({ status: 0, failed: [] });
		expect(existsSync(own)).toBe(false);
		const fresh = join(temporaryFolder(), 'fresh');
		await exported(archive, fresh, '--audio');
		expect(unchanged(folder)).toEqual(unchanged(fresh));
		expect(unchanged(fresh).length).toBeGreaterThan(LIFELOGS / 2);
		close();
		expect({ amid, isMost: fault !== undefined || amid >= KILLS / 2 }).toEqual({
			amid,
			isMost: true,
		});

		function names(): string {
			const month = join(folder, '2026/2026-03');
			return existsSync(month) ? readdirSync(month).join() : '';
		}

		/** Somebody writes a note, and into a file of the export. */
		function write(kill: number): void {
			const path = `Mine ${kill}.md`;
			writeFileSync(join(folder, path), path);
			mine.set(path, path);
			const all = Object.keys(filesIn(folder)).filter((each) => each.startsWith('2026/'));
			if (all.length === 0) return;
			const changed = random.helpers.arrayElement(all);
			appendFileSync(join(folder, changed), `Mine ${kill}`);
			mine.set(changed, readFileSync(join(folder, changed), 'latin1'));
		}

		function expectKept(): void {
			for (const [path, words] of mine) {
				expect([path, readFileSync(join(folder, path), 'latin1')]).toEqual([path, words]);
			}
		}

		/** What the export has of each lifelog of which nobody changed a file. */
		function unchanged(of: string): string[] {
			const texts = Object.values(filesIn(of)).filter((text) => text.startsWith('---\n'));
			const ofExport = [...mine].filter(([path]) => path.startsWith('2026/'));
			const touched = new Set(ofExport.map(([path, text]) => ownerOf(path, text)));
			return texts.filter((text) => !touched.has(idIn(text))).sort();
		}

		/** The lifelog whose Markdown it is. Only the first one has audio. */
		function ownerOf(path: string, text: string): string {
			return path.endsWith('.md') ? idIn(text) : lifelogs[0].id;
		}
	},
);

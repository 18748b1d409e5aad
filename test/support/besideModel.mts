// Everything that writes to one archive, in any order: what is made, edited and deleted in it, what
// the service changes, and the commands. After each step the archive is held against what is to be.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import type { Chat, Lifelog } from '../../lifelog/api.ts';
import { writeLifelog } from '../../lifelog/files/formats.ts';
import { appExportPath } from '../../lifelog/names.ts';
import { versionOfLines } from './archive.mts';
import { contentsOf } from './archiveCommand.mts';
import { openStore } from './archiveStore.mts';
import { runFullArchive } from './fullArchive.mts';
import { checkHere, type Commands } from './commands.mts';
import { type DayManifest, type Edited, newestManifests } from './manifests.mts';
import type { TestSandbox } from './sandbox.mts';

type Opened = Awaited<ReturnType<typeof openStore>>;

const DAY_MS = 86_400_000;
const DAYS = 3;

/** A step; `which` chooses among what there is. */
export type Step =
	| { do: 'make' | 'add' | 'addChat'; day: number }
	| { do: 'edit' | 'delete' | 'deleteChat' | 'change' | 'remove' | 'continueChat'; which: number }
	| { do: 'move'; which: number; day: number }
	| { do: 'import'; which: number }
	| { do: 'archive' | 'fullArchive' };

const day = fc.nat({ max: DAYS - 1 });
// Few, so that what was edited or deleted is often what the service changes.
const which = fc.nat({ max: 2 });
const of = <Name extends string>(...names: Name[]) => fc.constantFrom(...names);
const change = fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
	{ weight: 2, arbitrary: fc.record({ do: of('make', 'add', 'addChat'), day }) },
	{ weight: 4, arbitrary: fc.record({ do: of('edit', 'edit', 'delete', 'deleteChat'), which }) },
	{
		weight: 3,
		arbitrary: fc.record({ do: of('change', 'change', 'remove', 'continueChat'), which }),
	},
	{ weight: 3, arbitrary: fc.record({ do: of('move'), which, day }) },
);
const command = fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
	{ weight: 4, arbitrary: fc.record({ do: of('archive', 'fullArchive') }) },
	{ weight: 1, arbitrary: fc.record({ do: of('import'), which }) },
);
const round = fc.tuple(fc.array(change, { minLength: 1, maxLength: 5 }), command);

/** Steps: some changes and a command, again and again. Begins with an archive of the service. */
export const steps = (maxRounds: number): fc.Arbitrary<Step[]> =>
	fc
		.array(round, { minLength: 1, maxLength: maxRounds })
		.map((rounds) => rounds.flatMap(([changes, last]) => [...changes, last]));

/** What a walk needs: a service, and a process for the commands. */
export interface Tools {
	sandbox: TestSandbox;
	commands: Commands;
}

/** Carries out steps in a new folder, and rejects at the first one after which something is wrong. */
export async function walk(tools: Tools, root: string, all: Step[]): Promise<void> {
	const archive = await Beside.begin(tools, root);
	try {
		for (const [index, step] of all.entries()) {
			try {
				await archive.take(step);
				await archive.check();
			} catch (error) {
				(error as Error).message =
					`step ${index}, ${JSON.stringify(step)}: ${(error as Error).message}`;
				throw error;
			}
		}
	} finally {
		archive.close();
	}
}

class Beside {
	readonly #sandbox: TestSandbox;
	readonly #commands: Commands;
	readonly #root: string;
	readonly #folder: string;
	readonly #store: Opened['store'];
	readonly #closeIndex: Opened['close'];
	/** IDs that are to be served. */
	readonly #lifelogs = new Set<string>();
	readonly #chats = new Set<string>();
	readonly #deleted = new Set<string>();
	readonly #made = new Set<string>();
	readonly #edits = new Map<string, Edited>();
	/** Begins of lifelogs that the archive has, or had before a delete: an import adds nothing there. */
	readonly #begins = new Set<string>();
	/** Never removed or moved: a list that is empty all at once is taken for a mistake. */
	#first = '';
	#count = 0;

	private constructor(
		{ sandbox, commands }: Tools,
		root: string,
		folder: string,
		{ store, close }: Opened,
	) {
		this.#sandbox = sandbox;
		this.#commands = commands;
		this.#root = root;
		this.#folder = folder;
		this.#store = store;
		this.#closeIndex = close;
	}

	static async begin(tools: Tools, root: string): Promise<Beside> {
		await tools.sandbox.control.reset({ empty: true, dialect: { rateLimit: { max: 1_000_000 } } });
		const folder = join(root, 'archive');
		mkdirSync(join(folder, 'days'), { recursive: true });
		const opened = await openStore(folder, join(root, 'index'));
		const archive = new Beside(tools, root, folder, opened);
		for (let n = 0; n < DAYS; n++) await archive.take({ do: 'add', day: n });
		archive.#first = (await tools.sandbox.control.lifelogs()).at(-1)!.id;
		await archive.take({ do: 'addChat', day: 0 });
		await archive.take({ do: 'archive' });
		await archive.check();
		return archive;
	}

	close(): void {
		this.#closeIndex();
		rmSync(this.#root, { recursive: true });
	}

	/** Times at which nothing else is, on a day. */
	#times(dayNumber: number, number = this.#count++) {
		const midnight = Math.floor(Date.now() / DAY_MS - 4 + dayNumber) * DAY_MS;
		const startMs = midnight + 7 * 3_600_000 + number * 120_000;
		const [startTime, endTime] = [startMs, startMs + 60_000].map((ms) =>
			new Date(ms).toISOString(),
		);
		const said = { type: 'blockquote', content: `Words of ${number}.`, speakerName: 'Anna' };
		return {
			startTime,
			endTime,
			contents: [{ ...said, startTime, endTime }],
			title: `Title ${number}`,
		};
	}

	async take(step: Step): Promise<void> {
		const { control } = this.#sandbox;
		const pick = <Value,>(values: Value[]): Value | undefined =>
			'which' in step && values.length > 0 ? values[step.which % values.length] : undefined;
		// In the order in which the archive got them, as what is edited and deleted is chosen.
		const order = [...this.#lifelogs, ...this.#deleted];
		const rankOf = ({ id }: Lifelog) => (order.includes(id) ? order.indexOf(id) : order.length);
		const lifelogs = async () =>
			(await control.lifelogs()).sort((one, other) => rankOf(one) - rankOf(other));
		const listed = async () => (await lifelogs()).filter(({ id }) => id !== this.#first);
		switch (step.do) {
			case 'add':
				await control.addLifelog(this.#times(step.day));
				return;
			case 'addChat':
				await control.addChat({ createdAt: this.#times(step.day).startTime, owner: 'self' });
				return;
			case 'change': {
				const found = pick(await lifelogs());
				const change = this.#count++ % 2 ? { isStarred: !found?.isStarred } : {};
				if (found)
					await control.updateLifelog(found.id, { title: `Changed ${this.#count}`, ...change });
				return;
			}
			case 'continueChat': {
				const found = pick(await control.chats());
				const messages = [...(found?.messages ?? []), ...(found?.messages ?? [])].slice(0, 40);
				if (found) await control.updateChat(found.id, { messages });
				return;
			}
			case 'move': {
				const found = pick(await listed());
				if (!found) return;
				const number = Number(/Words of (\d+)/.exec(found.contents[0].content)![1]);
				await control.updateLifelog(found.id, this.#times(step.day, number));
				return;
			}
			case 'remove': {
				const found = pick(await listed());
				if (found) await control.deleteLifelog(found.id);
				return;
			}
			case 'make': {
				const id = `made-${this.#count}`;
				const times = this.#times(step.day);
				const lifelog = { id, markdown: '', isStarred: false, updatedAt: times.endTime, ...times };
				const origin = { source: 'api', externalId: `x ${id}` } as const;
				expect(await this.#store.createLifelog(lifelog as Lifelog, origin)).toBe('created');
				this.#made.add(id);
				this.#lifelogs.add(id);
				this.#begins.add(times.startTime);
				return;
			}
			case 'edit': {
				const id = pick([...this.#lifelogs]);
				if (id === undefined) return;
				const before = this.#edits.get(id)?.speakers?.Anna ?? 'Anna';
				const change = { title: `Edited ${id}`, speakers: { [before]: `Berta ${this.#count++}` } };
				expect(await this.#store.changeLifelog(id, change)).toBe(true);
				const { edited } = this.#servedOf(id)[1];
				expect(edited).toMatchObject({
					...{ title: change.title, speakers: { Anna: change.speakers[before] } },
				});
				this.#edits.set(id, edited!);
				return;
			}
			case 'delete': {
				const id = pick([...this.#lifelogs]);
				if (id === undefined) return;
				expect(await this.#store.deleteLifelog(id)).toBe(true);
				expect(await this.#store.deleteLifelog(id)).toBe(false);
				this.#lifelogs.delete(id);
				this.#edits.delete(id);
				this.#deleted.add(id);
				return;
			}
			case 'deleteChat': {
				const id = pick([...this.#chats]);
				if (id === undefined) return;
				expect(await this.#store.deleteChat(id)).toBe(true);
				this.#chats.delete(id);
				this.#deleted.add(id);
				return;
			}
			case 'import': {
				const found = pick(await lifelogs());
				if (found) await this.#import(found);
				return;
			}
			case 'archive':
				await this.#archive(async () => {
					const { status, output } = await this.#commands.archive(this.#folder);
					expect([status, output]).toEqual([0, expect.any(String)]);
				});
				return;
			case 'fullArchive':
				await this.#archive(async () => {
					const stored = await runFullArchive(this.#folder, this.#sandbox);
					for (const id of this.#deleted) expect(stored.join('\n')).not.toContain(`_${id}.`);
				});
		}
	}

	async #archive(run: () => Promise<void>): Promise<void> {
		await run();
		const { control } = this.#sandbox;
		const [lifelogs, chats] = [await control.lifelogs(), await control.chats()];
		for (const { id, startTime } of lifelogs) {
			if (!this.#deleted.has(id)) this.#lifelogs.add(id);
			this.#begins.add(startTime);
		}
		for (const { id } of chats) if (!this.#deleted.has(id)) this.#chats.add(id);
		expect((await checkHere(this.#folder, this.#sandbox)).findings).toEqual([]);
		// The name of a day is the one by the service's list, so that the next run has nothing to do.
		for (const [of, file] of newestManifests(this.#folder)) {
			const lines = [
				...lifelogs
					.filter(on(of, 'startTime'))
					.map((each) => `lifelog ${each.id} ${each.updatedAt} ${each.isStarred}`),
				...chats
					.filter(on(of, 'createdAt'))
					.map((each) => `chat ${each.id} ${each.messages.length}`),
			];
			expect([of, namesOf(this.#folder, file)]).toEqual([
				of,
				[`${of}_${versionOfLines(lines)}.json`],
			]);
		}
		const before = contentsOf(this.#folder);
		await run();
		expect(contentsOf(this.#folder)).toEqual(before);
	}

	async #import(lifelog: Lifelog): Promise<void> {
		const { content, startMs } = writeLifelog(lifelog, 'appExport', 'UTC')!;
		const from = join(this.#root, `export ${this.#count++}`);
		const path = join(from, `${appExportPath(startMs, 'A title')}.md`);
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, content);
		const { status, output } = await this.#commands.import(from, this.#folder);
		expect([status, output]).toEqual([0, expect.any(String)]);
		const isNew = !this.#begins.has(lifelog.startTime);
		expect([output, output.includes('Imported: 1 lifelog,')]).toEqual([output, isNew]);
		if (!isNew) return;
		this.#begins.add(lifelog.startTime);
		for (const file of newestManifests(this.#folder).values()) {
			for (const id of Object.keys(file.lifelogs)) {
				if (id.startsWith('export-') && !this.#deleted.has(id)) this.#lifelogs.add(id);
			}
		}
	}

	/** The days of a lifelog, the one first that is served, and its entries. */
	#servedOf(id: string): [day: string, entry: DayManifest['lifelogs'][string]] {
		const entries = [...newestManifests(this.#folder)]
			.filter(([, file]) => Object.hasOwn(file.lifelogs, id))
			.map(([of, file]) => [of, file.lifelogs[id]] as [string, DayManifest['lifelogs'][string]]);
		const rank = ([of, { updatedAt, goneAt }]: (typeof entries)[number]) =>
			`${updatedAt} ${goneAt === undefined ? 1 : 0} ${of}`;
		return entries.sort((a, b) => (rank(a) < rank(b) ? 1 : -1))[0];
	}

	/** Holds the archive and what is served of it against what is to be. */
	async check(): Promise<void> {
		await this.#store.refresh();
		const slice = { direction: 'asc', limit: 1000 } as const;
		const idsOf = (entries: (Lifelog | Chat)[]) => entries.map(({ id }) => id).sort();
		expect(idsOf(this.#store.listLifelogs({}, slice))).toEqual([...this.#lifelogs].sort());
		expect(idsOf(this.#store.listChats({}, slice))).toEqual([...this.#chats].sort());
		expect(this.#store.counts()).toMatchObject({
			lifelogs: this.#lifelogs.size,
			chats: this.#chats.size,
		});
		const found = await this.#store.searchLifelogs('Words', {}, 1000);
		expect(idsOf(found)).toEqual([...this.#lifelogs].sort());
		expect((await checkHere(this.#folder)).findings).toEqual([]);
		for (const id of this.#made) {
			const [, entry] = this.#servedOf(id);
			expect(entry).toMatchObject({
				goneAt: expect.any(String),
				madeHere: { externalId: `x ${id}` },
			});
		}
		for (const [id, edited] of this.#edits) expect(this.#servedOf(id)[1].edited).toEqual(edited);
		const files = filesIn(this.#folder);
		for (const id of this.#deleted) {
			expect(files.filter((path) => path.includes(`_${id}.`))).toEqual([]);
			for (const { lifelogs, chats } of newestManifests(this.#folder).values()) {
				const entry = lifelogs[id] ?? chats[id];
				if (entry) expect(entry).toMatchObject({ files: [], deletedAt: expect.any(String) });
			}
		}
		const days = files.filter((path) => path.startsWith('days/'));
		const text = days.map((path) => readFileSync(join(this.#folder, path), 'utf8')).join('\n');
		for (const id of this.#deleted) expect(text).not.toContain(`"Edited ${id}"`);
	}
}

const on =
	<Name extends string>(dayName: string, name: Name) =>
	(entry: Record<Name, string>) =>
		entry[name].startsWith(dayName);

function filesIn(folder: string): string[] {
	return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
		statSync(join(folder, path)).isFile(),
	);
}

/** The name of the manifest that counts. */
function namesOf(folder: string, { day: of, archivedAt }: DayManifest): string[] {
	return readdirSync(join(folder, 'days')).filter(
		(name) =>
			name.startsWith(of) &&
			readFileSync(join(folder, 'days', name), 'utf8').includes(`"archivedAt": "${archivedAt}"`),
	);
}

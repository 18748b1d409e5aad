import { randomBytes } from 'node:crypto';
import { setImmediate as yieldToRequests } from 'node:timers/promises';
import { changeDays, type Day } from '../archive/changeDays.mts';
import { correctAll, type Words } from '../archive/correct.mts';
import { withLines } from '../archive/edits.mts';
import type { Folder } from '../archive/folder.mts';
import { type Correction, type Edited, REPLACEMENTS } from '../archive/layout.mts';
import {
	checkSize,
	countReplaced,
	hasReplaced,
	replaceWords,
	withoutReplacement,
} from '../archive/lines.mts';
import {
	parseReplacements,
	type Replacement,
	type ReplacementsFile,
	replacementsJson,
} from '../archive/replacements.mts';
import { ApiError, UnavailableError } from '../util/errors.mts';
import { quoted } from '../util/text.mts';
import { asRefusal, changeOfDays, type EntryChange } from './entryChanges.mts';
import { findWords, previewOf, type Found, type Preview } from './findWords.mts';
import { OwnFile } from './ownFile.mts';
import type { Rows } from './rows.mts';
import type { OnProblem } from './sync.mts';

/** A replacement and its progress. */
export interface ReplacementState extends Replacement {
	/** Lifelogs that already have it. */
	lifelogsDone: number;
}

/** Dependencies on the archive. */
export interface ReplacementsOptions {
	folder: Folder;
	rows: Rows;
	/** Queues a change of the archive or the index. */
	inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
	/** Indexes changes of the folder. Only within a turn. */
	look: () => Promise<void>;
	onProblem: OnProblem;
}

const MAX_LIFELOGS = 2_500;
/** Days per atomic change. */
const DAYS_AT_ONCE = 20;
/** Pause between two looks at the folder, as a multiple of a look's duration. */
const LOOKS_BETWEEN = 5;

/** Replaces words in all lifelogs of an archive, or undoes that, some days at a time. */
export class Replacements {
	readonly #options: ReplacementsOptions;
	readonly #file: OwnFile<ReplacementsFile>;
	#running: Promise<unknown> | undefined;
	#isStopped = false;

	constructor(options: ReplacementsOptions) {
		const { folder, onProblem } = options;
		this.#options = options;
		const none = { replacements: [] };
		this.#file = new OwnFile(folder, REPLACEMENTS, parseReplacements, none, onProblem);
	}

	/** Why replacements.json isn't used. Completes a sentence. */
	get problem(): string | undefined {
		return this.#file.problem;
	}

	/** Whether replacements.json has changed. */
	async isDue(): Promise<boolean> {
		return await this.#file.isDue();
	}

	/** Reads replacements.json if it has changed. */
	async look(): Promise<void> {
		await this.#file.look();
	}

	/** Stops after the current day. */
	stop(): void {
		this.#isStopped = true;
	}

	/** Resolves when no replacement is in progress. */
	async idle(): Promise<void> {
		await this.#running?.catch(() => {});
	}

	/** Newest first. */
	list(): ReplacementState[] {
		return this.#file.content.replacements.map((each) => this.#stateOf(each)).reverse();
	}

	/** Applies all replacements to a text of a new transcript, oldest first. */
	correct(text: string): string {
		return correctAll(text, this.#file.content.replacements);
	}

	/** What a replacement would change. */
	async preview(words: Words): Promise<Preview> {
		return previewOf(await this.#find(words), words);
	}

	/**
	 * Replaces words in all lifelogs. Continues an unfinished replacement of the same words.
	 *
	 * @throws ApiError: 400 for too many lifelogs or lines, 409 during another replacement, or if a
	 *   file can't be read or written.
	 */
	async make({ heard, right }: Words): Promise<ReplacementState> {
		return await this.#alone(async () => {
			const { replacements } = await this.#file.forChange();
			const begun = replacements.find(
				(each) => !each.isDone && each.heard === heard && each.right === right,
			);
			const id = begun?.id ?? randomBytes(8).toString('hex');
			const correction: Correction = { id, heard, right };
			const days = await this.#daysToReplace(correction);
			const planned = await this.#replace(days, correction, true);
			const createdAt = begun?.createdAt ?? new Date().toISOString();
			const replacement = { ...begun, ...correction, createdAt, ...planned, isDone: false };
			await this.#put(replacement);
			const made = await this.#replace(days, correction, false);
			return this.#stateOf(await this.#put({ ...replacement, ...made, isDone: true }));
		});
	}

	/**
	 * Undoes exactly what a replacement has changed.
	 *
	 * @throws ApiError: 404 for an unknown ID, 409 like {@link make}.
	 */
	async takeBack(id: string): Promise<void> {
		await this.#alone(async () => {
			const { replacements } = await this.#file.forChange();
			const replacement = replacements.find((each) => each.id === id);
			if (!replacement) throw new ApiError(404, 'Replacement not found');
			await this.#put({ ...replacement, isDone: false });
			await this.#changeDays(this.#byDay(this.#options.rows.replacedBy(id)), (entry, stored) => {
				const edited: Partial<Edited> = entry.edited ?? {};
				const { lines = [] } = edited;
				if (!lines.some(hasReplaced(id))) return undefined;
				const left = withLines(stored, edited, withoutReplacement(lines, id), Date.now());
				return { entry: { ...entry, edited: left }, texts: [] };
			});
			await this.#save((all) => all.filter((each) => each.id !== id));
		});
	}

	#stateOf(replacement: Replacement): ReplacementState {
		const { id, heard, right, createdAt, lifelogs, lines, isDone } = replacement;
		const lifelogsDone = isDone ? lifelogs : this.#options.rows.replacedBy(id).length;
		return { id, heard, right, createdAt, lifelogs, lines, lifelogsDone, isDone };
	}

	/** Runs `work` unless another replacement is in progress. Rejects with an ApiError (409) then. */
	async #alone<Result>(work: () => Promise<Result>): Promise<Result> {
		if (this.#running) {
			throw new ApiError(
				409,
				'A replacement is being made or taken back. Try again when it is done: GET /v1/replacements says how far it is',
			);
		}
		const { inTurn, look } = this.#options;
		const running = inTurn(look).then(work);
		this.#running = running;
		try {
			return await running;
		} finally {
			this.#running = undefined;
		}
	}

	async #find(words: Words): Promise<Found[]> {
		return await findWords(this.#options.rows, words, () => this.#pause());
	}

	/** Lifelogs by day that a replacement changes or has changed. */
	async #daysToReplace(correction: Correction): Promise<Map<string, string[]>> {
		const found = (await this.#find(correction)).map(({ id }) => id);
		if (found.length > MAX_LIFELOGS) {
			throw new ApiError(
				400,
				`Nothing was replaced, because ${quoted(correction.heard)} is in ${found.length} lifelogs. A replacement can change ${MAX_LIFELOGS}`,
			);
		}
		return this.#byDay([...new Set([...found, ...this.#options.rows.replacedBy(correction.id)])]);
	}

	#byDay(ids: string[]): Map<string, string[]> {
		const days = new Map<string, string[]>();
		for (const id of ids) {
			const day = this.#options.rows.currentDay(id);
			if (day !== undefined) days.set(day, [...(days.get(day) ?? []), id]);
		}
		return days;
	}

	/**
	 * Applies a replacement to the lifelogs of some days.
	 *
	 * @param isPlan Whether to only check. A lifelog with too many lines for it is rejected then.
	 * @returns How many lifelogs and lines have it then.
	 */
	async #replace(
		days: Map<string, string[]>,
		correction: Correction,
		isPlan: boolean,
	): Promise<{ lifelogs: number; lines: number }> {
		const count = { lifelogs: 0, lines: 0 };
		await this.#changeDays(days, (entry, stored) => {
			const edited: Partial<Edited> = entry.edited ?? {};
			const lines = replaceWords(stored, edited, correction);
			const replaced = countReplaced(stored, { ...edited, lines }, correction.id);
			const isNew = replaced > countReplaced(stored, edited, correction.id);
			if (isNew) {
				try {
					const lifelog = `Nothing was replaced: the lifelog ${quoted(stored.id)}`;
					checkSize(stored, edited.lines, lines, lifelog);
				} catch (error) {
					if (isPlan) throw error;
					// Its owner has corrected many lines meanwhile.
					return undefined;
				}
			}
			count.lifelogs += Number(replaced > 0);
			count.lines += replaced;
			if (isPlan || !isNew) return undefined;
			return {
				entry: { ...entry, edited: withLines(stored, edited, lines, Date.now()) },
				texts: [],
			};
		});
		return count;
	}

	/** Changes lifelogs, some days at a time. Those that no longer exist are skipped. */
	async #changeDays(days: Map<string, string[]>, change: EntryChange): Promise<void> {
		const { folder, inTurn, look } = this.#options;
		let nextLook = 0;
		for (let at = 0; at < days.size; at += DAYS_AT_ONCE) {
			await this.#pause();
			const some = [...days].slice(at, at + DAYS_AT_ONCE);
			await inTurn(async () => {
				const names = some.map(([day]) => day);
				await changeDays(folder, names, (read) => {
					const there = some.map(([day, ids]) => [day, ids.filter(isIn(read.get(day)!))] as const);
					return changeOfDays(folder, new Map(there), read, change);
				}).catch((error: unknown) => {
					throw asRefusal(error, 'Not all was changed');
				});
				const now = performance.now();
				if (now < nextLook) return;
				await look();
				const tookMs = performance.now() - now;
				nextLook = performance.now() + LOOKS_BETWEEN * tookMs;
			});
		}
		await inTurn(look);
	}

	async #put(replacement: Replacement): Promise<Replacement> {
		await this.#save((all) => {
			const isKnown = all.some(({ id }) => id === replacement.id);
			if (!isKnown) return [...all, replacement];
			return all.map((each) => (each.id === replacement.id ? replacement : each));
		});
		return replacement;
	}

	async #save(change: (all: Replacement[]) => Replacement[]): Promise<void> {
		const { folder, inTurn } = this.#options;
		await inTurn(async () => {
			await changeDays(folder, [], async () => {
				const before = await this.#file.forChange();
				const content = replacementsJson(before, change(before.replacements));
				return { files: [{ path: REPLACEMENTS, content }] };
			}).catch((error: unknown) => {
				throw asRefusal(error, 'Nothing was changed');
			});
			await this.#file.look();
		});
	}

	/** Yields to requests. */
	async #pause(): Promise<void> {
		await yieldToRequests();
		if (this.#isStopped) throw new UnavailableError('The server is stopping', 1);
	}
}

const isIn =
	({ newest }: Day) =>
	(id: string): boolean =>
		newest !== undefined &&
		Object.hasOwn(newest.lifelogs, id) &&
		newest.lifelogs[id].deletedAt === undefined;

// Recordings in the archive that became lifelogs here.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { changeDays } from '../archive/changeDays.mts';
import {
	asFileError,
	FileError,
	type Folder,
	ignoreFileError,
	MissingFolderError,
} from '../archive/folder.mts';
import { type AudioFile, type Edited, RECORDINGS } from '../archive/layout.mts';
import { dayOf } from '../archive/lifelogFiles.mts';
import { replaceTranscript, type Transcribed } from '../archive/newTranscript.mts';
import { ApiError } from '../util/errors.mts';
import type { Span } from '../util/spans.mts';
import { asRefusal } from './entryChanges.mts';
import type { Rows } from './rows.mts';
import type { LifelogOrigin, LifelogsOf, RecordedLifelogs } from './store.mts';

/** Dependencies on the archive. */
export interface RecordedOptions {
	folder: Folder;
	rows: Rows;
	/** IANA time zone of new Markdown. */
	timezone: string;
	/** A person's name according to people.json. */
	shown: (name: string) => string;
	/** Queues a change of the archive or the index. */
	inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
	/** Indexes changes of the folder. Only within a turn. */
	look: () => Promise<void>;
}

/** A codec changes the length of a recording by less. */
const TOLERANCE_MS = 1000;

export class Recorded {
	readonly #options: RecordedOptions;
	readonly #folder: Folder;
	readonly #rows: Rows;

	constructor(options: RecordedOptions) {
		this.#options = options;
		this.#folder = options.folder;
		this.#rows = options.rows;
	}

	/**
	 * Existing and deleted lifelogs of a recording, with their times. Those outside its time don't
	 * belong to it.
	 */
	lifelogsOf({ ids, startMs, endMs }: Pick<RecordedLifelogs, 'ids'> & Span): LifelogsOf {
		const found: LifelogsOf = { there: [], deleted: [] };
		for (const id of ids) {
			const lifelog = this.#rows.lifelogHead(id);
			const there = lifelog && {
				...{ startMs: Date.parse(lifelog.startTime), endMs: Date.parse(lifelog.endTime) },
			};
			const span = there ?? this.#rows.deletedSpan(id);
			if (!span || span.endMs < startMs || span.startMs > endMs) continue;
			found[there ? 'there' : 'deleted'].push({ id, ...span });
		}
		return found;
	}

	/**
	 * Replaces the lifelogs of a recording with those of a new transcript (newTranscript.mts), in one
	 * step.
	 *
	 * @param of The recording as it was when the transcript was made.
	 * @param lifelogs In order of time. Their IDs are chosen here.
	 * @returns Their IDs.
	 * @throws ApiError (409) while the archive isn't writable, or if a lifelog of the recording was
	 *   deleted meanwhile.
	 */
	async replaceLifelogs(of: RecordedLifelogs, lifelogs: Transcribed[]): Promise<string[]> {
		const { timezone, inTurn, look } = this.#options;
		return await inTurn(async () => {
			let there: { id: string; day: string }[] = [];
			let made: string[] = [];
			await look();
			const daysOfThem = async () => {
				// Another program may have changed something since.
				await look();
				const found = this.lifelogsOf(of);
				if (found.deleted.some(({ id }) => !of.deleted.includes(id))) throw deletedMeanwhile();
				there = found.there.map(({ id }) => ({ id, day: this.#rows.currentDay(id)! }));
				const days = there.flatMap(({ id }) => this.#rows.daysOf('lifelog', id));
				const added = lifelogs.map(({ lifelog }) => dayOf(Date.parse(lifelog.startTime)));
				return [...new Set([...days, ...added])];
			};
			await changeDays(this.#folder, daysOfThem, async (days) => {
				const { change, ids } = await replaceTranscript(this.#folder, days, {
					...{ there, lifelogs, timezone, madeHere: originOf(of.externalId) },
					newId: (part) => this.#newId((nth) => of.idOf(part, nth)),
				});
				of.onIds(ids);
				made = ids;
				return change;
			}).catch((error: unknown) => {
				throw asRefusal(error, 'Nothing was changed');
			});
			await look();
			return made;
		});
	}

	/** The first ID that no existing or deleted lifelog has. */
	#newId(idOf: (nth: number) => string): string {
		for (let nth = 0; ; nth += 1) {
			const id = idOf(nth);
			if (this.#rows.currentDay(id) === undefined && !this.#rows.isDeleted(id)) return id;
		}
	}

	/** Names given to labels in an earlier transcript of a lifelog, and these labels. */
	namesBefore(id: string): { name: string; label: string }[] {
		const { namesBefore = {} } = JSON.parse(this.#rows.editsOf(id) || '{}') as Partial<Edited>;
		return Object.entries(namesBefore).map(([name, label]) => ({
			...{ name: this.#options.shown(name), label },
		}));
	}

	/**
	 * Finds the audio of a recording: a file with the same start and length.
	 *
	 * @returns undefined without such a file, or if several recordings match.
	 */
	async audioOf({ startMs, endMs }: Span): Promise<AudioFile | undefined> {
		const offBy = (file: AudioFile) => Math.abs(file.endMs - endMs);
		const [first, second] = this.#rows
			.audioBetween(startMs, endMs)
			.filter(({ path, startMs: from }) => path.split('/')[1] === RECORDINGS && from === startMs)
			.sort((a, b) => offBy(a) - offBy(b));
		if (!first || offBy(first) > TOLERANCE_MS) return undefined;
		if (second && offBy(second) === offBy(first)) return undefined;
		const bytes = await this.#folder.sizeOf(first.path).catch(ignoreFileError);
		return bytes === first.bytes ? first : undefined;
	}

	/**
	 * Copies audio out of the archive.
	 *
	 * @throws FileError if it is unreadable or doesn't match its manifest; MissingFolderError.
	 */
	async copyAudio(audio: AudioFile, to: string, signal?: AbortSignal): Promise<void> {
		try {
			await copy(this.#folder, audio, to, signal);
		} catch (error) {
			if (!(await this.#folder.hasDays().catch(() => true))) throw new MissingFolderError();
			throw error;
		}
	}
}

async function copy(
	folder: Folder,
	{ path, bytes, sha256 }: AudioFile,
	to: string,
	signal?: AbortSignal,
): Promise<void> {
	const file = await folder.open(path);
	const hash = createHash('sha256');
	let size = 0;
	try {
		const pieces = file.createReadStream({ autoClose: false });
		const read = async function* () {
			try {
				for await (const piece of pieces) {
					hash.update(piece);
					size += (piece as Buffer).length;
					yield piece;
				}
			} catch (error) {
				throw asFileError(error);
			}
		};
		await pipeline(read, createWriteStream(to), { signal });
	} finally {
		await file.close();
	}
	if (size !== bytes || hash.digest('hex') !== sha256) {
		throw new FileError("isn't as its day manifest says");
	}
}

/** The origin of a recording's lifelogs. */
export const originOf = (externalId: string | undefined): LifelogOrigin => ({
	source: 'recording',
	...(externalId !== undefined && { externalId }),
});

const deletedMeanwhile = () =>
	new ApiError(409, 'A lifelog of the recording was deleted while it was being transcribed');

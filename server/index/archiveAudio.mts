import { createHash } from 'node:crypto';
import { planOgg, type Cut } from '../audio/cut.mts';
import { samplesPerMs } from '../audio/opus.mts';
import { OggError } from '../audio/page.mts';
import { scanLinks, type Link } from '../audio/scan.mts';
import type { Lifelog } from '../../lifelog/api.ts';
import { RECORDINGS, type AudioFile } from '../archive/layout.mts';
import { sourceOf } from '../archive/sourceOf.mts';
import type { Rows } from './rows.mts';
import type { Audio, AudioSpan, Sources } from './store.mts';
import { joinSpans, without } from '../util/spans.mts';
import { asFileError, FileError, MissingFolderError, type Folder } from '../archive/folder.mts';
import type { OnProblem } from './sync.mts';
import { UnavailableError } from '../util/errors.mts';

type Span = readonly [fromMs: number, toMs: number];

interface Version extends AudioFile {
	fingerprint: string;
}

interface Scan {
	version: string;
	/** Empty for a file that doesn't match its manifest; rejects for a temporarily unreadable one. */
	links: Promise<Link[]>;
	/** Whether to read it again, although it is unchanged. */
	isPassing?: boolean;
}

/** A time range, and the part of a file in which it is heard. */
interface Stretch {
	fromMs: number;
	toMs: number;
	file: Version;
	cut: Cut;
}

// Bytes to read and send at once.
const pieceBytes = 64 * 1024;
// A file's structure takes about thirty kilobytes. Those of a month's files are kept.
const maxScans = 400;
// If a file is shorter than its range by less, it has no pauses left out.
const toleranceMs = 1000;
// A file that is replaced during reading is read again.
const maxAttempts = 3;

/** Repeats `look` if a file is replaced meanwhile. Throws an UnavailableError if it keeps changing. */
async function settled<Result>(look: () => Promise<Result>): Promise<Result> {
	for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
		try {
			return await look();
		} catch (error) {
			if (!(error instanceof FileError) && !(error instanceof OggError)) throw error;
		}
	}
	throw unreadable();
}

/** Ranges of audio and speech in an archive. */
export type AudioSource = Pick<Rows, 'audioBetween' | 'spokenBetween'>;

/**
 * Which audio belongs to a lifelog: that of its own device or, without any, of all devices.
 *
 * @returns The ranges to request, in order.
 */
export function audioRangesOf({
	id,
	startTime,
	endTime,
}: Pick<Lifelog, 'id' | 'startTime' | 'endTime'>): [startMs: number, endMs: number, Sources][] {
	const [startMs, endMs] = [Date.parse(startTime), Date.parse(endTime)];
	const own = sourceOf(id) === 'recording' ? { only: RECORDINGS } : { not: RECORDINGS };
	return [own, {}].map((sources) => [startMs, endMs, sources]);
}

/** Audio of any range from the files of an archive. */
export class ArchiveAudio {
	readonly #folder: Folder;
	readonly #rows: AudioSource;
	readonly #onProblem: OnProblem;
	readonly #scans = new Map<string, Scan>();

	constructor(folder: Folder, rows: AudioSource, onProblem: OnProblem) {
		this.#folder = folder;
		this.#rows = rows;
		this.#onProblem = onProblem;
	}

	/**
	 * The audio between two instants, without pauses and overlaps; undefined without audio. Files
	 * that don't match their manifest are skipped and reported. Throws an UnavailableError while a
	 * file keeps changing or is unreadable.
	 */
	async between(startMs: number, endMs: number, sources?: Sources): Promise<Audio | undefined> {
		return await settled(() => this.#plan(startMs, endMs, sources));
	}

	/** The audio of a lifelog; undefined without any. Throws like `between`. */
	async of(lifelog: Parameters<typeof audioRangesOf>[0]): Promise<Audio | undefined> {
		const [own, any] = audioRangesOf(lifelog);
		return (await this.between(...own)) ?? (await this.between(...any));
	}

	/** Only the spans of that audio, without reading sound. Throws like `between`. */
	async spansBetween(startMs: number, endMs: number, sources?: Sources): Promise<AudioSpan[]> {
		return await settled(async () => (await this.#choose(startMs, endMs, sources)).spans);
	}

	async #plan(startMs: number, endMs: number, sources?: Sources): Promise<Audio | undefined> {
		const { chosen } = await this.#choose(startMs, endMs, sources);
		if (chosen.length === 0) return undefined;
		const firstSerial = Math.floor(startMs / 1000);
		const cuts = chosen.map(({ cut }) => cut);
		const { bytes, write } = await planOgg(cuts, firstSerial);
		const files = [...new Set(chosen.map(({ file }) => file))];
		const parts = chosen.map(({ file, cut: { link, from, to } }) => [
			...[file.sha256, link.marks[0].offset, from, to],
		]);
		const hash = createHash('sha256').update(JSON.stringify([firstSerial, bytes, parts]));
		const read = (from: number, to: number) => this.#whole(write(from, to), files);
		return { bytes, tag: hash.digest('hex'), read };
	}

	/** The parts to play of a range, in order. Recordings fill only the gaps of the pendant. */
	async #choose(
		startMs: number,
		endMs: number,
		{ only, not }: Sources = {},
	): Promise<{ chosen: Stretch[]; spans: AudioSpan[] }> {
		const [pendant, recordings]: AudioFile[][] = [[], []];
		for (const file of this.#rows.audioBetween(startMs, endMs)) {
			const source = file.path.split('/')[1];
			if (source === not || (only !== undefined && source !== only)) continue;
			(source === RECORDINGS ? recordings : pendant).push(file);
		}
		const heard = await this.#heardIn(pendant, startMs, endMs);
		const taken = joinSpans(heard.map(({ fromMs, toMs }) => ({ startMs: fromMs, endMs: toMs })));
		for (const gap of recordings.length > 0 ? without([{ startMs, endMs }], taken) : []) {
			// The pendant's files have small gaps between them.
			if (taken.length > 0 && gap.endMs - gap.startMs < toleranceMs) continue;
			heard.push(...(await this.#heardIn(recordings, gap.startMs, gap.endMs)));
		}
		const chosen: Stretch[] = [];
		const spans: AudioSpan[] = [];
		let positionMs = 0;
		for (const stretch of heard.sort((a, b) => a.fromMs - b.fromMs)) {
			const { fromMs, toMs, cut } = stretch;
			spans.push({ startMs: fromMs, endMs: toMs, positionMs });
			positionMs += (cut.to - cut.from) / samplesPerMs;
			const last = chosen.at(-1);
			// Parts around a pause that the file left out are contiguous in the file.
			if (last?.cut.link === cut.link && last.cut.to === cut.from) last.cut.to = cut.to;
			else chosen.push(stretch);
		}
		return { chosen, spans };
	}

	/** The audible parts of a range in these files. Overlaps come from the file that starts first. */
	async #heardIn(files: AudioFile[], startMs: number, endMs: number): Promise<Stretch[]> {
		const heard: Stretch[] = [];
		let reachedMs = startMs;
		for (const file of files) {
			for (const stretch of await this.#stretchesOf(file)) {
				const clipped = clip(stretch, reachedMs, endMs);
				if (!clipped) continue;
				reachedMs = clipped.toMs;
				heard.push(clipped);
			}
		}
		return heard;
	}

	/** Joins pages into larger pieces. Rejects before the last piece if a file has changed. */
	async *#whole(pages: AsyncIterable<Buffer>, files: Version[]): AsyncGenerator<Buffer> {
		let piece: Buffer[] = [];
		let bytes = 0;
		for await (const page of pages) {
			if (bytes >= pieceBytes) {
				yield Buffer.concat(piece);
				piece = [];
				bytes = 0;
			}
			piece.push(page);
			bytes += page.length;
		}
		for (const file of files) await this.#checkSame(file);
		yield Buffer.concat(piece);
	}

	/** Rejects if a file was rewritten since its structure was read. */
	async #checkSame({ path, fingerprint }: Version): Promise<void> {
		if (fingerprint !== (await this.#folder.fingerprint(path))) {
			throw new FileError('has changed while it was read');
		}
	}

	async *#read(version: Version, offset: number): AsyncGenerator<Buffer> {
		await this.#checkSame(version);
		const file = await this.#folder.open(version.path);
		try {
			yield* file.createReadStream({ start: offset, autoClose: false, highWaterMark: pieceBytes });
		} catch (error) {
			throw asFileError(error);
		} finally {
			await file.close();
		}
	}

	/** The time ranges of a file's audio, in order. */
	async #stretchesOf(file: AudioFile): Promise<Stretch[]> {
		const version = { ...file, fingerprint: await this.#folder.fingerprint(file.path) };
		const links = await this.#linksOf(version);
		const read = (offset: number) => this.#read(version, offset);
		const lengths = links.map(({ played }) => played / samplesPerMs);
		const spans = this.#spansOf(
			file,
			lengths.reduce((sum, length) => sum + length, 0),
		);
		const stretches: Stretch[] = [];
		let linkStartMs = 0;
		for (const [index, link] of links.entries()) {
			const linkEndMs = linkStartMs + lengths[index];
			let spanStartMs = 0;
			for (const [fromMs, toMs] of spans) {
				const from = Math.max(linkStartMs, spanStartMs);
				const to = Math.min(linkEndMs, spanStartMs + toMs - fromMs);
				if (to > from) {
					const atMs = fromMs - spanStartMs;
					stretches.push({
						fromMs: atMs + from,
						toMs: atMs + to,
						file: version,
						cut: { link, from: samples(from - linkStartMs), to: samples(to - linkStartMs), read },
					});
				}
				spanStartMs += toMs - fromMs;
			}
			linkStartMs = linkEndMs;
		}
		return stretches;
	}

	/**
	 * The time ranges of a file with this length: its whole range; or its lifelogs, if their total is
	 * as long, because the service leaves out pauses; or else a range of this length from its start.
	 */
	#spansOf({ startMs, endMs }: AudioFile, lengthMs: number): Span[] {
		const whole: Span[] = [[startMs, Math.min(endMs, startMs + lengthMs)]];
		if (lengthMs > endMs - startMs - toleranceMs) return whole;
		const spoken: Span[] = [];
		let reached = startMs;
		for (const talk of this.#rows.spokenBetween(startMs, endMs)) {
			const span = [Math.max(talk.startMs, reached), Math.min(talk.endMs, endMs)] as const;
			if (span[1] <= span[0]) continue;
			spoken.push(span);
			reached = span[1];
		}
		const spokenMs = spoken.reduce((sum, [from, to]) => sum + to - from, 0);
		return Math.abs(spokenMs - lengthMs) < toleranceMs ? spoken : whole;
	}

	/** The streams of a file; empty if it doesn't match its manifest. Concurrent callers share one scan. */
	#linksOf(file: Version): Promise<Link[]> {
		const { path, sha256, fingerprint } = file;
		const version = `${fingerprint} ${sha256}`;
		const known = this.#scans.get(path);
		const isSame = known?.version === version;
		if (isSame && !known.isPassing) return known.links;
		const links = this.#scan(file).catch(async (error: unknown) => {
			if (!(await this.#folder.hasDays().catch(() => true))) {
				scan.isPassing = true;
				throw new MissingFolderError();
			}
			const problem = error instanceof OggError ? error : asFileError(error);
			scan.isPassing = problem instanceof FileError && problem.isPassing;
			if (!(isSame && scan.isPassing)) this.#onProblem(path, problem.message);
			// Without this file, the range would seem to have less audio.
			if (scan.isPassing) throw unreadable();
			return [];
		});
		const scan: Scan = { version, links };
		this.#scans.delete(path);
		this.#scans.set(path, scan);
		for (const oldest of this.#scans.keys()) {
			if (this.#scans.size <= maxScans) break;
			this.#scans.delete(oldest);
		}
		return links;
	}

	async #scan({ path, bytes, sha256 }: Version): Promise<Link[]> {
		const file = await this.#folder.open(path);
		const hash = createHash('sha256');
		try {
			const { size } = await file.stat();
			if (size !== bytes)
				throw new FileError(`has ${size} bytes, not ${bytes} as its day manifest says`);
			const pieces = file.createReadStream({ autoClose: false, highWaterMark: pieceBytes });
			const links = await scanLinks(
				(async function* () {
					for await (const piece of pieces) {
						hash.update(piece);
						yield piece;
					}
				})(),
			);
			if (hash.digest('hex') !== sha256)
				throw new FileError('has a different checksum than its day manifest says');
			return links;
		} finally {
			await file.close();
		}
	}
}

const unreadable = () =>
	new UnavailableError('The audio changes, or cannot be read for now: try again later', 5);

const samples = (ms: number) => Math.round(ms * samplesPerMs);

/** The part of a stretch between two instants; undefined without one. */
function clip(stretch: Stretch, afterMs: number, beforeMs: number): Stretch | undefined {
	const fromMs = Math.max(stretch.fromMs, afterMs);
	const toMs = Math.min(stretch.toMs, beforeMs);
	const from = stretch.cut.from + samples(fromMs - stretch.fromMs);
	const to = Math.min(stretch.cut.to, from + samples(toMs - fromMs));
	return to > from ? { ...stretch, fromMs, toMs, cut: { ...stretch.cut, from, to } } : undefined;
}

import { createHash } from 'node:crypto';
import { writeCut, type Cut } from '../ogg/cut.mts';
import { samplesPerMs } from '../ogg/opus.mts';
import { OggError } from '../ogg/page.mts';
import { scanLinks, type Link } from '../ogg/scan.mts';
import type { AudioFile, Rows } from '../store/rows.mts';
import type { Audio } from '../store/store.mts';
import { asFileError, FileError, type Folder } from './folder.mts';
import type { OnProblem } from './sync.mts';

type Span = readonly [fromMs: number, toMs: number];

interface Scan {
	fingerprint: string;
	/** Undefined for a file that is not to be read. */
	links: Link[] | undefined;
	/** Whether it is to be read another time, though it is the same. */
	isPassing?: boolean;
}

/** A stretch of time, and the part of a file in which it can be heard. */
interface Stretch {
	fromMs: number;
	toMs: number;
	path: string;
	/** Of the file, when its structure was read. */
	fingerprint: string;
	cut: Cut;
}

// What is read and sent at once.
const pieceBytes = 256 * 1024;
// The structure of a file takes some ten kilobytes; that of a month's files is kept.
const mostScans = 400;
// A file that is shorter than its range by less has no pauses left out.
const toleranceMs = 1000;

/** Audio of any range out of the files of an archive. */
export class ArchiveAudio {
	readonly #folder: Folder;
	readonly #rows: Rows;
	readonly #onProblem: OnProblem;
	readonly #scans = new Map<string, Scan>();

	constructor(folder: Folder, rows: Rows, onProblem: OnProblem) {
		this.#folder = folder;
		this.#rows = rows;
		this.#onProblem = onProblem;
	}

	/**
	 * What was recorded between two instants, each of them once, pauses left out; undefined for
	 * nothing. Files that are not what their day says are left out and told.
	 */
	async between(startMs: number, endMs: number): Promise<Audio | undefined> {
		const chosen: Stretch[] = [];
		let reachedMs = startMs;
		for (const file of this.#rows.audioBetween(startMs, endMs)) {
			for (const stretch of await this.#stretchesOf(file)) {
				const clipped = clip(stretch, reachedMs, endMs);
				if (!clipped) continue;
				reachedMs = clipped.toMs;
				const last = chosen.at(-1);
				// What goes on behind a pause that the file left out is one cut.
				if (last?.cut.link === clipped.cut.link && last.cut.to === clipped.cut.from) {
					last.cut.to = clipped.cut.to;
				} else {
					chosen.push(clipped);
				}
			}
		}
		if (chosen.length === 0) return undefined;
		return { read: () => this.#write(chosen, Math.floor(startMs / 1000)) };
	}

	async *#write(stretches: Stretch[], firstSerial: number): AsyncGenerator<Buffer> {
		for (const [index, stretch] of stretches.entries()) {
			const read = (offset: number) => this.#read(stretch, offset);
			let pages: Buffer[] = [];
			let bytes = 0;
			for await (const page of writeCut(stretch.cut, firstSerial + index, read)) {
				pages.push(page);
				bytes += page.length;
				if (bytes < pieceBytes) continue;
				yield Buffer.concat(pages);
				pages = [];
				bytes = 0;
			}
			await this.#checkSame(stretch);
			yield Buffer.concat(pages);
		}
	}

	/** Rejects for a file that was written anew since its structure was read. */
	async #checkSame({ path, fingerprint }: Stretch): Promise<void> {
		if (fingerprint !== (await this.#folder.fingerprint(path))) {
			throw new FileError('has changed while it was read');
		}
	}

	async *#read(stretch: Stretch, offset: number): AsyncGenerator<Buffer> {
		await this.#checkSame(stretch);
		const file = await this.#folder.open(stretch.path);
		try {
			yield* file.createReadStream({ start: offset, autoClose: false, highWaterMark: pieceBytes });
		} finally {
			await file.close();
		}
	}

	/** The stretches of time that a file holds, in order. */
	async #stretchesOf(file: AudioFile): Promise<Stretch[]> {
		const { links = [], fingerprint } = await this.#scanOf(file);
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
						path: file.path,
						fingerprint,
						cut: { link, from: samples(from - linkStartMs), to: samples(to - linkStartMs) },
					});
				}
				spanStartMs += toMs - fromMs;
			}
			linkStartMs = linkEndMs;
		}
		return stretches;
	}

	/**
	 * When it was that a file of this length was recorded: its whole range; or the lifelogs in it,
	 * where the file is as long as these, as the service leaves the pauses out; or else from the
	 * beginning of its range on.
	 */
	#spansOf({ startMs, endMs }: AudioFile, lengthMs: number): Span[] {
		const whole: Span[] = [[startMs, Math.min(endMs, startMs + lengthMs)]];
		if (lengthMs > endMs - startMs - toleranceMs) return whole;
		const iso = (ms: number) => new Date(ms).toISOString();
		const spoken: Span[] = [];
		let reached = startMs;
		for (const [from, to] of this.#rows.spokenBetween(iso(startMs), iso(endMs))) {
			const span = [Math.max(from, reached), Math.min(to, endMs)] as const;
			if (span[1] <= span[0]) continue;
			spoken.push(span);
			reached = span[1];
		}
		const spokenMs = spoken.reduce((sum, [from, to]) => sum + to - from, 0);
		return Math.abs(spokenMs - lengthMs) < toleranceMs ? spoken : whole;
	}

	/** The structure of a file; no links when it is not what its day says. */
	async #scanOf({ path, bytes, sha256 }: AudioFile): Promise<Scan> {
		const fingerprint = await this.#folder.fingerprint(path);
		const known = this.#scans.get(path);
		const isSame = known?.fingerprint === fingerprint;
		if (isSame && !known.isPassing) return known;
		let links: Link[] | undefined;
		let isPassing = false;
		try {
			links = await this.#scan(path, bytes, sha256);
		} catch (error) {
			if (!(error instanceof FileError) && !(error instanceof OggError)) throw error;
			isPassing = error instanceof FileError && error.isPassing;
			if (!(isSame && isPassing)) this.#onProblem(path, error.message);
		}
		this.#scans.delete(path);
		const scan = { fingerprint, links, isPassing };
		this.#scans.set(path, scan);
		for (const oldest of this.#scans.keys()) {
			if (this.#scans.size <= mostScans) break;
			this.#scans.delete(oldest);
		}
		return scan;
	}

	async #scan(path: string, bytes: number, sha256: string): Promise<Link[]> {
		const file = await this.#folder.open(path);
		const hash = createHash('sha256');
		try {
			const { size } = await file.stat();
			if (size !== bytes) throw new FileError(`has ${size} bytes, not ${bytes} as its day says`);
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
				throw new FileError('has another checksum than its day says');
			return links;
		} catch (error) {
			throw error instanceof OggError ? error : asFileError(error);
		} finally {
			await file.close();
		}
	}
}

const samples = (ms: number) => Math.round(ms * samplesPerMs);

/** The part of a stretch that lies between two instants; undefined for none. */
function clip(stretch: Stretch, afterMs: number, beforeMs: number): Stretch | undefined {
	const fromMs = Math.max(stretch.fromMs, afterMs);
	const toMs = Math.min(stretch.toMs, beforeMs);
	const { link } = stretch.cut;
	const from = stretch.cut.from + samples(fromMs - stretch.fromMs);
	const to = Math.min(stretch.cut.to, from + samples(toMs - fromMs));
	return to > from ? { ...stretch, fromMs, toMs, cut: { link, from, to } } : undefined;
}

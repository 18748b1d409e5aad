import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Draft, Drafts } from '../archive/drafts.mts';
import { without, type Span } from '../util/spans.mts';
import { planOgg } from '../audio/cut.mts';
import { samplesPerMs } from '../audio/opus.mts';
import { OggError } from '../audio/page.mts';
import { scanLinks, type Link } from '../audio/scan.mts';
import { type ImportedDay, NAME_TOLERANCE_MS } from './importedDay.mts';
import { ExportError, type ExportFile } from './export.mts';
import { demandRoom } from './room.mts';
import { DAY_MS } from '../util/durations.mts';

/**
 * Adds a recording to its day. Ranges that the archive already has are cut out, and each remaining
 * part belongs to the day on which it starts. Returns false if the archive has all of it. Rejects
 * with an ExportError if any part of the file isn't Ogg Opus.
 *
 * @param dayAt Opens the day of an instant, epoch ms.
 * @param namedMs Start according to its name, epoch ms.
 */
export async function addRecording(
	drafts: Drafts,
	dayAt: (ms: number) => Promise<ImportedDay>,
	recorder: string,
	file: ExportFile,
	namedMs: number,
): Promise<boolean> {
	const day = await dayAt(namedMs);
	const isNear = (startMs: number) => startMs >= namedMs && startMs < namedMs + NAME_TOLERANCE_MS;
	if (day.serviceAudio.some(({ startMs, bytes }) => bytes === file.bytes && isNear(startMs)))
		return false;
	// Twice, because the copy may be cut into new files.
	await demandRoom(drafts.root, 2 * file.bytes);
	const { links, ...draft } = await copyOgg(file, drafts);
	if (day.serviceAudio.some(({ sha256 }) => sha256 === draft.sha256)) return false;
	const lengthMs = Math.ceil(links.reduce((sum, { played }) => sum + played, 0) / samplesPerMs);
	const ends = day.serviceAudio.map(({ endMs }) => endMs).filter((endMs) => isNear(endMs - 1));
	const startMs = Math.max(namedMs, ...ends);
	const whole: Span = { startMs, endMs: startMs + lengthMs };
	const spans = without([whole], await audioAround(dayAt, whole));
	if (spans.length === 1 && lengthOf(spans[0]) === lengthMs) {
		await (await dayAt(startMs)).addAudio(recorder, whole, draft);
		return true;
	}
	const parts = spans.filter((span) => lengthOf(span) >= NAME_TOLERANCE_MS);
	for (const part of parts) {
		const path = join(drafts.root, draft.draft);
		const pieces = cutOut(links, path, part.startMs - startMs, part.endMs - startMs);
		await (await dayAt(part.startMs)).addAudio(recorder, part, await drafts.save(pieces));
	}
	return parts.length > 0;
}

/** The audio of a span's days and of the day before, which may last into the span. */
async function audioAround(
	dayAt: (ms: number) => Promise<ImportedDay>,
	{ startMs, endMs }: Span,
): Promise<Span[]> {
	const audio: Span[] = [];
	for (let ms = startMs - DAY_MS; ms < endMs + DAY_MS; ms += DAY_MS) {
		// Its content is unknown. Files that belong to it are reported when they are added.
		const day = await dayAt(Math.min(ms, endMs - 1)).catch(() => undefined);
		audio.push(...(day?.serviceAudio ?? []));
	}
	return audio;
}

const lengthOf = ({ startMs, endMs }: Span) => endMs - startMs;

/** Copies a file, and finds its streams. */
async function copyOgg(file: ExportFile, drafts: Drafts): Promise<Draft & { links: Link[] }> {
	const draft = await drafts.save(file.read());
	try {
		return { ...draft, links: await scanLinks(createReadStream(join(drafts.root, draft.draft))) };
	} catch (error) {
		throw error instanceof OggError ? new ExportError(error.message) : error;
	}
}

/** Audio of a file between two offsets in milliseconds. */
async function* cutOut(
	links: Link[],
	path: string,
	fromMs: number,
	toMs: number,
): AsyncGenerator<Buffer> {
	let before = 0;
	const cuts = links.map((link) => {
		const from = Math.max(0, Math.round(fromMs * samplesPerMs) - before);
		const to = Math.min(link.played, Math.round(toMs * samplesPerMs) - before);
		before += link.played;
		const read = (start: number): AsyncIterable<Buffer> => createReadStream(path, { start });
		return { link, from, to, read };
	});
	const { write: pages } = await planOgg(
		cuts.filter(({ from, to }) => to > from),
		1,
	);
	yield* pages();
}

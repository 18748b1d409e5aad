import { ApiError } from '../util/errors.mts';
import { checkZone, parseInstant, parseInstantIfAny } from '../util/times.mts';
import type { ArchiveStore } from '../index/archiveStore.mts';
import type { LaterTitles } from './laterTitles.mts';
import { chooseId, firstSentence, latestEnd, madeId, toLifelog } from './lifelog.mts';
import { asName, cutTo, MAX_HOURS, MAX_TITLE_LENGTH } from './segments.mts';
import { EARLIEST_MS } from './startTime.mts';
import { tryTitle, type Titles } from './title.mts';
import { readTranscript } from './transcript.mts';

/** A request to create a lifelog (server/openapi.yaml, `NewLifelog`). */
export interface NewLifelog {
	title?: string;
	startTime?: string | number;
	endTime?: string | number;
	timezone?: string;
	externalId?: string;
	/** Whether to create it again if it was deleted. */
	again?: boolean;
	transcript: unknown;
}

/** Dependencies of creating lifelogs. */
export interface Maker {
	current: () => ArchiveStore;
	/** Writes titles and headings; without it, the title is the first sentence. */
	titles?: Titles;
	/** Writes them later if that fails now. */
	later?: LaterTitles;
	warn: (line: string) => void;
	/** Epoch ms. */
	now: () => number;
}

/** Clocks of devices may be ahead. */
const MAX_AHEAD_MS = 24 * 3_600_000;

/**
 * Creates a lifelog from a transcript, unless it exists with the same external ID or, without one,
 * with the same words at the same time.
 *
 * @throws ApiError: 400 for an invalid transcript or time, 403 if creating is off, 409 or 503 if
 *   the archive isn't writable now.
 */
export async function createLifelog(
	{ current, titles, later, warn, now }: Maker,
	asked: NewLifelog,
): Promise<{ id: string; outcome: 'created' | 'known' | 'deleted' }> {
	const zone = checkZone(asked.timezone);
	const transcript = readTranscript(asked.transcript, lengthOf(asked, zone));
	const { segments } = transcript;
	const [givenStart, startZone] =
		asked.startTime === undefined ? [transcript.startTime, 'UTC'] : [asked.startTime, zone];
	if (givenStart === undefined) {
		throw new ApiError(
			400,
			"startTime is missing. Send it, because the transcript doesn't contain one",
		);
	}
	const startMs = timeUntilNow('startTime', givenStart, startZone, now());
	const endMs = Math.max(
		startMs + latestEnd(segments),
		endOf(asked, transcript.endTime, startMs, zone, now()),
	);
	const externalId = asked.externalId?.trim() || transcript.externalId;
	const { id, state } = chooseId(
		(nth) => madeId(externalId, startMs, segments, nth),
		(each) => current().stateOf(each),
		asked.again,
	);
	if (state !== undefined) return { id, outcome: state };
	let isUntitled = false;
	const onProblem = (problem: string) => {
		warn(`Lifelog ${id} has no title yet: ${problem}`);
		isUntitled = true;
	};
	const written = await tryTitle(titles, segments, { onProblem });
	const title = asName(asked.title ?? transcript.title ?? '') || written?.title;
	const lifelog = toLifelog({
		id,
		title: title ? cutTo(MAX_TITLE_LENGTH, title) : firstSentence(segments),
		startMs,
		endMs,
		segments,
		headings: written?.headings ?? [],
		madeMs: now(),
	});
	const origin = { source: 'api' as const, ...(externalId !== undefined && { externalId }) };
	const outcome = await current().createLifelog(lifelog, origin);
	if (isUntitled && outcome === 'created') later?.add(id, `Lifelog ${id}`);
	return { id, outcome };
}

/** The requested time span in ms; undefined if start or end is missing. */
function lengthOf({ startTime, endTime }: NewLifelog, zone: string): number | undefined {
	const [from, to] = [startTime, endTime].map((time) => parseInstantIfAny(String(time), zone));
	return from === undefined || to === undefined ? undefined : to - from;
}

function endOf(
	{ endTime }: NewLifelog,
	ofTranscript: string | undefined,
	startMs: number,
	zone: string,
	now: number,
): number {
	const latestMs = startMs + MAX_HOURS * 3_600_000;
	if (endTime === undefined) {
		if (ofTranscript === undefined) return 0;
		const endMs = timeUntilNow('endTime', ofTranscript, 'UTC', now);
		// Impossible ends come from recorders; the words still have a time.
		return endMs > latestMs ? 0 : endMs;
	}
	const endMs = timeUntilNow('endTime', endTime, zone, now);
	if (endMs < startMs) throw new ApiError(400, 'endTime is before startTime. Send a later time');
	if (endMs > latestMs) {
		throw new ApiError(
			400,
			`endTime is more than ${MAX_HOURS} hours after startTime. Send an earlier time`,
		);
	}
	return endMs;
}

/**
 * Parses a time to epoch ms.
 *
 * @param zone For a time without an offset.
 * @throws ApiError (400) with its name if it is invalid or before the year 2000.
 */
export function timeOf(name: string, value: string | number, zone: string): number {
	const ms = parseInstant(name, String(value), zone);
	if (ms < EARLIEST_MS)
		throw new ApiError(400, `${name} is before the year 2000. Send a later time`);
	return ms;
}

function timeUntilNow(name: string, value: string | number, zone: string, now: number): number {
	const ms = timeOf(name, value, zone);
	if (ms > now + MAX_AHEAD_MS) {
		throw new ApiError(400, `${name} is in the future. Send the time of the recording`);
	}
	return ms;
}

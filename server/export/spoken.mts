// Finds speech and audio by time, to cut audio without an index.
import type { AudioFile } from '../archive/layout.mts';
import { sourceOf } from '../archive/sourceOf.mts';
import type { AudioSource } from '../index/archiveAudio.mts';
import { DAY_MS } from '../util/durations.mts';
import type { Span } from '../util/spans.mts';

/** Items with a time range, sorted for lookups. */
class ByTime<Some extends Span> {
	readonly #byDay = new Map<number, Some[]>();

	constructor(all: Iterable<Some>) {
		for (const each of all) {
			for (const day of daysOf(each)) {
				const same = this.#byDay.get(day);
				if (same) same.push(each);
				else this.#byDay.set(day, [each]);
			}
		}
	}

	/** Items that overlap a range, by start. */
	between(startMs: number, endMs: number): Some[] {
		const near = [...daysOf({ startMs, endMs })].flatMap((day) => this.#byDay.get(day) ?? []);
		const found = near.filter((each) => each.endMs > startMs && each.startMs < endMs);
		return [...new Set(found)].sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);
	}
}

/** An end years away is an error of a recorder. */
const MAX_DAYS = 31;

function* daysOf({ startMs, endMs }: Span): Generator<number> {
	const first = Math.floor(startMs / DAY_MS);
	const last = Math.min(Math.floor(Math.max(startMs, endMs) / DAY_MS), first + MAX_DAYS);
	for (let day = first; day <= last; day += 1) yield day;
}

/**
 * The source for cutting audio, as the index provides it (`index/rows.mts`).
 *
 * @param lifelogs Times by ID, including deleted ones.
 */
export function audioSource(audio: AudioFile[], lifelogs: Map<string, Span>): AudioSource {
	const files = new ByTime(audio);
	const ofService = [...lifelogs].filter(([id]) => sourceOf(id) === 'service');
	const spoken = new ByTime(ofService.map(([, span]) => span));
	return {
		audioBetween: (startMs, endMs) => files.between(startMs, endMs),
		spokenBetween: (startMs, endMs) => spoken.between(startMs, endMs),
	};
}

import type { Faker } from '@faker-js/faker';
import type { Lifelog } from '../../../lifelog/api.ts';
import { renderMarkdown } from '../../util/apiMarkdown.mts';
import { inventCast, writeConversation, type Cast } from './conversations.mts';
import { midnightOf, type Period } from './period.mts';
import { createId } from './random.mts';

interface LifelogOptions extends Period {
	/** Exact number per day, instead of 40 to 50 (and fewer today). */
	perDay?: number;
	/** Exact total number, spread evenly. */
	total?: number;
	/** Exact size of each one's Markdown in bytes. */
	markdownBytes?: number;
}

const minute = 60_000;
const hour = 60 * minute;

/** Generates the lifelogs of a period without overlaps, in order of time. */
export function generateLifelogs(faker: Faker, options: LifelogOptions): Lifelog[] {
	const cast = inventCast(faker);
	const lifelogs: Lifelog[] = [];
	for (let index = 0; index < options.days; index += 1) {
		const day = wakingHours(options, index);
		const count =
			exactCount(options, index) ?? Math.round(faker.number.int({ min: 40, max: 50 }) * day.share);
		for (const [start, end] of cutDay(faker, day, count)) {
			const lifelog = inventLifelog(faker, cast, start, end, options.now);
			lifelogs.push(
				options.markdownBytes === undefined
					? lifelog
					: { ...lifelog, markdown: ofLength(lifelog.markdown ?? '', options.markdownBytes) },
			);
		}
	}
	return lifelogs;
}

interface Day {
	from: number;
	to: number;
	/** Elapsed share of the waking day; 1 except for today. */
	share: number;
}

/** The waking hours of the period's day `index`, in milliseconds. Today ends now. */
function wakingHours(period: Period, index: number): Day {
	const { now } = period;
	const midnight = midnightOf(period, index);
	const morning = midnight.set({ hour: 7 }).toMillis();
	const evening = midnight.set({ hour: 22, minute: 30 }).toMillis();
	// By default, nothing is recorded in the first hour of a day: few lifelogs would last for hours.
	const isEarly = now - morning < hour;
	const share = isEarly ? 0 : Math.min(1, (now - morning) / (evening - morning));
	const from = isEarly ? midnight.toMillis() : morning;
	return { from, to: Math.min(evening, now), share };
}

function exactCount({ days, perDay, total }: LifelogOptions, index: number): number | undefined {
	if (total === undefined) return perDay;
	return Math.floor((total * (index + 1)) / days) - Math.floor((total * index) / days);
}

/** Splits a day into `count` uneven ranges with pauses between, in milliseconds. */
function cutDay(faker: Faker, { from, to }: Day, count: number): [start: number, end: number][] {
	const weights = Array.from({ length: count }, () => faker.number.float({ min: 0.4, max: 1.6 }));
	const unit = (to - from) / weights.reduce((sum, weight) => sum + weight, 0);
	let slot = from;
	return weights.map((weight) => {
		const length = weight * unit;
		const start = slot + length * faker.number.float({ min: 0.02, max: 0.15 });
		const end = start + length * faker.number.float({ min: 0.4, max: 0.8 });
		slot += length;
		return [Math.round(start), Math.round(end)];
	});
}

function inventLifelog(faker: Faker, cast: Cast, start: number, end: number, now: number): Lifelog {
	const { title, contents } = writeConversation(faker, cast, start, end);
	return {
		id: createId(faker),
		title,
		markdown: renderMarkdown(contents),
		contents,
		startTime: new Date(start).toISOString(),
		endTime: new Date(end).toISOString(),
		isStarred: faker.datatype.boolean(0.04),
		updatedAt: new Date(Math.min(now, end + updateDelay(faker))).toISOString(),
	};
}

/** Most entries are finished minutes after their end; some change hours or a day later. */
function updateDelay(faker: Faker): number {
	return faker.helpers.weightedArrayElement([
		{ weight: 88, value: faker.number.int({ min: 1 * minute, max: 6 * minute }) },
		{ weight: 9, value: faker.number.int({ min: 1 * hour, max: 8 * hour }) },
		{ weight: 3, value: faker.number.int({ min: 24 * hour, max: 30 * hour }) },
	]);
}

/** Repeats or cuts a text to an exact size in bytes. */
function ofLength(text: string, bytes: number): string {
	const ascii = `${text}\n\n`.replaceAll(/[\u0080-\uffff]/g, '?');
	return ascii.repeat(Math.ceil(bytes / ascii.length)).slice(0, bytes);
}

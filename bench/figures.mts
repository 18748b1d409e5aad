import { binomialDistribution, max, median, min } from 'simple-statistics';

/** How often two ways are compared, in turns, for a figure with an interval. */
export const PAIRS = 20;
/** Of a series, on each side of a 95 % interval. */
const OUTSIDE = 0.025;

/** What several runs gave. */
export interface Spread {
	median: number;
	low: number;
	high: number;
}

/** One line of the table. */
export interface Row {
	what: string;
	/** Each as `figureOf` writes it, with its unit. */
	figure: string;
	/** Absolute values behind the figure. */
	from: string;
	/** Empty for none. */
	goal: string;
	/** undefined without a goal. */
	holds?: boolean;
	/** What was measured that explains a miss. */
	reason?: string;
}

export function spreadOf(values: number[]): Spread {
	return { median: median(values), low: min(values), high: max(values) };
}

/**
 * The ratio of two series, run by run: what slows the machine for a while slows both.
 *
 * @returns Rounded to two digits, as it is shown.
 */
export function ratioOf(values: number[], others: number[]): Spread {
	return spreadOf(values.map((value, nth) => Number((value / others[nth]).toFixed(2))));
}

/**
 * The median of the ratios of two series, pair by pair, and its 95 % interval. That has no assumption
 * about the figures: each of them is above or below the true median like the toss of a coin.
 *
 * @returns Rounded to two digits, as it is shown.
 */
export function intervalOf(values: number[], others: number[]): Spread {
	const ratios = values.map((value, nth) => Number((value / others[nth]).toFixed(2)));
	ratios.sort((a, b) => a - b);
	const outside = outsideOf(ratios.length);
	return { median: median(ratios), low: ratios[outside], high: ratios.at(-1 - outside)! };
}

/** How many figures of so many are outside of the interval, on each side. */
function outsideOf(figures: number): number {
	let chance = 0;
	let outside = -1;
	for (const each of binomialDistribution(figures, 0.5)!) {
		chance += each;
		if (chance > OUTSIDE) break;
		outside++;
	}
	if (outside < 0) throw new Error(`${figures} figures are too few for a 95 % interval`);
	return outside;
}

/** `1.12 (1.08–1.20)`: median, and lowest and highest or the interval. */
export function figureOf({ median, low, high }: Spread, digits = 2): string {
	return `${median.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;
}

/** `1,000` */
export function count(value: number): string {
	return value.toLocaleString('en');
}

/** ms as seconds, `0.045 s`. */
export function seconds(ms: number): string {
	return `${(ms / 1000).toFixed(ms < 1000 ? 3 : 1)} s`;
}

/** Bytes as `12.3 MiB`. */
export function mebibytes(bytes: number): string {
	return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/** Whether a goal holds, and if not, why; empty without a goal. */
export function verdictOf({ holds, reason }: Row): string {
	if (holds === undefined) return '';
	if (holds) return 'holds';
	return reason === undefined ? 'missed' : `missed: ${reason}`;
}

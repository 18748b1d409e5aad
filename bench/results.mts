// The files beside bench/results.md, and the table of them in docs/developer/performance.md.
import type { Row } from './figures.mts';
import { verdictOf } from './figures.mts';

export const RESULTS = 'bench/results.csv';
export const TIMES = 'bench/times.csv';

/** One line of RESULTS. */
interface Result {
	part: string;
	what: string;
	figure: string;
	from: string;
	goal: string;
	verdict: string;
}

const HEAD = ['Part', 'What', 'Figure', 'From', 'Goal', 'Verdict'];

export const resultsOf = (part: string, rows: Row[]): Result[] =>
	rows.map((row) => {
		const { what, figure, from, goal } = row;
		return { part, what, figure, from, goal, verdict: verdictOf(row) };
	});

/** A CSV file. Every field is in quotes and has none, so a line is a list in JSON. */
export const csvOf = (rows: string[][]): string =>
	rows.map((row) => `${row.map((field) => JSON.stringify(field)).join(',')}\n`).join('');

export const csvOfResults = (results: Result[]): string =>
	csvOf([
		HEAD,
		...results.map(({ part, what, figure, from, goal, verdict }) => [
			...[part, what, figure, from, goal, verdict],
		]),
	]);

export function resultsIn(csv: string): Result[] {
	const [, ...lines] = csv.trim().split('\n');
	return lines.map((line) => {
		const [part, what, figure, from, goal, verdict] = JSON.parse(`[${line}]`) as string[];
		return { part, what, figure, from, goal, verdict };
	});
}

/** The results of the nodes as a table in Markdown; of goals, only those that are missed. */
export function tableOf(results: Result[]): string {
	const lines = results
		.filter(({ part }) => part === 'nodes')
		.map(({ what, figure, goal, verdict }) => {
			const missed = verdict.startsWith('missed') ? verdict.replace('missed', goal) : '';
			return [what, figure, missed].join(' | ');
		});
	return ['What | Figure | Missed goal', '--- | --- | ---', ...lines]
		.map((line) => `| ${line} |`)
		.join('\n');
}

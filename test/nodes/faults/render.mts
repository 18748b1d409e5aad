import { isConcerned, type Outcome } from './cells.mts';
import { FAULTS } from './faults.mts';
import { type Operation, OPERATIONS } from './operations.mts';
import { wordOf } from './words.mts';

/** Where the matrix is kept: a line for each operation, a column for each fault. */
export const REPORT = 'docs/developer/reliability.csv';
/** Of a fault that does not concern an operation. */
const LEFT_OUT = '–';
/** Of a cell that has yet to be run. */
export const OPEN = '?';

/** The table: of each operation, by its title, the words for each fault, by that one's title. */
export type Table = Map<string, Map<string, string>>;

/** What these outcomes say: of the operations in them, each fault that was tried or has no meaning. */
export function tableOf(outcomes: Outcome[]): Table {
	const isTried = ({ name }: Operation) => outcomes.some(({ operation }) => operation === name);
	return new Map(
		OPERATIONS.filter(isTried).map((operation) => {
			const ofOperation = outcomes.filter((outcome) => outcome.operation === operation.name);
			const cells = Object.entries(FAULTS).flatMap(([name, fault]) => {
				const words = ofOperation.filter((outcome) => outcome.fault === name).map(wordOf);
				const isOpen = words.length === 0 && isConcerned(operation, fault);
				return isOpen ? [] : [[fault.title, cellOf(words)] as const];
			});
			return [operation.title, new Map(cells)];
		}),
	);
}

function cellOf(words: Array<string | undefined>): string {
	if (words.length === 0) return LEFT_OUT;
	return new Set(words).size === 1 ? words[0]! : words.join(' / ');
}

/** The table in the CSV file. Every field is in quotes and has none, so a line is a list in JSON. */
export function tableIn(report: string): Table {
	const rows = report.trim().split('\n');
	const [[, ...faults], ...operations] = rows.map((row) => JSON.parse(`[${row}]`) as string[]);
	return new Map(
		operations.map(([operation, ...words]) => [
			operation,
			new Map(words.map((word, nth) => [faults[nth], word])),
		]),
	);
}

/** A table with what is newer in another; what neither has is left open. */
export function withNewer(old: Table, newer: Table): Table {
	const faults = Object.values(FAULTS).map(({ title }) => title);
	const known = OPERATIONS.filter(({ title }) => old.has(title) || newer.has(title));
	return new Map(
		known.map(({ title }) => {
			const [before, now] = [old.get(title), newer.get(title)];
			const wordFor = (fault: string) => now?.get(fault) ?? before?.get(fault) ?? OPEN;
			return [title, new Map(faults.map((fault) => [fault, wordFor(fault)]))];
		}),
	);
}

/** The table as a CSV file. */
export function renderTable(table: Table): string {
	const faults = Object.values(FAULTS).map(({ title }) => title);
	const rows = [...table].map(([operation, words]) => [operation, ...words.values()]);
	return [['Operation', ...faults], ...rows]
		.map((row) => `${row.map((field) => JSON.stringify(field)).join(',')}\n`)
		.join('');
}

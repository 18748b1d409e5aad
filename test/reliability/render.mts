import { isConcerned, type Outcome } from './cells.mts';
import { FAULTS } from './faults.mts';
import { type Operation, OPERATIONS } from './operations.mts';
import { ERRORS, wordOf } from './words.mts';

/** Where the matrix is kept. */
export const REPORT = 'docs/reliability.md';

const HEADING = '## The table';
const NEXT_HEADING = '## The errors';
/** Of a fault that does not concern an operation. */
const LEFT_OUT = '–';
/** Of a cell that has yet to be run. */
export const OPEN = '?';

const INTRODUCTION = `# What happens when something goes wrong

Made by \`npm run reliability\`; do not edit. Every operation is run on n8n's engine, against a service that fails in one way after another. Each cell was checked: what came out is **exactly** the right data, or one error that says in plain words what happened, inside a bounded time; neither the API key nor what was recorded was in an error; no other host was asked; nothing but the one entry was deleted.

## Limits of time

| What | Limit |
| --- | --- |
| A connection that stands still | 60 s |
| One request for JSON, however lively its connection | 120 s |
| Repeats of a GET that failed in passing (5xx, broken connection, time-out) | 3, after pauses of about 0.5, 1 and 2 s; none begins when the request has taken 120 s |
| Repeats of a DELETE | 1, and only when the connection broke before an answer |
| Wait of one request for the rate limit | the option Max Rate Limit Wait (Seconds), 300 unless set |
| Wait of a list in the editor for the rate limit | 20 s, first in line when it opens |
| Wait of a poll of the trigger for the rate limit | 120 s, first in line; none when the workflow is published, when an event is fetched to test, nor under n8n's durable engine |
| Repeats in the editor's lists and in the trigger | none |
| An answer in JSON, unpacked | 64 MiB; of a longer one only the first page of a list is asked for again, once, with 10 entries |

So a service that takes a connection and then says nothing ends a request for JSON after 2 minutes and a download after 4, and no request for JSON lasts longer than 2 minutes, waits for the rate limit apart. A download of audio has no limit as a whole, as long as it brings 1 kB a second. The trigger repeats nothing, so it waits 60 s for a connection that stands still, and 9 s under n8n's durable engine. Cancelling an execution ends requests, downloads and waits at once.

## What cannot be noticed

An answer that is cut and all the same whole by its own account: JSON cannot be (what is missing shows), but audio can, when a service declares the shorter length, or packs the audio although it was asked not to. Such cells are left out (–).

## How to read the table

*data*: exactly the right data, in spite of the fault. Any other word: an error of the kind listed below the table. Where a cell holds two words, *a / b*, the first is what comes of it when one request goes wrong and the service is well again for the next, the second when it stays like that. What takes several requests has three where they differ: the first request, the second, all. Max Rate Limit Wait was 5 s, and 90 s in the column "waited for". After each poll of the trigger that failed, the next one, with the service well again, reported what was missing.
`;

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

/** The table in a report. */
export function tableIn(report: string): Table {
	const rows = report
		.slice(report.indexOf(HEADING), report.indexOf(NEXT_HEADING))
		.split('\n')
		.filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
		.map((line) => line.split('|').slice(1, -1))
		.map((words) => words.map((word) => word.trim()));
	const [[, ...faults] = [], ...operations] = rows;
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

/** The whole report, as Markdown that prettier has yet to align. */
export function renderReport(table: Table): string {
	const faults = Object.values(FAULTS).map(({ title }) => title);
	const rows = [...table].map(([operation, words]) => [operation, ...words.values()]);
	const says = ERRORS.map(([word, , what]) => [word, what]);
	return [
		INTRODUCTION,
		`${HEADING}\n`,
		// Aligned, another operation could change every line.
		'<!-- prettier-ignore -->',
		markdownOf(['Operation', ...faults], rows),
		`\n${NEXT_HEADING}\n`,
		markdownOf(['Word', 'The error says'], says),
	].join('\n');
}

function markdownOf(head: string[], rows: string[][]): string {
	return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

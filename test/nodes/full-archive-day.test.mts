// What Full archive asks of a day, of every service that the specification allows (section 4.2).
import { readFileSync } from 'node:fs';
import type { IDataObject } from 'n8n-workflow';
import { type Entry, RANGES, startAnyService } from '../support/anyService.mts';
import { startLabAt } from '../support/lab.mts';
import { use } from '../support/useNode.mts';
import { workflowWith } from '../support/workflow.mts';

/** Days, and zones in which the clocks change on them. */
const DAYS = [
	['2026-03-01', 'UTC'],
	['2026-10-25', 'Europe/Berlin'],
	['2026-10-03', 'Australia/Sydney'],
	['2026-09-06', 'America/Santiago'],
];
const HOUR = 3_600_000;

interface Example {
	nodes: { name: string; parameters: IDataObject }[];
}

const lab = use(async () => await startLabAt(await startAnyService()));

test.each(RANGES.flatMap((range) => DAYS.map(([day, zone]) => [range, day, zone] as const)))(
	'a range means "%s": every lifelog that starts on %s, UTC, is listed, with a workflow in %s',
	async (range, day, timezone) => {
		const entries = Array.from({ length: 49 }, (_, nth): Entry => {
			const begin = Date.parse(day) + (nth - 12) * HOUR;
			const end = begin + 1.5 * HOUR;
			return { id: String(nth), begin, end, updated: end, created: end };
		});
		lab.service.is = {
			...{ entries, range, edges: 'start', sort: 'begin', turnsTies: true, cursor: 'position' },
			...{ isBound: true, maxPageSize: 10, hour: 'first', offsets: true },
		};
		const { nodes } = JSON.parse(readFileSync('examples/full-archive.json', 'utf8')) as Example;
		const { parameters } = nodes.find(({ name }) => name === 'Lifelogs of the day')!;
		const ofDay = JSON.parse(
			JSON.stringify(parameters).replaceAll(
				/"=\{\{ \$\('A day'\)\.first\(\)\.json\.day \}\}/g,
				`"${day}`,
			),
		) as IDataObject;
		const { items, error } = await lab.engine.runWorkflow({
			...workflowWith('lifelog', { ...ofDay, operation: 'getMany', returnAll: true }),
			settings: { timezone },
		});
		expect(error).toBeUndefined();
		const listed = items('Node').map(({ json }) => json.id);
		const ofTheDay = entries.slice(12, 36).map(({ id }) => id);
		expect(listed).toEqual(expect.arrayContaining(ofTheDay));
	},
);

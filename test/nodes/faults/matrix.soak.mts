import { readFileSync } from 'node:fs';
import { cells, type Group } from './cells.mts';
import { runMatrix } from './run-matrix.mts';
import { REPORT, tableIn, tableOf, withNewer } from './render.mts';
import { KEY_MARK } from './marked-key.mts';

// The cells of the matrix that `npm test` leaves out: `slow` ones wait for time-outs.
const runs = new Map<Group, Awaited<ReturnType<typeof runMatrix>>>();

beforeAll(async () => {
	const run = async (group: Group) => runs.set(group, await runMatrix(group));
	await Promise.all([run('rest'), run('slow')]);
});

describe.each<Group>(['rest', 'slow'])('%s', (group) => {
	test('every cell returns the right data or one clear error, in time, without the key', () => {
		const { outcomes, printed } = runs.get(group)!;
		expect(outcomes.length).toBe(cells([group]).length);
		expect(outcomes.filter(({ problems }) => problems.length > 0)).toEqual([]);
		expect(printed).not.toContain(KEY_MARK);
	});

	test('the table in docs/developer/reliability.csv is up to date (npm run reliability)', () => {
		const told = tableIn(readFileSync(REPORT, 'utf8'));
		expect(told).toEqual(withNewer(told, tableOf(runs.get(group)!.outcomes)));
	});
});

import { readFileSync } from 'node:fs';
import { cells, type Group, type Outcome } from '../reliability/cells.mts';
import { runMatrix } from '../reliability/run-matrix.mts';
import { REPORT, tableIn, tableOf, withNewer } from '../reliability/render.mts';
import { KEY_MARK } from '../reliability/marked-key.mts';

// The cells of the matrix that `npm test` leaves out: `slow` ones wait for time-outs.
describe.each<Group>(['rest', 'slow'])('%s', (group) => {
	let outcomes: Outcome[];
	let printed: string;

	beforeAll(async () => {
		({ outcomes, printed } = await runMatrix(group));
	}, 900_000);

	test('every cell is the right data, or one clear error, in time, and keeps the key', () => {
		expect(outcomes.length).toBe(cells([group]).length);
		expect(outcomes.filter(({ problems }) => problems.length > 0)).toEqual([]);
		expect(printed).not.toContain(KEY_MARK);
	});

	test('the table in docs/reliability.md says what happens (npm run reliability)', () => {
		const told = tableIn(readFileSync(REPORT, 'utf8'));
		expect(told).toEqual(withNewer(told, tableOf(outcomes)));
	});
});

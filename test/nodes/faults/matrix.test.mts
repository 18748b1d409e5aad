import { readFileSync } from 'node:fs';
import { cells, type Outcome } from './cells.mts';
import { KEY_MARK } from './marked-key.mts';
import { REPORT, tableIn, tableOf, withNewer } from './render.mts';
import { runMatrix } from './run-matrix.mts';

// Every fault of a list, a delete, a download and a poll, and five faults of every operation. The
// rest of the matrix is in matrix.soak.mts. Each cell says itself what is wrong with it; see cells.mts.

let outcomes: Outcome[];
let printed: string;

beforeAll(async () => {
	({ outcomes, printed } = await runMatrix('core'));
});

test('every cell returns the right data or one clear error, in time, without the key', () => {
	expect(outcomes.length).toBe(cells(['core']).length);
	expect(outcomes.filter(({ problems }) => problems.length > 0)).toEqual([]);
});

test("n8n's most detailed log doesn't contain the key", () => {
	expect(printed).toContain('Running node "Node"');
	expect(printed).not.toContain(KEY_MARK);
});

test('the table in docs/developer/reliability.csv is up to date (npm run reliability)', () => {
	const told = tableIn(readFileSync(REPORT, 'utf8'));
	expect(told).toEqual(withNewer(told, tableOf(outcomes)));
});

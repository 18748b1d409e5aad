import { readFileSync } from 'node:fs';
import { cells, type Outcome } from './cells.mts';
import { KEY_MARK } from './marked-key.mts';
import { REPORT, tableIn, tableOf, withNewer } from './render.mts';
import { runMatrix } from './run-matrix.mts';

// Every fault of a list, a delete, a download and a poll, and five faults of every operation. The
// rest of the matrix is in test/soak. Each cell says itself what is wrong with it; see cells.mts.

let outcomes: Outcome[];
let printed: string;

beforeAll(async () => {
	({ outcomes, printed } = await runMatrix('core'));
});

test('every cell is the right data, or one clear error, in time, and keeps the key', () => {
	expect(outcomes.length).toBe(cells(['core']).length);
	expect(outcomes.filter(({ problems }) => problems.length > 0)).toEqual([]);
});

test('n8n logs nothing that holds the key, at its most talkative', () => {
	expect(printed).toContain('Running node "Node"');
	expect(printed).not.toContain(KEY_MARK);
});

test('the table in docs/developer/reliability.csv says what happens (npm run reliability)', () => {
	const told = tableIn(readFileSync(REPORT, 'utf8'));
	expect(told).toEqual(withNewer(told, tableOf(outcomes)));
});

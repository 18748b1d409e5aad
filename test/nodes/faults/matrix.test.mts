import { readFileSync } from 'node:fs';
import { size } from '../../support/size.mts';
import { cells, type Group } from './cells.mts';
import { KEY_MARK } from './marked-key.mts';
import { REPORT, tableIn, tableOf, withNewer } from './render.mts';
import { runMatrix } from './run-matrix.mts';

// In npm test every fault of a list, a delete, a download and a poll, and five faults of every operation;
// in npm run test:soak the rest. Each cell says itself what is wrong with it; see cells.mts.
const GROUPS = size<Group[]>(['core'], ['rest', 'slow']);
const runs = new Map<Group, Awaited<ReturnType<typeof runMatrix>>>();

beforeAll(async () => {
	const run = async (group: Group) => runs.set(group, await runMatrix(group));
	await Promise.all(GROUPS.map(run));
});

describe.each(GROUPS)('%s', (group) => {
	test('every cell returns the right data or one clear error, in time, without the key', () => {
		const { outcomes } = runs.get(group)!;
		expect(outcomes.length).toBe(cells([group]).length);
		expect(outcomes.filter(({ problems }) => problems.length > 0)).toEqual([]);
	});

	test("n8n's most detailed log doesn't contain the key", () => {
		const { printed } = runs.get(group)!;
		expect(printed).toContain('Running node "Node"');
		expect(printed).not.toContain(KEY_MARK);
	});

	test('the table in docs/developer/reliability.csv is up to date (npm run reliability)', () => {
		const told = tableIn(readFileSync(REPORT, 'utf8'));
		expect(told).toEqual(withNewer(told, tableOf(runs.get(group)!.outcomes)));
	});
});

// Several input items for which a node does the same: nothing is cached, and a hint says so.
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { FILE } from './faults/operations.mts';
import { withParameters } from './faults/parameters.mts';
import { actions, startTrials } from './faults/properties.mts';
import { byId, workflowWith } from '../support/workflow.mts';
import { use } from '../support/useNode.mts';

const trials = use(startTrials);

async function run(node: string, parameters: IDataObject, input: INodeExecutionData[]) {
	const world = trials.open();
	const result = await trials.engine.runWorkflow(workflowWith(node, parameters), { input });
	const hints = result.hints('Node').map(({ message }) => message);
	return {
		error: result.error?.message,
		requests: world.seen.length,
		hint: hints.find((message) => message.includes('same parameters')),
	};
}

const ITEM = { json: {}, binary: FILE };
const HINT =
	'2 of 3 input items had the same parameters as an earlier one, so the node did the same again. To run it once, turn on Settings → Execute Once.';

/** An upload differs by the file of the item. */
const READS_ITEMS = ['lifelogServer.upload'];

/** A second delete of the same entry fails anyway. */
const OPERATIONS = actions()
	.filter(({ operation }) => operation !== 'delete')
	.map((operation) => [`${operation.node}.${operation.operation}`, operation] as const);

test.each(OPERATIONS)('%s', async (name, operation) => {
	const parameters = withParameters(operation, []);
	const once = await run(operation.node, parameters, [ITEM]);
	const thrice = await run(operation.node, parameters, [ITEM, ITEM, ITEM]);
	expect([once.error, thrice.error]).toEqual([undefined, undefined]);
	expect(once.hint).toBeUndefined();
	expect(thrice.hint).toBe(READS_ITEMS.includes(name) ? undefined : HINT);
	expect(thrice.requests).toBeGreaterThan(2 * once.requests - 2);
});

const items = ['lifelog-a', 'lifelog-b', 'lifelog-a'].map((id) => ({ json: { id } }));

test('items with other parameters are none', async () => {
	const lifelogId = byId('={{ $json.id }}');
	const two = await run('lifelog', { operation: 'get', lifelogId }, items.slice(0, 2));
	expect(two.hint).toBeUndefined();
	const three = await run('lifelog', { operation: 'get', lifelogId }, items);
	expect(three.hint).toMatch(/^1 of 3 input items/);
});

test('Export Lifelogs from its input reads each item', async () => {
	const parameters = { operation: 'export', exportFrom: 'input' };
	expect((await run('lifelog', parameters, [items[0], items[0]])).hint).toBeUndefined();
});

// Several input items, of which one fails: what comes out of it, and that the others are as if they were alone.
import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { engineAt } from '../support/lab.mts';
import { runNode, use } from '../support/useNode.mts';
import { FILE } from './faults/operations.mts';
import { withId } from './faults/parameters.mts';
import { actions, startTrials } from './faults/properties.mts';
import { json, send } from './faults/service.mts';

const trials = use(startTrials);

const OPERATIONS = actions().map(
	(operation) => [`${operation.node}.${operation.operation}`, operation] as const,
);

describe.each(OPERATIONS)('of three items of %s, the second fails', (_name, operation) => {
	const noun = operation.node === 'lifelogChat' ? 'chat' : 'lifelog';
	const input = ['a', 'b', 'c'].map((letter) => ({
		json: { id: `${noun}-${letter}`, note: letter },
		binary: FILE,
	}));
	const error = expect.stringContaining('(418)');
	const failure = { ...input[1].json, error };

	/** Runs items. The service refuses the request with this number. */
	async function run(items: INodeExecutionData[], refused?: number, onError?: INode['onError']) {
		const world = trials.open();
		world.play = ({ response }) => send(response, json(418, { error: 'No' }));
		world.hits = (nth) => nth === refused;
		const parameters = withId(operation, '={{ $json.id }}');
		const options = { input: items, onError };
		const result = await runNode(trials.engine, operation.node, parameters, options);
		return { ...result, requests: world.seen.length };
	}

	/** The same, with the first request of the second item refused. */
	async function runThree(onError?: INode['onError']) {
		const { requests } = await run(input.slice(0, 1));
		return await run(input, requests, onError);
	}

	const outputOf = (items: INodeExecutionData[], nth: number) =>
		items
			.filter(({ pairedItem }) => (pairedItem as { item: number }).item === nth)
			.map((item) => item.json);

	/** That the first and the last item have the output that they have alone. */
	async function expectOthers(items: INodeExecutionData[]) {
		for (const nth of [0, 2]) {
			const alone = await run([input[nth]]);
			expect(alone.message).toBeUndefined();
			expect(alone.json.length).toBeGreaterThan(0);
			expect(outputOf(items, nth)).toEqual(alone.json);
		}
	}

	test('it stops the node, and is named', async () => {
		const { status, error: thrown, json: output } = await runThree();
		expect(status).toBe('error');
		expect(thrown?.message).toEqual(error);
		expect((thrown as unknown as { context: IDataObject }).context.itemIndex).toBe(1);
		expect(output).toEqual([]);
	});

	test('with "continue" it is returned with its input, and the others continue', async () => {
		const result = await runThree('continueRegularOutput');
		const items = result.items('Node');
		expect(outputOf(items, 1)).toEqual([expect.objectContaining(failure)]);
		await expectOthers(items);
	});

	test('with the error output it is returned there, and the others continue', async () => {
		const result = await runThree('continueErrorOutput');
		expect(result.items('Node', 1).map((item) => item.json)).toEqual([failure]);
		expect(outputOf(result.items('Node'), 1)).toEqual([]);
		await expectOthers(result.items('Node'));
	});
});

test('an unsafe Base URL is an error of each item', async () => {
	const unsafe = await engineAt({ url: 'http://example.com' });
	const input = ['a', 'b', 'c'].map((id) => ({ json: { id } }));
	const parameters = { operation: 'getMany' };
	const options = { input, onError: 'continueRegularOutput' } as const;
	const result = await runNode(unsafe, 'lifelog', parameters, options);
	const mustBeSafe = expect.stringContaining('must start with https://');
	expect(result.json.map(({ error }) => error)).toEqual(input.map(() => mustBeSafe));
	await unsafe.close();
});

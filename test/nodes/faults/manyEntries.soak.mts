import type { ServerResponse } from 'node:http';
import type { IDataObject } from 'n8n-workflow';
import { startLabAt } from '../../support/lab.mts';
import { serve } from '../../support/serve.mts';
import { use } from '../../support/useNode.mts';
import { byId, workflowWith } from '../../support/workflow.mts';

// Answers of 200,000 entries.

let answer: (response: ServerResponse) => void;
const lab = use(
	async () => await startLabAt(await serve((_request, response) => answer(response))),
);

const answerJson = (body: unknown) => {
	answer = (response) => {
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify(body));
	};
};

async function run(parameters: IDataObject, node = 'lifelog') {
	const { error, items } = await lab.engine.runWorkflow(workflowWith(node, parameters));
	return { error, items: error ? [] : items('Node').map(({ json }) => json) };
}

describe('200,000', () => {
	const MANY = 200_000;
	const times = { startTime: '2026-03-02T09:00:00Z', endTime: '2026-03-02T09:30:00Z' };

	test.each([
		['in a list', (said: object[]) => said],
		['under a heading', (said: object[]) => [{ type: 'heading1', content: 'A', children: said }]],
	])('utterances %s are all returned', async (_where, contentsOf) => {
		const said = Array.from({ length: MANY }, () => ({ type: 'blockquote', content: 'Yes' }));
		answerJson({ data: { lifelog: { id: 'abc', contents: contentsOf(said) } } });
		const { error, items } = await run({
			operation: 'getTranscript',
			lifelogId: byId('abc'),
			outputAs: 'text',
		});
		expect(error).toBeUndefined();
		expect(String(items[0].text).split('\n')).toHaveLength(MANY);
	});

	test.each([
		['lifelogs', 'lifelog', { operation: 'getMany', returnAll: true }, MANY],
		['lifelogs', 'lifelog', { operation: 'search', query: 'yes', limit: 100 }, 100],
		['chats', 'lifelogChat', { operation: 'getMany', returnAll: true, output: 'raw' }, MANY],
		['chats', 'lifelogChat', { operation: 'getMany', returnAll: true }, MANY],
	])('%s in a page cause no failure (%s %p)', async (name, node, parameters, count) => {
		const entries = Array.from({ length: MANY }, (_, nth) => ({ id: `id-${nth}` }));
		answerJson({ data: { [name]: entries } });
		const { error, items } = await run(parameters, node);
		expect(error).toBeUndefined();
		expect(items).toHaveLength(count);
	});

	test('lifelogs are in a daily summary', async () => {
		const entries = Array.from({ length: MANY }, (_, nth) => ({ id: `id-${nth}`, ...times }));
		answerJson({ data: { lifelogs: entries } });
		const { error, items } = await run({
			operation: 'getDailySummary',
			day: 'date',
			date: '2026-03-02',
		});
		expect(error).toBeUndefined();
		expect(items[0].lifelogs).toHaveLength(MANY);
	});
});

import type { IDataObject } from 'n8n-workflow';
import { byId, workflowWith } from '../../support/workflow.mts';
import { startTrials } from './properties.mts';
import { json, lifelog, LIFELOGS, send } from './service.mts';
import { use } from '../../support/useNode.mts';

// Shapes of answers that are right, and larger than anything seen so far.

const DEPTH = 1000;

const trials = use(startTrials);

/** A lifelog whose contents go down so many levels, something being said on each. */
function deep(): IDataObject {
	let children: object[] = [];
	for (let level = DEPTH; level > 0; level--) {
		children = [{ type: 'blockquote', content: `level ${level}`, speakerName: 'Ann', children }];
	}
	return {
		...lifelog('deep', '2026-03-02T09:00:00.000Z'),
		contents: children,
	} as unknown as IDataObject;
}

async function run(parameters: IDataObject, body: IDataObject) {
	trials.open(body);
	const { engine } = trials;
	const result = await engine.runWorkflow(
		workflowWith('lifelog', { output: 'raw', ...parameters }),
	);
	expect(result.error).toBeUndefined();
	return result.items('Node').map((item) => item.json);
}

test('contents 1,000 levels deep are returned completely', async () => {
	const body = { data: { lifelog: deep() } };
	expect(await run({ operation: 'get', lifelogId: byId('deep') }, body)).toEqual([deep()]);
});

test('contents 1,000 levels deep are listed', async () => {
	const body = { data: { lifelogs: [deep()] }, meta: { lifelogs: { count: 1 } } };
	const options = { includeContents: true };
	expect(await run({ operation: 'getMany', options }, body)).toEqual([deep()]);
});

test('a transcript 1,000 levels deep is read in order', async () => {
	const said = await run(
		{ operation: 'getTranscript', lifelogId: byId('deep') },
		{ data: { lifelog: deep() } },
	);
	expect(said.map(({ text }) => text)).toEqual(
		Array.from({ length: DEPTH }, (_, index) => `level ${index + 1}`),
	);
});

test('a day 1,000 levels deep is summarized', async () => {
	const body = { data: { lifelogs: [deep()] }, meta: { lifelogs: { count: 1 } } };
	const day = { day: 'date', date: '2026-03-02' };
	const [summary] = await run({ operation: 'getDailySummary', ...day }, body);
	expect(summary).toMatchObject({ lifelogCount: 1, speakers: ['Ann'] });
});

test('paging ends if the pages have fresh cursors but nothing new', async () => {
	let cursor = 0;
	const world = trials.open();
	world.play = ({ response }) => {
		const meta = { lifelogs: { nextCursor: `fresh-${cursor++}` } };
		send(response, json(200, { data: { lifelogs: LIFELOGS }, meta }));
	};
	const asked = async (parameters: IDataObject) => {
		world.seen.length = 0;
		const workflow = workflowWith('lifelog', { operation: 'getMany', ...parameters });
		const { error } = await trials.engine.runWorkflow(workflow);
		expect(error?.message).toContain('50 pages in a row with nothing new');
		return world.seen.length;
	};
	expect(await asked({ limit: 1000 })).toBe(51);
	// Several places are read at once, each of which may have been at such a page.
	expect(await asked({ returnAll: true })).toBeLessThanOrEqual(65);
});

import { use } from '../../support/useNode.mts';
import { workflowWith } from '../../support/workflow.mts';
import { startTrials } from './properties.mts';
import { json, LIFELOGS, send } from './service.mts';

const trials = use(startTrials);

test('paging ends if the pages have fresh cursors but nothing new', async () => {
	let cursor = 0;
	const world = trials.open();
	world.play = ({ response }) => {
		const meta = { lifelogs: { nextCursor: `fresh-${cursor++}` } };
		send(response, json(200, { data: { lifelogs: LIFELOGS }, meta }));
	};
	const asked = async (parameters: object) => {
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

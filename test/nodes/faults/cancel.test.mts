import { setTimeout as sleep } from 'node:timers/promises';
import { endsSoon } from '../../support/soon.mts';
import { workflowWith } from '../../support/workflow.mts';
import { FILE } from './operations.mts';
import { withParameters } from './parameters.mts';
import { actions, startTrials } from './properties.mts';
import { use } from '../../support/useNode.mts';

// Cancelling ends a request that is under way; waits and downloads: test/nodes.

const trials = use(startTrials);

test.each(actions().map((operation) => [operation.node, operation.operation, operation] as const))(
	"%s %s ends at once if the execution is canceled while the service doesn't respond",
	async (node, _operation, operation) => {
		const world = trials.open();
		let isGone = false;
		world.play = ({ request }) => void request.socket.once('close', () => (isGone = true));
		const { engine } = trials;
		const workflow = workflowWith(node, withParameters(operation, []));
		const running = engine.startWorkflow(workflow, { input: [{ json: {}, binary: FILE }] });
		const ended = running.done.then(({ error }) => {
			if (world.seen.length === 0) throw new Error(`It ended without a request: ${error?.message}`);
		});
		while (world.seen.length === 0) await Promise.race([sleep(10), ended]);
		running.cancel();
		expect(await endsSoon(running.done)).toBe(true);
		expect((await running.done).status).toBe('canceled');
		while (!isGone) await sleep(10);
		expect(world.seen.length).toBe(1);
	},
);

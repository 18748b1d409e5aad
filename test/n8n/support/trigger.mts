import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import type { WorkflowJson } from '../../support/engine.mts';
import { workflowWith } from '../../support/workflow.mts';
import { activateWhile, type Lab } from './lab.mts';
import { TIMEOUT_MS, type Execution } from './rest.mts';

/** How often the trigger of {@link triggerWorkflow} polls, in s. */
const POLL_EVERY_S = 5;

/** Poll times of a trigger. n8n polls at most once a minute; twelve times a minute is every five seconds. */
export const pollTimesEvery = (seconds: number) => ({
	item: Array.from({ length: 60 / seconds }, (_, nth) => ({
		mode: 'custom',
		cronExpression: `${nth * seconds} * * * * *`,
	})),
});

export const pollTimes = pollTimesEvery(POLL_EVERY_S);

/** A workflow of the Lifelog Trigger, named `Node`, that polls every five seconds unless its parameters say else. */
function triggerWorkflow({ credentials }: Lab, parameters: IDataObject): WorkflowJson {
	const node = { pollTimes, ...parameters };
	const { nodes, settings } = workflowWith('lifelogTrigger', node, { credentials });
	return { nodes: [nodes[1]], connections: {}, settings };
}

/**
 * Stores and activates a workflow of the Lifelog Trigger and returns its id.
 *
 * @param test See {@link activateWhile}; without it the workflow stays active.
 */
export async function activateTrigger(
	lab: Lab,
	parameters: IDataObject,
	test?: TestContext,
): Promise<string> {
	const { id } = await lab.rest.createWorkflow(triggerWorkflow(lab, parameters));
	if (test) await activateWhile(test, lab, id);
	else await lab.rest.activate(id);
	return id;
}

/** Everything a trigger has emitted so far, in order. Waits for executions under way. */
export async function emitted({ rest }: Lab, workflowId: string): Promise<IDataObject[]> {
	const items: IDataObject[] = [];
	for (const { id } of await rest.executions(workflowId)) {
		items.push(...(await rest.execution(id)).json('Node'));
	}
	return items;
}

/**
 * Waits until there are so many items in all, and returns them.
 *
 * @param read Gives the items that are there so far; see {@link emitted}.
 */
export async function whenEmitted(
	read: () => Promise<IDataObject[]>,
	count: number,
	timeoutMs = TIMEOUT_MS,
): Promise<IDataObject[]> {
	const deadline = Date.now() + timeoutMs;
	for (;;) {
		const items = await read();
		if (items.length >= count) return items;
		if (Date.now() > deadline) {
			throw new Error(`${items.length} items instead of ${count} after ${timeoutMs / 1000} s`);
		}
		await sleep(1_000);
	}
}

/** Waits until the workflow has an execution that failed with this message, and returns it. */
export async function whenFailed(
	{ rest }: Lab,
	workflowId: string,
	message: RegExp,
	timeoutMs = TIMEOUT_MS,
): Promise<Execution> {
	const deadline = Date.now() + timeoutMs;
	for (;;) {
		for (const { id, status } of await rest.executions(workflowId)) {
			if (status !== 'error') continue;
			const failed = await rest.execution(id);
			if (message.test(String(failed.error?.message))) return failed;
		}
		if (Date.now() > deadline) throw new Error(`No failed execution in ${timeoutMs / 1000} s`);
		await sleep(1_000);
	}
}

/** Waits until the trigger has certainly polled once more. */
export async function anotherPoll(everyS = POLL_EVERY_S): Promise<void> {
	await sleep(2000 * everyS);
}

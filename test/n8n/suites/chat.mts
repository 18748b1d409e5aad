import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import { byId } from '../../support/workflow.mts';
import { useLab } from '../support/lab.mts';
import { runNode, type RunNodeOptions } from '../support/nodes.mts';

const lab = useLab();

const run = async (parameters: IDataObject, options?: RunNodeOptions) => {
	const execution = await runNode(lab(), 'lifelogChat', parameters, options);
	return { ...execution, output: execution.json('Node') };
};
const chats = async () =>
	(await lab().sandbox.control.chats()).filter(({ owner }) => owner === 'self').reverse();
const SIMPLE_FIELDS = [
	...['id', 'summary', 'createdAt', 'startedAt', 'prompt', 'response'],
	...['messageCount', 'entries', 'hasToolError'],
];

describe('the operation', () => {
	test('Get Many lists the newest, simplified', async () => {
		const { status, output, items } = await run({ operation: 'getMany', limit: 3 });
		assert.equal(status, 'success');
		const ids = (await chats()).map(({ id }) => id);
		assert.deepEqual(
			output.map(({ id }) => id),
			ids.slice(0, 3),
		);
		for (const chat of output)
			assert.deepEqual(Object.keys(chat).sort(), [...SIMPLE_FIELDS].sort());
		assert.deepEqual(items('Node')[2].pairedItem, { item: 0 });
	});

	test('Get Many with Return All lists those of a scheduled prompt', async () => {
		const { globalPromptId } = (await chats()).find((chat) => chat.globalPromptId)!;
		const filters = { isScheduled: true, globalPromptId };
		const { output } = await run({ operation: 'getMany', returnAll: true, filters });
		const wanted = (await chats()).filter((chat) => chat.globalPromptId === globalPromptId);
		assert.deepEqual(
			output.map(({ id }) => id),
			wanted.map(({ id }) => id),
		);
	});

	test('Get reads one, simplified or as the service sends it', async () => {
		const [{ id, messages }] = await chats();
		const parameters = { operation: 'get', chatId: byId(id) };
		const { output: simple } = await run(parameters);
		assert.equal(simple.length, 1);
		assert.equal(simple[0].id, id);
		assert.equal(simple[0].messageCount, messages.length);
		const { output: raw } = await run({ ...parameters, output: 'raw' });
		assert.equal((raw[0].messages as unknown[]).length, messages.length);
	});

	test('Delete deletes a chat once', async () => {
		const [{ id }] = await chats();
		const parameters = { operation: 'delete', chatIdToDelete: byId(id) };
		const { output } = await run(parameters);
		assert.deepEqual(output, [{ deleted: true, id }]);
		assert.ok(!(await chats()).some((chat) => chat.id === id));
		const again = await run(parameters);
		assert.equal(again.error?.message, `No chat with the ID "${id}" was found`);
	});
});

test('the list to choose a chat from shows the newest first', async () => {
	const { results } = await lab().rest.listSearch({
		path: 'parameters.chatId',
		methodName: 'searchChats',
		nodeTypeAndVersion: { name: 'n8n-nodes-lifelog.lifelogChat', version: 1 },
		currentNodeParameters: { operation: 'get', resource: 'chat' },
		credentials: lab().credentials as unknown as IDataObject,
	});
	assert.equal(results[0].value, (await chats())[0].id);
});

describe('an error', () => {
	const message = 'No chat with the ID "nobody" was found';
	const parameters = { operation: 'get', chatId: byId('={{ $json.id }}') };
	const three = async () => {
		const [first, second] = await chats();
		return [{ id: first.id }, { id: 'nobody', note: 'keep' }, { id: second.id }];
	};

	test('names its item', async () => {
		const { status, error } = await run(parameters, { input: await three() });
		assert.equal(status, 'error');
		assert.equal(error?.message, message);
		assert.equal((error as { context?: IDataObject }).context?.itemIndex, 1);
	});

	test('with On Error: Continue is returned with its input, and the other items continue', async () => {
		const input = await three();
		const { output } = await run(parameters, { input, onError: 'continueRegularOutput' });
		assert.deepEqual(
			output.map(({ id }) => id),
			input.map(({ id }) => id),
		);
		const { errorDetails, ...failed } = output[1];
		assert.deepEqual(failed, { id: 'nobody', note: 'keep', error: message });
		assert.equal((errorDetails as IDataObject).code, '404');
	});

	test('with On Error: Continue (using error output) is returned there, and the other items continue', async () => {
		const input = await three();
		const { output, json } = await run(parameters, { input, onError: 'continueErrorOutput' });
		assert.deepEqual(
			output.map(({ id }) => id),
			[input[0].id, input[2].id],
		);
		assert.deepEqual(json('Node', 1), [{ id: 'nobody', note: 'keep', error: message }]);
	});
});

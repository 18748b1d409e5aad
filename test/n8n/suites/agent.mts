// The Lifelog node as a tool of n8n's AI Agent, with a model that follows a script.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Lifelog } from '../../../nodes/shared/api-types.ts';
import { agentWorkflow, type TOOLS } from '../support/agent.mts';
import { addFindable, startLab, type Lab } from '../support/lab.mts';
import type { Execution } from '../support/rest.mts';
import {
	startScriptedModel,
	type ModelRequest,
	type Script,
	type ScriptedModel,
} from '../support/scripted-model.mts';

let lab: Lab;
let model: ScriptedModel;
let openAi: { id: string; name: string };
let lifelog: Lifelog;

before(async () => {
	lab = await startLab();
	model = await startScriptedModel();
	openAi = await lab.rest.createCredential(
		'openAiApi',
		{ apiKey: 'none', url: model.url },
		'Model',
	);
});
beforeEach(async () => {
	lifelog = await addFindable(lab);
});
after(async () => {
	await model?.close();
	await lab?.close();
});

/** Asks the agent a question while the model plays its script. */
async function ask(tools: Array<keyof typeof TOOLS>, script: Script): Promise<Execution> {
	model.play(script);
	return await lab.rest.execute(agentWorkflow(lab, openAi, tools, 'What was said?'));
}

/** What the tool that was called last told the model. */
const lastResult = ({ messages }: ModelRequest) =>
	messages.filter(({ role }) => role === 'tool').at(-1)!.content;
const exists = async () =>
	(await lab.sandbox.control.lifelogs()).some(({ id }) => id === lifelog.id);

describe('an agent that may search and read', () => {
	test('is told what its tools do, and of no way to delete', async () => {
		const { error } = await ask(['search', 'get'], [() => 'Nothing.']);
		assert.equal(error, undefined);
		const [{ tools }] = model.requests();
		assert.deepEqual(
			tools
				.map(({ name, description, parameters }) => [
					name,
					description,
					Object.keys(parameters.properties),
				])
				.sort(),
			[
				['Get_lifelog', 'Get lifelog in Lifelog', ['lifelog_id']],
				['Search_lifelogs', 'Search lifelogs in Lifelog', ['query']],
			],
		);
	});

	test('searches and reads a lifelog', async () => {
		const { status, json } = await ask(
			['search', 'get'],
			[
				() => ({ tool: 'Search_lifelogs', args: { query: lifelog.title } }),
				(request) => {
					const found: Lifelog[] = JSON.parse(lastResult(request));
					const { id } = found.find((each) => each.id === lifelog.id)!;
					return { tool: 'Get_lifelog', args: { lifelog_id: id } };
				},
				(request) => `It says: ${lastResult(request)}`,
			],
		);
		assert.equal(status, 'success');
		const [{ output }] = json('Agent');
		for (const { content } of lifelog.contents.slice(0, 5)) {
			assert.ok(String(output).includes(JSON.stringify(content).slice(1, -1)), content);
		}
	});

	test('chooses the day and the format of a summary', async () => {
		const args = { day: 'today', format: 'slack' };
		const { status } = await ask(
			['summary'],
			[() => ({ tool: 'Get_daily_summary', args }), () => 'Done.'],
		);
		assert.equal(status, 'success');
		const [summary] = JSON.parse(lastResult(model.requests()[1]));
		assert.equal(summary.date, new Date().toISOString().slice(0, 10));
		assert.ok(summary.messages.length > 0);
	});

	test('exports a lifelog, and is told where the file belongs', async () => {
		const args = { lifelog_id: lifelog.id };
		const { status } = await ask(
			['export'],
			[() => ({ tool: 'Export_lifelogs', args }), () => 'Done.'],
		);
		assert.equal(status, 'success');
		const told = lastResult(model.requests()[1]);
		assert.match(told, new RegExp(`lifelogs/[\\d/]+/[\\w-]+_${lifelog.id}\\.srt`));
	});

	test('is told when there is no such lifelog', async () => {
		const { json } = await ask(
			['search', 'get'],
			[
				() => ({ tool: 'Get_lifelog', args: { lifelog_id: 'nobody' } }),
				(request) => lastResult(request),
			],
		);
		assert.match(
			String(json('Agent')[0]?.output),
			/No lifelog with the ID \\?"nobody\\?" was found/,
		);
	});

	test('cannot delete by calling a tool that was not wired', async () => {
		await ask(
			['search', 'get'],
			[
				() => ({ tool: 'Delete_lifelog', args: { lifelog_id: lifelog.id } }),
				() => 'It did not work.',
			],
		);
		assert.ok(await exists());
	});

	test('cannot turn another tool into a delete', async () => {
		const args = { lifelog_id: lifelog.id, operation: 'delete' };
		await ask(['search', 'get'], [() => ({ tool: 'Get_lifelog', args }), () => 'Done.']);
		assert.ok(await exists());
		assert.match(lastResult(model.requests()[1]), new RegExp(lifelog.id));
	});
});

describe('an agent that may delete', () => {
	test('is told that it is permanent', async () => {
		await ask(['delete', 'deleteChat'], [() => 'Nothing.']);
		const [{ tools }] = model.requests();
		assert.deepEqual(tools.map(({ name, description }) => [name, description]).sort(), [
			['Delete_chat', 'Delete chat permanently in Lifelog Chat'],
			['Delete_lifelog', 'Delete lifelog permanently in Lifelog'],
		]);
	});

	test('deletes', async () => {
		const { status } = await ask(
			['delete'],
			[
				() => ({ tool: 'Delete_lifelog', args: { lifelog_id: lifelog.id } }),
				(request) => lastResult(request),
			],
		);
		assert.equal(status, 'success');
		assert.equal(await exists(), false);
	});
});

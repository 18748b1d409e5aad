// An answer for another ID than the one requested: nothing is made of it.
import type { IDataObject } from 'n8n-workflow';
import { type Lab, startLab } from '../support/lab.mts';
import { byId, workflowWith } from '../support/workflow.mts';

let lab: Lab;

beforeAll(async () => {
	lab = await startLab(3);
});
afterAll(async () => await lab.close());

const OPERATIONS: Array<[node: string, operation: string, parameters: IDataObject]> = [
	['lifelog', 'get', {}],
	['lifelog', 'getTranscript', {}],
	['lifelog', 'export', { exportFrom: 'lifelog' }],
	['lifelogAudio', 'download', {}],
	['lifelogChat', 'get', {}],
];

test.each(OPERATIONS)('%s, %s', async (type, operation, parameters) => {
	const noun = type === 'lifelogChat' ? 'chat' : 'lifelog';
	const [asked, other] =
		noun === 'chat' ? await lab.sandbox.control.chats() : await lab.sandbox.control.lifelogs();
	await lab.sandbox.control.faults([{ body: { data: { [noun]: other } } }]);
	const workflow = workflowWith(type, { operation, ...parameters, [`${noun}Id`]: byId(asked.id) });
	const { error, items } = await lab.engine.runWorkflow(workflow);
	expect(error?.message).toContain(`it has another ${noun} than the one requested`);
	expect(error?.message).toContain(asked.id);
	expect(items('Node')).toEqual([]);
});

test('is no answer for an item of the trigger that is read in full', async () => {
	const [asked, other] = await lab.sandbox.control.lifelogs();
	await lab.sandbox.control.faults([{ body: { data: { lifelog: other } } }]);
	const parameters = { operation: 'export', exportFrom: 'input', fileFormats: ['json'] };
	const input = [{ json: { id: asked.id, title: asked.title } }];
	const { error, items } = await lab.engine.runWorkflow(workflowWith('lifelog', parameters), {
		input,
	});
	expect(error?.message).toContain('it has another lifelog than the one requested');
	expect(items('Node')).toEqual([]);
});

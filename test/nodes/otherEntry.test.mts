// An answer for another ID than the one requested: nothing is made of it.
import type { IDataObject } from 'n8n-workflow';
import { useNode } from '../support/useNode.mts';
import { byId } from '../support/workflow.mts';

const { sandbox, run } = useNode('lifelog', { days: 3 });

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
		noun === 'chat' ? await sandbox.control.chats() : await sandbox.control.lifelogs();
	await sandbox.control.faults([{ body: { data: { [noun]: other } } }]);
	const chosen = { operation, ...parameters, [`${noun}Id`]: byId(asked.id) };
	const { message, json } = await run(chosen, { type });
	expect(message).toContain(`it has another ${noun} than the one requested`);
	expect(message).toContain(asked.id);
	expect(json).toEqual([]);
});

test('is no answer for an item of the trigger that is read in full', async () => {
	const [asked, other] = await sandbox.control.lifelogs();
	await sandbox.control.faults([{ body: { data: { lifelog: other } } }]);
	const parameters = { operation: 'export', exportFrom: 'input', fileFormats: ['json'] };
	const input = [{ json: { id: asked.id, title: asked.title } }];
	const { message, json } = await run(parameters, { input });
	expect(message).toContain('it has another lifelog than the one requested');
	expect(json).toEqual([]);
});

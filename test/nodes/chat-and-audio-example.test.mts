import { readFile } from 'node:fs/promises';
import type { WorkflowJson } from '../support/engine.mts';
import { useNode } from '../support/useNode.mts';
import { withCredential } from '../support/workflow.mts';

const { sandbox, engine } = useNode('lifelog', { days: 3 });

test('examples/chat-and-audio.json returns the latest chat and audio', async () => {
	const workflow = JSON.parse(
		await readFile('examples/chat-and-audio.json', 'utf8'),
	) as WorkflowJson;
	const { status, items } = await engine.runWorkflow(withCredential(workflow));
	expect(status).toBe('success');

	const chats = await sandbox.control.chats();
	const scheduled = chats.filter(({ globalPromptId }) => globalPromptId !== null);
	expect(items('Latest scheduled chat').map(({ json }) => json.id)).toEqual([scheduled.at(-1)!.id]);

	const latest = (await sandbox.control.lifelogs()).at(-1)!;
	const [file, ...rest] = items('Download audio');
	expect(rest).toEqual([]);
	expect(file.json).toMatchObject({
		lifelogId: latest.id,
		startMs: Date.parse(latest.startTime),
		endMs: Date.parse(latest.endTime),
	});
	expect(file.binary!.data.bytes).toBe(file.json.fileSize);
});

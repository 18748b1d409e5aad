import type { IDataObject } from 'n8n-workflow';
import { useNode } from '../../support/useNode.mts';
import { byId } from '../../support/workflow.mts';

const { sandbox, run } = useNode('lifelog', { days: 3, usual: { operation: 'getTranscript' } });

const anyLifelog = async () => (await sandbox.control.lifelogs())[20];

const transcript = async (parameters: IDataObject = {}) => {
	const { id } = await anyLifelog();
	return await run({ lifelogId: byId(id), ...parameters });
};

test('returns one item for each utterance', async () => {
	const lifelog = await anyLifelog();
	const { json, requests } = await transcript();
	expect(json.length).toBeGreaterThan(1);
	expect(json.map(({ index }) => index)).toEqual(json.map((_, index) => index));
	expect(Object.keys(json[0])).toEqual([
		'speaker',
		'text',
		'startTime',
		'endTime',
		'startOffsetMs',
		'endOffsetMs',
		'speakerIdentifier',
		'index',
		'lifelogId',
	]);
	expect(json[0]).toMatchObject({
		lifelogId: lifelog.id,
		speaker: expect.any(String),
		text: expect.any(String),
		startOffsetMs: expect.any(Number),
	});
	expect(requests[0].query).toMatchObject({ includeContents: 'true', includeMarkdown: 'false' });
});

test('returns only the chosen speakers', async () => {
	const everyone = await transcript();
	const { json } = await transcript({ options: { speakers: ' USER, nobody ' } });
	const byUser = everyone.json.filter(({ speakerIdentifier }) => speakerIdentifier === 'user');
	expect(json).toEqual(byUser);
	expect(json.length).toBeGreaterThan(0);
	expect(json.length).toBeLessThan(everyone.json.length);
});

test('as text is one item', async () => {
	const spoken = await transcript();
	const { json } = await transcript({ outputAs: 'text' });
	const lines = spoken.json.map(({ speaker, text }) => `${speaker}: ${text}`);
	expect(json).toEqual([
		{
			lifelogId: spoken.json[0].lifelogId,
			title: (await anyLifelog()).title,
			text: lines.join('\n'),
		},
	]);
});

test('without contents is empty, and says so', async () => {
	const lifelog = { ...(await anyLifelog()), contents: [] };
	await sandbox.control.faults([{ body: { data: { lifelog } } }]);
	const { json, hint } = await transcript();
	expect(json).toEqual([]);
	expect(hint).toContain('no contents');
});

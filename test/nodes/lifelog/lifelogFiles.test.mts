// The Export operation and lifelog-server archive write the same files.
import type { Lifelog } from '../../../lifelog/api.ts';
import { lifelogFiles } from '../../../server/archive/lifelogFiles.mts';
import { size } from '../../support/size.mts';
import { useNode } from '../../support/useNode.mts';
import { workflowWith } from '../../support/workflow.mts';

const DAYS = size(7, 31);
/** Of the workflow; the option Time Zone of Export is that of the day. */
const ZONE = 'America/St_Johns';

const lab = useNode('lifelog', { binaryMode: 'filesystem' });

/** Every lifelog as the service lists it with contents, in UTC. */
async function listed(): Promise<Lifelog[]> {
	const { url, apiKey } = lab.sandbox;
	const found: Lifelog[] = [];
	let cursor = '';
	do {
		const query = `timezone=UTC&limit=25&includeContents=true${cursor}`;
		const response = await fetch(`${url}/v1/lifelogs?${query}`, {
			headers: { 'x-api-key': apiKey },
		});
		const { data, meta } = await response.json();
		found.push(...data.lifelogs);
		const next = meta.lifelogs.nextCursor;
		cursor = next ? `&cursor=${encodeURIComponent(next)}` : '';
	} while (cursor !== '');
	return found;
}

test(`the lifelogs of ${DAYS} days, and unusual ones, are the same files by Export and by the command 'archive'`, async () => {
	const { control } = lab.sandbox;
	await control.reset({ days: DAYS, dialect: { rateLimit: { max: 1_000_000 } } });
	const said = (content: string, more: object = {}) => ({ type: 'blockquote', content, ...more });
	const odd: Partial<Lifelog>[] = [
		{ title: '', contents: [] },
		{
			title: 'No heading',
			contents: [said(' two\n lines '), said('', { speakerName: 'Anna' })] as never,
		},
		{
			title: 'Speakers',
			contents: [
				{
					type: 'heading2',
					content: '# not a title',
					children: [said('a', { speakerName: 'B"o' })],
				},
				said('b', { speakerIdentifier: 'user', speakerName: 'Me' }),
				said('c', { speakerName: 'Unknown', startOffsetMs: 5000, endOffsetMs: 4000 }),
				{ type: 'paragraph', content: '- a list?' },
				{ type: 'heading1', content: 'Late title', startOffsetMs: 1e15 },
			] as never,
		},
		{
			title: 'The wearer is named late',
			contents: [
				said('a', { speakerIdentifier: 'user' }),
				said('b', { speakerIdentifier: 'user', speakerName: 'Me' }),
				said('c', { speakerName: 'Ann\u0085', startTime: '20260301T101531Z' }),
			] as never,
		},
	];
	for (const [n, lifelog] of odd.entries()) {
		await control.addLifelog({ startTime: `2026-03-01T10:0${n}:30.500Z`, ...lifelog });
	}

	const parameters = {
		...{ operation: 'export', exportFrom: 'service', returnAll: true },
		...{ fileFormats: ['json', 'markdown'], options: { timezone: 'UTC' } },
	};
	const workflow = { ...workflowWith('lifelog', parameters), settings: { timezone: ZONE } };
	const result = await lab.engine.runWorkflow(workflow);
	const exported = new Map<string, string>();
	for (const item of result.items('Node')) {
		exported.set(String(item.json.path), String(await result.binary(item, 'data')));
	}
	const written = new Map<string, string>();
	for (const lifelog of await listed()) {
		const { json, markdown } = lifelogFiles(
			// As the command does, what a list has without contents is read by its ID.
			lifelog.contents.length > 0 ? lifelog : await read(lifelog.id),
			ZONE,
		)!;
		for (const { path, content } of [json, markdown]) written.set(path, content);
	}
	// Two files each; the last day has only begun.
	expect(written.size).toBeGreaterThan((DAYS - 1) * 60);
	expect(Object.fromEntries(written)).toEqual(Object.fromEntries(exported));
});

async function read(id: string): Promise<Lifelog> {
	const { url, apiKey } = lab.sandbox;
	const query = 'timezone=UTC&includeContents=true&includeMarkdown=true&includeHeadings=true';
	const response = await fetch(`${url}/v1/lifelogs/${id}?${query}`, {
		headers: { 'x-api-key': apiKey },
	});
	return (await response.json()).data.lifelog;
}

import { readFileSync } from 'node:fs';
import type { IDataObject } from 'n8n-workflow';
import type { ContentNode } from '../../lifelog/api.ts';
import type { WorkflowJson } from '../support/engine.mts';
import { useNode } from '../support/useNode.mts';
import { byId, withCredential, workflowWith } from '../support/workflow.mts';

// What docs/ shows is what comes out; `…` there stands for anything.

const timezone = 'Europe/Berlin';
const garden = '8f2kQ0pXw1Zr5TnB';
const chat = 'Wq7PzD3uLk0Vn2Xc';

const { sandbox, engine } = useNode('lifelog', { binaryMode: 'filesystem' });

beforeAll(async () => {
	const { control } = sandbox;
	await control.reset({ empty: true, now: '2026-03-02T08:00:00Z' });
	await control.addLifelog({
		id: garden,
		title: 'Planning the garden',
		startTime: '2026-03-01T08:00:00Z',
		endTime: '2026-03-01T08:24:10Z',
		updatedAt: '2026-03-01T09:02:11Z',
		contents: [
			node('heading1', 'Planning the garden'),
			node('heading2', 'What grows in the shade'),
			node('blockquote', 'Ferns would do well there.', 4000, 'Anna'),
			node('blockquote', 'Then let us have some.', 8000, 'Sam'),
		],
	});
	await control.addLifelog({
		title: 'Lunch',
		isStarred: true,
		startTime: '2026-03-01T09:00:00Z',
		endTime: '2026-03-01T09:30:00Z',
		updatedAt: '2026-03-01T09:40:00Z',
		contents: [node('heading1', 'Lunch')],
	});
	const question = { id: '1', text: 'What happened today?', user: { role: 'user' as const } };
	const answer = {
		id: '2',
		text: 'You planned the garden with Anna and Sam.',
		user: { role: 'assistant' as const },
		toolResults: [
			{ isError: false, entriesReturned: [{ id: garden, title: 'Planning the garden' }] },
		],
	};
	const createdAt = '2026-03-01T20:30:00Z';
	await control.addChat({
		id: chat,
		summary: 'Recap of the day',
		createdAt,
		messages: [question, answer].map((message) => ({ ...message, createdAt })) as never,
	});
});

function node(type: string, content: string, startOffsetMs = 0, speakerName?: string): ContentNode {
	const at = (ms: number) => new Date(Date.parse('2026-03-01T08:00:00Z') + ms).toISOString();
	const endOffsetMs = startOffsetMs + 3000;
	const times = { startTime: at(startOffsetMs), endTime: at(endOffsetMs) };
	const speaker = speakerName && { speakerName, speakerIdentifier: null };
	return { type, content, ...times, startOffsetMs, endOffsetMs, ...speaker, children: [] };
}

/** The blocks of code in a document from a heading on, by language. */
function blocks(path: string, heading: string, language: string): string[] {
	const text = readFileSync(path, 'utf8');
	const begin = `\n${text}`.indexOf(`\n${heading}\n`);
	const level = heading.split(' ')[0];
	const fence = new RegExp(`^(\`{3,})(\\w+)\\n([\\s\\S]*?)^\\1$`, 'gm');
	const all = [...text.slice(begin).matchAll(fence)].map(([, , name, code]) => ({ name, code }));
	expect([begin >= 0, level]).toEqual([true, expect.stringMatching(/^#+$/)]);
	return all.filter(({ name }) => name === language).map(({ code }) => code);
}

/** JSON in which a lone `…` stands for a value, or the rest of a list. */
const parse = (text: string) => JSON.parse(text.replace(/(?<=[[,]\s*)…/g, '"…"')) as unknown;

/** What jest compares with: texts with `…` are patterns, and so are lists that end with one. */
function pattern(shown: unknown, real: unknown): unknown {
	if (typeof shown === 'string' && shown.includes('…')) {
		const parts = shown.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
		return expect.stringMatching(new RegExp(`^${parts.join('[\\s\\S]*')}$`));
	}
	if (Array.isArray(shown)) {
		const isOpen = shown.at(-1) === '…';
		const rest = isOpen && Array.isArray(real) ? real.slice(shown.length - 1) : [];
		const items = isOpen ? shown.slice(0, -1) : shown;
		return [...items.map((item, nth) => pattern(item, (real as unknown[])?.[nth])), ...rest];
	}
	if (typeof shown === 'object' && shown !== null) {
		const entries = Object.entries(shown);
		return Object.fromEntries(
			entries.map(([key, value]) => [key, pattern(value, (real as IDataObject)?.[key])]),
		);
	}
	return shown;
}

async function outputOf(type: string, parameters: IDataObject): Promise<IDataObject[]> {
	const workflow = workflowWith(type, parameters);
	const { items, error } = await engine.runWorkflow({ ...workflow, settings: { timezone } });
	if (error) throw error;
	return items('Node').map(({ json }) => json);
}

const summary = async (format: string) => {
	const parameters = { operation: 'getDailySummary', day: 'date', date: '2026-03-01', format };
	return (await outputOf('lifelog', parameters))[0];
};

test('the workflow that you paste runs', async () => {
	const [text] = blocks('docs/quick-start.md', '## A first workflow', 'json');
	const workflow = JSON.parse(text) as WorkflowJson;
	const { items, status } = await engine.runWorkflow(withCredential(workflow));
	expect(status).toBe('success');
	expect(items('Summary of yesterday')[0].json.markdown).toMatch(/^# Daily summary: /);
});

test('a lifelog', async () => {
	const [shown] = blocks('docs/lifelog.md', '# Lifelog', 'json').map(parse);
	const options = { direction: 'asc' };
	const [real] = await outputOf('lifelog', {
		operation: 'getMany',
		output: 'raw',
		limit: 1,
		options,
	});
	expect(real).toEqual(pattern(shown, real));
});

test('an utterance, and a transcript as text', async () => {
	const [, shown] = blocks('docs/lifelog.md', '# Lifelog', 'json').map(parse);
	const parameters = { operation: 'getTranscript', lifelogId: byId(garden) };
	const [real] = await outputOf('lifelog', { ...parameters, outputAs: 'utterances' });
	expect(real).toEqual(pattern(shown, real));
	const [text] = await outputOf('lifelog', { ...parameters, outputAs: 'text' });
	expect(Object.keys(text)).toEqual(['lifelogId', 'title', 'text']);
	expect(readFileSync('docs/lifelog.md', 'utf8')).toContain(String(text.text).split('\n')[0]);
});

test('a daily summary in each format', async () => {
	const [markdown, slack, notion] = blocks('docs/lifelog.md', '## Daily summary', 'json').map(
		parse,
	) as IDataObject[];
	const real = await summary('markdown');
	expect(real).toEqual(pattern(markdown, real));
	expect([real.markdown]).toEqual(blocks('docs/lifelog.md', '## Daily summary', 'md').slice(0, 1));
	for (const [format, shown] of Object.entries({ slack, notion })) {
		const whole = await summary(format);
		expect(whole).toMatchObject(pattern(shown, whole) as IDataObject);
		expect(Object.keys({ ...real, ...shown, markdown: '' }).sort()).toEqual(
			Object.keys({ ...whole, markdown: '' }).sort(),
		);
	}
});

test('a file of a lifelog', async () => {
	const [shown] = blocks('docs/lifelog.md', '## Export', 'json').map(parse);
	const parameters = { operation: 'export', exportFrom: 'lifelog', lifelogId: byId(garden) };
	const [real] = await outputOf('lifelog', parameters);
	expect(real).toEqual(pattern(shown, real));
	expect(Object.keys(real)).toEqual(Object.keys(shown as IDataObject));
});

test('a chat', async () => {
	const [shown] = blocks('docs/chat.md', '# Lifelog Chat', 'json').map(parse);
	const [real] = await outputOf('lifelogChat', { operation: 'get', chatId: byId(chat) });
	expect(real).toEqual(pattern(shown, real));
});

test('a file of audio', async () => {
	const [shown] = blocks('docs/audio.md', '# Lifelog Audio', 'json').map(parse);
	const range = { source: 'timeRange', start: '2026-03-01T09:00', end: '2026-03-01T13:00' };
	const [real] = await outputOf('lifelogAudio', range);
	expect(real).toEqual(pattern(shown, real));
	expect(Object.keys(real)).toEqual(Object.keys(shown as object));
});

test('an item of the trigger', async () => {
	const [shown] = blocks('docs/trigger.md', '# Lifelog Trigger', 'json').map(parse);
	const [, trigger] = workflowWith('lifelogTrigger', {}).nodes;
	const workflow = { nodes: [trigger], connections: {} };
	const { output } = await engine.runPoll(workflow, { mode: 'manual', timezone });
	const real = output![0].map(({ json }) => json).find(({ id }) => id === garden);
	expect(real).toEqual(pattern(shown, real));
});

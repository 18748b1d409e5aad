import type { IDataObject } from 'n8n-workflow';
import type { Chat } from '../../../lifelog/api.ts';
import { engineAt } from '../../support/lab.mts';
import { serve } from '../../support/serve.mts';
import { workflowWith } from '../../support/workflow.mts';
import { idsOf, useChats } from './chats.mts';

// The list of the parameter Chat, from which an entry is picked in the editor.

const { sandbox, engine, ownChats } = useChats();

const list = async (filter?: string, token?: string, options: IDataObject = {}) => {
	const [, node] = workflowWith('lifelogChat', { operation: 'get', options }).nodes;
	return await engine.loadOptions(node, 'searchChats', filter, token);
};

test('continues if the service refuses more than 10 a page', async () => {
	const service = await serve((request, response) => {
		const { searchParams } = new URL(request.url!, 'http://localhost');
		const from = Number(searchParams.get('cursor') ?? 0);
		const isRefused = Number(searchParams.get('limit')) > 10;
		const chats = Array.from({ length: 10 }, (_, nth) => ({ id: `chat-${from + nth}` }));
		const meta = { chats: { nextCursor: String(from + 10) } };
		response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' });
		response.end(JSON.stringify(isRefused ? { error: 'limit' } : { data: { chats }, meta }));
	});
	const own = await engineAt(service);
	const [, node] = workflowWith('lifelogChat', { operation: 'get' }).nodes;
	const first = await own.loadOptions(node, 'searchChats');
	const second = await own.loadOptions(
		node,
		'searchChats',
		undefined,
		first.paginationToken as string,
	);
	const values = [...first.results, ...second.results].map(({ value }) => value);
	expect(values).toEqual(Array.from({ length: 20 }, (_, nth) => `chat-${nth}`));
	await own.close();
	await service.close();
});

test('shows the newest, page by page, by their summary or question', async () => {
	await sandbox.control.dialect({ pages: 'short' });
	const chats = await ownChats();
	const first = await list();
	const second = await list(undefined, first.paginationToken as string);
	const results = [...first.results, ...second.results];
	expect(idsOf(results.map(({ value }) => ({ id: value })))).toEqual(
		idsOf(chats.slice(0, results.length)),
	);
	expect(results.length).toBeGreaterThan(first.results.length);
	for (const [index, { name }] of results.entries()) {
		const { summary, messages } = chats[index];
		expect(name).toMatch(/ · \d{1,2} \w{3} \d{4}, \d\d:\d\d \(America\/New_York\)$/);
		expect(name).toContain(summary ?? messages[0].text);
	}
});

test('shows the first words of a long question in one line, and finds the others', async () => {
	const text = `Who said\n\n${'well '.repeat(13)}${'🌿'.repeat(9)} and then went to the glasshouse?`;
	const messages = [{ id: 'm', createdAt: '2026-02-18T10:00:00Z', text, user: { role: 'user' } }];
	const { id } = await sandbox.control.addChat({
		summary: null,
		createdAt: '2026-02-18T10:00:00Z',
		messages: messages as Chat['messages'],
	});
	const { results } = await list('glasshouse');
	const words = `Who said ${'well '.repeat(13)}${'🌿'.repeat(6)}…`;
	expect(results).toEqual([
		{ name: `${words} · 18 Feb 2026, 05:00 (America/New_York)`, value: id },
	]);
});

test('shows times in the option Time Zone, finds them by their day, and not by the zone', async () => {
	const timezone = 'Asia/Kathmandu';
	const created = { summary: 'A trip', createdAt: '2026-02-18T18:30:00Z' };
	const { id } = await sandbox.control.addChat(created);
	const found = await list('19 feb 2026, 00:15', undefined, { timezone });
	const name = 'A trip · 19 Feb 2026, 00:15 (Asia/Kathmandu)';
	expect(found.results).toEqual([{ name, value: id }]);
	expect((await list('kathmandu', undefined, { timezone })).results).toEqual([]);
});

test('finds the words that you type, also on later pages', async () => {
	const { id } = await sandbox.control.addChat({
		summary: 'About the Lighthouse',
		createdAt: '2026-02-18T10:00:00Z',
	});
	await Promise.all(Array.from({ length: 120 }, () => sandbox.control.addChat()));
	const { results, paginationToken } = await list(' LIGHTHOUSE ');
	expect(results).toEqual([{ name: expect.stringMatching(/^About the Lighthouse · /), value: id }]);
	expect(paginationToken).toBeUndefined();
	expect((await list('nothing like it')).results).toEqual([]);
});

test('looks at five pages at a time, and continues where it stopped', async () => {
	let pages = 0;
	const service = await serve((_request, response) => {
		const chats = [{ id: `chat-${pages}`, summary: 'Another' }];
		response.writeHead(200, { 'content-type': 'application/json' });
		response.end(
			JSON.stringify({ data: { chats }, meta: { chats: { nextCursor: `${++pages}` } } }),
		);
	});
	const own = await engineAt(service);
	const [, node] = workflowWith('lifelogChat', { operation: 'get' }).nodes;
	const part = await own.loadOptions(node, 'searchChats', 'nothing like it');
	expect([pages, part.results]).toEqual([5, []]);
	expect(part.paginationToken).toMatch(/ 5$/);
	await own.close();
	await service.close();
});

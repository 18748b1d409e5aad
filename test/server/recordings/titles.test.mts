import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifelog } from '../../../lifelog/api.ts';
import { firstSentence } from '../../../server/recordings/lifelog.mts';
import { ChatTitles, tryTitle } from '../../../server/recordings/title.mts';
import { findingsIn } from '../../support/findings.mts';
import { startChat, type ChatEndpoint } from '../../support/chat.mts';
import { ask, startLifelogServer, temporaryFolder } from '../sources.mts';

const segments = Array.from({ length: 12 }, (_, n) => ({
	...{ text: `Part ${n} is about the garden.`, speaker: 'Anna' },
	...{ startMs: n * 1000, endMs: n * 1000 + 900 },
}));
const says = {
	title: 'The garden in spring',
	headings: [
		{ title: 'Water', segment: 0 },
		{ title: 'The hose', segment: 4 },
		{ title: 'Lunch', segment: 9 },
	],
};

let chat: ChatEndpoint;
let log: string[];
beforeEach(async () => {
	chat = await startChat();
	log = [];
});
afterEach(() => chat.close());

const write = (given = segments, timeoutMs = 20_000) =>
	tryTitle(new ChatTitles({ url: chat.url, model: 'm', key: undefined }, timeoutMs), given, {
		onProblem: (problem) => log.push(problem),
	});

describe('a server with a chat endpoint', () => {
	const body = {
		startTime: '2026-03-01T08:00:00Z',
		transcript: segments.map(({ text, speaker, startMs, endMs }) => ({
			...{ text, speaker, start: startMs / 1000, end: endMs / 1000 },
		})),
	};

	test('creates lifelogs with title and headings, and without them when it fails', async () => {
		const server = await startLifelogServer(
			temporaryFolder(),
			['--allow-changes', '--chat-url', chat.url, '--chat-model', 'gemma'],
			{ LIFELOG_SERVER_KEY: 'k'.repeat(32), LIFELOG_CHAT_KEY: 'secret-key' },
		);
		const create = async (more: object) => {
			const response = await ask(server, '/v1/lifelogs', {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ ...body, ...more }),
			});
			expect(response.status).toBe(201);
			return (await response.json()).data.lifelog;
		};
		chat.says = says;
		const written = await create({ externalId: 'a' });
		const headings = [
			['heading1', 'The garden in spring', 0, 11_900],
			['heading2', 'Water', 0, 3900],
			['heading2', 'The hose', 4000, 8900],
			['heading2', 'Lunch', 9000, 11_900],
		];
		const headingsOf = (contents: Record<string, unknown>[]) =>
			contents
				.filter(({ type }) => type !== 'blockquote')
				.map(({ type, content, startOffsetMs, endOffsetMs }) => [
					...[type, content, startOffsetMs, endOffsetMs],
				]);
		expect(written.title).toBe('The garden in spring');
		expect(headingsOf(written.contents)).toEqual(headings);
		expect(
			written.contents.findIndex(({ content }: { content: string }) => content === 'The hose'),
		).toBe(6);
		expect(written.markdown).toContain('\n\n## The hose\n\n> Anna: Part 4');
		const [asked] = chat.asked;
		expect(asked).toMatchObject({ model: 'gemma', authorization: 'Bearer secret-key' });
		expect(asked.response_format.type).toBe('json_schema');
		expect(asked.messages.map(({ role }) => role)).toEqual(['system', 'user']);
		expect(asked.messages[1].content.split('\n').map((line) => JSON.parse(line))[4]).toEqual({
			...{ segment: 4, speaker: 'Anna', text: 'Part 4 is about the garden.' },
		});
		// What is given counts.
		expect((await create({ externalId: 'b', title: 'Mine' })).title).toBe('Mine');
		chat.instead = (response) => void response.writeHead(500).end('secret-key');
		const plain = await create({ externalId: 'c' });
		expect(plain.title).toBe('Part 0 is about the garden.');
		expect(headingsOf(plain.contents)).toHaveLength(1);
		expect(server.log).toEqual([
			`Lifelog ${plain.id} has no title yet: the chat endpoint returned 500`,
		]);
		await server.close();
	});

	test('writes what it could not write later, also after a restart, and again on request', async () => {
		const folder = temporaryFolder();
		const args = ['--allow-changes', '--chat-url', chat.url, '--chat-model', 'gemma'];
		let server = await startLifelogServer(folder, args);
		const post = async (path: string, sent: object = {}) =>
			await ask(server, path, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify(sent),
			});
		chat.instead = (response) => void response.writeHead(500).end();
		const made: Lifelog[] = [];
		for (const title of [undefined, 'Mine']) {
			const response = await post('/v1/lifelogs', { ...body, title, externalId: title ?? 'none' });
			made.push((await response.json()).data.lifelog);
		}
		expect(made.map(({ title }) => title)).toEqual(['Part 0 is about the garden.', 'Mine']);
		expect(server.log).toEqual(
			made.map(({ id }) => `Lifelog ${id} has no title yet: the chat endpoint returned 500`),
		);
		const refused = await post(`/v1/lifelogs/${made[0].id}/title`);
		expect([refused.status, (await refused.json()).error]).toEqual([
			...[502, expect.stringContaining('The chat endpoint returned 500')],
		]);
		await server.close();
		// The time of the next try has come meanwhile.
		const queue = new DatabaseSync(join(folder, '.lifelog-index.sqlite.recordings'));
		queue.exec('UPDATE untitled SET next_ms = 0');
		queue.close();
		chat.instead = undefined;
		chat.says = says;
		server = await startLifelogServer(folder, args);
		const read = async (id: string): Promise<Lifelog> =>
			(await (await ask(server, `/v1/lifelogs/${id}`)).json()).data.lifelog;
		const headings = ({ contents }: Lifelog) =>
			contents.filter(({ type }) => type === 'heading2').map(({ content }) => content);
		const wanted = says.headings.map(({ title }) => title);
		for (const { id } of made) while (headings(await read(id)).length === 0) await sleep(50);
		const [first, mine] = [await read(made[0].id), await read(made[1].id)];
		expect([first.title, headings(first), mine.title, headings(mine)]).toEqual([
			...[says.title, wanted, 'Mine', wanted],
		]);
		expect(first.markdown).toContain('# The garden in spring\n\n## Water\n\n> Anna: Part 0');
		expect(first.updatedAt > made[0].updatedAt).toBe(true);
		expect(await findingsIn(folder)).toEqual([]);
		// Asked for, it replaces any title.
		chat.says = { ...says, title: 'Tomatoes' };
		await ask(server, `/v1/lifelogs/${mine.id}`, {
			method: 'PATCH',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ title: 'Edited', speakers: { Anna: 'Berta' } }),
		});
		const answer = await (await post(`/v1/lifelogs/${mine.id}/title`)).json();
		expect([answer.data.lifelog.title, answer.data.lifelog.markdown]).toEqual([
			...['Tomatoes', expect.stringContaining('# Tomatoes\n\n## Water\n\n> Berta: Part 0')],
		]);
		expect(await findingsIn(folder)).toEqual([]);
		expect((await post('/v1/lifelogs/unknown/title')).status).toBe(404);
		await server.close();
	});

	test.each<[string, string[], RegExp]>([
		['an address without a model', ['--chat-url', 'http://127.0.0.1:1/v1'], /together/],
		[
			'http beyond the private network',
			['--chat-url', 'http://example.com/v1', '--chat-model', 'm'],
			/--chat-url must begin with https/,
		],
		[
			'a password in the address',
			['--chat-url', 'https://a:b@example.com/v1', '--chat-model', 'm'],
			/LIFELOG_CHAT_KEY/,
		],
	])('does not start with %s', async (_name, args, problem) => {
		await expect(startLifelogServer(temporaryFolder(), args)).rejects.toThrow(problem);
	});
});

describe('the answer of a model is checked', () => {
	test.each<[string, unknown, object]>([
		['between marks of code', `\`\`\`json\n${JSON.stringify(says)}\n\`\`\``, says],
		['with more than was asked', { ...says, summary: 'x' }, says],
		['without headings', { title: 'A', headings: [] }, { title: 'A', headings: [] }],
		[
			'with headings out of order, twice, and of segments that are not there',
			{
				title: 'A',
				headings: [
					{ title: 'c', segment: 7 },
					{ title: 'b', segment: 2 },
					{ title: 'again', segment: 2 },
					{ title: 'no', segment: 12 },
					{ title: 'no', segment: -1 },
					{ title: ' ', segment: 3 },
				],
			},
			{
				title: 'A',
				headings: [
					{ title: 'b', segment: 2 },
					{ title: 'c', segment: 7 },
				],
			},
		],
		[
			'with twelve headings',
			{ title: 'A', headings: segments.map((_s, segment) => ({ title: 'h', segment })) },
			{
				title: 'A',
				headings: Array.from({ length: 7 }, (_, segment) => ({ title: 'h', segment })),
			},
		],
		[
			'with marks that turn or break a line',
			{ title: '\u202eA\n# B\u0000', headings: [] },
			{ title: 'A # B', headings: [] },
		],
		[
			'too long',
			{ title: 'word '.repeat(100), headings: [] },
			{ title: `${'word '.repeat(15)}word…`, headings: [] },
		],
	])('%s', async (_name, said, expected) => {
		chat.says = said;
		expect(await write()).toEqual(expected);
		expect(log).toEqual([]);
	});

	const json = (value: unknown) => (response: ServerResponse) =>
		void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
	test.each<[string, (response: ServerResponse) => void, RegExp]>([
		['HTML', (response) => void response.end('<html>secret</html>'), /didn't return JSON/],
		['nothing', (response) => void response.end(), /didn't return JSON/],
		['null', json(null), /didn't return a title and headings/],
		['no choice', json({ choices: [] }), /didn't return a title and headings/],
		[
			'an empty message',
			json({ choices: [{ message: { content: null } }] }),
			/didn't return a title and headings/,
		],
		[
			'words',
			json({ choices: [{ message: { content: 'secret' } }] }),
			/didn't return a title and headings/,
		],
		[
			'a list',
			json({ choices: [{ message: { content: '[1]' } }] }),
			/didn't return a title and headings/,
		],
		[
			'no title',
			json({ choices: [{ message: { content: '{"headings":[]}' } }] }),
			/didn't return a title and headings/,
		],
		[
			'an empty title',
			json({ choices: [{ message: { content: '{"title":" ","headings":[]}' } }] }),
			/empty title/,
		],
		['429', (response) => void response.writeHead(429).end(), /returned 429/],
		['a broken connection', (response) => void response.socket!.destroy(), /cannot be reached/],
		[
			'100 MB',
			(response) => {
				const more = () => {
					while (!response.destroyed && response.write('x'.repeat(2 ** 16)));
					if (!response.destroyed) response.once('drain', more);
				};
				more();
			},
			/more than 1 MiB/,
		],
	])("%s isn't accepted as a title", async (_name, instead, problem) => {
		let sent = () => 0;
		chat.instead = (response) => {
			const { socket } = response;
			sent = () => socket!.bytesWritten;
			instead(response);
		};
		expect(await write()).toBeUndefined();
		expect(log).toEqual([expect.stringMatching(problem)]);
		expect(log.join()).not.toContain('secret');
		// What is on its way when enough has come.
		expect(sent()).toBeLessThan(2 ** 25);
	});

	test("an answer that is late or never ends isn't accepted", async () => {
		chat.instead = () => {};
		expect(await write(segments, 100)).toBeUndefined();
		chat.instead = (response) => void response.write('{"choices":');
		expect(await write(segments, 100)).toBeUndefined();
		expect(log).toEqual(Array(2).fill(expect.stringContaining("didn't respond in time")));
	});

	test('nothing is sent to another address', async () => {
		let isAsked = false;
		const other = createServer((_request, response) => {
			isAsked = true;
			response.end('{}');
		});
		other.unref();
		await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
		const { port } = other.address() as AddressInfo;
		chat.instead = (response) =>
			void response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
		expect(await write()).toBeUndefined();
		expect([isAsked, log]).toEqual([false, [expect.stringContaining('another address')]]);
		await new Promise((resolve) => other.close(resolve));
	});

	test('a very long transcript is sent in part, from its start to its end', async () => {
		chat.says = says;
		const long = Array.from({ length: 20_000 }, (_, n) => ({ ...segments[0], text: `Word ${n}.` }));
		await write(long);
		const { content } = chat.asked[0].messages[1];
		expect(content.length).toBeLessThanOrEqual(130_000);
		const numbers = content.split('\n').map((line) => JSON.parse(line).segment);
		expect(numbers[0]).toBe(0);
		expect(numbers.at(-1)).toBeGreaterThan(19_900);
	});
});

describe('without a model, the title is the first sentence', () => {
	const said = (...texts: string[]) => texts.map((text) => ({ text, startMs: 0, endMs: 1 }));
	test.each<[string, string[], string]>([
		['of one segment', ['We are late. Hurry.'], 'We are late.'],
		['of two segments', ['I think', 'we are late. Hurry.'], 'I think we are late.'],
		['in Japanese', ['今日は庭に水をやった。明日も。'], '今日は庭に水をやった。'],
		['cut between words', ['word '.repeat(40)], `${'word '.repeat(15)}word…`],
		['cut in a word', ['x'.repeat(200)], `${'x'.repeat(79)}…`],
		['cut between characters', ['🍅'.repeat(200)], `${'🍅'.repeat(79)}…`],
		['of nothing to read', ['\u202e\u2066'], 'Untitled'],
	])('%s', (_name, texts, expected) => {
		expect(firstSentence(said(...texts))).toBe(expected);
		expect([...expected].length).toBeLessThanOrEqual(80);
	});
});

// Where `lifelog-server archive` sends the API key, and what it writes outside of its folder: nowhere
// else, and nothing.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../support/archiveCommand.mts';
import { lifelogOf } from '../../support/invented.mts';
import { serve, type Served } from '../../support/serve.mts';
import { temporaryFolder } from '../sources.mts';

const KEY = 'a-key-that-nobody-else-may-see';
const lifelog = lifelogOf('a', '2026-03-01T08:00:00Z');

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: IncomingMessage[];
let service: Served;

beforeEach(async () => {
	asked = [];
	answer = answerAsService;
	service = await serve((request, response) => {
		asked.push(request);
		answer(request, response);
	});
});
afterEach(async () => await service.close());

function answerAsService({ url }: IncomingMessage, response: ServerResponse) {
	const { pathname } = new URL(url!, 'http://localhost');
	const answers: Record<string, object> = {
		'/v1/lifelogs': { data: { lifelogs: [lifelog] }, meta: {} },
		'/v1/lifelogs/a': { data: { lifelog } },
		'/v1/chats': { data: { chats: [] }, meta: {} },
	};
	const found = answers[pathname];
	response.setHeader('content-type', 'application/json');
	// It quotes the key where it can.
	response.setHeader('x-key', KEY);
	response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? { error: KEY }));
}

const archive = (folder: string, ...options: string[]) =>
	runCommand(
		[
			...['archive', folder, '--url', service.url, '--rate-limit', '1000000'],
			...['--to', '2026-03-01', ...options],
		],
		{ LIFELOG_API_KEY: KEY },
	);

/** Every file below a folder, as one text. */
const everythingIn = (folder: string) =>
	readdirSync(folder, { recursive: true, encoding: 'utf8' })
		.map((name) => join(folder, name))
		.filter((path) => statSync(path).isFile())
		.map((path) => readFileSync(path, 'latin1'))
		.join('\n');

test('the key is sent only in the header X-API-Key, and appears in no address, output or file', async () => {
	const folder = temporaryFolder();
	const { status, stdout, stderr } = await archive(folder, '--json');
	expect([status, stderr]).toEqual([0, '']);
	expect(asked.length).toBeGreaterThan(12);
	for (const { url, headers } of asked) {
		expect(headers['x-api-key']).toBe(KEY);
		expect(JSON.stringify([url, { ...headers, 'x-api-key': '' }])).not.toContain(KEY);
	}
	expect(stdout + everythingIn(folder)).not.toContain(KEY);
});

test.each([301, 302, 307, 308])('a redirect (%d) is not followed', async (status) => {
	const elsewhere: string[] = [];
	const other = await serve(({ url }, response) => {
		elsewhere.push(url!);
		response.end();
	});
	answer = ({ url }, response) => response.writeHead(status, { location: other.url + url }).end();
	const ended = await archive(join(temporaryFolder(), 'new'));
	await other.close();
	expect(ended.status).toBe(2);
	expect(ended.stderr).toContain('the API key is not sent there');
	expect(elsewhere).toEqual([]);
});

test.each(['500', '401'])(
	'no output or file quotes the text of an error response (%s)',
	async (status) => {
		answer = (_request, response) => response.writeHead(Number(status)).end(`Bad key ${KEY}`);
		const folder = temporaryFolder();
		const ended = await archive(folder);
		expect(ended.status).toBe(2);
		expect(ended.stdout + ended.stderr + everythingIn(folder)).not.toContain(KEY);
	},
);

test.each(['lifelogs', 'days', '.lifelog-drafts'])(
	'nothing is written through a link that leads out of the folder: %s',
	async (name) => {
		const folder = temporaryFolder();
		const outside = temporaryFolder();
		if (name !== 'days') mkdirSync(join(folder, 'days'));
		symlinkSync(outside, join(folder, name), 'junction');
		const { status, stderr } = await archive(folder, '--quiet');
		const says =
			'A file of the archive belongs in a folder that is outside of the archive, because of a link. Remove the link\n';
		// What is left of a run that was killed is removed, and so is a link in its place.
		expect([status, stderr]).toEqual(name === '.lifelog-drafts' ? [0, ''] : [1, says]);
		expect(readdirSync(outside)).toEqual([]);
	},
);

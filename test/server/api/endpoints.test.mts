// What a server says of the endpoints with models that it is given, before anything is sent to them.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Endpoint, type EndpointState } from '../../../server/util/modelEndpoint.mts';
import { serverKey, spawnLifelogServer } from '../../support/lifelogServer.mts';
import { freePorts } from '../../support/ports.mts';
import { buildPage } from '../../support/web.mts';
import { ask, startLifelogServer, temporaryFolder } from '../sources.mts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

/** An endpoint of which only the list of models is asked. */
async function startModels() {
	const requests: { method?: string; url?: string; key?: string }[] = [];
	const endpoint = {
		url: '',
		host: '',
		requests,
		/** What it answers. */
		answer: (_request: IncomingMessage, response: ServerResponse) => void response.end(),
		lists(models: unknown) {
			endpoint.answer = (_request, response) => void response.end(JSON.stringify(models));
		},
		answers(status: number, headers: Record<string, string> = {}) {
			endpoint.answer = (_request, response) =>
				void response.writeHead(status, headers).end('secret');
		},
	};
	const server = createServer((request, response) => {
		const { method, url, headers } = request;
		requests.push({ method, url, key: headers.authorization });
		endpoint.answer(request, response);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	endpoint.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
	endpoint.url = `http://${endpoint.host}/v1`;
	closing.push(async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});
	return endpoint;
}

const modelsOf = (...ids: string[]) => ({ object: 'list', data: ids.map((id) => ({ id })) });

/** What is said of a transcription endpoint with the model `whisper-small`. */
async function stateOf(url: string): Promise<EndpointState> {
	return await new Endpoint({ url, key: 'k' }, 'transcription').stateOf('whisper-small');
}

describe('an endpoint', () => {
	test.each([
		['by its name', modelsOf('whisper-large', 'whisper-small')],
		['with the tag that Ollama adds', modelsOf('whisper-small:latest')],
		['with the folder that Google adds', modelsOf('models/whisper-small')],
		['in a bare list', [{ id: 'whisper-small' }]],
	])('that lists its model %s is ready', async (_how, models) => {
		const endpoint = await startModels();
		endpoint.lists(models);
		expect(await stateOf(endpoint.url)).toEqual({
			...{ name: 'Transcription', host: endpoint.host, model: 'whisper-small' },
			...{ state: 'ready', text: 'ready' },
		});
		expect(endpoint.requests).toEqual([{ method: 'GET', url: '/v1/models', key: 'Bearer k' }]);
	});

	test('without its model names those that it has', async () => {
		const endpoint = await startModels();
		const textOf = async (...ids: string[]) => {
			endpoint.lists(modelsOf(...ids));
			const { state, text } = await stateOf(endpoint.url);
			return [state, text];
		};
		expect(await textOf('whisper-large', 'gemma')).toEqual([
			...['problem', "doesn't list this model. It lists whisper-large, gemma"],
		]);
		expect(await textOf(...'abcdefg')).toEqual([
			...['problem', "doesn't list this model. It lists a, b, c, d, e and 2 more"],
		]);
		expect(await textOf()).toEqual([
			'problem',
			"doesn't list this model. Its list is empty. Download the model into it",
		]);
	});

	test.each([
		[401, 'returned 401. Check the key in LIFELOG_TRANSCRIPTION_KEY'],
		[403, 'returned 403. Check the key in LIFELOG_TRANSCRIPTION_KEY'],
		[500, 'returned 500'],
		[307, 'redirects to another address'],
	])('that answers %i has a problem', async (status, text) => {
		const endpoint = await startModels();
		const other = await startModels();
		endpoint.answers(status, { location: `${other.url}/models` });
		expect(await stateOf(endpoint.url)).toMatchObject({ state: 'problem', text });
		expect(other.requests).toEqual([]);
	});

	test.each([404, 405, 501])('that answers %i has no list', async (status) => {
		const endpoint = await startModels();
		endpoint.answers(status);
		expect(await stateOf(endpoint.url)).toMatchObject({
			state: 'unknown',
			text: `has no list of models (${status}). If the address is right, its first use shows whether it works`,
		});
	});

	test.each(['<html>', '{}', 'null', '{"data":{}}'])(
		'that answers %s has no list',
		async (body) => {
			const endpoint = await startModels();
			endpoint.answer = (_request, response) => void response.end(body);
			expect(await stateOf(endpoint.url)).toMatchObject({ state: 'unknown' });
		},
	);

	test('that is away, silent or endless says so', async () => {
		const [port] = await freePorts(1);
		expect(await stateOf(`http://127.0.0.1:${port}/v1`)).toMatchObject({
			...{ state: 'problem', text: 'cannot be reached (ECONNREFUSED)' },
		});
		const endpoint = await startModels();
		endpoint.answer = () => {};
		expect(await stateOf(endpoint.url)).toMatchObject({ text: "didn't respond in time" });
		endpoint.answer = (_request, response) => {
			const more = () => {
				while (!response.destroyed && response.write('x'.repeat(2 ** 16)));
				if (!response.destroyed) response.once('drain', more);
			};
			more();
		};
		expect(await stateOf(endpoint.url)).toMatchObject({ text: 'returned more than 4 MiB' });
	});
});

/** The options of a server with an endpoint of each kind. */
const allAt = ({ url }: { url: string }) =>
	['transcription', 'diarization', 'chat', 'embeddings'].flatMap((kind) => [
		...[`--${kind}-url`, url, `--${kind}-model`, `${kind}-model`],
	]);

test('a server says at its start how each endpoint is', async () => {
	const endpoint = await startModels();
	endpoint.lists(modelsOf('transcription-model', 'chat-model'));
	const started = spawnLifelogServer(temporaryFolder(), allAt(endpoint), undefined, []);
	const output = await new Promise<string>((resolve) => {
		let said = '';
		started.child.stdout!.on('data', (data) => {
			said += data;
			if (said.includes('Embeddings')) resolve(said);
		});
	});
	started.child.kill();
	await started.exited;
	const unlisted = "doesn't list this model. It lists transcription-model, chat-model";
	const lines = output.split('\n').map((line) => line.trim().replace(/ {2,}/, ': '));
	expect(lines).toEqual(
		expect.arrayContaining([
			`Transcription: ${endpoint.host}, transcription-model: ready`,
			`Diarization: ${endpoint.host}, diarization-model: ${unlisted}`,
			`Chat: ${endpoint.host}, chat-model: ready`,
			`Embeddings: ${endpoint.host}, embeddings-model: ${unlisted}`,
		]),
	);
	// No recording, no words.
	expect(new Set(endpoint.requests.map(({ url }) => url))).toEqual(
		new Set(['/v1/models', '/v1/embeddings']),
	);
});

test('the page is told how they are now, by those who have signed in', async () => {
	buildPage();
	const endpoint = await startModels();
	endpoint.lists(modelsOf('transcription-model'));
	const args = [
		'--transcription-url',
		endpoint.url,
		'--transcription-model',
		'transcription-model',
	];
	const server = await startLifelogServer(temporaryFolder(), args, {
		LIFELOG_SERVER_KEY: serverKey,
		LIFELOG_TRANSCRIPTION_KEY: 'of-the-endpoint',
	});
	closing.push(server.close);
	const states = async () => {
		const { endpoints } = await (await ask(server, '/web/endpoints')).json();
		return endpoints.map(({ name, state }: EndpointState) => [name, state]);
	};
	expect(await states()).toEqual([['Transcription', 'ready']]);
	endpoint.answers(401);
	expect(await states()).toEqual([['Transcription', 'problem']]);
	const answer = await (await ask(server, '/web/endpoints')).text();
	expect(answer).toContain('Check the key in LIFELOG_TRANSCRIPTION_KEY');
	expect(answer).not.toMatch(/secret|of-the-endpoint/);
	const strangers = await fetch(`${server.url}/web/endpoints`);
	expect(strangers.status).toBe(401);
});

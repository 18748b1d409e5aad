// New lifelogs: what Omi sends to the example's webhook, a voice message and a file in a drive are
// reported by the trigger, found, summarized and heard.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import { findingsIn } from '../../support/findings.mts';
import { spawnLifelogServer, type SpawnedServer } from '../../support/lifelogServer.mts';
import { until } from '../../support/soon.mts';
import { hearTones, makeTones } from '../../support/tones.mts';
import {
	startTranscription,
	type TranscriptionEndpoint,
	wordsOf,
} from '../../support/transcription.mts';
import { byId } from '../../support/workflow.mts';
import { importExample, repeat } from '../support/examples.mts';
import { startInternet, type Internet } from '../support/internet.mts';
import { activateWhile, startLab, type Lab } from '../support/lab.mts';
import { runNode } from '../support/nodes.mts';
import type { SavedWorkflow } from '../support/rest.mts';
import { temporaryFolder } from '../support/server.mts';
import {
	activateTrigger,
	anotherPoll,
	emitted,
	pollTimes,
	whenEmitted,
} from '../support/trigger.mts';

const fixtures = resolve(import.meta.dirname, '../../server/recordings/transcripts');
const UID = 'omi-user-1';

let lab: Lab;
let internet: Internet;
let endpoint: TranscriptionEndpoint;
let files: Awaited<ReturnType<typeof temporaryFolder>>;
let server: SpawnedServer;
let archive: Awaited<ReturnType<typeof temporaryFolder>>;
let address: string;
let trigger: string;
let conversation: IDataObject;

before(async () => {
	archive = await temporaryFolder('lifelog-recordings');
	files = await temporaryFolder('lifelog-recorded');
	endpoint = await startTranscription();
	const transcription = ['--transcription-url', endpoint.url, '--transcription-model', 'tones'];
	server = await spawnLifelogServer(archive.path, ['--allow-changes', ...transcription]).ready;
	internet = await startInternet({});
	lab = await startLab({ sandbox: ['--days', '1'], env: internet.env });
	const { url: baseUrl, apiKey } = server;
	const data = { apiKey, baseUrl };
	lab.credentials = {
		lifelogApi: await lab.rest.createCredential('lifelogApi', data, 'lifelog-server'),
	};
	const path = randomUUID();
	const { id } = await importExample(lab, 'omi-to-lifelogs', {
		settings: { uid: UID },
		parameters: { Omi: { path } },
	});
	await lab.rest.activate(id);
	address = `${lab.n8n.url}/webhook/${path}`;
	trigger = await activateTrigger(lab, { event: 'lifelogCreated', output: 'raw' });
	await anotherPoll();
	// As it was a quarter of an hour ago, so that it is today's or yesterday's.
	const from = Date.now() - 900_000;
	conversation = {
		...JSON.parse(await readFile(join(fixtures, 'omi-webhook.json'), 'utf8')),
		started_at: new Date(from).toISOString(),
		finished_at: new Date(from + 18_000).toISOString(),
	};
});
after(async () => {
	try {
		await lab?.close();
		await server?.close();
	} finally {
		await endpoint?.close();
		await internet?.close();
		await files?.remove();
		await archive?.remove();
	}
});

/** Sends it as Omi does. */
async function send(uid: string, body: IDataObject = conversation): Promise<number> {
	const response = await fetch(`${address}?uid=${uid}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
	await response.text();
	return response.status;
}

const run = async (operation: string, parameters: IDataObject) =>
	(await runNode(lab, 'lifelog', { operation, ...parameters })).json('Node');

test('a conversation of Omi becomes a lifelog, which the trigger reports', async () => {
	assert.equal(await send(UID), 200);
	const [reported, ...rest] = await whenEmitted(() => emitted(lab, trigger), 1);
	assert.deepEqual(rest, []);
	assert.equal(reported.title, 'A leaking garden hose');
	assert.equal(reported.changeType, 'created');
	assert.equal(Date.parse(String(reported.startTime)), Date.parse(String(conversation.started_at)));
});

test('search and the summary of its day find it', async () => {
	const [{ id }] = await emitted(lab, trigger);
	assert.deepEqual(
		(await run('search', { query: 'hose leaking' })).map((found) => found.id),
		[id],
	);
	const date = String(conversation.started_at).slice(0, 10);
	const [summary] = await run('getDailySummary', { day: 'date', date });
	assert.match(String(summary.markdown), /A leaking garden hose/);
	assert.deepEqual(summary.speakers, ['You', 'Anna', 'SPEAKER_02']);
});

test('the same conversation again, or one of somebody else, creates no lifelog', async () => {
	assert.equal(await send(UID), 200);
	assert.equal(await send('somebody-else', { ...conversation, id: 'another' }), 200);
	assert.equal(await send(UID, { ...conversation, id: 'third', discarded: true }), 200);
	await anotherPoll();
	assert.equal((await run('getMany', { returnAll: true })).length, 1);
	assert.equal((await emitted(lab, trigger)).length, 1);
});

describe('a voice message to a bot', () => {
	const ME = 4711;
	let workflow: SavedWorkflow;
	let audio: Buffer;
	/** Where Telegram sends what the bot is told, as the trigger asked for it. */
	let bot: { url: string; allowed_updates: string[]; secret_token: string };
	/** When the message was sent, in whole seconds. */
	const sent = Math.floor(Date.now() / 1000) - 3_600;

	before(async () => {
		const path = join(files.path, 'voice.ogg');
		await makeTones(path, { seconds: 6 });
		audio = await readFile(path);
		internet.answer('api.telegram.org', ({ path: asked, body }) => {
			if (asked.startsWith('/file/')) return audio;
			const method = asked.split('/').at(-1)!.split('?')[0];
			if (method === 'setWebhook') bot = body as typeof bot;
			const results: IDataObject = {
				getFile: { file_id: 'voice-1', file_path: 'voice/file_7.oga' },
				getWebhookInfo: { url: '' },
			};
			return { ok: true, result: results[method] ?? { message_id: 1 } };
		});
		const telegram = { accessToken: '1:test', baseUrl: 'https://api.telegram.org' };
		await lab.rest.createCredential('telegramApi', telegram, 'Telegram account');
		workflow = await importExample(lab, 'voice-message-to-lifelog', { settings: { me: `${ME}` } });
		await lab.rest.activate(workflow.id);
	});

	const message = (
		from = ME,
		more: IDataObject = { voice: { file_id: 'voice-1', duration: 6 } },
	) => ({
		message: { from: { id: from }, chat: { id: from, type: 'private' }, date: sent, ...more },
	});
	const replies = () =>
		internet
			.sent('api.telegram.org')
			.filter(({ path }) => path.endsWith('/sendMessage'))
			.map(({ body }) => body);
	/** Sends an update as Telegram does. */
	async function deliver(update: IDataObject, secret = bot.secret_token): Promise<number> {
		const headers = {
			'content-type': 'application/json',
			'x-telegram-bot-api-secret-token': secret,
		};
		const body = JSON.stringify({ update_id: 1, ...update });
		return (await fetch(bot.url, { method: 'POST', headers, body })).status;
	}
	/** Tells the bot something; gives its answer. */
	async function say(what: IDataObject): Promise<IDataObject> {
		const before = replies().length;
		assert.equal(await deliver(what), 200);
		await until(() => replies().length > before, 200);
		return replies()[before];
	}

	test('becomes a lifelog, and the bot answers with title and transcript', async () => {
		const before = (await emitted(lab, trigger)).length;
		const { chat_id, text, parse_mode } = await say(message());
		assert.deepEqual([String(chat_id), parse_mode], [`${ME}`, 'HTML']);
		assert.match(String(text), /^<b>Tone 0\.<\/b> · \d+ \w+ \d{4}, \d\d:\d\d\n/);
		assert.ok(String(text).includes(wordsOf(3)));
		const reported = (await whenEmitted(() => emitted(lab, trigger), before + 1)).at(-1)!;
		assert.equal(Date.parse(String(reported.startTime)) / 1000, sent - 6);
	});

	test('is found by search, with its audio', async () => {
		const { id } = (await emitted(lab, trigger)).at(-1)!;
		const found = await run('search', { query: 'tone' });
		assert.deepEqual(
			found.map((each) => each.id),
			[id],
		);
		const execution = await runNode(lab, 'lifelogAudio', {
			operation: 'download',
			lifelogId: byId(id),
		});
		const heard = join(files.path, 'heard.ogg');
		const [item] = execution.items('Node');
		const downloaded = await (await lab.rest.binary(item)).arrayBuffer();
		await writeFile(heard, Buffer.from(downloaded));
		const seconds = (await hearTones(heard)).map(({ second }) => second);
		assert.deepEqual(seconds, [0, 1, 2, 3, 4, 5]);
	});

	test('that is sent again creates no second lifelog, and gets the same answer', async () => {
		const before = (await run('getMany', { returnAll: true })).length;
		const { text } = await say(message());
		assert.match(String(text), /^<b>Tone 0\./);
		assert.equal((await run('getMany', { returnAll: true })).length, before);
	});

	test('without speech is answered, too', async () => {
		const path = join(files.path, 'silence.ogg');
		await makeTones(path, { seconds: 4, silent: [[0, 4]] });
		audio = await readFile(path);
		const { text } = await say(message());
		assert.equal(text, 'Nobody speaks in this recording, or you have deleted its lifelog.');
	});

	test("that isn't from Telegram is refused", async () => {
		assert.deepEqual(bot.allowed_updates, ['message']);
		assert.equal(await deliver(message(), 'guessed'), 403);
	});

	test('of somebody else, or without a recording, is ignored', async () => {
		const before = [endpoint.asked.length, replies().length];
		const untold = await importExample(lab, 'voice-message-to-lifelog');
		// n8n keeps no execution of this workflow that went well, so it is run by hand.
		for (const [to, update] of [
			[workflow, message(666)],
			[workflow, message(ME, { text: 'Hi' })],
			[untold, message()],
		] as const) {
			assert.equal((await repeat(lab, to, 'Telegram', [update])).error, undefined);
		}
		assert.deepEqual([endpoint.asked.length, replies().length], before);
	});
});

describe('a file in a folder of a drive', () => {
	/** What the drive has that is new. */
	let found: IDataObject[] = [];

	test('becomes a lifelog, which the trigger reports', async (test) => {
		const path = join(files.path, 'memo.m4a');
		await makeTones(path, { seconds: 4 });
		const audio = await readFile(path);
		const begin = new Date(Date.now() - 7_200_000).toISOString().slice(0, 19);
		const name = `${begin.replaceAll(':', '-')}Z.m4a`;
		const file = { id: 'drive-1', name, mimeType: 'audio/mp4', size: String(audio.length) };
		internet.answer('www.googleapis.com', ({ path: asked }) => {
			const url = new URL(asked, 'https://www.googleapis.com');
			if (url.searchParams.get('alt') === 'media') return audio;
			if (url.pathname.endsWith('/drive-1')) return file;
			return { files: found.splice(0) };
		});
		const signedIn = { access_token: 'google-token', token_type: 'bearer', expires_in: 14_400 };
		const data = { clientId: 'id', clientSecret: 'secret', oauthTokenData: signedIn };
		await lab.rest.createCredential('googleDriveOAuth2Api', data, 'Google Drive account');
		const { id } = await importExample(lab, 'recorder-folder-to-lifelogs', {
			parameters: { 'New file': { pollTimes, folderToWatch: byId('folder-1') } },
		});
		await activateWhile(test, lab, id);
		const before = (await emitted(lab, trigger)).length;
		found = [
			{ id: 'text', name: 'notes.txt', mimeType: 'text/plain', size: '5' },
			{ id: 'empty', name: 'empty.m4a', mimeType: 'audio/mp4', size: '0' },
			file,
		];
		const reported = (await whenEmitted(() => emitted(lab, trigger), before + 1)).at(-1)!;
		assert.equal(Date.parse(String(reported.startTime)), Date.parse(`${begin}Z`));
		const { markdown } = reported;
		for (const second of [0, 1, 2, 3]) assert.ok(String(markdown).includes(wordsOf(second)));
		const queries = internet.sent('www.googleapis.com').map(({ path: asked }) => asked);
		assert.ok(queries.some((asked) => decodeURIComponent(asked).includes("'folder-1' in parents")));
	});
});

test('check finds nothing wrong with the archive', async () => {
	assert.deepEqual(await findingsIn(archive.path), []);
});

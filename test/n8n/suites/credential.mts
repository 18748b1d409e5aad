import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import { useLab } from '../support/lab.mts';

const lab = useLab({ sandbox: ['--days', '1'] });

const check = async (change: { apiKey?: string; baseUrl?: string }) => {
	const { rest, sandbox, credentials } = lab();
	await sandbox.control.clearRequests();
	const data = { apiKey: sandbox.apiKey, baseUrl: sandbox.url, ...change };
	const answer = await rest.testCredential('lifelogApi', credentials.lifelogApi, data);
	return { ...answer, requests: await sandbox.control.requests() };
};

test('a valid key is accepted', async () => {
	const { status, requests } = await check({});
	assert.equal(status, 'OK');
	assert.deepEqual(
		requests.map(({ method, path }) => `${method} ${path}`),
		['GET /v1/chats'],
	);
});

test('slashes after the Base URL are accepted', async () => {
	const { status } = await check({ baseUrl: `${lab().sandbox.url}//` });
	assert.equal(status, 'OK');
});

test('a wrong key is refused, with what to check', async () => {
	const { status, message } = await check({ apiKey: 'wrong' });
	assert.equal(status, 'Error');
	assert.match(message, /The API key was refused\. Check that you copied all of it/);
});

test('an unknown host is named as the problem', async () => {
	const { status, message } = await check({ baseUrl: 'https://nowhere.invalid' });
	assert.equal(status, 'Error');
	assert.match(message, /there is no host with this name|could not be looked up/);
});

test("a host that doesn't answer is named as the problem", async () => {
	const { status, message } = await check({ baseUrl: 'http://127.0.0.1:1' });
	assert.equal(status, 'Error');
	assert.match(message, /the connection was refused\. .* http:\/\/host\.docker\.internal:1 /);
});

test('a host without this service is named as the problem', async () => {
	const { status, message } = await check({ baseUrl: `${lab().sandbox.url}/elsewhere` });
	assert.equal(status, 'Error');
	assert.match(message, /doesn't point to a Lifelog API/);
});

test('http to another machine is refused before anything is sent', async () => {
	const { status, message, requests } = await check({ baseUrl: 'http://example.com' });
	assert.equal(status, 'Error');
	assert.match(message, /The 'Base URL' must start with https:\/\//);
	assert.deepEqual(requests, []);
});

test('the stored credential can be tested without its key leaving n8n', async () => {
	const { rest, sandbox, credentials } = lab();
	const path = `/credentials/${credentials.lifelogApi.id}?includeData=true`;
	const shown = await rest.call<{ data: IDataObject }>('GET', path);
	assert.equal(shown.data.baseUrl, sandbox.url);
	assert.ok(!JSON.stringify(shown).includes(sandbox.apiKey));
	const answer = await rest.testCredential('lifelogApi', credentials.lifelogApi, shown.data);
	assert.equal(answer.status, 'OK');
});

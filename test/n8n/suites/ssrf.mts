// n8n's protection against requests into its own network, which the sandbox is in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mts';
import { runNode } from '../support/nodes.mts';

const env = { N8N_SSRF_PROTECTION_ENABLED: 'true', N8N_SSRF_ALLOWED_HOSTNAMES: 'localhost' };
const lab = useLab({ env, sandbox: ['--days', '2'] });

const check = async (baseUrl: string) => {
	const { rest, sandbox, credentials } = lab();
	const data = { apiKey: sandbox.apiKey, baseUrl };
	return await rest.testCredential('lifelogApi', credentials.lifelogApi, data);
};

test('an address that n8n blocks is reported, with the setting', async () => {
	const { error } = await runNode(lab(), 'lifelog', { operation: 'getMany' });
	assert.match(String(error?.message), /^n8n refuses requests to 127\.0\.0\.1:/);
	assert.match(String(error?.description), /N8N_SSRF_ALLOWED_HOSTNAMES/);
	const { status, message } = await check(lab().sandbox.url);
	assert.equal(status, 'Error');
	assert.match(message, /^n8n refuses requests to 127\.0\.0\.1:/);
	assert.deepEqual(await lab().sandbox.control.requests(), []);
});

test('an address that n8n allows works', async () => {
	const { rest, sandbox } = lab();
	const baseUrl = sandbox.url.replace('127.0.0.1', 'localhost');
	assert.equal((await check(baseUrl)).status, 'OK');
	const data = { apiKey: sandbox.apiKey, baseUrl };
	const lifelogApi = await rest.createCredential('lifelogApi', data, 'By name');
	const { json } = await runNode({ ...lab(), credentials: { lifelogApi } }, 'lifelog', {
		operation: 'getMany',
		limit: 2,
	});
	assert.equal(json('Node').length, 2);
});

import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Engine } from '../../support/engine.mts';
import { engineAt } from '../../support/lab.mts';
import { type TestSandbox, startSandbox } from '../../support/sandbox.mts';
import { byId, workflowWith } from '../../support/workflow.mts';

// n8n's protection against requests into its own network (N8N_SSRF_PROTECTION_ENABLED), which
// refuses the address of the sandbox unless its host name is allowed.

const require = createRequire(createRequire(resolve('package.json')).resolve('n8n-core'));
const { Container } = require('@n8n/di') as typeof import('@n8n/di');
const { SsrfProtectionConfig } = require('@n8n/config') as {
	SsrfProtectionConfig: new () => object;
};

let sandbox: TestSandbox;

// n8n-core keeps its services for the other files that this process runs.
beforeAll(async () => {
	Container.reset();
	const protection = { enabled: true, allowedHostnames: ['localhost'] };
	Object.assign(Container.get(SsrfProtectionConfig), protection);
	sandbox = await startSandbox({ days: 1 });
});

afterAll(async () => {
	Container.reset();
	await sandbox.close();
});

async function withEngine<T>(baseUrl: string, use: (engine: Engine) => Promise<T>): Promise<T> {
	const engine = await engineAt({ url: baseUrl, apiKey: sandbox.apiKey });
	try {
		return await use(engine);
	} finally {
		await engine.close();
	}
}

const READ = workflowWith('lifelog', { operation: 'get', lifelogId: byId('nobody') });
const SAVE = workflowWith('lifelogAudio', {
	...{ operation: 'download', source: 'timeRange' },
	...{ start: '2026-03-01T09:00:00Z', end: '2026-03-01T10:00:00Z' },
});

test.each([
	['reading', READ],
	['audio', SAVE],
])('an address that n8n blocks is reported, with the setting: %s', async (_name, workflow) => {
	const result = await withEngine(
		sandbox.url,
		async (engine) => await engine.runWorkflow(workflow),
	);
	const { host } = new URL(sandbox.url);
	expect(result.error?.message).toBe(`n8n refuses requests to ${host}`);
	expect(result.error?.description).toContain('N8N_SSRF_ALLOWED_HOSTNAMES');
	expect(await sandbox.control.requests()).toEqual([]);
});

test('an address that n8n allows works, and its credential is accepted', async () => {
	const baseUrl = sandbox.url.replace('127.0.0.1', 'localhost');
	const { error, tested } = await withEngine(baseUrl, async (engine) => ({
		error: (await engine.runWorkflow(READ)).error,
		tested: await engine.testCredential('lifelogApi', { apiKey: sandbox.apiKey, baseUrl }),
	}));
	expect(error?.message).toBe('No lifelog with the ID "nobody" was found');
	expect(tested.ok).toBe(true);
});

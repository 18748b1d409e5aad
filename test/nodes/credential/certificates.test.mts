import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { use } from '../../support/useNode.mts';
import { startAddresses } from '../faults/addresses.mts';

// In a process of its own: Node.js reads this variable from the environment that it was started with.

const addresses = use(startAddresses);

/** What each of n8n's ways of asking a service, given as its Base URL, fails of. */
const script = (baseUrl: string) => `
	import { standIn } from './test/support/engine.mts';
	import { engineAt } from './test/support/lab.mts';
	import { byId, workflowWith } from './test/support/workflow.mts';
	const credential = { apiKey: 'key-of-nobody', baseUrl: ${JSON.stringify(baseUrl)} };
	const caller = standIn('caller');
	caller.description.credentials = [{ name: 'lifelogApi', required: true }];
	caller.execute = async function () {
		const way = this.getNodeParameter('way', 0);
		await this.helpers[way].call(this, 'lifelogApi', { url: credential.baseUrl + '/v1/chats' });
		return [[]];
	};
	const nodeTypes = { 'n8n-nodes-lifelog.caller': caller };
	const engine = await engineAt({ url: credential.baseUrl, apiKey: credential.apiKey }, { nodeTypes });
	caller.description.properties = [
		{ displayName: 'Way', name: 'way', type: 'string', default: '' },
	];
	const failed = [];
	for (const way of ['httpRequestWithAuthentication', 'requestWithAuthentication']) {
		failed.push((await engine.runWorkflow(workflowWith('caller', { way }))).error?.message);
	}
	const get = workflowWith('lifelog', { operation: 'get', lifelogId: byId('a') });
	failed.push((await engine.runWorkflow(get)).error?.message);
	failed.push((await engine.testCredential('lifelogApi', credential)).message);
	await engine.close();
	process.stdout.write('\\n' + JSON.stringify(failed));
	process.exit();
`;

test('a certificate is checked even if NODE_TLS_REJECT_UNAUTHORIZED turns it off for n8n', async () => {
	const { stdout } = await promisify(execFile)(
		process.execPath,
		['--input-type=module', '--eval', script(addresses.badCertificate)],
		{ env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
	);
	expect(JSON.parse(stdout.split('\n').at(-1)!)).toEqual([
		expect.stringContaining('self-signed certificate'),
		expect.stringContaining('self-signed certificate'),
		expect.stringContaining('its certificate is not trusted'),
		expect.stringContaining('its certificate is not trusted (depth zero self signed cert)'),
	]);
});

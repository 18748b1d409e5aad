// After 2026: what nodes, the test of the credential and polls say at Limitless's address.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ANSWERS, startLimitless } from '../support/limitless.mts';
import { use } from '../support/useNode.mts';

const END =
	'Limitless promised support until the end of 2026. If you archived your lifelogs, set the Base URL to your lifelog-server.';

/** What each of our ways of asking the service fails of. */
interface Said {
	list: string;
	entry: string;
	audio: string;
	credential: string;
	poll: { message: string; description: string };
}

const limitless = use(startLimitless);

// In a process of its own: certificates are read when Node.js starts.
const script = (keys: string[]) => `
	import { engineAt } from './test/support/lab.mts';
	import { byId, workflowWith } from './test/support/workflow.mts';
	const url = 'https://api.limitless.ai';
	const said = {};
	for (const apiKey of ${JSON.stringify(keys)}) {
		const engine = await engineAt({ url, apiKey });
		const run = async (node, parameters) => {
			const { error } = await engine.runWorkflow(workflowWith(node, parameters));
			return error?.description ?? '';
		};
		const [, trigger] = workflowWith('lifelogTrigger', { event: 'lifelogCreated' }).nodes;
		const polling = { nodes: [trigger], connections: {} };
		const staticData = {};
		const poll = async () => await engine.runPoll(polling, { staticData }).then(() => ({}), (error) => error);
		await poll();
		const { message, description } = await poll();
		said[apiKey] = {
			list: await run('lifelogChat', { operation: 'getMany' }),
			entry: await run('lifelog', { operation: 'get', lifelogId: byId('a1') }),
			audio: await run('lifelogAudio', { operation: 'download', source: 'day', day: 'yesterday' }),
			credential: (await engine.testCredential('lifelogApi', { apiKey, baseUrl: url })).message,
			poll: { message, description },
		};
		await engine.close();
	}
	process.stdout.write('\\n' + JSON.stringify(said));
	process.exit();
`;

async function saidWith(
	keys: string[],
	env: Record<string, string>,
): Promise<Record<string, Said>> {
	const { stdout } = await promisify(execFile)(
		process.execPath,
		['--import', './test/support/shortBackoff.mts', '--input-type=module', '--eval', script(keys)],
		{ env: { ...process.env, ...env } },
	);
	return JSON.parse(stdout.split('\n').at(-1)!) as Record<string, Said>;
}

describe('an answer', () => {
	let said: Record<string, Said>;

	beforeAll(async () => {
		said = await saidWith(Object.keys(ANSWERS), limitless.env);
	});

	test.each([
		'answer-401',
		'answer-403',
		'answer-404',
		'answer-410',
		'answer-redirect',
		'answer-html',
		'answer-html-404',
	])('%s adds what Limitless promised, once', (key) => {
		const { list, audio, entry, credential, poll } = said[key];
		for (const text of [list, audio, credential, poll.description]) {
			expect(text.split(END)).toHaveLength(2);
		}
		// A single entry may be what is missing.
		expect(entry.includes(END)).toBe(key !== 'answer-404');
		// It is in n8n's list of executions and in its log.
		expect(poll.message).not.toContain('2026.');
	});

	test.each(['answer-failing', 'answer-empty'])('%s adds nothing', (key) => {
		expect(JSON.stringify(said[key])).not.toContain('promised');
	});
});

test.each(['ENOTFOUND', 'ECONNREFUSED'] as const)(
	'%s adds what Limitless promised, once',
	async (code) => {
		const { key } = await saidWith(['key'], limitless.envWithout(code));
		for (const text of [key.list, key.entry, key.audio, key.credential]) {
			expect(text.split(END)).toHaveLength(2);
		}
	},
);

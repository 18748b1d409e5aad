// What is told of recordings, and the programs of the documentation that check a request.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RecordingLab } from '../../support/recordingLab.mts';
import { posixTest } from '../../support/platform.mts';
import { until } from '../../support/soon.mts';
import { temporaryFolder } from '../sources.mts';
import { inShort, register, say, startReceiver, type Receiver } from './receiver.mts';

let lab: RecordingLab;
let receiver: Receiver;
beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
	receiver = await startReceiver();
	await register(lab.server, receiver);
});
afterAll(async () => {
	await lab.close();
	await receiver.close();
});
beforeEach(() => (receiver.received.length = 0));

const came = async (count: number) => {
	await until(() => receiver.received.length >= count);
	return receiver.received;
};

test('a recording that is done is told, with its lifelogs', async () => {
	const { recording } = await lab.upload(lab.ten(), { startTime: '2020-03-01T09:00:00Z' });
	await lab.ended(recording.id);
	const {
		lifelogIds: [id],
	} = (await lab.get(recording.id)).recording;
	const events = await came(2);
	expect(inShort(events).sort()).toEqual([
		`lifelog.created ${id}`,
		`recording.completed ${recording.id}`,
	]);
	const done = events.find(({ type }) => type === 'recording.completed')!;
	expect(done.data).toEqual({
		...{ id: recording.id, startTime: '2020-03-01T09:00:00.000Z', source: 'recording' },
		updatedAt: expect.any(String),
	});
	for (const { body } of events) expect(body).not.toMatch(/m4a|tones|hears/i);
});

test('one that fails is told each time, also if the server is stopped before', async () => {
	const path = join(lab.files, 'broken.m4a');
	writeFileSync(path, 'Not audio. '.repeat(100));
	const { recording } = await lab.upload(path);
	await lab.ended(recording.id);
	// Stopped within the moment in which an event waits.
	await lab.restart();
	expect(inShort(await came(1))).toEqual([`recording.failed ${recording.id}`]);
	await lab.retry(recording.id);
	await came(2);
	await lab.restart();
	const last = await say(lab.server, 'The end.');
	await until(() => receiver.received.some(({ data }) => data.id === last));
	// An attempt that a stop broke off is made again.
	const once = [...new Map(receiver.received.map((event) => [event.id, event])).values()];
	expect(inShort(once).slice(0, -1)).toEqual([
		`recording.failed ${recording.id}`,
		`recording.failed ${recording.id}`,
	]);
});

/** A program of the documentation. */
function programIn(language: string): string {
	const page = readFileSync('docs/reference/webhooks.md', 'utf8');
	return new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(page)![1];
}

describe('a request is checked', () => {
	/** A request as it came, changed, with another secret, and old: only the first is right. */
	const casesOf = async () => {
		const id = await say(lab.server, `Checked ${performance.now()}.`);
		await until(() => receiver.received.some(({ data }) => data.id === id));
		const { headers, body } = receiver.received.at(-1)!;
		const sent = Object.entries(headers).filter(([name]) => name.startsWith('webhook-'));
		const own = Object.fromEntries(sent) as Record<string, string>;
		const old = { ...own, 'webhook-timestamp': String(Number(own['webhook-timestamp']) - 400) };
		return [
			[receiver.secret, own, body],
			[receiver.secret, own, `${body} `],
			[`whsec_${Buffer.alloc(32).toString('base64')}`, own, body],
			[receiver.secret, old, body],
		];
	};

	test('by the JavaScript of the documentation', async () => {
		const path = join(temporaryFolder(), 'check.mjs');
		writeFileSync(path, programIn('js'));
		const cases = await casesOf();
		const script = `
			import { isFromServer } from ${JSON.stringify(pathToFileURL(path).href)};
			const cases = JSON.parse(process.argv[1]);
			console.log(JSON.stringify(cases.map((each) => isFromServer(...each))));
		`;
		const args = ['--input-type=module', '-e', script, JSON.stringify(cases)];
		const out = execFileSync(process.execPath, args, { encoding: 'utf8' });
		expect(JSON.parse(out)).toEqual([true, false, false, false]);
	});

	posixTest('by the Python of the documentation', async () => {
		const cases = await casesOf();
		const script = `${programIn('python')}
import json, sys
cases = json.loads(sys.argv[1])
print(json.dumps([is_from_server(secret, headers, body.encode()) for secret, headers, body in cases]))
`;
		const out = execFileSync('python3', ['-c', script, JSON.stringify(cases)], {
			encoding: 'utf8',
		});
		expect(JSON.parse(out)).toEqual([true, false, false, false]);
	});
});

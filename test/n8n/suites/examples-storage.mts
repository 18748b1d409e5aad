// The example that stores audio: the hourly archive in S3. The archive of everything has a suite of its own.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Lifelog } from '../../../nodes/shared/api-types.ts';
import { importExample, runExample } from '../support/examples.mts';
import { startLab, type Lab } from '../support/lab.mts';
import type { SavedWorkflow } from '../support/rest.mts';
import { startS3, type S3 } from '../support/s3.mts';

const HOUR_MS = 3_600_000;

let lab: Lab;
let s3: S3;

before(async () => {
	s3 = await startS3();
	lab = await startLab({ sandbox: ['--days', '5'] });
	await lab.rest.createCredential('s3', s3.credential, 'S3 account');
	// What the tests fetch to compare with is not to be waited for.
	await lab.sandbox.control.dialect({ rateLimit: { max: 10_000 } });
});
after(async () => {
	await lab?.close();
	await s3?.close();
});

/** The audio between two instants as the service sends it, or undefined. */
async function audio(startMs: number, endMs: number): Promise<Buffer | undefined> {
	const { url, apiKey } = lab.sandbox;
	const query = `startMs=${startMs}&endMs=${endMs}`;
	const response = await fetch(`${url}/v1/download-audio?${query}`, {
		headers: { 'x-api-key': apiKey },
	});
	if (response.status === 404) return undefined;
	assert.equal(response.status, 200);
	return Buffer.from(await response.arrayBuffer());
}

const compact = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
const audioName = (startMs: number, endMs: number) =>
	`audio_${compact(startMs)}_${compact(endMs)}.ogg`;

/** The ranges of a length that a longer one is cut into. */
function cut(startMs: number, endMs: number, lengthMs: number): Array<[number, number]> {
	const ranges: Array<[number, number]> = [];
	for (let from = startMs; from < endMs; from += lengthMs) {
		ranges.push([from, Math.min(from + lengthMs, endMs)]);
	}
	return ranges;
}

describe('the hourly archive of audio in S3', () => {
	let workflow: SavedWorkflow;
	let stored: Set<string>;

	before(async () => {
		workflow = await importExample(lab, 'audio-archive-s3', {
			settings: { bucket: s3.bucket, folder: 'audio' },
		});
	});

	/** Runs it once; gives the hours it looked at, as begins in ms. */
	async function run(): Promise<number[]> {
		const execution = await runExample(lab, workflow, 'Every hour');
		assert.equal(execution.error, undefined);
		const [{ start, end }] = execution.json('Hours to look at');
		return cut(Date.parse(String(start)), Date.parse(String(end)), HOUR_MS).map(([ms]) => ms);
	}
	const key = (hour: number) => `audio/${audioName(hour, hour + HOUR_MS)}`;

	/** Checks that for each hour the service's audio is stored, and nothing where there is none. */
	async function assertStored(hours: number[]): Promise<void> {
		const keys = await s3.keys();
		for (const hour of hours) {
			const expected = await audio(hour, hour + HOUR_MS);
			assert.equal(keys.includes(key(hour)), expected !== undefined, key(hour));
			if (expected) assert.ok((await s3.object(key(hour))).equals(expected), key(hour));
		}
	}

	test('stores the 48 hours that ended six hours ago, byte by byte', async () => {
		const hours = await run();
		const now = Date.now();
		assert.equal(hours.length, 48);
		assert.ok(now - hours.at(-1)! >= 7 * HOUR_MS && now - hours.at(-1)! < 8.1 * HOUR_MS);
		await assertStored(hours);
		stored = new Set(await s3.keys());
		assert.ok(stored.size > 10);
		assert.deepEqual(s3.writes().sort(), [...stored]);
	});

	test('stores nothing twice when it runs again', async () => {
		s3.forgetWrites();
		const hours = await run();
		assert.deepEqual(
			s3.writes().filter((each) => stored.has(each)),
			[],
		);
		await assertStored(hours);
		stored = new Set(await s3.keys());
	});

	test('stores what arrives late, and writes again only what has grown', async () => {
		const [range] = cut(Date.now() - 40 * HOUR_MS, Date.now() - 10 * HOUR_MS, 30 * HOUR_MS);
		const lifelogs = await lab.sandbox.control.lifelogs();
		const grown = gapIn(lifelogs, range, (hour) => stored.has(key(hour)));
		const silent = gapIn(lifelogs, range, (hour) => !stored.has(key(hour)));
		for (const startMs of [grown, silent]) {
			await lab.sandbox.control.addLifelog({
				title: 'Late',
				startTime: new Date(startMs).toISOString(),
				endTime: new Date(startMs + 60_000).toISOString(),
			});
		}
		s3.forgetWrites();
		const hours = await run();
		const expected = [grown, silent].map((ms) => key(ms - (ms % HOUR_MS)));
		const tickedOver = hours
			.map(key)
			.slice(-1)
			.filter((each) => !stored.has(each));
		const writes = s3
			.writes()
			.filter((each) => !tickedOver.includes(each) || expected.includes(each));
		assert.deepEqual(writes.sort(), expected.sort());
		await assertStored(hours);
	});

	test('is accepted by n8n as an active workflow', async () => {
		await lab.rest.activate(workflow.id);
		await lab.rest.deactivate(workflow.id);
	});
});

/** A minute without a recording, inside an hour of the range that is as asked for. */
function gapIn(
	lifelogs: Lifelog[],
	[startMs, endMs]: [number, number],
	isWanted: (hour: number) => boolean,
): number {
	const minute = 60_000;
	const spoken = (from: number) =>
		lifelogs.some(
			({ startTime, endTime }) =>
				Date.parse(startTime) < from + minute && Date.parse(endTime) > from,
		);
	const first = startMs - (startMs % minute);
	for (let from = first; from < endMs; from += minute) {
		if (isWanted(from - (from % HOUR_MS)) && !spoken(from)) return from;
	}
	throw new Error('There is no such minute');
}

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { byId } from '../../support/workflow.mts';
import { activateWhile, useLab } from '../support/lab.mts';
import { runNode, webhookWorkflow, type RunNodeOptions } from '../support/nodes.mts';

const lab = useLab();
beforeEach(async () => await lab().sandbox.control.faults([]));

const run = async (parameters: IDataObject, options?: RunNodeOptions) => {
	const node = { operation: 'download', source: 'timeRange', ...parameters };
	const execution = await runNode(lab(), 'lifelogAudio', node, options);
	return { ...execution, output: execution.json('Node') };
};
const HOUR_MS = 3_600_000;

/** Three hours of the last full day, from its noon on (UTC). */
const threeHours = () => {
	const yesterday = new Date(Date.now() - 24 * HOUR_MS).toISOString().slice(0, 10);
	const startMs = Date.parse(`${yesterday}T12:00:00Z`);
	return { startMs, endMs: startMs + 3 * HOUR_MS };
};
const asRange = ({ startMs, endMs }: { startMs: number; endMs: number }) => ({
	source: 'timeRange',
	start: new Date(startMs).toISOString(),
	end: new Date(endMs).toISOString(),
});
/** What the service gives for a range when asked directly. */
const fetched = async (startMs: unknown, endMs: unknown) => {
	const { url, apiKey } = lab().sandbox;
	const response = await fetch(`${url}/v1/download-audio?startMs=${startMs}&endMs=${endMs}`, {
		headers: { 'x-api-key': apiKey },
	});
	assert.equal(response.status, 200);
	return Buffer.from(await response.arrayBuffer());
};
/** What n8n hands out for an item. */
const downloaded = async (item: INodeExecutionData, property?: string) =>
	Buffer.from(await (await lab().rest.binary(item, property)).arrayBuffer());
/** Times in which nothing was recorded. */
const silence = { startMs: Date.UTC(2020, 0, 1, 3), endMs: Date.UTC(2020, 0, 1, 4) };

describe('a range of time', () => {
	test('is returned in chunks with exactly the bytes of the service', async () => {
		const range = threeHours();
		const { status, items, output } = await run(asRange(range));
		assert.equal(status, 'success');
		assert.equal(output.length, 2);
		for (const item of items('Node')) {
			const { startMs, endMs, fileSize } = item.json;
			const bytes = await downloaded(item);
			assert.ok(bytes.equals(await fetched(startMs, endMs)));
			assert.equal(fileSize, bytes.length);
			assert.equal(item.json.sha256, createHash('sha256').update(bytes).digest('hex'));
			assert.deepEqual(item.pairedItem, { item: 0 });
		}
		assert.deepEqual(
			output.map(({ part, parts }) => [part, parts]),
			[
				[1, 2],
				[2, 2],
			],
		);
		const [{ startMs }, { endMs }] = output;
		assert.deepEqual({ startMs, endMs }, range);
		assert.deepEqual(output[0].missingRanges, []);
	});

	test('is downloaded from n8n with its name and type', async () => {
		const { items } = await run({ ...asRange(threeHours()), binaryPropertyName: 'audio' });
		const [{ json, binary }] = items('Node');
		assert.match(String(json.fileName), /^\d{4}-\d\d-\d\d 12\.00 Audio\.ogg$/);
		assert.equal(binary?.audio.fileName, json.fileName);
		assert.equal(binary?.audio.mimeType, 'audio/ogg');
		const response = await lab().rest.binary(items('Node')[0], 'audio');
		assert.match(response.headers.get('content-type') ?? '', /^audio\/ogg/);
		assert.match(response.headers.get('content-disposition') ?? '', /12\.00(%20| )Audio/);
	});

	test('has the names of an archive if chosen', async () => {
		const options = { fileNames: 'archive' };
		const { output } = await run({ ...asRange(threeHours()), options });
		assert.match(String(output[0].fileName), /^audio_\d{8}T120000Z_\d{8}T140000Z\.ogg$/);
	});

	test('is in n8n’s storage, not in the execution data', async () => {
		const { items } = await run(asRange(threeHours()));
		const { id, data } = items('Node')[0].binary!.data;
		assert.match(String(id), /^filesystem/);
		assert.ok(String(data).length < 100);
	});
});

test('a lifelog’s audio covers its time', async () => {
	const lifelog = (await lab().sandbox.control.lifelogs()).at(-2)!;
	const { items, output } = await run({ source: 'lifelog', lifelogId: byId(lifelog.id) });
	assert.equal(output.length, 1);
	assert.equal(output[0].lifelogId, lifelog.id);
	const { startMs, endMs } = output[0];
	assert.deepEqual([startMs, endMs], [lifelog.startTime, lifelog.endTime].map(Date.parse));
	assert.ok((await downloaded(items('Node')[0])).equals(await fetched(startMs, endMs)));
});

describe('a range without audio', () => {
	test('is an error that names it', async () => {
		const { status, error } = await run(asRange(silence));
		assert.equal(status, 'error');
		assert.match(String(error?.message), /2020-01-01T03:00.*2020-01-01T04:00/);
	});

	test('returns nothing with If No Audio: Skip', async () => {
		const { status, output } = await run({ ...asRange(silence), options: { ifNoAudio: 'skip' } });
		assert.equal(status, 'success');
		assert.deepEqual(output, []);
	});

	test("doesn't stop the other items if the node continues on errors", async () => {
		const { startMs, endMs } = threeHours();
		const input = [silence, { startMs, endMs: startMs + HOUR_MS }, { startMs: endMs, endMs: 0 }];
		const parameters = { start: '={{ $json.startMs }}', end: '={{ $json.endMs }}' };
		const onError = 'continueErrorOutput';
		const { output, json } = await run(parameters, { input, onError });
		assert.equal(output.length, 1);
		assert.equal(output[0].endMs, startMs + HOUR_MS);
		assert.deepEqual(
			json('Node', 1).map((item) => item.startMs),
			[silence.startMs, endMs],
		);
		const beside = await run(parameters, { input, onError: 'continueRegularOutput' });
		assert.deepEqual(
			beside.output.map(({ error }) => error !== undefined),
			[true, false, true],
		);
	});

	test("stops the node with the item’s number if it doesn't continue on errors", async () => {
		const { startMs } = threeHours();
		const input = [{ startMs, endMs: startMs + HOUR_MS }, silence];
		const parameters = { start: '={{ $json.startMs }}', end: '={{ $json.endMs }}' };
		const { error } = await run(parameters, { input });
		assert.equal((error as { context?: IDataObject }).context?.itemIndex, 1);
	});
});

test("interrupted audio isn't returned as complete", async () => {
	const { startMs } = threeHours();
	const range = asRange({ startMs, endMs: startMs + HOUR_MS });
	await lab().sandbox.control.faults([{ path: '/v1/download-audio', cutBody: true, times: 9 }]);
	const { status, error } = await run(range);
	await lab().sandbox.control.faults([]);
	assert.equal(status, 'error');
	assert.match(String(error?.message), /was interrupted|unexpected/);
	await lab().sandbox.control.faults([{ path: '/v1/download-audio', cutBody: true }]);
	const { items, output } = await run(range);
	assert.equal(output.length, 1);
	const { startMs: from, endMs: to } = output[0];
	assert.ok((await downloaded(items('Node')[0])).equals(await fetched(from, to)));
});

test('a failed chunk is listed with the other chunks with If Part Fails: Report', async () => {
	const options = { ifPartFails: 'report' };
	// Parts are downloaded side by side: the address tells which.
	const path = `/v1/download-audio?startMs=${threeHours().startMs}`;
	await lab().sandbox.control.faults([{ path, status: 500, times: 4 }]);
	const { status, items, output } = await run({ ...asRange(threeHours()), options });
	await lab().sandbox.control.faults([]);
	assert.equal(status, 'success');
	assert.deepEqual(
		output.map(({ part, parts }) => [part, parts]),
		[[2, 2]],
	);
	const [failed] = output[0].failedRanges as IDataObject[];
	assert.equal(failed.startMs, threeHours().startMs);
	assert.match(String(failed.message), /The service failed/);
	const { startMs, endMs } = output[0];
	assert.ok((await downloaded(items('Node')[0])).equals(await fetched(startMs, endMs)));
});

test('a range without audio is an item without a file with If No Audio: Report', async () => {
	const { items, output } = await run({ ...asRange(silence), options: { ifNoAudio: 'report' } });
	assert.equal(output.length, 1);
	assert.equal(items('Node')[0].binary, undefined);
	assert.deepEqual(
		(output[0].missingRanges as IDataObject[]).map(({ startMs, endMs }) => ({ startMs, endMs })),
		[silence],
	);
});

test('a webhook can respond with the audio', async (t) => {
	const { rest, n8n } = lab();
	const { startMs } = threeHours();
	const endMs = startMs + HOUR_MS;
	const parameters = {
		operation: 'download',
		source: 'timeRange',
		start: '={{ $json.query.start }}',
		end: '={{ $json.query.end }}',
	};
	const response = { responseData: 'firstEntryBinary', responseBinaryPropertyName: 'data' };
	const workflow = webhookWorkflow(lab(), 'audio', 'lifelogAudio', parameters, response);
	const saved = await rest.createWorkflow(workflow);
	await activateWhile(t, lab(), saved.id);
	const answer = await fetch(`${n8n.url}/webhook/audio?start=${startMs}&end=${endMs}`);
	assert.equal(answer.headers.get('content-type'), 'audio/ogg');
	const bytes = Buffer.from(await answer.arrayBuffer());
	assert.ok(bytes.equals(await fetched(startMs, endMs)));
});

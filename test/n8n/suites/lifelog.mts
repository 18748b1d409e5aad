import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import { byId } from '../../support/workflow.mts';
import { activateWhile, addFindable, useLab } from '../support/lab.mts';
import { runNode, webhookWorkflow, type RunNodeOptions } from '../support/nodes.mts';
import type { Execution } from '../support/rest.mts';
import { readByOmi } from '../../support/omi.mts';
import { readSrt, readVtt } from '../support/subtitles.mts';

const lab = useLab();
beforeEach(async () => {
	const { control } = lab().sandbox;
	// More requests than the service allows in a minute; its limit has tests of its own.
	await control.dialect({ rateLimit: { max: 10_000 } });
	await control.faults([]);
});

const run = async (parameters: IDataObject, options?: RunNodeOptions) => {
	const execution = await runNode(lab(), 'lifelog', parameters, options);
	return { ...execution, output: execution.json('Node') };
};
const newest = async () => (await lab().sandbox.control.lifelogs()).at(-1)!;
const labWithKey = async (apiKey: string) => {
	const data = { apiKey, baseUrl: lab().sandbox.url };
	const lifelogApi = await lab().rest.createCredential('lifelogApi', data, 'Another key');
	return { ...lab(), credentials: { lifelogApi } };
};
const stored = async (id: string) =>
	(await lab().sandbox.control.lifelogs()).find((lifelog) => lifelog.id === id);

describe('the operation', () => {
	test('Get Many lists the newest, unchanged', async () => {
		const { status, output, items } = await run({ operation: 'getMany', output: 'raw', limit: 3 });
		assert.equal(status, 'success');
		const ids = (await lab().sandbox.control.lifelogs()).map(({ id }) => id);
		assert.deepEqual(
			output.map(({ id }) => id),
			ids.slice(-3).reverse(),
		);
		assert.match(String(output[0].markdown), /^# /);
		assert.deepEqual(items('Node')[2].pairedItem, { item: 0 });
	});

	test('Get Many with Return All reads every page of a day', async () => {
		const { startTime } = await newest();
		const day = startTime.slice(0, 10);
		const parameters = { operation: 'getMany', returnAll: true, period: 'date', date: day };
		const { output } = await run(parameters);
		const all = await lab().sandbox.control.lifelogs();
		assert.equal(output.length, all.filter((one) => one.startTime.startsWith(day)).length);
	});

	test('Search finds by title', async () => {
		const { id, title } = await addFindable(lab());
		const { output } = await run({ operation: 'search', query: title, limit: 100 });
		assert.ok(output.some((lifelog) => lifelog.id === id));
	});

	test('Get reads one with its contents', async () => {
		const { id, title } = await newest();
		const { output } = await run({ operation: 'get', output: 'raw', lifelogId: byId(id) });
		assert.equal(output.length, 1);
		assert.equal(output[0].title, title);
		assert.notDeepEqual(output[0].contents, []);
	});

	test('Get Transcript returns utterances, or one text', async () => {
		const { id, title } = await newest();
		const parameters = { operation: 'getTranscript', lifelogId: byId(id) };
		const { output: said } = await run(parameters);
		assert.ok(said.length > 1);
		assert.ok(said.every(({ speaker, text }) => speaker && text));
		const { output } = await run({ ...parameters, outputAs: 'text' });
		const text = said.map((each) => `${each.speaker}: ${each.text}`).join('\n');
		assert.deepEqual(output, [{ lifelogId: id, title, text }]);
	});

	test('Get Daily Summary summarizes a day in each format', async () => {
		const date = (await newest()).startTime.slice(0, 10);
		const all = (await lab().sandbox.control.lifelogs()).filter(({ startTime }) =>
			startTime.startsWith(date),
		);
		for (const [format, field] of [
			['markdown', 'markdown'],
			['slack', 'blocks'],
			['notion', 'children'],
		]) {
			const parameters = { operation: 'getDailySummary', day: 'date', date, format };
			const { output } = await run({ ...parameters, options: { timezone: 'UTC' } });
			assert.equal(output.length, 1);
			assert.equal(output[0].lifelogCount, all.length);
			assert.ok(
				JSON.stringify(output[0][field]).includes(JSON.stringify(all[0].title).slice(1, 6)),
			);
		}
	});

	test('Delete deletes a lifelog once', async () => {
		const { id } = await newest();
		const parameters = { operation: 'delete', lifelogIdToDelete: byId(id) };
		const { output } = await run(parameters);
		assert.deepEqual(output, [{ deleted: true, id }]);
		assert.equal(await stored(id), undefined);
		const again = await run(parameters);
		assert.equal(again.error?.message, `No lifelog with the ID "${id}" was found`);
	});
});

describe('Export', () => {
	const formats = ['appExport', 'json', 'markdown', 'srt', 'text', 'vtt'];
	const exportOf = { operation: 'export', fileFormats: formats };
	/** The files of a run, whose sizes and checksums are what their items say. */
	const filesOf = async ({ items }: Execution) =>
		await Promise.all(
			items('Node').map(async (item) => {
				const bytes = Buffer.from(await (await lab().rest.binary(item)).arrayBuffer());
				assert.equal(item.json.fileSize, bytes.length);
				assert.equal(item.json.sha256, createHash('sha256').update(bytes).digest('hex'));
				assert.equal(item.binary?.data.fileName, item.json.fileName);
				assert.equal(item.binary?.data.mimeType, item.json.mimeType);
				return { json: item.json, bytes };
			}),
		);
	const said = async (lifelogId: string) =>
		(await run({ operation: 'getTranscript', lifelogId: byId(lifelogId) })).output;

	test('of one lifelog returns a valid file in each format', async () => {
		const lifelog = await newest();
		const lifelogId = byId(lifelog.id);
		const done = await run({ ...exportOf, exportFrom: 'lifelog', lifelogId });
		const files = await filesOf(done);
		assert.deepEqual(
			files.map((file) => file.json.format),
			formats,
		);
		const [appExport, json, markdown, srt, text, vtt] = files.map(({ bytes }) => bytes);
		const whole = JSON.parse(String(json));
		assert.equal(whole.markdown, lifelog.markdown);
		assert.equal(whole.contents.length, lifelog.contents.length);
		const utterances = await said(lifelog.id);
		const words = utterances.map((each) => String(each.text));
		const byOmi = readByOmi(String(files[0].json.path), String(appExport));
		assert.equal(byOmi?.title, lifelog.title);
		assert.deepEqual(
			byOmi.utterances.map(({ startMs, endMs, text: line }) => [startMs, endMs, line]),
			utterances.map((each) => [
				Date.parse(String(each.startTime)),
				Date.parse(String(each.endTime)),
				each.text,
			]),
		);
		const shown = String(markdown).matchAll(/^\*\*(.+)\*\* \(\d\d:\d\d:\d\d\): (.+)$/gm);
		assert.deepEqual(
			[...shown].map(([, speaker, line]) => [speaker, line]),
			utterances.map(({ speaker, text: line }) => [speaker, line]),
		);
		const named = utterances.map(({ speaker, text: line }) => `${speaker}: ${line}`);
		const byTime = [...named].sort();
		assert.deepEqual(
			readSrt(srt)
				.map((cue) => cue.text)
				.sort(),
			byTime,
		);
		assert.equal(readVtt(vtt).length, words.length);
		assert.equal(String(text), `${named.join('\n')}\n`);
	});

	test('of a list returns each lifelog that passes the filters and Limit', async () => {
		const day = (await newest()).startTime.slice(0, 10);
		const done = await run({
			...exportOf,
			exportFrom: 'service',
			returnAll: true,
			period: 'date',
			date: day,
		});
		const files = await filesOf(done);
		const ids = (await lab().sandbox.control.lifelogs())
			.filter(({ startTime }) => startTime.startsWith(day))
			.map(({ id }) => id);
		assert.deepEqual([...new Set(files.map(({ json }) => json.lifelogId))].reverse(), ids);
		assert.equal(files.length, formats.length * ids.length);
		assert.equal(new Set(files.map(({ json }) => json.path)).size, files.length);
		const some = await run({ operation: 'export', exportFrom: 'service', limit: 3 });
		assert.deepEqual(
			some.output.map(({ format }) => format),
			['markdown', 'markdown', 'markdown'],
		);
	});

	test('of input items returns theirs, with or without contents', async () => {
		const { id } = await newest();
		const read = { operation: 'get', lifelogId: byId(id) };
		const [whole] = (await run(read)).output;
		const [light] = (await run({ ...read, options: { includeContents: false } })).output;
		const input = [whole, { ...light, changeType: 'created', eventKey: 'x' }];
		const done = await run({ ...exportOf, exportFrom: 'input' }, { input });
		const files = await filesOf(done);
		assert.equal(files.length, 2 * formats.length);
		const sums = files.map(({ json }) => json.sha256);
		assert.deepEqual(sums.slice(0, formats.length), sums.slice(formats.length));
		assert.deepEqual(
			done.items('Node').map(({ pairedItem }) => pairedItem),
			files.map((_, index) => ({ item: index < formats.length ? 0 : 1 })),
		);
	});
});

describe('the list to choose a lifelog from', () => {
	const list = async (more: IDataObject = {}) =>
		await lab().rest.listSearch({
			path: 'parameters.lifelogId',
			methodName: 'searchLifelogs',
			nodeTypeAndVersion: { name: 'n8n-nodes-lifelog.lifelog', version: 1 },
			currentNodeParameters: { operation: 'get', resource: 'lifelog' },
			credentials: lab().credentials as unknown as IDataObject,
			...more,
		});

	test('shows the newest first', async () => {
		await lab().sandbox.control.reset({ days: 3, perDay: 40 });
		const { results, paginationToken } = await list();
		assert.equal(results[0].value, (await newest()).id);
		assert.ok(results[0].name.includes((await newest()).title));
		assert.ok(paginationToken);
	});

	test('searches', async () => {
		const { id, title } = await addFindable(lab());
		const { results } = await list({ filter: title });
		assert.ok(results.some(({ value }) => value === id));
	});
});

describe('an error', () => {
	const message = 'No lifelog with the ID "nobody" was found';
	const parameters = { operation: 'get', lifelogId: byId('={{ $json.id }}') };
	const three = async () => {
		const [first, second] = await lab().sandbox.control.lifelogs();
		return [{ id: first.id }, { id: 'nobody', note: 'keep' }, { id: second.id }];
	};

	test('names its item and says what to do', async () => {
		const { status, error } = await run(parameters, { input: await three() });
		assert.equal(status, 'error');
		assert.equal(error?.message, message);
		assert.match(String(error?.description), /Check the ID/);
		assert.equal((error as { context?: IDataObject }).context?.itemIndex, 1);
	});

	test('with On Error: Continue is returned with its input, and the other items continue', async () => {
		const input = await three();
		const onError = 'continueRegularOutput';
		const { status, output, items } = await run(parameters, { input, onError });
		assert.equal(status, 'success');
		assert.deepEqual(
			output.map(({ id }) => id),
			input.map(({ id }) => id),
		);
		const { errorDetails, ...failed } = output[1];
		assert.deepEqual(failed, { id: 'nobody', note: 'keep', error: message });
		assert.equal((errorDetails as IDataObject).code, '404');
		assert.deepEqual(items('Node')[1].pairedItem, { item: 1 });
	});

	test('with On Error: Continue (using error output) is returned there, and the other items continue', async () => {
		const input = await three();
		const onError = 'continueErrorOutput';
		const { status, output, json } = await run(parameters, { input, onError });
		assert.equal(status, 'success');
		assert.deepEqual(
			output.map(({ id }) => id),
			[input[0].id, input[2].id],
		);
		assert.deepEqual(json('Node', 1), [{ id: 'nobody', note: 'keep', error: message }]);
	});

	test('of a refused key says so, without the key', async () => {
		const { status, error, ...rest } = await runNode(await labWithKey('wrong-key'), 'lifelog', {
			operation: 'getMany',
		});
		assert.equal(status, 'error');
		assert.equal(error?.message, 'The API key was refused');
		assert.ok(!JSON.stringify([error, rest]).includes('wrong-key'));
	});

	test('of the service is quoted', async () => {
		const body = { error: 'end must be after start' };
		await lab().sandbox.control.faults([{ status: 400, body }]);
		const { error } = await run({ operation: 'getMany', limit: 5 });
		assert.equal(error?.message, `The service refused a parameter: ${body.error} (lifelogs)`);
	});

	test('of a rate limit with too long a wait says how long', async () => {
		const body = { error: 'slow down', retryAfter: '60' };
		await lab().sandbox.control.faults([{ status: 429, body }]);
		// A key of its own: whoever uses it next waits.
		const { error } = await runNode(await labWithKey('limited-key'), 'lifelog', {
			operation: 'getMany',
			options: { maxWait: 1 },
		});
		assert.match(String(error?.message), /asks for a wait of 60 s/);
		assert.match(String(error?.description), /slow down/);
	});
});

test('a rate limit is waited for', async () => {
	const { control } = lab().sandbox;
	await control.clearRequests();
	await control.faults([{ status: 429, body: { error: 'slow down', retryAfter: '1' } }]);
	const { status } = await run({ operation: 'getMany', limit: 1 });
	assert.equal(status, 'success');
	const requests = await control.requests();
	assert.deepEqual(
		requests.map((request) => request.status),
		[429, 200],
	);
	assert.ok(requests[1].at - requests[0].at >= 1000);
});

test('an active workflow responds to its webhook', async (t) => {
	const { rest, n8n } = lab();
	const parameters = { operation: 'search', query: '={{ $json.query.q }}', limit: 5 };
	const response = { responseData: 'allEntries' };
	const { id, title } = await addFindable(lab());
	const workflow = webhookWorkflow(lab(), 'search', 'lifelog', parameters, response);
	const saved = await rest.createWorkflow(workflow);
	await activateWhile(t, lab(), saved.id);
	const query = new URLSearchParams({ q: title });
	const answer = await fetch(`${n8n.url}/webhook/search?${query}`);
	assert.equal(answer.status, 200);
	const found = (await answer.json()) as IDataObject[];
	assert.ok(found.some((lifelog) => lifelog.id === id));
});

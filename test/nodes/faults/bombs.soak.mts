import type { ServerResponse } from 'node:http';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { IDataObject } from 'n8n-workflow';
import { startLabAt } from '../../support/lab.mts';
import { serve } from '../../support/serve.mts';
import { use } from '../../support/useNode.mts';
import { byId, workflowWith } from '../../support/workflow.mts';

// Answers that are small on the wire and huge in memory, or longer and deeper than any real one.

const MIB = 1024 * 1024;
const blank = (mib: number) => Buffer.alloc(mib * MIB, ' ');
const part = gzipSync(blank(1));

/** 1.5 GiB, in 1.5 MB, as gzip allows parts one behind another; and 300 MiB. */
const BOMBS: Record<string, Buffer> = {
	gzip: Buffer.concat(Array.from({ length: 1536 }, () => part)),
	deflate: deflateSync(blank(300)),
	br: brotliCompressSync(blank(300), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

let answer: (response: ServerResponse) => void;
let served: number;
const lab = use(async () => {
	const service = await serve((_request, response) => {
		served++;
		answer(response);
	});
	return await startLabAt(service);
});

beforeEach(() => {
	served = 0;
});

const answerJson = (body: unknown) => {
	answer = (response) => {
		response.setHeader('content-type', 'application/json');
		response.end(typeof body === 'string' ? body : JSON.stringify(body));
	};
};

async function run(parameters: IDataObject, node = 'lifelog') {
	const result = await lab.engine.runWorkflow(workflowWith(node, parameters));
	const error = result.error as (Error & { description?: string }) | undefined;
	return { error, items: error ? [] : result.items('Node').map(({ json }) => json) };
}

/** The most memory that this process has had so far, in MiB. */
const peak = () => process.resourceUsage().maxRSS / 1024;

describe.each(Object.keys(BOMBS))('%s that unpacks to hundreds of MiB', (encoding) => {
	const bomb = (status: number) => {
		answer = (response) => {
			const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
			response.writeHead(status, headers).end(BOMBS[encoding]);
		};
	};

	test("isn't unpacked as an error page", async () => {
		bomb(404);
		const before = peak();
		const { error } = await run({ operation: 'get', lifelogId: byId('abc') });
		expect(error?.message).toBe('No lifelog with the ID "abc" was found');
		expect(peak() - before).toBeLessThan(100);
	});

	test.each([
		['lifelog', { operation: 'getMany', returnAll: true }, 2],
		['lifelog', { operation: 'getMany', limit: 10 }, 1],
		['lifelog', { operation: 'get', lifelogId: byId('abc') }, 1],
		['lifelogChat', { operation: 'getMany' }, 2],
	])(
		'is read up to 64 MiB, and a page is requested again with 10 entries (%s %p)',
		async (node, parameters, requests) => {
			bomb(200);
			const before = peak();
			const { error } = await run(parameters, node);
			expect(error?.message).toMatch(
				/^The service returned an unexpected response: it is more than 64 MiB \(.+\)$/,
			);
			expect(error?.description).toMatch(/^Request less at a time: a lower 'Limit'/);
			expect(served).toBe(requests);
			expect(peak() - before).toBeLessThan(400);
		},
	);
});

test('JSON of just under 64 MiB is read', async () => {
	const lifelog = { id: 'abc', title: 'x'.repeat(63 * MIB) };
	answerJson({ data: { lifelog } });
	const { items } = await run({
		operation: 'getTranscript',
		lifelogId: byId('abc'),
		outputAs: 'text',
	});
	expect(String(items[0].title).length).toBe(63 * MIB);
});

describe('contents nested 100,000 deep', () => {
	const DEEP = 100_000;
	const nested = (kind: string) =>
		`${`{"type":"${kind}","content":"A","children":[`.repeat(DEEP)}{"type":"blockquote","content":"Down here","speakerName":"Ann"}${']}'.repeat(DEEP)}`;
	const lifelog = (more = '') => `{"id":"abc",${more}"contents":[${nested('heading3')}]}`;

	test('are read completely by Get Transcript', async () => {
		answerJson(`{"data":{"lifelog":${lifelog()}}}`);
		const { error, items } = await run({ operation: 'getTranscript', lifelogId: byId('abc') });
		expect(error).toBeUndefined();
		expect(items.map(({ text }) => text)).toEqual(['Down here']);
	});

	test('are included in a daily summary', async () => {
		const times = '"startTime":"2026-03-02T09:00:00Z","endTime":"2026-03-02T09:30:00Z",';
		answerJson(`{"data":{"lifelogs":[${lifelog(times)}]}}`);
		const { error, items } = await run({
			operation: 'getDailySummary',
			day: 'date',
			date: '2026-03-02',
		});
		expect(error).toBeUndefined();
		expect(items[0].lifelogs).toHaveLength(1);
	});

	test('are returned completely by Get', async () => {
		answerJson(`{"data":{"lifelog":${lifelog()}}}`);
		const { error } = await run({ operation: 'get', lifelogId: byId('abc') });
		expect(error?.message).toBeUndefined();
	});
});

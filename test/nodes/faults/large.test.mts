// Answers that are right, and longer and deeper than any real one; and answers that are small on the wire
// and huge in memory.
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { IDataObject } from 'n8n-workflow';
import { startLabAt } from '../../support/lab.mts';
import { serve } from '../../support/serve.mts';
import { size } from '../../support/size.mts';
import { use } from '../../support/useNode.mts';
import { byId, workflowWith } from '../../support/workflow.mts';

const MIB = 1024 * 1024;
const DEPTH = size(1_000, 100_000);
const MANY = size(2_000, 200_000);
const LONG_MIB = size(1, 63);

let answer: (response: ServerResponse) => void;
let served = 0;
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

/** The items of a run that must not fail. */
async function itemsOf(parameters: IDataObject, node?: string): Promise<IDataObject[]> {
	const { error, items } = await run(parameters, node);
	expect(error?.message).toBeUndefined();
	return items;
}

const blank = (mib: number) => Buffer.alloc(mib * MIB, ' ');
/** 1.5 GiB, in 1.5 MB, as gzip allows parts one behind another; and 300 MiB. */
const BOMBS: Record<string, () => Buffer> = {
	gzip: () => Buffer.concat(Array(1536).fill(gzipSync(blank(1)))),
	deflate: () => deflateSync(blank(300)),
	br: () => brotliCompressSync(blank(300), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

/** The most memory that this process has had so far, in MiB: other large answers come after these. */
const peak = () => process.resourceUsage().maxRSS / 1024;

describe.each(size(['gzip'], ['deflate', 'br']))(
	'%s that unpacks to hundreds of MiB',
	(encoding) => {
		let bomb: Buffer;
		beforeAll(() => {
			bomb = BOMBS[encoding]();
		});
		const answerBomb = (status: number) => {
			answer = (response) => {
				const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
				response.writeHead(status, headers).end(bomb);
			};
		};

		test("isn't unpacked as an error page", async () => {
			answerBomb(404);
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
				answerBomb(200);
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
	},
);

const SUMMARY = { operation: 'getDailySummary', day: 'date', date: '2026-03-02' };
const TIMES = { startTime: '2026-03-02T09:00:00Z', endTime: '2026-03-02T09:30:00Z' };

describe(`contents ${DEPTH} levels deep`, () => {
	const levels = Array.from({ length: DEPTH }, (_, nth) => `level ${nth}`);
	// JSON.stringify would go down as deep.
	const contents = `[${levels
		.map((level) => `{"type":"blockquote","content":"${level}","speakerName":"Ann","children":[`)
		.join('')}${']}'.repeat(DEPTH)}]`;
	const { startTime, endTime } = TIMES;
	const lifelog = `{"id":"abc","startTime":"${startTime}","endTime":"${endTime}","contents":${contents}}`;

	/** What is said, from level to level. */
	function saidIn({ contents }: IDataObject): string[] {
		const said: string[] = [];
		for (let nodes = contents as IDataObject[]; nodes.length > 0;) {
			said.push(nodes[0].content as string);
			nodes = nodes[0].children as IDataObject[];
		}
		return said;
	}

	test('are returned completely', async () => {
		answerJson(`{"data":{"lifelog":${lifelog}}}`);
		const get = { operation: 'get', lifelogId: byId('abc'), output: 'raw' };
		const [item] = await itemsOf(get);
		expect(saidIn(item)).toEqual(levels);
	});

	test('are listed', async () => {
		answerJson(`{"data":{"lifelogs":[${lifelog}]},"meta":{"lifelogs":{"count":1}}}`);
		const options = { includeContents: true };
		const [item] = await itemsOf({ operation: 'getMany', output: 'raw', options });
		expect(saidIn(item)).toEqual(levels);
	});

	test('are a transcript in order', async () => {
		answerJson(`{"data":{"lifelog":${lifelog}}}`);
		const items = await itemsOf({ operation: 'getTranscript', lifelogId: byId('abc') });
		expect(items.map(({ text }) => text)).toEqual(levels);
	});

	test('are included in a daily summary', async () => {
		answerJson(`{"data":{"lifelogs":[${lifelog}]},"meta":{"lifelogs":{"count":1}}}`);
		const [summary] = await itemsOf({ ...SUMMARY, output: 'raw' });
		expect(summary).toMatchObject({ lifelogCount: 1, speakers: ['Ann'] });
	});
});

describe(`${MANY}`, () => {
	test.each([
		['in a list', (said: object[]) => said],
		['under a heading', (said: object[]) => [{ type: 'heading1', content: 'A', children: said }]],
	])('utterances %s are all returned', async (_where, contentsOf) => {
		const said = Array.from({ length: MANY }, () => ({ type: 'blockquote', content: 'Yes' }));
		answerJson({ data: { lifelog: { id: 'abc', contents: contentsOf(said) } } });
		const transcript = { operation: 'getTranscript', lifelogId: byId('abc'), outputAs: 'text' };
		const [item] = await itemsOf(transcript);
		expect(String(item.text).split('\n')).toHaveLength(MANY);
	});

	test.each([
		['lifelogs', 'lifelog', { operation: 'getMany', returnAll: true }, MANY],
		['lifelogs', 'lifelog', { operation: 'search', query: 'yes', limit: 100 }, 100],
		['chats', 'lifelogChat', { operation: 'getMany', returnAll: true, output: 'raw' }, MANY],
		['chats', 'lifelogChat', { operation: 'getMany', returnAll: true }, MANY],
	])('%s in a page cause no failure (%s %p)', async (name, node, parameters, count) => {
		const entries = Array.from({ length: MANY }, (_, nth) => ({ id: `id-${nth}` }));
		answerJson({ data: { [name]: entries } });
		expect(await itemsOf(parameters, node)).toHaveLength(count);
	});

	test('lifelogs are in a daily summary', async () => {
		const entries = Array.from({ length: MANY }, (_, nth) => ({ id: `id-${nth}`, ...TIMES }));
		answerJson({ data: { lifelogs: entries } });
		const [summary] = await itemsOf(SUMMARY);
		expect(summary.lifelogs).toHaveLength(MANY);
	});
});

test(`JSON of ${LONG_MIB} MiB is read`, async () => {
	answerJson({ data: { lifelog: { id: 'abc', title: 'x'.repeat(LONG_MIB * MIB) } } });
	const transcript = { operation: 'getTranscript', lifelogId: byId('abc'), outputAs: 'text' };
	const [item] = await itemsOf(transcript);
	expect(String(item.title)).toHaveLength(LONG_MIB * MIB);
});

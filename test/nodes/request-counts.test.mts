import { startLabAt } from '../support/lab.mts';
import { serve } from '../support/serve.mts';
import { size } from '../support/size.mts';
import { runNode, use } from '../support/useNode.mts';

// The fewest requests that the rules allow: as many as there are pages, and one for none. One workflow
// lists all sizes: its nth input item asks for what the nth prompt made, which is n entries.

/** Entries a page, and whether a page that ends the list names a cursor all the same. */
let pageSize: number;
let endsWithCursor: boolean;
let counts: Map<number, number>;

const lab = use(async () => {
	const service = await serve((request, response) => {
		const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
		const name = pathname.endsWith('chats') ? 'chats' : 'lifelogs';
		const total = Number(searchParams.get('globalPromptId')!.slice(1));
		counts.set(total, (counts.get(total) ?? 0) + 1);
		const from = Number(searchParams.get('cursor') ?? 0);
		const length = Math.min(pageSize, Number(searchParams.get('limit')));
		const entries = Array.from(
			{ length: Math.max(0, Math.min(length, total - from)) },
			(_, nth) => ({
				id: `id-${from + nth}`,
			}),
		);
		const isLast = endsWithCursor ? from + length > total : from + length >= total;
		const meta = { [name]: { nextCursor: isLast ? null : String(from + length) } };
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify({ data: { [name]: entries }, meta }));
	});
	return await startLabAt(service);
});

const prompt = { globalPromptId: '=p{{ $json.n }}' };

/** The requests that lists of 0 to `max` entries take. */
async function requestsFor(node: 'lifelog' | 'lifelogChat', max: number, limit: object) {
	counts = new Map();
	const input = Array.from({ length: max + 1 }, (_, n) => ({ json: { n } }));
	const parameters = { operation: 'getMany', output: 'raw', ...limit, filters: prompt };
	const { error, json } = await runNode(lab.engine, node, parameters, { input });
	expect(error).toBeUndefined();
	expect(json).toHaveLength((max * (max + 1)) / 2);
	return input.map(({ json: { n } }) => counts.get(n) ?? 0);
}

const upTo = (max: number, requestsOf: (n: number) => number) =>
	Array.from({ length: max + 1 }, (_, n) => requestsOf(n));

test.each([
	[10, 'lifelog', size(31, 250)],
	[25, 'lifelog', size(51, 250)],
	[100, 'lifelog', size(101, 250)],
	[25, 'lifelogChat', size(26, 80)],
] as const)(
	'pages of %i, %s: 0 to %i entries take as many requests as they have pages',
	async (entriesOfPage, node, max) => {
		pageSize = entriesOfPage;
		endsWithCursor = false;
		const minimum = upTo(max, (n) => Math.max(1, Math.ceil(n / pageSize)));
		expect(await requestsFor(node, max, { returnAll: true })).toEqual(minimum);
	},
);

/** Of the lists that end in pages of 25. */
const MAX = size(51, 80);

test('there is one more request only if the last page has a cursor', async () => {
	pageSize = 25;
	endsWithCursor = true;
	const pages = upTo(MAX, (n) => Math.floor(n / 25) + 1);
	expect(await requestsFor('lifelog', MAX, { returnAll: true })).toEqual(pages);
});

test('a limit equal to the number of entries never requests a next page', async () => {
	pageSize = 25;
	endsWithCursor = true;
	const minimum = upTo(MAX, (n) => Math.max(1, Math.ceil(n / 25)));
	const limit = { returnAll: false, limit: '={{ Math.max(1, $json.n) }}' };
	const requests = await requestsFor('lifelog', MAX, limit);
	// Pages are as large as the limit there, and an empty list has no entry to stop at.
	expect(requests.slice(1)).toEqual(minimum.slice(1));
});

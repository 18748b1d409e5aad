import { type Entry, type Service } from '../support/anyService.mts';
import { useListLab } from '../support/listLab.mts';
import { within, workflowWith } from '../support/workflow.mts';

// Services that list in odd ways: Return All gives what they list page after page, and asks for no
// more. Random services are in test/nodes/faults/anyList.test.mts.

const MINUTE = 60_000;

const lists = useListLab();

const BEGIN = Date.parse('2026-03-01T00:00:00Z');
const everyMinute = (count: number) =>
	Array.from({ length: count }, (_, nth): Entry => {
		const begin = BEGIN + nth * MINUTE;
		const times = { begin, end: begin + MINUTE, updated: begin + MINUTE, created: begin };
		return { id: `id-${nth}`, ...times };
	});

const usual = (entries: Entry[]): Service => ({
	...{ entries, range: 'begins', edges: 'start', sort: 'begin', turnsTies: true, maxPageSize: 10 },
	...{ cursor: 'position', isBound: true, hour: 'first', offsets: true },
});

const starred = ({ id }: Entry) => Number(id.split('-')[1]) % 20 < 7;
const ODD_SERVICES: Array<[string, Partial<Service>]> = [
	['lists starred entries first, in both directions', { isFirst: starred }],
	['lists one entry without times', { isTimeless: ({ id }) => id === 'id-30' }],
	['lists all entries without times', { isTimeless: () => true }],
	['ignores bounds', { range: 'ignored' }],
	['lists in no order', { sort: 'none' }],
];

/** Return All gives each of so many entries once, in the order of the service, page after page. */
async function expectAll(
	odd: Partial<Service>,
	node: 'lifelog' | 'lifelogChat',
	count: number,
	direction: string,
): Promise<void> {
	lists.service.is = { ...usual(everyMinute(count)), ...odd };
	const name = node === 'lifelog' ? 'lifelogs' : 'chats';
	const own = await lists.listed(name, { direction });
	const all = await lists.read(node, { returnAll: true, options: { direction } });
	expect(all.ids).toHaveLength(count);
	expect(all.ids).toEqual(own.ids);
	expect(all.requests).toHaveLength(count / 10);
}

describe.each(ODD_SERVICES)('a service that %s', (_name, odd) => {
	test.each([50, 100])(
		'%i entries are listed once, in order, with the fewest requests',
		async (count) => {
			for (const direction of ['asc', 'desc']) {
				await expectAll(odd, 'lifelog', count, direction);
				await expectAll(odd, 'lifelogChat', count, direction);
			}
		},
	);

	test('900 entries on 90 pages are listed once, in order, with the fewest requests', async () => {
		await expectAll(odd, 'lifelog', 900, 'desc');
	});

	test('a range returns everything that the service lists for it, with the fewest requests', async () => {
		const entries = everyMinute(200);
		lists.service.is = { ...usual(entries), ...odd };
		const start = new Date(BEGIN + 40 * MINUTE).toISOString();
		const { ids, requests } = await lists.read('lifelog', {
			returnAll: true,
			...within({ start }),
		});
		const isInRange = ({ begin }: Entry) => begin >= BEGIN + 40 * MINUTE;
		const isIgnored = lists.service.is.range === 'ignored';
		const expected = entries.filter((entry) => isIgnored || isInRange(entry));
		expect([...ids].sort()).toEqual(expected.map(({ id }) => id).sort());
		expect(requests).toHaveLength(expected.length / 10);
	});
});

test('a daily summary is complete if the starred lifelogs are listed first', async () => {
	lists.service.is = { ...usual(everyMinute(120)), isFirst: starred };
	lists.service.served = [];
	const parameters = { operation: 'getDailySummary', day: 'date', date: '2026-03-01' };
	const result = await lists.engine.runWorkflow(workflowWith('lifelog', parameters));
	expect(result.items('Node')[0].json.lifelogs).toHaveLength(120);
	expect(lists.service.served).toHaveLength(12);
});

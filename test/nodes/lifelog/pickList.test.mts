import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';
import { useNode } from '../../support/useNode.mts';
import { workflowWith } from '../../support/workflow.mts';

// The list of the parameter Lifelog, from which an entry is picked in the editor.

const { sandbox, engine } = useNode('lifelog');

beforeEach(async () => {
	await sandbox.control.reset({ days: 3 });
});

const anyLifelog = async () => (await sandbox.control.lifelogs())[20];

/** What an n8n that was told nothing has. */
const INSTANCE_ZONE = 'America/New_York';

const list = async (filter?: string, token?: string, options: IDataObject = {}) => {
	const [, node] = workflowWith('lifelog', { operation: 'get', options }).nodes;
	return await engine.loadOptions(node, 'searchLifelogs', filter, token);
};

test('shows the newest, page by page', async () => {
	await sandbox.control.reset({ days: 3, perDay: 40 });
	const all = (await sandbox.control.lifelogs()).reverse();
	const first = await list();
	const { title, startTime } = all[0];
	const begin = DateTime.fromISO(startTime, { zone: INSTANCE_ZONE });
	const shown = `${begin.toFormat('d LLL yyyy, HH:mm')} (${INSTANCE_ZONE})`;
	expect(first.results[0].name).toBe(`${title} · ${shown}`);
	const second = await list(undefined, first.paginationToken as string);
	const values = [...first.results, ...second.results].map(({ value }) => value);
	expect(values).toEqual(all.map(({ id }) => id).slice(0, values.length));
	expect(second.paginationToken).toBeUndefined();
	expect((await list(' ')).results).toEqual(first.results);
});

test('continues if the service allows only 10 a page', async () => {
	await sandbox.control.reset({ days: 3, perDay: 40 });
	await sandbox.control.dialect({ limit: { max: 10, above: 'reject' } });
	const all = (await sandbox.control.lifelogs()).reverse();
	const first = await list();
	const second = await list(undefined, first.paginationToken as string);
	const values = [...first.results, ...second.results].map(({ value }) => value);
	expect(values).toEqual(all.slice(0, 20).map(({ id }) => id));
});

test.each([
	['the option Time Zone', 'Asia/Kathmandu', '22 Nov 2026, 00:12 (Asia/Kathmandu)'],
	['its proper case', 'europe/berlin', '21 Nov 2026, 19:27 (Europe/Berlin)'],
	['that of the instance with an offset', '+02:00', `21 Nov 2026, 13:27 (${INSTANCE_ZONE})`],
	['that of the instance without the option', '', `21 Nov 2026, 13:27 (${INSTANCE_ZONE})`],
	[
		'that of the instance with one half typed',
		'Asia/Kath',
		`21 Nov 2026, 13:27 (${INSTANCE_ZONE})`,
	],
	[
		'that of the instance with an expression',
		'={{ "UTC+1" }}',
		`21 Nov 2026, 13:27 (${INSTANCE_ZONE})`,
	],
])('shows times in %s, and names it', async (_zone, timezone, shown) => {
	await sandbox.control.reset({ empty: true });
	const title = 'Call about the family party';
	await sandbox.control.addLifelog({ title, startTime: '2026-11-21T18:27:00Z' });
	const { results } = await list(undefined, undefined, { timezone });
	expect(results.map(({ name }) => name)).toEqual([`${title} · ${shown}`]);
});

test('searches for the words that you type', async () => {
	const { title, id } = await anyLifelog();
	const { results, paginationToken } = await list(title);
	expect(results.map(({ value }) => value)).toContain(id);
	expect(paginationToken).toBeUndefined();
});

test('requests no more than it shows', async () => {
	await sandbox.control.clearRequests();
	await list();
	expect((await sandbox.control.requests())[0].query).toMatchObject({
		includeMarkdown: 'false',
		includeHeadings: 'false',
		includeContents: 'false',
	});
});

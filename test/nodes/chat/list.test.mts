import type { IDataObject } from 'n8n-workflow';
import { idsOf, useChats } from './chats.mts';

const { sandbox, run, ownChats, fetchChat } = useChats();

const getMany = async (parameters: IDataObject = {}) =>
	await run({ operation: 'getMany', ...parameters });

test.each([
	['chats of a prompt', { globalPromptId: 'unknown' }, 'No chats of the prompt "unknown"'],
	[
		'unscheduled chats of a prompt',
		{ globalPromptId: 'unknown', isScheduled: false },
		'No unscheduled chats of the prompt "unknown"',
	],
])('says that there are no %s', async (_what, filters, expected) => {
	const { hints } = await getMany({ filters });
	expect(hints('Node').map(({ message }) => message)).toEqual([expected]);
});

test('returns the newest 50, simplified, in one request', async () => {
	const chats = await ownChats();
	const { json, requests } = await getMany();
	expect(chats.length).toBeGreaterThan(50);
	expect(idsOf(json)).toEqual(idsOf(chats.slice(0, 50)));
	expect(requests).toHaveLength(1);
	expect(requests[0].query).toEqual({ timezone: 'UTC', limit: '50' });
	expect(json[0]).not.toHaveProperty('messages');
	for (const chat of json) {
		expect(Object.keys(chat)).toEqual([
			...['id', 'summary', 'createdAt', 'startedAt'],
			...['prompt', 'response', 'messageCount', 'entries', 'hasToolError'],
		]);
	}
});

test.each(['full', 'short', 'emptyBetween'] as const)(
	'returns all chats, whatever the pages: %s',
	async (pages) => {
		await sandbox.control.dialect({ pages, lastCursor: 'empty' });
		await Promise.all(
			Array.from({ length: 150 }, (_, nth) => sandbox.control.addChat({ id: `more-${nth}` })),
		);
		const { json, requests } = await getMany({ returnAll: true });
		expect(idsOf(json)).toEqual(idsOf(await ownChats()));
		expect(requests.length).toBeGreaterThan(1);
		expect(new Set(requests.map(({ query }) => query.limit))).toEqual(new Set(['100']));
	},
);

test('stops at the limit, also across pages', async () => {
	await sandbox.control.dialect({ pages: 'short' });
	const { json } = await getMany({ limit: 31 });
	expect(idsOf(json)).toEqual(idsOf((await ownChats()).slice(0, 31)));
});

test('returns times in the time zone, and the oldest first', async () => {
	const options = { direction: 'asc', timezone: 'Asia/Tokyo' };
	const { json, requests } = await getMany({ limit: 5, options });
	expect(idsOf(json)).toEqual(idsOf((await ownChats()).reverse().slice(0, 5)));
	expect(json[0].createdAt).toContain('+09:00');
	expect(requests[0].query).toMatchObject({ direction: 'asc', timezone: 'Asia/Tokyo' });
});

test.each([
	['only scheduled ones', { isScheduled: true }, 'true'],
	['only others', { isScheduled: false }, 'false'],
	['both where it is not set', {}, undefined],
])('filters by Is Scheduled: %s', async (_name, filters, sent) => {
	const { json, requests } = await getMany({ returnAll: true, filters });
	const wanted = (await ownChats()).filter(
		({ globalPromptId }) => sent === undefined || String(globalPromptId !== null) === sent,
	);
	expect(idsOf(json)).toEqual(idsOf(wanted));
	expect(json.length).toBeGreaterThan(0);
	expect(requests[0].query.isScheduled).toBe(sent);
});

test('filters by the ID of a scheduled prompt', async () => {
	const chats = await ownChats();
	const globalPromptId = chats.find((chat) => chat.globalPromptId)!.globalPromptId!;
	const { json } = await getMany({ returnAll: true, filters: { globalPromptId } });
	const wanted = chats.filter((chat) => chat.globalPromptId === globalPromptId);
	expect(idsOf(json)).toEqual(idsOf(wanted));
	expect(wanted.length).toBeLessThan(chats.length);
});

test('a blank filter is not sent', async () => {
	const { requests } = await getMany({ filters: { globalPromptId: ' ' } });
	expect(requests[0].query).not.toHaveProperty('globalPromptId');
});

test('without Simplify returns the API’s objects unchanged', async () => {
	const { json } = await getMany({ limit: 2, output: 'raw' });
	expect(json[0]).toEqual(await fetchChat(json[0].id as string));
	expect(json[0].messages).not.toEqual([]);
});

test('returns nothing for an account without chats', async () => {
	await sandbox.control.reset({ empty: true });
	const { json, status } = await getMany({ returnAll: true });
	expect(status).toBe('success');
	expect(json).toEqual([]);
});

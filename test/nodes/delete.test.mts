import { type INodeType } from 'n8n-workflow';
import { actions } from './faults/properties.mts';
import { nodeOperations, withId } from './faults/parameters.mts';
import { loadPackage } from '../support/engine.mts';
import { skipPauses } from '../support/skipPauses.mts';
import { useNode } from '../support/useNode.mts';
import { INTERRUPTED } from '../support/messages.mts';

// That no other operation sends a delete, every cell of the matrix and every run of the properties
// checks; invalid IDs are in errors.test.mts.

const { sandbox, run } = useNode('lifelog');
const pauses = skipPauses();
afterAll(() => pauses.stop());

beforeEach(async () => {
	await sandbox.control.reset({ days: 3 });
});

/** What can be deleted, each kind with where the sandbox has it. */
const KINDS = {
	lifelog: {
		noun: 'lifelog',
		stored: async () => await sandbox.control.lifelogs(),
	},
	lifelogChat: {
		noun: 'chat',
		stored: async () =>
			(await sandbox.control.chats()).filter(({ owner }: { owner: string }) => owner === 'self'),
	},
};
const DELETES = nodeOperations().filter(({ operation }) => operation === 'delete');

test('only lifelogs and chats can be deleted', () => {
	expect(DELETES.map(({ node }) => node).sort()).toEqual(Object.keys(KINDS));
	const named = actions().filter(({ operation }) => /delete|remove|clear/i.test(operation));
	expect(named).toEqual(DELETES);
});

describe.each(
	DELETES.map((operation) => [operation.node as keyof typeof KINDS, operation] as const),
)('Delete of %s', (type, operation) => {
	const { noun, stored } = KINDS[type];
	const remove = async (id: string) => await run(withId(operation, id), { type });
	const exists = async (id: string) => (await stored()).some((entry) => entry.id === id);
	const anyId = async () => (await stored())[0].id;

	test('shows in the panel that it is permanent', () => {
		const { description } = loadPackage().nodeTypes[`n8n-nodes-lifelog.${type}`] as INodeType;
		const notice = description.properties.find(
			({ type: kind, displayOptions }) =>
				kind === 'notice' && displayOptions?.show?.operation?.includes('delete'),
		);
		expect(notice?.displayName).toMatch(/permanent.*can't be recovered/);
	});

	test('confirms the deletion', async () => {
		const id = await anyId();
		const { json, requests } = await remove(id);
		expect(json).toEqual([{ deleted: true, id }]);
		const [{ method, path }, ...others] = requests;
		expect([method, path, others]).toEqual(['DELETE', `/v1/${noun}s/${id}`, []]);
		expect(await exists(id)).toBe(false);
	});

	test.each([{ success: true }, { data: { success: true } }])(
		'reads the answer %j as a success',
		async (body) => {
			await sandbox.control.faults([{ body }]);
			expect((await remove('x')).json).toEqual([{ deleted: true, id: 'x' }]);
		},
	);

	test.each([
		[{ success: false }, `it says that the ${noun} was not deleted`],
		[{ data: { success: false } }, `it says that the ${noun} was not deleted`],
		[{ ok: 1 }, `it does not say whether the ${noun} was deleted`],
		[{ data: {} }, `it does not say whether the ${noun} was deleted`],
		['', 'it is empty'],
	])('the answer %j is an error', async (body, problem) => {
		await sandbox.control.faults([{ status: 200, body }]);
		expect((await remove('x')).message).toContain(problem);
	});

	const page = `<!doctype html><title>Forbidden zone</title>${'x'.repeat(5000)}`;
	const refusal = { error: 'Not yours' };

	test.each([
		[403, refusal, `The API key is not allowed to do this with the ${noun} "ID"`],
		[403, page, `The API key is not allowed to do this with the ${noun} "ID"`],
		[404, page, `No ${noun} with the ID "ID" was found`],
		[500, refusal, `The service failed (500): ${noun} "ID"`],
		[500, page, `The service failed (500): ${noun} "ID"`],
	])("refused by %d is reported as such, and isn't retried", async (status, body, expected) => {
		const id = await anyId();
		const headers = { 'content-type': body === page ? 'text/html' : 'application/json' };
		await sandbox.control.faults([{ status, body, headers, times: 5 }]);
		const { message, description, error, requests } = await remove(id);
		expect(message).toBe(expected.replace('ID"', `${id}"`));
		expect(description).toContain(
			`The service says: ${body === page ? 'a page titled "Forbidden zone"' : 'Not yours'}`,
		);
		expect(JSON.stringify(error)).not.toContain('xxxx');
		expect(requests).toHaveLength(1);
		expect(await exists(id)).toBe(true);
	});

	test.each([
		['before', [200]],
		['after', [200, 404]],
	] as const)(
		'is retried once if the connection broke %s it took effect',
		async (reset, statuses) => {
			const id = await anyId();
			await sandbox.control.faults([{ reset }]);
			const { json, requests } = await remove(id);
			expect(json).toEqual([{ deleted: true, id }]);
			expect(requests).toHaveLength(2);
			const answered = requests.map(({ status }) => status).filter((status) => status !== null);
			expect(answered).toEqual(statuses);
			expect(await exists(id)).toBe(false);
		},
	);

	test("isn't retried twice, and says that the outcome isn't known", async () => {
		await sandbox.control.faults([{ reset: 'before', times: 5 }]);
		const { message, description, requests } = await remove(await anyId());
		expect(message).toContain(INTERRUPTED);
		expect(description).toContain(`The ${noun} may or may not have been deleted`);
		expect(requests).toHaveLength(2);
	});

	test('is not counted as done if a proxy answers "not found"', async () => {
		const id = await anyId();
		const answer = { status: 404, body: '404 page not found' };
		await sandbox.control.faults([{ reset: 'before' }, answer]);
		const { json, message, requests } = await remove(id);
		expect(json).toEqual([]);
		expect(message).toContain(`No ${noun} with the ID`);
		expect(requests).toHaveLength(2);
		expect(await exists(id)).toBe(true);
	});

	test('waits for a rate limit and then takes effect once', async () => {
		const id = await anyId();
		await sandbox.control.faults([{ status: 429, body: { error: 'slow', retryAfter: '1' } }]);
		const before = pauses.pausesMs;
		const { json, requests } = await remove(id);
		expect(json).toEqual([{ deleted: true, id }]);
		expect(requests.map(({ status }) => status)).toEqual([429, 200]);
		expect(pauses.pausesMs - before).toBeGreaterThanOrEqual(990);
	});
});

test('of someone else’s public chat is refused, with a possible reason', async () => {
	const { id } = (await sandbox.control.chats()).find(
		({ owner, visibility }) => owner === 'other' && visibility === 'public',
	)!;
	const [operation] = DELETES.filter(({ node }) => node === 'lifelogChat');
	const { message, description } = await run(withId(operation, id), { type: 'lifelogChat' });
	expect(message).toBe(`No chat with the ID "${id}" was found`);
	expect(description).toContain('belong to another account');
	expect(description).toContain('The service says: Chat not found');
	expect((await sandbox.control.chats()).map((chat) => chat.id)).toContain(id);
});

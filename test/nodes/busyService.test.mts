import { setTimeout as sleep } from 'node:timers/promises';
import { engineAt } from '../support/lab.mts';
import { serve, type Served } from '../support/serve.mts';
import { workflowWith } from '../support/workflow.mts';

// Requests made at once where the limit lets few in: none may wait for longer than it would alone.
// A search that reads what it found one by one makes five at a time.

const WAIT_S = 3;
const LET_IN = 2;

let service: Served | undefined;

afterEach(async () => await service?.close());

/**
 * A service that lets few in at a time, then none for a while.
 *
 * @param answer The status of the nth that is let in.
 * @param onRefused Told of each that is not.
 */
async function startBusyService(
	answer: (nth: number, id?: string) => Promise<number> | number,
	onRefused: () => void = () => {},
): Promise<Served> {
	let began = -Infinity;
	let used = 0;
	let nth = 0;
	return await serve((request, response) => {
		const reply = (status: number, body: object) => {
			response.writeHead(status, { 'content-type': 'application/json' });
			response.end(JSON.stringify(body));
		};
		const passed = performance.now() - began;
		if (passed >= WAIT_S * 1000) [began, used] = [performance.now(), 0];
		else if (used >= LET_IN) {
			reply(429, { error: 'too many', retryAfter: WAIT_S - passed / 1000 });
			onRefused();
			return;
		}
		used++;
		nth++;
		const { pathname } = new URL(request.url!, 'http://localhost');
		const id = pathname.split('/')[3];
		const lifelogs = Array.from({ length: 8 }, (_, found) => ({ id: String(found) }));
		const data = id ? { lifelog: { id } } : { lifelogs };
		void Promise.resolve(answer(nth, id)).then((status) => reply(status, { data }));
	});
}

const search = workflowWith('lifelog', {
	operation: 'search',
	query: 'budget',
	limit: 50,
	output: 'raw',
	options: { includeContents: true, maxWait: WAIT_S },
});

test('each request waits at most once for the rate limit', async () => {
	service = await startBusyService(() => 200);
	const engine = await engineAt(service);
	const { error, items } = await engine.runWorkflow(search);
	await engine.close();
	expect(error).toBeUndefined();
	expect(items('Node')).toHaveLength(8);
});

test('a request that fails temporarily after its wait keeps its place in the queue', async () => {
	const letIn: Array<string | undefined> = [];
	service = await startBusyService((nth, id) => {
		letIn.push(id);
		return nth === LET_IN + 1 ? 500 : 200;
	});
	const engine = await engineAt(service);
	const { error, items } = await engine.runWorkflow(search);
	await engine.close();
	expect(error).toBeUndefined();
	expect(items('Node')).toHaveLength(8);
	// One more passes while it pauses before its retry; it is the next.
	expect(letIn[2 * LET_IN]).toBe(letIn[LET_IN]);
});

test('requests that wait are not all sent at once after another workflow was refused', async () => {
	let refuse = () => {};
	const refused = new Promise<void>((resolve) => (refuse = resolve));
	let isAsked = false;
	service = await startBusyService(
		async (nth) => {
			if (nth !== 2 * LET_IN) return 200;
			isAsked = true;
			void other();
			await refused;
			await sleep(50);
			return 200;
		},
		() => isAsked && refuse(),
	);
	const engine = await engineAt(service);
	const other = async () =>
		await engine.runWorkflow(workflowWith('lifelog', { operation: 'getMany', limit: 5 }));
	const { error, items } = await engine.runWorkflow(search);
	await engine.close();
	expect(error).toBeUndefined();
	expect(items('Node')).toHaveLength(8);
});

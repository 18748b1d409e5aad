import { setImmediate as soon } from 'node:timers/promises';
import { type Line, turnIn } from '../../nodes/shared/rate-limit-line.ts';

let line: Line;
let order: string[];

beforeEach(() => {
	line = { isTaken: false, waiting: [] };
	order = [];
});

/** A request that says when it may go. */
function stand(name: string, signal?: AbortSignal) {
	const turn = turnIn(line);
	const gone = turn.take(signal).then(
		() => void order.push(name),
		() => void order.push(`${name} gave up`),
	);
	return { ...turn, gone };
}

test('one after the other, first come, first served', async () => {
	const [first, second] = ['first', 'second', 'third'].map((name) => stand(name));
	await soon();
	expect(order).toEqual(['first']);
	first.end();
	await soon();
	expect(order).toEqual(['first', 'second']);
	second.end();
	await soon();
	expect(order).toEqual(['first', 'second', 'third']);
	expect(line.isTaken).toBe(true);
});

test('where nothing had to be waited for all go, and who comes then has the line for itself', async () => {
	const [first, second] = ['first', 'second', 'third'].map((name) => stand(name));
	first.end(true);
	await soon();
	expect(order).toEqual(['first', 'second', 'third']);
	expect(line.isTaken).toBe(false);
	const fourth = stand('fourth');
	// One that was let go has no turn to end.
	second.end();
	expect(line.isTaken).toBe(true);
	fourth.end();
	expect(line.isTaken).toBe(false);
});

test('who is cancelled gives up at once, and holds up nobody behind', async () => {
	const cancel = new AbortController();
	const first = stand('first');
	const second = stand('second', cancel.signal);
	stand('third');
	cancel.abort();
	await second.gone;
	expect(order).toEqual(['first', 'second gave up']);
	first.end();
	await soon();
	expect(order).toEqual(['first', 'second gave up', 'third']);
});

test('a turn that comes in the moment of cancelling goes on when its request ends', async () => {
	const cancel = new AbortController();
	const first = stand('first');
	const second = stand('second', cancel.signal);
	stand('third');
	cancel.abort();
	first.end();
	await second.gone;
	second.end();
	await soon();
	expect(order.at(-1)).toBe('third');
});

test('a request that is refused again keeps its turn', async () => {
	const first = stand('first');
	stand('second');
	await first.take();
	await soon();
	expect(order).toEqual(['first']);
});

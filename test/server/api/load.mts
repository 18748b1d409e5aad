// 50 workflows of one key at once in one process, for minutes, under the service's rate limit.
// Writes what it measured, as JSON, to the standard output: node --expose-gc load.mts <minutes>
import { startLabAt } from '../../support/lab.mts';
import { serve } from '../../support/serve.mts';
import { workflowWith } from '../../support/workflow.mts';

const WORKFLOWS = 50;
const LIMIT = 60;
const WINDOW_MS = 2000;
const minutes = Number(process.argv[2]);

/** Times of the requests that counted in the sliding window, and how many were turned away. */
const counted: number[] = [];
let refused = 0;
let served = 0;

const entries = Array.from({ length: 100 }, (_, index) => ({
	id: `lifelog-${index}`,
	title: 'x'.repeat(200),
	markdown: 'word '.repeat(400),
	startTime: '2026-03-02T09:00:00.000Z',
	contents: [],
}));
const page = JSON.stringify({ data: { lifelogs: entries }, meta: { lifelogs: { count: 100 } } });

const service = await serve((_request, response) => {
	const now = Date.now();
	while (counted.length > 0 && counted[0] <= now - WINDOW_MS) counted.shift();
	if (counted.length >= LIMIT) {
		refused++;
		const retryAfter = String(Math.ceil((counted[0] + WINDOW_MS - now) / 1000));
		response.writeHead(429, { 'content-type': 'application/json' });
		response.end(JSON.stringify({ error: 'slow', retryAfter }));
		return;
	}
	counted.push(now);
	served++;
	response.writeHead(200, { 'content-type': 'application/json' }).end(page);
});

const { engine } = await startLabAt(service);
const workflow = workflowWith('lifelog', { operation: 'getMany', limit: 100 });

let finished = 0;
let failed = 0;
const until = (end: number) => async () => {
	while (Date.now() < end) {
		const result = await engine.runWorkflow(workflow);
		if (result.error || result.items('Node').length !== 100) failed++;
		else finished++;
	}
};

/** 50 workflows, each started anew when it has ended, and the heap when nothing is left of them. */
async function load(ms: number): Promise<number> {
	await Promise.all(Array.from({ length: WORKFLOWS }, until(Date.now() + ms)));
	globalThis.gc!();
	await new Promise((resolve) => setTimeout(resolve, 1000));
	globalThis.gc!();
	return process.memoryUsage().heapUsed;
}

// What is loaded and compiled only once, on first use, is no leak.
const heapBefore = await load(30_000);
const began = Date.now();
const heapAfter = await load(minutes * 60_000);
process.stdout.write(
	JSON.stringify({
		finished,
		failed,
		served,
		refused,
		heapBefore,
		heapAfter,
		ms: Date.now() - began,
	}),
);
process.exit();

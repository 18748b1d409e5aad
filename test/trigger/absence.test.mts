// The trigger after n8n was away, or has forgotten what it hadn't saved.
import { DAY, DURABLE_MS, failedWith, HOUR, iso, MINUTE, TriggerLab } from './lab.mts';

let lab: TriggerLab;
beforeEach(async () => (lab = await TriggerLab.start()));
afterEach(() => lab.close());

test('after more than 31 days the last 31 are reported, and the log names the others', async () => {
	await lab.poll();
	lab.now += 10 * DAY;
	lab.add('older');
	lab.now += 20 * DAY;
	lab.add('newer');
	lab.now += 20 * DAY;
	expect(await lab.polls(3, MINUTE)).toEqual(['newer created']);
	expect(lab.warnings).toEqual([
		'Lifelog Trigger: the last poll was more than 31 days ago; the days from 2026-03-21 to 2026-04-08 are skipped',
	]);
});

describe("n8n's in-memory engine", () => {
	const updates = { event: 'lifelogUpdated' };

	test("an update made while n8n was down is reported, also of a lifelog that wasn't saved", async () => {
		await lab.poll(updates);
		const saved = JSON.stringify(lab.staticData);
		lab.now += MINUTE;
		lab.add('a');
		expect(await lab.poll(updates)).toEqual([]);
		lab.staticData = JSON.parse(saved);
		lab.now += 2 * HOUR;
		lab.change('a');
		lab.add('b');
		expect(await lab.polls(2, 0, updates)).toEqual(['a updated']);
	});

	test.each<[string, number, string[]]>([
		['a change soon after the end is then taken for the upload', 20 * MINUTE, []],
		['and an upload long after it for a change', 3 * HOUR, ['a updated']],
	])('%s', async (_, afterStart, came) => {
		await lab.poll(updates);
		lab.restart();
		const start = lab.now;
		lab.now += afterStart;
		lab.add('a', {}, start);
		expect(await lab.poll(updates)).toEqual(came);
	});

	test('publishing again with a refused key fails', async () => {
		await lab.poll();
		lab.restart();
		lab.fault = () => 401;
		expect(await failedWith(lab.poll())).toBe('401');
	});
});

test("in the durable engine a day whose list fails lets no poll fail, and other days' lifelogs come", async () => {
	const durable = { budgetMs: DURABLE_MS };
	await lab.poll({}, durable);
	const yesterday = iso(lab.now - DAY).slice(0, 10);
	lab.fault = ({ query }) => (query.get('date') === yesterday ? 500 : undefined);
	lab.now += MINUTE;
	expect(await lab.poll({}, durable)).toEqual([]);
	lab.add('a');
	expect(await lab.poll({}, durable)).toEqual(['a created']);
	expect(await lab.poll({}, durable)).toEqual([]);
});

test('today is read less and less often while its list fails, and reported when it can be read', async () => {
	await lab.poll();
	const today = iso(lab.now).slice(0, 10);
	const isToday: TriggerLab['fault'] = ({ query }) =>
		query.get('date') === today ? 500 : undefined;
	lab.fault = isToday;
	lab.add('a');
	lab.requests = [];
	const results: unknown[] = [];
	for (let nth = 0; nth < 64; nth++) {
		lab.now += MINUTE;
		results.push(await failedWith(lab.poll()));
	}
	const failures = results.filter((result) => result !== undefined);
	expect(new Set(failures)).toEqual(new Set(['500']));
	// A try is a request for 100 entries, and one for 10.
	expect(lab.requests.filter(isToday)).toHaveLength(2 * failures.length);
	expect(failures.length).toBeLessThan(10);
	lab.fault = () => undefined;
	expect(await lab.polls(40, MINUTE)).toEqual(['a created']);
});

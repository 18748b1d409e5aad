import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import { ARABIC, EMOJI, lifelogOf, LONG, longDay, MARKUP, said } from '../../support/days.mts';
import { problemsOfNotionRequest } from '../../support/notionRules.mts';
import { problemsOfSlackMessage } from '../../support/slackRules.mts';
import { type NodeRun, useNode } from '../../support/useNode.mts';
import { asksForWait } from '../../support/messages.mts';

const { sandbox, run: runNode } = useNode('lifelog', { usual: { operation: 'getDailySummary' } });

const FIRST_OF_MARCH = { day: 'date', date: '2026-03-01' };
const FORMATS = ['markdown', 'slack', 'notion'];

async function run(parameters: IDataObject, options?: NodeRun) {
	const result = await runNode(parameters, options);
	return { ...result, all: result.items('Node'), json: result.json[0] as Item };
}

interface Item extends IDataObject {
	markdown: string;
	lifelogs: Array<{ id: string; title: string | null; startTime: string }>;
	messages: Array<{ text: string; blocks: unknown }>;
	properties: Record<string, { title: unknown }>;
	childrenBatches: unknown[];
}

/** Makes the service hold exactly these. */
async function serve(lifelogs: Array<Partial<Lifelog>>): Promise<void> {
	await sandbox.control.reset({ empty: true });
	for (const lifelog of lifelogs) await sandbox.control.addLifelog(lifelog);
}

/** Makes the service answer the next request with exactly this page. */
async function answer(lifelogs: unknown[], nextCursor?: string): Promise<void> {
	const body = { data: { lifelogs }, meta: { lifelogs: { nextCursor } } };
	await sandbox.control.faults([{ body }]);
}

const idsOf = (json: Item) => json.lifelogs.map(({ id }) => id);

/** What Slack and Notion would not take of an item. */
function problemsOf(json: Item): string[] {
	const [children, ...more] = json.childrenBatches ?? [];
	return [
		...(json.messages ?? []).flatMap(problemsOfSlackMessage),
		...(children ? problemsOfNotionRequest({ properties: json.properties, children }) : []),
		...more.flatMap((batch) => problemsOfNotionRequest({ children: batch })),
	];
}

describe('the day', () => {
	const zones = ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kathmandu'];

	test.each(zones.flatMap((zone) => [[zone, 'yesterday'] as const, [zone, 'today'] as const]))(
		'in %s is %s',
		async (timezone, day) => {
			await sandbox.control.reset({ days: 4 });
			const date = DateTime.now()
				.setZone(timezone)
				.minus({ days: day === 'today' ? 0 : 1 });
			const { json } = await run({ day, options: { timezone } });
			expect(json).toMatchObject({ date: date.toISODate(), timezone });
			const all = await sandbox.control.lifelogs();
			const ofDay = all.filter(({ startTime }) =>
				DateTime.fromISO(startTime).setZone(timezone).hasSame(date, 'day'),
			);
			expect(idsOf(json)).toEqual(ofDay.map(({ id }) => id));
			expect(json.lifelogCount).toBe(ofDay.length);
		},
	);

	test("is yesterday in the workflow's time zone by default", async () => {
		await sandbox.control.reset({ days: 3 });
		const timezone = 'America/New_York';
		const { json, all } = await run({}, { timezone });
		const yesterday = DateTime.now().setZone(timezone).minus({ days: 1 }).toISODate();
		expect(json).toMatchObject({ date: yesterday, timezone });
		expect(json.markdown).toMatch(/^# Daily summary: /);
		expect(json.lifelogs[0].startTime).toMatch(/-0[45]:00$/);
		expect(all).toHaveLength(1);
		expect(all[0].pairedItem).toEqual({ item: 0 });
	});

	test.each([
		'2026-03-01',
		'2026-03-01T23:30:00',
		'2026-03-02T04:00:00+14:00',
		'={{ DateTime.fromISO("2026-03-01T12:00:00Z") }}',
		'={{ 1772366400000 }}',
	])('can be given as %s', async (date) => {
		await serve([lifelogOf('a', '2026-03-01T10:00:00Z', 'A')]);
		const { json, requests } = await run({ day: 'date', date });
		expect(json.date).toBe('2026-03-01');
		expect(idsOf(json)).toEqual(['a']);
		expect(requests[0].query).toMatchObject({ date: '2026-03-01', timezone: 'UTC' });
	});

	test.each([
		['2026-03-29', '2026-03-28T23:00:00Z', '2026-03-29T21:59:59Z', '2026-03-29T22:00:00Z'],
		['2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z', '2026-10-25T23:00:00Z'],
	])('%s is complete although the clocks change', async (date, first, last, after) => {
		const before = new Date(Date.parse(first) - 1000).toISOString();
		const times = { before, first, last, after };
		await serve(Object.entries(times).map(([id, time]) => lifelogOf(id, time, id)));
		const options = { timezone: 'Europe/Berlin' };
		const { json } = await run({ day: 'date', date, options });
		expect(idsOf(json)).toEqual(['first', 'last']);
		expect(json.totalDurationMs).toBe(3_600_000);
		expect(json.markdown).toContain('- 00:00 · 30 min · **first**');
		expect(json.markdown).toContain('- 23:59 · 30 min · **last**');
	});

	test('has only lifelogs that start on it, even if the service sends more', async () => {
		await answer([
			lifelogOf('late', '2026-03-01T23:50:00Z', 'Late'),
			lifelogOf('next', '2026-03-02T00:00:00Z', 'Next'),
			lifelogOf('late', '2026-03-01T23:50:00Z', 'Late'),
			lifelogOf('early', '2026-03-01T01:00:00+01:00', 'Early'),
			lifelogOf('before', '2026-02-28T23:59:59Z', 'Before'),
		]);
		const { json } = await run(FIRST_OF_MARCH);
		expect(idsOf(json)).toEqual(['early', 'late']);
	});
});

describe('the lifelogs', () => {
	beforeEach(async () => {
		await sandbox.control.reset({ now: '2026-03-01T22:59:00Z', days: 1, perDay: 60 });
	});

	test('are read from every page of the day, with contents', async () => {
		const { json, requests, hint } = await run(FIRST_OF_MARCH);
		const all = await sandbox.control.lifelogs();
		expect(idsOf(json)).toEqual(all.map(({ id }) => id));
		expect(requests.length).toBeLessThanOrEqual(3 + 3);
		for (const { query } of requests) {
			expect(query).toMatchObject({
				...{ limit: '25', date: '2026-03-01', timezone: 'UTC' },
				...{ includeContents: 'true', includeHeadings: 'true', includeMarkdown: 'true' },
			});
			expect(query).not.toHaveProperty('isStarred');
		}
		expect(hint).toBeUndefined();
		expect(json.speakers).not.toEqual([]);
		const ms = all.map((one) => Date.parse(one.endTime) - Date.parse(one.startTime));
		expect(json.totalDurationMs).toBe(ms.reduce((sum, each) => sum + each));
		expect(json.starredCount).toBe(all.filter(({ isStarred }) => isStarred).length);
	});

	test.each([
		{ limit: { max: 10, above: 'clamp' } },
		{ limit: { max: 10, above: 'reject' } },
		{ pages: 'short' },
		{ pages: 'emptyBetween' },
		{ lastCursor: 'empty' },
		{ lastCursor: 'null' },
	] as const)('are the same from a service of the dialect %j', async (dialect) => {
		const { json } = await run(FIRST_OF_MARCH);
		await sandbox.control.dialect(dialect);
		expect((await run(FIRST_OF_MARCH)).json).toEqual(json);
	});

	test('can be only starred or only unstarred ones', async () => {
		const all = await sandbox.control.lifelogs();
		await sandbox.control.updateLifelog(all[30].id, { isStarred: true });
		for (const [isStarred, kind] of [
			[true, 'starred'],
			['={{ "true" }}', 'starred'],
			[false, 'unstarred'],
		] as const) {
			const { json, requests } = await run({ ...FIRST_OF_MARCH, filters: { isStarred } });
			const right = (await sandbox.control.lifelogs()).filter(
				(one) => one.isStarred === (kind === 'starred'),
			);
			expect(idsOf(json)).toEqual(right.map(({ id }) => id));
			expect(requests[0].query.isStarred).toBe(String(kind === 'starred'));
			expect(json.markdown).toContain(`\n${right.length} ${kind} lifelog`);
		}
	});

	test('can be only starred ones even if the service ignores the filter', async () => {
		const starred = lifelogOf('s', '2026-03-01T10:00:00Z', 'S', [], { isStarred: true });
		await answer([lifelogOf('a', '2026-03-01T09:00:00Z', 'A'), starred]);
		const { json } = await run({ ...FIRST_OF_MARCH, filters: { isStarred: true } });
		expect(idsOf(json)).toEqual(['s']);
	});

	test('are read with no longer wait for the rate limit than allowed', async () => {
		await sandbox.control.faults([{ status: 429, body: { error: 'slow', retryAfter: '1' } }]);
		const { error } = await run({ ...FIRST_OF_MARCH, options: { maxWait: 0 } });
		expect(error?.message).toContain(asksForWait('1 s'));
	});
});

describe('if the service sends no contents', () => {
	const NINE = '2026-03-01T09:00:00Z';
	const markdown = '# Walk\n\n## The dog\n\n### Not this\n\n> Anna: ## Nor this';
	const withheld = (contents: unknown) =>
		lifelogOf('a', NINE, 'Walk', [], { contents: contents as [], markdown });

	test.each([[[]], [null], [undefined]])(
		'(as %j) the headings come from the Markdown, and a hint says so',
		async (contents) => {
			await answer([withheld(contents)]);
			const { json, hint } = await run(FIRST_OF_MARCH);
			expect(json.speakers).toEqual([]);
			expect(json.markdown).toContain('  - The dog\n');
			expect(json.markdown).not.toMatch(/this|took part/);
			expect(hint).toMatch(/^The service sent no contents, although they were requested/);
		},
	);

	test('for some lifelogs, the hint says for how many', async () => {
		const lifelog = lifelogOf('b', '2026-03-01T10:00:00Z', 'B', ['Known']);
		await answer([withheld([]), lifelog]);
		const { json, hint } = await run(FIRST_OF_MARCH);
		expect(json.speakers).toEqual(['Sam', 'Anna']);
		expect(json.markdown).toMatch(/- The dog\n[^]*- Known\n/);
		expect(hint).toContain('no contents of 1 of 2 lifelogs');
	});
});

describe.each(FORMATS)('as %s', (format) => {
	const ofFirst = async () => (await run({ ...FIRST_OF_MARCH, format })).json;

	test('an empty day is one item that says so', async () => {
		await serve([]);
		const json = await ofFirst();
		expect(json).toMatchObject({
			...{ date: '2026-03-01', timezone: 'UTC', lifelogCount: 0, totalDurationMs: 0 },
			...{ starredCount: 0, speakers: [], lifelogs: [] },
		});
		const { markdown, text, children } = json;
		expect(JSON.stringify(markdown ?? text ?? children)).toContain(
			'There are no lifelogs on this day',
		);
		expect(problemsOf(json)).toEqual([]);
	});

	test('a day with 300 lifelogs is one item with all of them', async () => {
		await sandbox.control.reset({ now: '2026-03-01T22:59:00Z', days: 1, perDay: 300 });
		const { json, requests, all } = await run({ ...FIRST_OF_MARCH, format });
		expect(all).toHaveLength(1);
		expect(requests.length).toBeLessThanOrEqual(12 + 3);
		expect(json.lifelogCount).toBe(300);
		expect(problemsOf(json)).toEqual([]);
		const { markdown, messages, childrenBatches } = json;
		const written = JSON.stringify(markdown ?? messages ?? childrenBatches);
		const stored = await sandbox.control.lifelogs();
		expect(stored.filter(({ title }) => !written.includes(title.slice(0, 5)))).toEqual([]);
	});

	test('a day with difficult texts is valid, and the same each time', async () => {
		const texts = [MARKUP, ARABIC, EMOJI, LONG, EMOJI.repeat(200), ''];
		const lifelogs = longDay(
			18,
			(index) => texts[index % texts.length],
			(index) => texts.slice(index % texts.length),
		);
		const hard = [
			...lifelogs,
			lifelogOf('untitled', '2026-03-01T20:00:00Z', null, [], { contents: [said(null)] }),
			lifelogOf('backwards', '2026-03-01T21:00:00Z', 'Backwards', [], {
				endTime: '2026-03-01T20:00:00Z',
			}),
			{ id: 'bare', startTime: '2026-03-01T22:00:00Z' },
			{ id: 'odd', title: 5, contents: [null, { type: 7 }], isStarred: 'yes', endTime: [] },
		];
		await answer(hard);
		const json = await ofFirst();
		expect(json.lifelogCount).toBe(hard.length);
		const nothing = { title: null, startTime: null, endTime: null, isStarred: false };
		expect(json.lifelogs.at(-1)).toEqual({ id: 'odd', ...nothing });
		expect(problemsOf(json)).toEqual([]);
		const { markdown, messages, childrenBatches } = json;
		const written = JSON.stringify(markdown ?? messages ?? childrenBatches);
		for (const text of [ARABIC.split(' (')[0], EMOJI, 'Untitled', 'Backwards']) {
			expect(written).toContain(text);
		}
		await answer([...hard].reverse());
		expect(await ofFirst()).toEqual(json);
	});

	test('contents of unknown types, 1,000 deep, are read', async () => {
		let contents: object[] = [{ type: 'heading2', content: 'The bottom' }, said('Diver')];
		for (let depth = 0; depth < 1000; depth++) {
			contents = [{ type: 'newKind', content: 'down', children: contents }];
		}
		await answer([
			lifelogOf('deep', '2026-03-01T09:00:00Z', 'Deep', [], { contents: contents as [] }),
		]);
		const json = await ofFirst();
		expect(json.speakers).toEqual(['Diver']);
		const { markdown, text, children } = json;
		expect(JSON.stringify(markdown ?? text ?? children)).toContain('The bottom');
	});
});

describe('the fields of the item', () => {
	const rest = ['lifelogCount', 'totalDurationMs', 'starredCount', 'speakers', 'lifelogs'];

	test.each([
		['markdown', ['markdown']],
		['slack', ['text', 'blocks', 'messages']],
		['notion', ['title', 'properties', 'children', 'childrenBatches']],
	])('as %s are in a readable order', async (format, own) => {
		await serve([lifelogOf('a', '2026-03-01T09:00:00Z', 'A walk')]);
		const options = { timezone: 'Europe/Berlin' };
		const { json } = await run({ ...FIRST_OF_MARCH, format, options });
		expect(Object.keys(json)).toEqual(['date', 'timezone', ...own, ...rest]);
		expect(json.lifelogs).toEqual([
			{
				id: 'a',
				title: 'A walk',
				startTime: expect.stringMatching(/^2026-03-01T10:00:00.*\+01:00$/),
				endTime: expect.stringMatching(/^2026-03-01T10:30:00.*\+01:00$/),
				isStarred: false,
			},
		]);
	});
});

describe('an invalid parameter', () => {
	test.each([
		[{ day: 'date', date: 'soon' }, `'Date' is not a date and time: "soon"`],
		[{ day: '={{ "date" }}' }, "'Date' is empty"],
		[{ day: 'date', date: '={{ $json.nothing }}' }, "'Date' is empty"],
		[{ day: 'date', date: '={{ [1] }}' }, "'Date' is not a date and time: a list"],
		[{ day: '={{ "tomorrow" }}' }, `'Day' must be yesterday, today or date, not "tomorrow"`],
		[{ format: '={{ "html" }}' }, `'Format' must be markdown, notion or slack, not "html"`],
		[{ format: '={{ "toString" }}' }, `'Format' must be markdown, notion or slack, not "toString"`],
		[{ options: { timezone: 'Berlin' } }, 'There is no time zone "Berlin"'],
		[
			{ filters: { isStarred: '={{ "maybe" }}' } },
			`'Is Starred' must be true or false, not "maybe"`,
		],
	])('%j is refused before any request', async (parameters, message) => {
		const { error, requests } = await run(parameters);
		expect(error?.message).toBe(message);
		expect((error as unknown as { context: IDataObject }).context.itemIndex).toBe(0);
		expect(requests).toEqual([]);
	});

	test("isn't an empty Date if Day is an expression for another day", async () => {
		const { error, json } = await run({ day: '={{ "today" }}' });
		expect(error).toBeUndefined();
		expect(json.date).toBe(DateTime.utc().toISODate());
	});
});

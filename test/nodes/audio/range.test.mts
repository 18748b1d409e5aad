import type { IDataObject } from 'n8n-workflow';
import { byId, workflowWith } from '../../support/workflow.mts';
import { at, hour, minute, ms, NOW, PATH, useAudio } from './audio.mts';

// Which audio is asked for.

const { sandbox, engine, run, downloadRange, record } = useAudio();

describe('a range', () => {
	/** Whether every millisecond was asked for once: the chunks lie end to end. */
	const expectChunks = (asked: number[][], startMs: number, lengths: number[]) => {
		let reached = startMs;
		const expected = lengths.map((length) => [reached, (reached += length)]);
		expect(asked).toEqual(expected);
	};
	const twoHours = (count: number, ...rest: number[]) => [
		...Array.from({ length: count }, () => 2 * hour),
		...rest,
	];

	test.each([
		['exactly two hours', 2 * hour, twoHours(1)],
		['two hours and a millisecond', 2 * hour + 1, twoHours(1, 1)],
		['24 hours', 24 * hour, twoHours(12)],
		['25 hours and a half', 25.5 * hour, twoHours(12, 1.5 * hour)],
	])('of %s is requested once, and the last chunk is shorter', async (_name, length, lengths) => {
		const start = Date.parse('2026-03-10T05:00:00.007Z');
		const { asked, status } = await downloadRange(start, start + length, { ifNoAudio: 'skip' });
		expect(status).toBe('success');
		expectChunks(asked, start, lengths);
	});

	test.each([
		['of no length', at('09:00'), at('09:00'), "'Start' and 'End' are the same"],
		['of no length, in two ways', at('09:00'), ms('09:00'), "'Start' and 'End' are the same"],
		['of days in the wrong order', '2026-11-21', '2026-11-20', "'Start' is later than 'End'"],
		[
			'of days far apart in the wrong order',
			'2026-11-21',
			'2026-11-18',
			"'Start' is later than 'End'",
		],
		['of negative length', at('09:00'), at('08:59'), "'Start' is later than 'End'"],
		['without a start', '', at('09:00'), "'Start' is empty"],
		['without a start that is one', 'soon', at('09:00'), `'Start' is not a date and time: "soon"`],
		['of seconds', ms('09:00') / 1000, ms('09:01'), "'Start' is not a date and time"],
	])('%s is refused before any request', async (_name, start, end, expected) => {
		const { message, requests } = await downloadRange(start, end);
		expect(message).toContain(expected);
		expect(requests).toEqual([]);
	});

	test('with fractions of milliseconds is widened to whole ones', async () => {
		const start = ms('09:00');
		const { asked } = await downloadRange(start + 0.25, start + 2 * hour + 0.25, {
			ifNoAudio: 'skip',
		});
		expectChunks(asked, start, [2 * hour, 1]);
	});

	test.each([
		['the 23 hours of the day when spring skips one', '2026-03-29', '2026-03-30', 11, hour],
		['the 25 hours of the day when autumn repeats one', '2025-10-26', '2025-10-27', 12, hour],
	])('covers %s', async (_name, from, to, whole, last) => {
		const { asked, status } = await downloadRange(`${from}T00:00:00`, `${to}T00:00:00`, {
			timezone: 'Europe/Berlin',
			ifNoAudio: 'skip',
		});
		expect(status).toBe('success');
		const start = Date.parse(`${from}T00:00:00${from < '2026' ? '+02:00' : '+01:00'}`);
		expectChunks(asked, start, twoHours(whole, last));
	});

	test('within the repeated hour of autumn covers both passes', async () => {
		const { asked } = await downloadRange('2025-10-26T02:15:00', '2025-10-26T02:45:00', {
			timezone: 'Europe/Berlin',
			ifNoAudio: 'skip',
		});
		expectChunks(asked, Date.parse('2025-10-26T02:15:00+02:00'), [1.5 * hour]);
	});

	test('is divided into chunks of the requested length', async () => {
		const { asked } = await downloadRange(at('09:00'), at('09:10'), {
			chunkMinutes: 4,
			ifNoAudio: 'skip',
		});
		expectChunks(asked, ms('09:00'), [4 * minute, 4 * minute, 2 * minute]);
	});

	test.each([0, 0.5, 1.5, 121, -1, '={{ "long" }}'])(
		'in chunks of %p minutes is refused',
		async (chunkMinutes) => {
			const { message, requests } = await downloadRange(at('09:00'), at('10:00'), { chunkMinutes });
			expect(message).toMatch(
				/^'Chunk Length' must be a whole number of minutes, 1 to 120, not "(-?[\d.]+|long)"$/,
			);
			expect(requests).toEqual([]);
		},
	);
});

describe('the audio of a lifelog', () => {
	const downloadOf = async (id: string, options: IDataObject = {}) =>
		await run({ source: 'lifelog', lifelogId: byId(id), options });

	test.each(['UTC', 'Asia/Kolkata', 'America/St_Johns'])(
		'covers its start to its end, with times in %s',
		async (timezone) => {
			const { id } = await record('09:00:30', 12.5);
			const { json, requests, asked } = await downloadOf(id, { timezone });
			expect(asked).toEqual([[ms('09:00:30'), ms('09:13')]]);
			expect(json).toMatchObject([{ lifelogId: id, part: 1, parts: 1 }]);
			expect(requests[0].path).toBe(`/v1/lifelogs/${id}`);
			expect(requests[0].query).toEqual({
				timezone,
				includeMarkdown: 'false',
				includeHeadings: 'false',
				includeContents: 'false',
			});
			const [[startMs, endMs]] = asked;
			const [query] = requests.filter(({ path }) => path === PATH).map((each) => each.query);
			expect(query).toEqual({ startMs: String(startMs), endMs: String(endMs) });
		},
	);

	test('can be padded', async () => {
		const { id } = await record('09:00', 10);
		const { asked } = await downloadOf(id, { padding: 90.5 });
		expect(asked).toEqual([[ms('09:00') - 90_500, ms('09:10') + 90_500]]);
	});

	test("isn't padded beyond now", async () => {
		const { id } = await record('22:45', 14);
		const { asked } = await downloadOf(id, { padding: 3600 });
		expect(asked).toEqual([[ms('21:45'), Date.parse(NOW)]]);
	});

	test("isn't padded beyond 1970", async () => {
		const times = { startTime: '1970-01-01T00:00:05Z', endTime: '1970-01-01T00:00:10Z' };
		const { id } = await sandbox.control.addLifelog(times);
		const { asked } = await downloadOf(id, { padding: 60 });
		expect(asked).toEqual([[0, 70_000]]);
	});

	test('longer than a chunk is returned in several items that name the lifelog', async () => {
		const { id } = await record('09:00', 150);
		const { json } = await downloadOf(id);
		expect(json).toMatchObject([
			{ lifelogId: id, part: 1, parts: 2 },
			{ lifelogId: id, part: 2, parts: 2 },
		]);
		const names = Object.keys(json[1]);
		expect(names.slice(names.indexOf('parts'), -2)).toEqual([
			...['parts', 'lifelogId', 'missingRanges', 'failedRanges'],
		]);
	});

	test.each([-1, '={{ "some" }}'])('with a padding of %p is refused', async (padding) => {
		const { message, requests } = await downloadOf('x', { padding });
		expect(message).toMatch(/^'Padding' must be a number of seconds, 0 or more, not "(-1|some)"$/);
		expect(requests).toEqual([]);
	});

	test('of no length is an error, unless it is padded', async () => {
		const { id } = await record('09:00', 0);
		expect((await downloadOf(id)).message).toBe(`The lifelog "${id}" has no length`);
		expect((await downloadOf(id, { padding: 1, ifNoAudio: 'skip' })).asked).toEqual([
			[ms('09:00') - 1000, ms('09:00') + 1000],
		]);
	});

	test("of a lifelog that doesn't exist is an error that names the ID", async () => {
		const { message, asked } = await downloadOf('nobody');
		expect(message).toBe('No lifelog with the ID "nobody" was found');
		expect(asked).toEqual([]);
	});

	test('without times is an error', async () => {
		await sandbox.control.faults([{ body: { data: { lifelog: { id: 'x', startTime: 'noon' } } } }]);
		expect((await downloadOf('x')).message).toContain('the lifelog has no start or no end');
	});

	test('can be chosen from the list of lifelogs', async () => {
		const { id } = await record('09:00', 1);
		const [, node] = workflowWith('lifelogAudio', { source: 'lifelog' }).nodes;
		const { results } = await engine.loadOptions(node, 'searchLifelogs');
		expect(results.map(({ value }) => value)).toEqual([id]);
	});
});
